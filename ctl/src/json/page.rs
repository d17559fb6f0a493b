//! Writes the tables of docs/json.md from the schemas, and checks that the page has them. `GAPII_UPDATE_EXPECTED=1 cargo
//! nextest run -p gapii-ctl json` rewrites them.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::Value;

use super::schema::{FORMS, Form, schema};

/// The tables stand between these lines.
const BEGIN: &str = "<!-- tables: begin -->\n";
const END: &str = "<!-- tables: end -->\n";

/// Definitions that several places refer to, by name: each has a section of its own.
type Parts = BTreeMap<String, Value>;

/// A schema with the definitions that it refers to.
struct Page<'a> {
    root: &'a Value,
    parts: &'a Parts,
}

/// A field: its path, its type and its meaning.
type Row = [String; 3];

/// Returns the sections of all forms, and of the parts that they share.
fn tables() -> String {
    let schemas: Vec<_> = FORMS.iter().map(|form| (form, schema(form))).collect();
    let parts = shared_parts(schemas.iter().map(|(_, schema)| schema));
    let mut text = String::new();
    for (form, schema) in &schemas {
        let page = Page { root: schema, parts: &parts };
        add_section(&mut text, form.command, &page.introduction(form), &page.rows(schema));
    }
    text += "\n## Parts\n\nObjects that stand in several answers.\n";
    for (name, part) in &parts {
        // The definitions that a part refers to are in the form in which it stands.
        let root = schemas
            .iter()
            .map(|(_, schema)| schema)
            .find(|schema| schema.pointer(&format!("/$defs/{name}")).is_some());
        let page = Page { root: root.expect("some form has it"), parts: &parts };
        add_section(&mut text, name, &description(part), &page.rows(part));
    }
    text + "\n"
}

/// Returns the definitions with fields that are referred to more than once.
///
/// # Panics
/// If two forms define the same name differently.
fn shared_parts<'v>(schemas: impl Iterator<Item = &'v Value>) -> Parts {
    let mut counts = BTreeMap::<String, usize>::new();
    let mut parts = Parts::new();
    for schema in schemas {
        count_references(schema, &mut counts);
        let definitions = schema.get("$defs").and_then(Value::as_object).into_iter().flatten();
        for (name, part) in definitions.filter(|(_, part)| part.get("properties").is_some()) {
            let known = parts.entry(name.clone()).or_insert_with(|| part.clone());
            assert_eq!(known, part, "two types of the JSON output have the name {name}");
        }
    }
    parts.retain(|name, _| counts.get(name).is_some_and(|count| *count > 1));
    parts
}

fn count_references(schema: &Value, counts: &mut BTreeMap<String, usize>) {
    if let Some(name) = reference(schema) {
        *counts.entry(name.to_owned()).or_default() += 1;
    }
    match schema {
        Value::Object(keywords) => {
            keywords.values().for_each(|part| count_references(part, counts))
        }
        Value::Array(parts) => parts.iter().for_each(|part| count_references(part, counts)),
        _ => {}
    }
}

/// Returns the name of the definition that a schema refers to.
fn reference(schema: &Value) -> Option<&str> {
    schema.get("$ref")?.as_str()?.strip_prefix("#/$defs/")
}

fn add_section(text: &mut String, title: &str, introduction: &str, rows: &[Row]) {
    // Writing to a string can't fail.
    let _ = write!(text, "\n### {title}\n\n{introduction}\n");
    if !rows.is_empty() {
        *text += "\n| field | type | meaning |\n|---|---|---|\n";
    }
    for [path, kind, meaning] in rows {
        let _ = writeln!(text, "| `{path}` | {kind} | {} |", meaning.replace('|', "\\|"));
    }
}

impl<'a> Page<'a> {
    fn introduction(&self, form: &Form) -> String {
        let own = description(self.root);
        let what = match own.is_empty() {
            true => description(self.resolved(self.root.get("items").unwrap_or(self.root))),
            false => own,
        };
        let form = match () {
            () if self.root.get("items").is_some() => "A list. ",
            () if form.is_lines() => "One document in each line. ",
            () => "",
        };
        format!("{form}{what}")
    }

    fn rows(&self, schema: &'a Value) -> Vec<Row> {
        let mut rows = Vec::new();
        self.add_rows(schema, "", &mut rows);
        rows
    }

