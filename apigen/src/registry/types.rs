//! [`Types`]: the C types that an API declares, and the tables of its functions, as plain data.

use std::collections::BTreeMap;

use crate::ctype::CType;

/// Types by kind, each kind in the order of the registry.
#[derive(Clone, Default, Debug)]
pub struct Types {
    /// Names of opaque pointers.
    pub handles: Vec<String>,
    /// Other names of numbers.
    pub aliases: Vec<Alias>,
    /// Types of functions that the program passes.
    pub functions: Vec<FunctionType>,
    pub enums: Vec<Enum>,
    pub structs: Vec<Struct>,
}

#[derive(Clone, Debug)]
pub struct Alias {
    pub name: String,
    pub target: CType,
    /// The enum whose values are its bits.
    pub bits_of: Option<String>,
}

#[derive(Clone, Debug)]
pub struct FunctionType {
    pub name: String,
    pub result: CType,
    pub params: Vec<CType>,
}

#[derive(Clone, Debug)]
pub struct Enum {
    pub name: String,
    pub values: BTreeMap<String, u32>,
}

#[derive(Clone, Debug)]
pub struct Struct {
    pub name: String,
    /// In bytes, on systems of 64 bits.
    pub size: usize,
    /// The value of its first field, of one that can stand in a chain.
    pub stype: Option<String>,
    pub fields: Vec<Field>,
}

#[derive(Clone, Debug)]
pub struct Field {
    pub name: String,
    pub ty: CType,
    /// The number of elements of an array.
    pub array: Option<usize>,
    /// How much memory the field points at.
    pub range: Option<Range>,
}

/// Whether a command reads or writes memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    In,
    Out,
    InOut,
}

/// What is behind a pointer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Range {
    /// This many elements: a number, or the value of a parameter or field, or the number that a parameter points at
    /// (`*pCount`).
    Elements(String),
    /// A NUL-terminated string.
    Text,
    /// Pointers to this many NUL-terminated strings.
    Texts(String),
}

/// A table of functions.
#[derive(Clone, Debug)]
pub struct Table {
    /// The C structure.
    pub name: String,
    /// The export of a driver or a layer that fills the table.
    pub export: String,
    /// Names of the functions, in order.
    pub slots: Vec<String>,
}

/// A table of functions that the registry does not declare.
#[derive(Clone, Debug)]
pub struct ToolTable {
    pub export: String,
    /// For each slot, the lowest version of a table that has the slot at the place of today.
    pub since: Vec<Version>,
}

/// A version of an API, such as `1.17`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Version {
    pub major: u16,
    pub minor: u16,
}

impl Types {
    pub fn structure(&self, name: &str) -> Option<&Struct> {
        self.structs.iter().find(|found| found.name == name)
    }

    pub fn is_function(&self, name: &str) -> bool {
        self.functions.iter().any(|found| found.name == name)
    }

    pub fn is_handle(&self, name: &str) -> bool {
        self.handles.iter().any(|found| found == name)
    }

    /// The enum whose values a type has, or whose values are its bits.
    pub fn group(&self, name: &str) -> Option<&str> {
        let bits = self.aliases.iter().find(|alias| alias.name == name);
        let bits = bits.and_then(|alias| alias.bits_of.as_deref());
        let found = self.enums.iter().find(|found| found.name == name);
        bits.or_else(|| found.map(|found| found.name.as_str()))
    }

    /// A type in terms of those that [`ctype`](crate::ctype) knows. The name of an enum, of bits or of a handle is lost.
    pub fn simplified(&self, declared: &CType) -> CType {
        let base = self.simple_base(&declared.base).unwrap_or(&declared.base);
        CType { base: base.to_owned(), pointers: declared.pointers.clone() }
    }

    fn simple_base<'a>(&'a self, name: &'a str) -> Option<&'a str> {
        if let Some(alias) = self.aliases.iter().find(|alias| alias.name == name) {
            return Some(match name {
                "ze_bool_t" => name,
                _ if alias.bits_of.is_some() => "ze_flags",
                _ => &alias.target.base,
            });
        }
        if self.is_handle(name) {
            return Some("ze_handle");
        }
        if self.enums.iter().any(|found| found.name == name) {
            return Some("ze_enum");
        }
        if self.is_function(name) {
            return Some("ze_callback");
        }
        self.structure(name).map(|_| "void")
    }
}

impl Struct {
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }
}

impl Version {
    /// As `ZE_MAKE_VERSION` packs it.
    pub fn packed(self) -> u32 {
        u32::from(self.major) << 16 | u32::from(self.minor)
    }
}
