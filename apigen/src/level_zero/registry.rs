//! Level Zero as a [`Registry`], so that the rest of the generator takes it like EGL and OpenGL ES.
//!
//! Types are made those that [`ctype`](crate::ctype) knows: what an enum, bits or a handle is called goes
//! into the parameter's group, or nowhere.

use super::ctype::CType;
use super::description::{Description, Function, Member};
use crate::ctype;
use crate::model::Kind;
use crate::origin::Origin;
use crate::registry::{Command, Enumerant, Layout, Param, Registry};

pub fn of(description: &Description) -> Registry {
    let commands = description.functions.iter().map(|function| command(description, function));
    let enumerants = enumerants(description);
    Registry {
        commands: commands.map(|command| (command.name.clone(), command)).collect(),
        constants: enumerants.iter().map(|it| (it.name.clone(), it.value as i64)).collect(),
        profile: enumerants.iter().map(|it| (it.name.clone(), it.value)).collect(),
        core: description.functions.iter().map(|function| function.name.clone()).collect(),
        enumerants,
        ..Registry::default()
    }
}

fn command(description: &Description, function: &Function) -> Command {
    Command {
        name: function.name.clone(),
        result: simple(description, &function.ret),
        result_group: description.group(function.ret.base()).map(str::to_owned),
        params: function.params.iter().map(|member| param(description, member)).collect(),
        alias: None,
        origin: Origin::Whole,
        version: None,
        extensions: Vec::new(),
    }
}

fn param(description: &Description, member: &Member) -> Param {
    let mut ty = simple(description, &member.ctype);
    let is_struct = description.structure(member.ctype.base()).is_some();
    let is_value = is_struct && member.ctype.depth() == 0;
    if is_value {
        ty.pointers.push(true);
    }
    let layout = (is_struct && member.ctype.depth() <= 1)
        .then(|| Layout { name: member.ctype.base().to_owned(), is_value });
    Param {
        name: member.name.clone(),
        ty,
        group: description.group(member.ctype.base()).map(str::to_owned),
        class: None,
        len: None,
        layout,
    }
}

/// A type in the words of [`ctype`].
pub fn simple(description: &Description, of: &CType) -> ctype::CType {
    let base = match of.base() {
        "unsigned int" => "uint32_t",
        name => description.simple_type(name).unwrap_or(name),
    };
    let inner = of.points_at_const();
    let pointers = (0..of.depth()).map(|depth| depth == 0 && inner).collect();
    ctype::CType { base: base.to_owned(), pointers }
}

fn enumerants(description: &Description) -> Vec<Enumerant> {
    let scalars = || description.types.scalars.iter();
    let all = description.types.enums.iter().flat_map(|found| {
        let is_bit = scalars().any(|scalar| scalar.flags_of.as_ref() == Some(&found.name));
        found.values.iter().map(move |(name, value)| Enumerant {
            name: name.clone(),
            value: u64::from(*value),
            groups: vec![found.name.clone()],
            is_bit,
        })
    });
    all.filter(|enumerant| !enumerant.name.ends_with("_FORCE_UINT32")).collect()
}

impl Description {
    /// The enum whose values a type's are, or are made of.
    pub fn group(&self, name: &str) -> Option<&str> {
        let flags = self.types.scalars.iter().find(|scalar| scalar.name == name);
        let flags = flags.and_then(|scalar| scalar.flags_of.as_deref());
        let found = self.types.enums.iter().find(|found| found.name == name);
        flags.or_else(|| found.map(|found| found.name.as_str()))
    }

    /// The enums of structures' fields.
    pub fn groups_of_structs(&self) -> impl Iterator<Item = &str> {
        let fields = self.types.structs.iter().flat_map(|structure| &structure.fields);
        fields.filter_map(|field| self.group(field.ctype.base()))
    }

    /// What a field of a structure, or what it points at, means beyond its size. `group` has the index of an
    /// enum, and whether its values are bits.
    pub fn field_kind(
        &self,
        structure: &str,
        field: &str,
        group: impl Fn(&str) -> Option<(u16, bool)>,
    ) -> Option<Kind> {
        let fields = &self.structure(structure)?.fields;
        let ctype = &fields.iter().find(|known| known.name == field)?.ctype;
        match (self.group(ctype.base()).and_then(group), ctype.base(), ctype.depth()) {
            (Some((index, true)), _, _) => Some(Kind::Bitfield(index)),
            (Some((index, false)), _, _) => Some(Kind::Enum(index)),
            (None, "ze_bool_t", _) => Some(Kind::Bool),
            (None, "char", 0) => Some(Kind::String),
            (None, name, 0) if self.simple_type(name) == Some("ze_handle") => Some(Kind::Handle),
            _ => None,
        }
    }

    /// The base type of [`ctype`] for one of the API's own.
    fn simple_type<'a>(&'a self, name: &'a str) -> Option<&'a str> {
        let types = &self.types;
        if let Some(scalar) = types.scalars.iter().find(|scalar| scalar.name == name) {
            return Some(match name {
                "ze_bool_t" => name,
                _ if scalar.flags_of.is_some() => "ze_flags",
                _ => scalar.c.base(),
            });
        }
        if types.handles.iter().any(|handle| handle.name == name) {
            return Some("ze_handle");
        }
        if types.enums.iter().any(|found| found.name == name) {
            return Some("ze_enum");
        }
        if types.functions.iter().any(|function| function.name == name) {
            return Some("ze_callback");
        }
        self.structure(name).map(|_| "void")
    }
}
