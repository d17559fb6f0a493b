//! The description that a trace carries of its commands: decoders use it instead of the tables of their own build. A
//! representation that only later versions know gives no value, an unknown kind reads as a number. Of several functions
//! with one id the first counts. A value without a name in its group is looked up in the group's fallback group.
//!
//! From format version 14 on, a trace describes the functions that occur in it, in [parts](Part): groups and structs keep their
//! indices, so that a description has empty places. Of a group a part may have some of the names.
//!
//! A later version may add representations and kinds. A decoder that does not know one shows the value as a
//! number, or not at all.

use std::borrow::Cow;
use std::sync::OnceLock;

use gapii_abi::atom::META_FIRST;
use gapii_commands::{
    CommandId, Descriptions, EnumGroup, FunctionDesc, LayoutDesc, ParamDesc, TypeRef, descriptions,
};
pub use gapii_commands::{Effect, Kind, Observed, Repr};
use serde::{Deserialize, Serialize};

/// Most names of a group that a trace describes as a whole.
pub const LONG_GROUP: usize = 128;

/// The functions, enum groups and C structs of a trace.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(from = "Tables", into = "Tables")]
pub struct Description {
    functions: Vec<Function>,
    groups: Vec<Group>,
    layouts: Vec<Layout>,
    /// By function id: 1 + index in `functions`, or 0 if no function has the id.
    by_id: Vec<u32>,
}

/// A function of an API.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Function {
    /// Id in record headers, from the build that recorded the trace.
    pub id: u16,
    /// Name as the API spells it.
    pub name: String,
    /// This build's command of the same name, found by [`Description::new`]; `None` if this build has none.
    #[serde(skip)]
    pub known: Option<CommandId>,
    /// Name of the API: `egl`, `gl`, `glx`, `level_zero`.
    pub api: String,
    /// Parameters, in order.
    #[serde(default)]
    pub params: Vec<Param>,
    /// Type of the result.
    pub result: Type,
    /// Bytes of the enter payload before observations, without padding.
    pub fixed_len: u32,
    /// When the command takes effect.
    #[serde(with = "effect_word")]
    pub effect: Effect,
    /// True if the command has a leave record also where nothing is timed.
    pub leaves: bool,
}

/// A parameter of a command.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Param {
    /// Name as the API spells it.
    pub name: String,
    /// Type of the argument.
    #[serde(rename = "type")]
    pub ty: Type,
    /// Offset of the argument in the enter payload, in bytes.
    pub offset: u32,
    /// The record that has a slot for the memory which the argument points at: enter, leave, or none.
    #[serde(with = "observed_word", default = "not_observed")]
    pub observed: Observed,
    /// Type of the elements of that memory, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub element: Option<Type>,
}

/// Representation and meaning of a value.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(from = "TypeWords", into = "TypeWords")]
pub struct Type {
    /// Representation of the value in records; `None` if only later versions know it.
    pub repr: Option<Repr>,
    /// Meaning of the value.
    pub kind: Kind,
}

/// A C struct in the program's memory.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Layout {
    /// Name as the API spells it.
    pub name: String,
    /// Size in bytes.
    pub size: u32,
    /// Value of the first field that identifies this struct in a chain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stype: Option<u32>,
    /// Fields, by offset.
    #[serde(default)]
    pub fields: Vec<Field>,
}

/// A field of a C struct.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Field {
    /// Name as the API spells it.
    pub name: String,
    /// Type of the field. A nested struct has the representation `void` and the kind `struct`.
    #[serde(rename = "type")]
    pub ty: Type,
    /// Offset in the struct, in bytes.
    pub offset: u32,
    /// Number of elements of an array inside of the struct; 0 for a single value.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub len: u32,
    /// Type of the elements that the field points at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub element: Option<Type>,
}

/// The names of an enum or bitfield.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Group {
    /// Name as the API spells it.
    pub name: String,
    /// Values with their names, sorted by value.
    pub values: Vec<(u64, String)>,
    /// Index of the group that names values which this group lacks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<u16>,
}

/// A part of a description: some functions, and groups and structs with their indices.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Part {
    /// Functions.
    pub functions: Vec<Function>,
    /// Groups by index. A group of which there was a part already has further values.
    pub groups: Vec<(u16, Group)>,
    /// C structs by index.
    pub layouts: Vec<(u16, Layout)>,
}