    /// Adds a row for each field of `schema`, and for the fields of its parts, as paths such as `skips[].seq`.
    fn add_rows(&self, schema: &'a Value, path: &str, rows: &mut Vec<Row>) {
        if !path.is_empty() && self.shared(schema).is_some() {
            return;
        }
        let schema = self.resolved(schema);
        if let Some(items) = schema.get("items") {
            if path.is_empty()
                && let Some(part) = self.shared(items)
            {
                return rows.push(["[]".to_owned(), link(part), description(self.resolved(items))]);
            }
            return self.add_rows(items, &format!("{path}[]"), rows);
        }
        for choice in ["oneOf", "anyOf", "allOf"] {
            for part in schema.get(choice).and_then(Value::as_array).into_iter().flatten() {
                self.add_rows(part, path, rows);
            }
        }
        let required = schema.get("required").and_then(Value::as_array);
        let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|it| it == name));
        let fields = schema.get("properties").and_then(Value::as_object);
        let is_variant = fields.is_some_and(|fields| fields.len() == 1);
        for (name, part) in fields.into_iter().flatten() {
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            let absent = if is_required(name) { "" } else { ", may be absent" };
            let meaning = match description(part) {
                // The description of a variant stands beside its only field.
                own if own.is_empty() && is_variant => description(schema),
                own => own,
            };
            let row = [path.clone(), self.kind(part) + absent, meaning];
            // Alternatives share fields.
            if !rows.contains(&row) {
                rows.push(row);
            }
            self.add_rows(part, &path, rows);
            let values = part.get("additionalProperties").filter(|values| values.is_object());
            if let Some(values) = values {
                self.add_rows(values, &format!("{path}.*"), rows);
            }
        }
    }

    /// Returns the name of the part with a section of its own to which `schema` refers.
    fn shared(&self, schema: &'a Value) -> Option<&'a str> {
        reference(schema).filter(|name| self.parts.contains_key(*name))
    }

    fn resolved(&self, schema: &'a Value) -> &'a Value {
        let definition = |name| self.root.get("$defs")?.get(name);
        reference(schema).and_then(definition).unwrap_or(schema)
    }

    /// Returns the type of a field in words.
    fn kind(&self, schema: &'a Value) -> String {
        if let Some(part) = self.shared(schema) {
            return link(part);
        }
        let schema = self.resolved(schema);
        if let Some(word) = schema.get("const") {
            return format!("`{word}`");
        }
        if let Some(words) = schema.get("enum").and_then(Value::as_array) {
            return words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
        }
        for choice in ["oneOf", "anyOf"] {
            if let Some(parts) = schema.get(choice).and_then(Value::as_array) {
                let mut kinds: Vec<_> = parts.iter().map(|part| self.kind(part)).collect();
                kinds.dedup();
                return kinds.join(" or ");
            }
        }
        match schema.get("type") {
            Some(Value::String(name)) => self.of_elements(schema, name),
            Some(Value::Array(names)) => {
                let names = names.iter().filter_map(Value::as_str);
                names.map(|name| self.of_elements(schema, name)).collect::<Vec<_>>().join(" or ")
            }
            _ => "any".to_owned(),
        }
    }

    fn of_elements(&self, schema: &'a Value, name: &str) -> String {
        match (name, schema.get("items"), schema.get("additionalProperties")) {
            ("array", Some(items), _) => format!("list of {}", self.kind(items)),
            ("object", _, Some(values)) if values.is_object() => {
                format!("map to {}", self.kind(values))
            }
            _ => name.to_owned(),
        }
    }
}

fn link(part: &str) -> String {
    format!("[{part}](#{})", part.to_lowercase())
}

fn description(schema: &Value) -> String {
    schema.get("description").and_then(Value::as_str).unwrap_or_default().to_owned()
}

#[test]
fn tables_of_the_page_are_those_of_the_code() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/json.md");
    let page = std::fs::read_to_string(path).expect("the page");
    let (before, rest) = page.split_once(BEGIN).expect("the line before the tables");
    let (_, after) = rest.split_once(END).expect("the line after the tables");
    let expected = format!("{before}{BEGIN}{}{END}{after}", tables());
    if std::env::var_os("GAPII_UPDATE_EXPECTED").is_some() {
        std::fs::write(path, &expected).expect("the page can be written");
    } else {
        assert!(page == expected, "docs/json.md is stale; see ctl/src/json/page.rs");
    }
}

#[test]
fn every_field_has_a_meaning() {
    let tables = tables();
    let without: Vec<_> = tables.lines().filter(|line| line.ends_with("|  |")).collect();
    assert_eq!(without, Vec::<&str>::new());
}
