//! `apis/level_zero/*.json` as it is read; what no generated file needs of it is passed over.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::ctype::CType;
use crate::naming::{self, id_constant};
use crate::problem::Problem;
use crate::{Error, tree};

const FOLDER: &str = "apis/level_zero";

/// The whole API, as far as the generator is concerned.
#[derive(Clone, Default, Debug)]
pub struct Description {
    pub functions: Vec<Function>,
    pub tables: Vec<Table>,
    /// The functions of `ze_callbacks_t`, in its order.
    pub core_callbacks: Vec<String>,
    /// Tables of the tools' and the system's functions, which are not described.
    pub tool_tables: Vec<ToolTable>,
    pub types: Types,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Function {
    pub name: String,
    pub ret: CType,
    pub params: Vec<Member>,
    /// The version of the API that brought it.
    pub since: Version,
    /// The first version from which every loader has its slot at the same place, if a later one.
    safe_since: Option<Version>,
    /// Name of the function that registers its callbacks.
    pub register: String,
}

/// A parameter, or a member of a structure.
#[derive(Clone, Debug, Deserialize)]
pub struct Member {
    pub name: String,
    #[serde(rename = "type")]
    pub ctype: CType,
    /// The number of elements, of an array.
    pub array: Option<usize>,
    /// Who writes it, or what it points at.
    #[serde(rename = "dir")]
    pub direction: Option<Direction>,
    /// How much a pointer points at.
    pub range: Option<Range>,
    /// The object ends with the call.
    #[serde(default)]
    pub release: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
pub enum Direction {
    #[serde(rename = "in")]
    In,
    #[serde(rename = "out")]
    Out,
    #[serde(rename = "in,out")]
    InOut,
}

/// What is behind a pointer.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(try_from = "String")]
pub enum Range {
    /// So many elements: a number, or what a sibling holds, or points at (`*pCount`).
    Elements(String),
    /// A text up to its zero byte.
    Text,
    /// Pointers to so many texts.
    Texts(String),
}

/// A table of functions, that a component is asked for by the export `get`.
#[derive(Clone, Debug, Deserialize)]
pub struct Table {
    pub name: String,
    pub get: String,
    /// Names of the functions, in order.
    pub slots: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct ToolTable {
    pub get: String,
    /// For each slot the lowest version that has it, at this place.
    pub since: Vec<Version>,
}

#[derive(Clone, Default, Debug, Deserialize)]
pub struct Types {
    pub handles: Vec<Handle>,
    pub scalars: Vec<Scalar>,
    pub functions: Vec<FunctionType>,
    pub enums: Vec<Enum>,
    pub structs: Vec<Struct>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Handle {
    pub name: String,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Scalar {
    pub name: String,
    pub c: CType,
    /// The enum whose values are its bits.
    pub flags_of: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct FunctionType {
    pub name: String,
    pub ret: CType,
    pub params: Vec<CType>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Enum {
    pub name: String,
    pub values: BTreeMap<String, u32>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Struct {
    pub name: String,
    /// In bytes, on systems of 64 bits.
    pub size: usize,
    /// The value of its first field, of one that can stand in a chain.
    pub stype: Option<String>,
    pub fields: Vec<Member>,
}

/// A version of the API, such as `1.17`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Deserialize)]
#[serde(try_from = "String")]
pub struct Version {
    major: u16,
    minor: u16,
}

impl Description {
    /// Reads the description from the repository at `root`.
    pub fn read(root: &Path) -> Result<Self, Error> {
        #[derive(Deserialize)]
        struct Functions {
            functions: Vec<Function>,
        }
        #[derive(Deserialize)]
        struct Tables {
            tables: Vec<Table>,
            core_callbacks: Vec<String>,
            tool_tables: Vec<ToolTable>,
        }
        let Functions { functions } = parse(root, "functions.json")?;
        let Tables { tables, core_callbacks, tool_tables } = parse(root, "tables.json")?;
        let types = parse(root, "types.json")?;
        let description = Self { functions, tables, core_callbacks, tool_tables, types };
        description.check()?;
        Ok(description)
    }

    pub fn structure(&self, name: &str) -> Option<&Struct> {
        self.types.structs.iter().find(|structure| structure.name == name)
    }

    /// The function of that name; [`Description::read`] has seen that it is there.
    pub fn function(&self, name: &str) -> &Function {
        let found = self.functions.iter().find(|function| function.name == name);
        found.expect("every name was looked up when the description was read")
    }

    /// The tables that a driver fills; those of `zer` are the loader's own to fill.
    pub fn drivers_tables(&self) -> impl Iterator<Item = &Table> {
        self.tables.iter().filter(|table| table.name.starts_with("ze_"))
    }

    /// Every table and the list of callbacks name functions that there are.
    fn check(&self) -> Result<(), Error> {
        let named = self.tables.iter().flat_map(|table| &table.slots).chain(&self.core_callbacks);
        let unknown = named.filter(|name| self.functions.iter().all(|known| known.name != **name));
        let problems: Vec<_> = unknown
            .map(|name| Problem {
                file: format!("{FOLDER}/tables.json"),
                line: 0,
                message: format!("{name} is not in functions.json"),
            })
            .collect();
        if problems.is_empty() { Ok(()) } else { Err(Error::Inputs(problems)) }
    }
}

impl Function {
    /// The constant that is its id.
    pub fn constant(&self) -> String {
        id_constant(&self.name)
    }

    /// The lowest version of a table that has its slot, at this place.
    pub fn gate(&self) -> Version {
        self.safe_since.map_or(self.since, |safe| safe.max(self.since))
    }
}

impl Member {
    /// Its name as a Rust identifier.
    pub fn ident(&self) -> String {
        naming::parameter(&self.name)
    }
}

impl Version {
    /// As `ZE_MAKE_VERSION` has it.
    pub fn packed(self) -> u32 {
        u32::from(self.major) << 16 | u32::from(self.minor)
    }

    /// Major and minor number.
    pub fn numbers(self) -> (u16, u16) {
        (self.major, self.minor)
    }
}

impl TryFrom<String> for Version {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let parts = text.split_once('.');
        let parsed =
            parts.and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
        let (major, minor) = parsed.ok_or_else(|| format!("{text} is no version"))?;
        Ok(Self { major, minor })
    }
}

impl TryFrom<String> for Range {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match text.split_once(',') {
            None if text == "text" => Ok(Self::Text),
            Some(("0", count)) => Ok(Self::Elements(count.to_owned())),
            Some(("texts", count)) => Ok(Self::Texts(count.to_owned())),
            _ => Err(format!("`{text}` is no range")),
        }
    }
}

fn parse<T: DeserializeOwned>(root: &Path, name: &str) -> Result<T, Error> {
    let file = format!("{FOLDER}/{name}");
    let text = tree::read(&root.join(&file))?;
    serde_json::from_str(&text).map_err(|error| {
        Error::Inputs(vec![Problem { file, line: error.line(), message: error.to_string() }])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, packed: Option<u32>) {
        assert_eq!(Version::try_from(text.to_owned()).ok().map(Version::packed), packed, "{text}");
    }

    #[test]
    fn versions_are_packed_as_the_api_packs_them() {
        check("1.0", Some(0x1_0000));
        check("1.17", Some(0x1_0011));
        check("1", None);
        check("1.x", None);
        check("1.70000", None);
    }

    #[test]
    fn slot_is_where_it_should_be_from_the_later_of_two_versions_on() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the repository is above");
        let description = Description::read(root).expect("it has no mistakes");
        let gate = |name| description.function(name).gate().packed();
        assert_eq!(gate("zeContextCreate"), 0x1_0000);
        assert_eq!(gate("zeKernelGetBinaryExp"), 0x1_000c);
    }

    #[test]
    fn function_that_only_a_table_has_is_reported() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the repository is above");
        let mut description = Description::read(root).expect("it has no mistakes");
        description.tables[0].slots.push("zeNone".to_owned());
        let error = description.check().expect_err("it is not described").to_string();
        assert_eq!(error, "apis/level_zero/tables.json: zeNone is not in functions.json");
    }
}