/// Returns the place with this index of a list that grows as needed.
fn place<T: Default + Clone>(list: &mut Vec<T>, index: u16) -> &mut T {
    let index = usize::from(index);
    if list.len() <= index {
        list.resize(index + 1, T::default());
    }
    &mut list[index]
}

/// Returns all names of these functions, structs and groups.
fn names<'a>(
    functions: &'a [Function],
    layouts: impl Iterator<Item = &'a Layout>,
    groups: impl Iterator<Item = &'a Group>,
) -> impl Iterator<Item = &'a str> {
    let functions = functions.iter().flat_map(|function| {
        let params = function.params.iter().map(|param| &param.name);
        [&function.name, &function.api].into_iter().chain(params)
    });
    let layouts = layouts.flat_map(|layout| {
        std::iter::once(&layout.name).chain(layout.fields.iter().map(|field| &field.name))
    });
    let groups = groups.flat_map(|group| {
        std::iter::once(&group.name).chain(group.values.iter().map(|(_, name)| name))
    });
    functions.chain(layouts).chain(groups).map(String::as_str)
}

impl Part {
    /// Returns all names in it.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let (layouts, groups) = (&self.layouts, &self.groups);
        names(
            &self.functions,
            layouts.iter().map(|(_, layout)| layout),
            groups.iter().map(|(_, group)| group),
        )
    }

    /// Returns true if nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.functions.is_empty() && self.groups.is_empty() && self.layouts.is_empty()
    }
}

impl Description {
    /// Makes a description. The indices in types refer to `groups` and `layouts`. If several functions have one
    /// id, the first counts; ids of records that are not commands are ignored.
    pub fn new(mut functions: Vec<Function>, mut groups: Vec<Group>, layouts: Vec<Layout>) -> Self {
        for function in &mut functions {
            function.known = CommandId::named(&function.name);
        }
        for group in &mut groups {
            group.values.sort_by_key(|(value, _)| *value);
        }
        let ids = functions.iter().map(|function| function.id).filter(|id| *id < META_FIRST);
        let mut by_id = vec![0; ids.max().map_or(0, |id| usize::from(id) + 1)];
        for (index, function) in functions.iter().enumerate() {
            if let Some(entry) = by_id.get_mut(usize::from(function.id))
                && *entry == 0
            {
                *entry = index as u32 + 1;
            }
        }
        Self { functions, groups, layouts, by_id }
    }

    /// Adds parts. Functions, structs and names that are described already stay.
    pub fn add(&mut self, parts: impl IntoIterator<Item = Part>) {
        for part in parts {
            part.functions.into_iter().for_each(|function| self.add_function(function));
            for (index, group) in part.groups {
                let place = place(&mut self.groups, index);
                if place.name.is_empty() {
                    (place.name, place.fallback) = (group.name, group.fallback);
                }
                place.values.extend(group.values);
            }
            for (index, layout) in part.layouts {
                let place = place(&mut self.layouts, index);
                if place.name.is_empty() {
                    *place = layout;
                }
            }
        }
        for group in &mut self.groups {
            group.values.sort_by_key(|(value, _)| *value);
            group.values.dedup_by_key(|(value, _)| *value);
        }
    }

    fn add_function(&mut self, mut function: Function) {
        let id = usize::from(function.id);
        if function.id >= META_FIRST || self.by_id.get(id).is_some_and(|entry| *entry != 0) {
            return;
        }
        if self.by_id.len() <= id {
            self.by_id.resize(id + 1, 0);
        }
        function.known = CommandId::named(&function.name);
        self.functions.push(function);
        self.by_id[id] = self.functions.len() as u32;
    }

    /// Returns whether a group, or the one that it falls back to, has many names, of which a trace has only some.
    pub fn is_long(&self, group: u16) -> bool {
        let len = |group: &Group| group.values.len();
        let Some(group) = self.groups.get(usize::from(group)) else { return false };
        let fallback = group.fallback.and_then(|at| self.groups.get(usize::from(at)));
        len(group).max(fallback.map_or(0, len)) > LONG_GROUP
    }

