//! Level Zero's JSON: from `functions.json`, and `types.json` and `tables.json` beside it, to a [`Registry`]. Keys that
//! no generated file needs are ignored. A table that names an unknown function is a mistake; if the files are not among
//! the texts, the registry is empty.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::commands::{Command, Enumerant, Layout, Param, Registry};
use super::types::{
    Alias, Direction, Enum, Field, FunctionType, Range, Struct, Table, ToolTable, Types, Version,
};
use crate::apis::ApiFacts;
use crate::ctype::CType;
use crate::origin::Origin;
use crate::problem::{Error, Problem};

/// Parses the registry of an API; `texts` are the contents of its files. Without them the registry is empty.
pub fn parse(api: &ApiFacts, texts: &BTreeMap<String, String>) -> Result<Registry, Error> {
    let files = api.registry_files();
    let files: Vec<_> = files.iter().filter_map(|file| texts.get_key_value(file)).collect();
    let [functions, types, tables] = files.as_slice() else { return Ok(Registry::default()) };
    let JsonFunctions { functions } = json(functions)?;
    let types = Types::from(json::<JsonTypes>(types)?);
    let listed: JsonTables = json(tables)?;
    let commands = functions.into_iter().map(|function| command(&types, function));
    let commands: BTreeMap<_, _> =
        commands.map(|command| (command.name.clone(), command)).collect();
    let unknown = listed.names().filter(|name| !commands.contains_key(*name));
    let problems: Vec<_> = unknown
        .map(|name| Problem {
            file: tables.0.clone(),
            line: 0,
            message: format!("{name} is not in functions.json"),
        })
        .collect();
    if !problems.is_empty() {
        return Err(Error::Inputs(problems));
    }
    let enumerants = enumerants(&types);
    Ok(Registry {
        constants: enumerants.iter().map(|it| (it.name.clone(), it.value as i64)).collect(),
        profile: enumerants.iter().map(|it| (it.name.clone(), it.value)).collect(),
        core: commands.keys().cloned().collect(),
        commands,
        enumerants,
        types,
        tables: listed.tables.into_iter().map(Table::from).collect(),
        tool_tables: listed.tool_tables.into_iter().map(ToolTable::from).collect(),
        core_callbacks: listed.core_callbacks,
        ..Registry::default()
    })
}

fn json<T: DeserializeOwned>(&(file, text): &(&String, &String)) -> Result<T, Error> {
    serde_json::from_str(text).map_err(|error| {
        let (line, message) = (error.line(), error.to_string());
        Error::Inputs(vec![Problem { file: file.clone(), line, message }])
    })
}

fn command(types: &Types, function: JsonFunction) -> Command {
    let JsonFunction { name, ret, params, since, safe_since, register } = function;
    Command {
        name,
        result: types.simplified(&ret.0),
        result_group: types.group(&ret.0.base).map(str::to_owned),
        declared_result: ret.0,
        params: params.into_iter().map(|member| param(types, member)).collect(),
        alias: None,
        origin: Origin::Whole,
        version: None,
        desktop_version: None,
        extensions: Vec::new(),
        slot_since: Some(safe_since.map_or(since.0, |safe| safe.0.max(since.0))),
        registration: Some(register),
    }
}

fn param(types: &Types, member: JsonMember) -> Param {
    let declared = member.ty.0;
    let mut ty = types.simplified(&declared);
    let is_struct = types.structure(&declared.base).is_some();
    let is_value = is_struct && !declared.is_pointer();
    if is_value {
        ty.pointers.push(true);
    }
    let layout = (is_struct && declared.pointers.len() <= 1)
        .then(|| Layout { name: declared.base.clone(), is_value });
    Param {
        name: member.name,
        ty,
        group: types.group(&declared.base).map(str::to_owned),
        declared,
        class: None,
        len: None,
        layout,
        direction: member.dir.map(Direction::from),
        range: member.range.map(|range| range.0),
        is_released: member.release,
    }
}

fn enumerants(types: &Types) -> Vec<Enumerant> {
    let all = types.enums.iter().flat_map(|found| {
        let is_bit = types.aliases.iter().any(|alias| alias.bits_of.as_ref() == Some(&found.name));
        found.values.iter().map(move |(name, value)| Enumerant {
            name: name.clone(),
            value: u64::from(*value),
            groups: vec![found.name.clone()],
            is_bit,
        })
    });
    all.filter(|enumerant| !enumerant.name.ends_with("_FORCE_UINT32")).collect()
}

#[derive(Deserialize)]
struct JsonFunctions {
    functions: Vec<JsonFunction>,
}

#[derive(Deserialize)]
struct JsonFunction {
    name: String,
    ret: JsonType,
    params: Vec<JsonMember>,
    /// The version of the API that brought the function.
    since: JsonVersion,
    /// The first version from which every loader has the slot at the same place, if a later one.
    safe_since: Option<JsonVersion>,
    register: String,
}

/// A parameter, or a field of a structure.
#[derive(Deserialize)]
struct JsonMember {
    name: String,
    #[serde(rename = "type")]
    ty: JsonType,
    array: Option<usize>,
    dir: Option<JsonDirection>,
    range: Option<JsonRange>,
    #[serde(default)]
    release: bool,
}

#[derive(Deserialize)]
enum JsonDirection {
    #[serde(rename = "in")]
    In,
    #[serde(rename = "out")]
    Out,
    #[serde(rename = "in,out")]
    InOut,
}

#[derive(Deserialize)]
struct JsonTypes {
    handles: Vec<JsonHandle>,
    scalars: Vec<JsonScalar>,
    functions: Vec<JsonFunctionType>,
    enums: Vec<JsonEnum>,
    structs: Vec<JsonStruct>,
}