    /// Returns the description of the functions that this build knows. It is made once.
    pub fn built_in() -> &'static Self {
        static BUILT_IN: OnceLock<Description> = OnceLock::new();
        BUILT_IN.get_or_init(|| descriptions().into())
    }

    /// Returns the function with this id.
    #[inline]
    pub fn function(&self, id: u16) -> Option<&Function> {
        let entry = *self.by_id.get(usize::from(id))?;
        self.functions.get((entry as usize).checked_sub(1)?)
    }

    /// Returns all names: of functions and their APIs, parameters, structs, fields, enums and their values.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        names(&self.functions, self.layouts.iter(), self.groups.iter())
    }

    /// Returns all functions.
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// Returns the function with this name.
    pub fn named(&self, name: &str) -> Option<&Function> {
        self.functions.iter().find(|function| function.name == name)
    }

    /// Returns the trace's function for a command of this build.
    pub fn of(&self, command: CommandId) -> Option<&Function> {
        self.functions.iter().find(|function| function.known == Some(command))
    }

    /// Returns a table by function id with `of` of each function, and `none` for ids without one.
    pub fn table<T: Clone>(&self, none: T, of: impl Fn(&Function) -> T) -> Vec<T> {
        let count = self.functions.iter().map(|function| usize::from(function.id) + 1).max();
        let mut table = vec![none; count.unwrap_or(0)];
        for function in &self.functions {
            table[usize::from(function.id)] = of(function);
        }
        table
    }

    /// Returns the C struct with this index.
    pub fn layout(&self, index: u16) -> Option<&Layout> {
        self.layouts.get(usize::from(index))
    }

    /// Returns the C struct that this value of the first field identifies.
    pub fn chained(&self, stype: u32) -> Option<&Layout> {
        self.layouts.iter().find(|layout| layout.stype == Some(stype))
    }

    /// Returns all C structs.
    pub fn layouts(&self) -> &[Layout] {
        &self.layouts
    }

    /// Returns all enum groups.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// Returns the name of `value` in the group with this index, or in its fallback group.
    pub fn enum_name(&self, group: u16, value: u64) -> Option<&str> {
        let group = self.groups.get(usize::from(group))?;
        group.name_of(value).or_else(|| {
            let fallback = self.groups.get(usize::from(group.fallback?))?;
            fallback.name_of(value)
        })
    }

    /// Returns the names of the bits of `value` in the group with this index, lowest bit first, and the
    /// bits without a name. A name of the whole value stands alone.
    pub fn bit_names(&self, group: u16, value: u64) -> (Vec<&str>, u64) {
        let Some(group) = self.groups.get(usize::from(group)) else { return (Vec::new(), value) };
        if let Some(name) = group.name_of(value) {
            return (vec![name], 0);
        }
        let bits = group.values.iter().filter(|(bit, _)| bit.is_power_of_two() && value & bit != 0);
        let named = bits.clone().fold(0, |named, (bit, _)| named | bit);
        (bits.map(|(_, name)| name.as_str()).collect(), value & !named)
    }

    /// Returns the names of the bits of `value` joined by `|`, followed by the bits without a name in
    /// hexadecimal; `0` if no bit is set.
    pub fn bits_text(&self, group: u16, value: u64) -> String {
        let (names, rest) = self.bit_names(group, value);
        match (names.is_empty(), rest) {
            (true, 0) => "0".to_owned(),
            (true, rest) => format!("{rest:#x}"),
            (false, 0) => names.join("|"),
            (false, rest) => format!("{}|{rest:#x}", names.join("|")),
        }
    }
}

impl Function {
    /// Returns the bytes of the leave payload before observations, without padding.
    pub fn result_len(&self) -> usize {
        usize::from(self.result.repr.map_or(8, Repr::size))
    }
}

impl Group {
    /// Returns the name of a value in this group alone.
    pub fn name_of(&self, value: u64) -> Option<&str> {
        let at = self.values.binary_search_by_key(&value, |entry| entry.0).ok()?;
        self.values.get(at).map(|entry| entry.1.as_str())
    }
}

impl Type {
    /// No value: the result of a function that returns nothing.
    pub const VOID: Self = Self { repr: Some(Repr::Void), kind: Kind::Number };

    /// Returns true if there is no value.
    pub fn is_void(self) -> bool {
        self.repr == Some(Repr::Void)
    }
}

impl From<&Descriptions> for Description {
    fn from(tables: &Descriptions) -> Self {
        let groups = tables.groups.iter().map(Group::from).collect();
        let layouts = tables.layouts.iter().map(Layout::from).collect();
        Self::new(tables.functions.iter().map(Function::from).collect(), groups, layouts)
    }
}

impl From<TypeRef> for Type {
    fn from(ty: TypeRef) -> Self {
        Self { repr: Some(ty.repr), kind: ty.kind }
    }
}