#[derive(Deserialize)]
struct JsonHandle {
    name: String,
}

#[derive(Deserialize)]
struct JsonScalar {
    name: String,
    c: JsonType,
    flags_of: Option<String>,
}

#[derive(Deserialize)]
struct JsonFunctionType {
    name: String,
    ret: JsonType,
    params: Vec<JsonType>,
}

#[derive(Deserialize)]
struct JsonEnum {
    name: String,
    values: BTreeMap<String, u32>,
}

#[derive(Deserialize)]
struct JsonStruct {
    name: String,
    size: usize,
    stype: Option<String>,
    fields: Vec<JsonMember>,
}

#[derive(Deserialize)]
struct JsonTables {
    tables: Vec<JsonTable>,
    core_callbacks: Vec<String>,
    tool_tables: Vec<JsonToolTable>,
}

#[derive(Deserialize)]
struct JsonTable {
    name: String,
    get: String,
    slots: Vec<String>,
}

#[derive(Deserialize)]
struct JsonToolTable {
    get: String,
    since: Vec<JsonVersion>,
}

/// A type as C spells it.
#[derive(Deserialize)]
#[serde(try_from = "String")]
struct JsonType(CType);

/// `text`, `0,COUNT` or `texts,COUNT`.
#[derive(Deserialize)]
#[serde(try_from = "String")]
struct JsonRange(Range);

/// `MAJOR.MINOR`.
#[derive(Clone, Copy, Deserialize)]
#[serde(try_from = "String")]
struct JsonVersion(Version);

impl JsonTables {
    /// Every function that a table or the list of callbacks names.
    fn names(&self) -> impl Iterator<Item = &String> {
        self.tables.iter().flat_map(|table| &table.slots).chain(&self.core_callbacks)
    }
}

impl From<JsonTypes> for Types {
    fn from(types: JsonTypes) -> Self {
        let alias = |it: JsonScalar| Alias { name: it.name, target: it.c.0, bits_of: it.flags_of };
        let function = |it: JsonFunctionType| FunctionType {
            name: it.name,
            result: it.ret.0,
            params: it.params.into_iter().map(|param| param.0).collect(),
        };
        let field = |it: JsonMember| Field {
            name: it.name,
            ty: it.ty.0,
            array: it.array,
            range: it.range.map(|range| range.0),
        };
        let structure = |it: JsonStruct| Struct {
            name: it.name,
            size: it.size,
            stype: it.stype,
            fields: it.fields.into_iter().map(field).collect(),
        };
        Self {
            handles: types.handles.into_iter().map(|handle| handle.name).collect(),
            aliases: types.scalars.into_iter().map(alias).collect(),
            functions: types.functions.into_iter().map(function).collect(),
            enums: types
                .enums
                .into_iter()
                .map(|it| Enum { name: it.name, values: it.values })
                .collect(),
            structs: types.structs.into_iter().map(structure).collect(),
        }
    }
}

impl From<JsonTable> for Table {
    fn from(table: JsonTable) -> Self {
        Self { name: table.name, export: table.get, slots: table.slots }
    }
}

impl From<JsonToolTable> for ToolTable {
    fn from(table: JsonToolTable) -> Self {
        let since = table.since.into_iter().map(|version| version.0).collect();
        Self { export: table.get, since }
    }
}

impl From<JsonDirection> for Direction {
    fn from(direction: JsonDirection) -> Self {
        match direction {
            JsonDirection::In => Self::In,
            JsonDirection::Out => Self::Out,
            JsonDirection::InOut => Self::InOut,
        }
    }
}

impl TryFrom<String> for JsonType {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        CType::parse(&text).map(Self).ok_or_else(|| format!("`{text}` is not a type"))
    }
}

impl TryFrom<String> for JsonVersion {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let parts = text.split_once('.');
        let parsed =
            parts.and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
        let (major, minor) = parsed.ok_or_else(|| format!("{text} is not a version"))?;
        Ok(Self(Version { major, minor }))
    }
}

impl TryFrom<String> for JsonRange {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match text.split_once(',') {
            None if text == "text" => Ok(Self(Range::Text)),
            Some(("0", count)) => Ok(Self(Range::Elements(count.to_owned()))),
            Some(("texts", count)) => Ok(Self(Range::Texts(count.to_owned()))),
            _ => Err(format!("`{text}` is not a range")),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::apis::Api;

    /// Level Zero, and the files of its registry.
    fn level_zero() -> (Api, BTreeMap<String, String>) {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let list = crate::apis::read(root).unwrap();
        let api = list.into_iter().find(|api| api.is_json()).unwrap();
        let read = |file: String| (file.clone(), crate::tree::read(&root.join(file)).unwrap());
        let texts = api.registry_files().into_iter().map(read).collect();
        (api, texts)
    }

    #[track_caller]
    fn check(text: &str, packed: Option<u32>) {
        let version = JsonVersion::try_from(text.to_owned()).ok();
        assert_eq!(version.map(|version| version.0.packed()), packed, "{text}");
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
        let (api, texts) = level_zero();
        let registry = parse(&api, &texts).unwrap();
        let since = |name| registry.commands[name].slot_since.map(Version::packed);
        assert_eq!(since("zeContextCreate"), Some(0x1_0000));
        assert_eq!(since("zeKernelGetBinaryExp"), Some(0x1_000c));
    }

    #[test]
    fn function_that_only_a_table_has_is_reported() {
        let (api, mut texts) = level_zero();
        let text = texts.get_mut("apis/level_zero/tables.json").unwrap();
        *text = text.replacen("\"slots\": [", "\"slots\": [\"zeNone\", ", 1);
        let error = parse(&api, &texts).unwrap_err().to_string();
        assert_eq!(error, "apis/level_zero/tables.json: zeNone is not in functions.json");
    }
}