impl From<&FunctionDesc> for Function {
    fn from(function: &FunctionDesc) -> Self {
        Self {
            id: function.id,
            name: function.name.to_owned(),
            known: None,
            api: function.api.name().to_owned(),
            params: function.params.iter().map(Param::from).collect(),
            result: function.result.into(),
            fixed_len: u32::from(function.fixed_len),
            effect: function.effect,
            leaves: function.leaves,
        }
    }
}

impl From<&ParamDesc> for Param {
    fn from(param: &ParamDesc) -> Self {
        Self {
            name: param.name.to_owned(),
            ty: param.ty.into(),
            offset: u32::from(param.offset),
            observed: param.observed,
            element: param.element.map(Type::from),
        }
    }
}

impl From<&LayoutDesc> for Layout {
    fn from(layout: &LayoutDesc) -> Self {
        let fields = layout.fields.iter().map(|field| Field {
            name: field.name.to_owned(),
            ty: field.ty.into(),
            offset: field.offset,
            len: field.len,
            element: field.element.map(Type::from),
        });
        let (name, fields) = (layout.name.to_owned(), fields.collect());
        Self { name, size: layout.size, stype: layout.stype, fields }
    }
}

impl From<&EnumGroup> for Group {
    fn from(group: &EnumGroup) -> Self {
        let values = group.values.iter().map(|(value, name)| (*value, (*name).to_owned()));
        Self { name: group.name.to_owned(), values: values.collect(), fallback: group.fallback }
    }
}

/// [`Description`] as it is stored.
#[derive(Serialize, Deserialize)]
struct Tables {
    functions: Vec<Function>,
    groups: Vec<Group>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    layouts: Vec<Layout>,
}

impl From<Tables> for Description {
    fn from(tables: Tables) -> Self {
        Self::new(tables.functions, tables.groups, tables.layouts)
    }
}

impl From<Description> for Tables {
    fn from(description: Description) -> Self {
        let Description { functions, groups, layouts, .. } = description;
        Self { functions, groups, layouts }
    }
}

/// [`Type`] as it is stored.
#[derive(Serialize, Deserialize)]
struct TypeWords {
    repr: Cow<'static, str>,
    #[serde(default = "number")]
    kind: Cow<'static, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    group: Option<u16>,
}

fn number() -> Cow<'static, str> {
    Cow::Borrowed("number")
}

impl From<Type> for TypeWords {
    fn from(ty: Type) -> Self {
        let (kind, group) = ty.kind.name_and_index();
        let repr = ty.repr.map_or("unknown", Repr::name);
        Self { repr: Cow::Borrowed(repr), kind: Cow::Borrowed(kind), group }
    }
}

impl From<TypeWords> for Type {
    fn from(words: TypeWords) -> Self {
        let repr = Repr::named(&words.repr);
        let kind = Kind::named(&words.kind, words.group).unwrap_or(Kind::Number);
        Self { repr, kind }
    }
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

fn not_observed() -> Observed {
    Observed::No
}

/// [`Effect`] as a word. An unknown word means that the flags of the records decide.
mod effect_word {
    use super::{Cow, Deserialize, Effect};

    /// Writes the word.
    ///
    /// # Errors
    /// The serializer's.
    pub fn serialize<S: serde::Serializer>(effect: &Effect, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(match effect {
            Effect::Enter => "enter",
            Effect::Leave => "leave",
            Effect::Recorded => "recorded",
        })
    }

    /// Reads the word.
    ///
    /// # Errors
    /// The deserializer's.
    pub fn deserialize<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Effect, D::Error> {
        Ok(match Cow::<str>::deserialize(from)?.as_ref() {
            "enter" => Effect::Enter,
            "leave" => Effect::Leave,
            _ => Effect::Recorded,
        })
    }
}

/// [`Observed`] as a word.
mod observed_word {
    use super::{Cow, Deserialize, Observed};

    /// Writes the word.
    ///
    /// # Errors
    /// The serializer's.
    pub fn serialize<S: serde::Serializer>(observed: &Observed, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(match observed {
            Observed::No => "no",
            Observed::In => "in",
            Observed::Out => "out",
        })
    }

    /// Reads the word.
    ///
    /// # Errors
    /// The deserializer's.
    pub fn deserialize<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Observed, D::Error> {
        Ok(match Cow::<str>::deserialize(from)?.as_ref() {
            "in" => Observed::In,
            "out" => Observed::Out,
            _ => Observed::No,
        })
    }
}
