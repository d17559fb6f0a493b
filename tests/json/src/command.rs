//! A line of `gapii-ctl dump --json`. A field that is missing is an error; [`Command::argument`] and what uses it panic
//! with the whole command if it has no such argument.

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::Value;

/// A line of `gapii-ctl dump --json`.
#[derive(Debug, Clone, Default, Deserialize, PartialEq)]
pub struct Command {
    /// `None` for a command that did not take effect.
    pub seq: Option<u64>,
    /// Process id of the operating system.
    pub pid: i64,
    /// Thread id of the operating system.
    pub tid: i64,
    pub context: u64,
    pub frame: u64,
    pub name: String,
    pub args: Arguments,
    pub result: Value,
    #[serde(default)]
    pub in_flight: bool,
    /// Part of a snapshot: the program did not call it.
    #[serde(default)]
    pub setup: bool,
    /// The arguments as the program passed them, if a tracer changed any.
    pub made: Option<Arguments>,
    /// The result that the program got, if a tracer changed it.
    pub given: Option<Value>,
    /// A tracer kept it from the driver.
    #[serde(default)]
    pub skipped: bool,
    /// A tracer's callback made it.
    #[serde(default)]
    pub tracer: bool,
    /// Memory that the driver wrote and that no array of known length describes.
    #[serde(default)]
    pub writes: Vec<Written>,
}

/// Memory that the driver wrote.
#[derive(Debug, Clone, Deserialize, PartialEq)]
pub struct Written {
    /// In bytes.
    pub size: u64,
}

/// Names and values in the order of the parameters.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Arguments(pub Vec<(String, Value)>);

impl Command {
    /// An argument.
    #[track_caller]
    pub fn argument(&self, name: &str) -> &Value {
        let found = self.args.0.iter().find(|(known, _)| known == name);
        &found.unwrap_or_else(|| panic!("no argument {name}: {self:?}")).1
    }

    /// An argument that is a number, a handle or a name.
    #[track_caller]
    pub fn integer(&self, name: &str) -> i64 {
        let value = self.argument(name);
        value.as_i64().unwrap_or_else(|| panic!("{name} is no number: {self:?}"))
    }

    /// An argument as the program passed it, if a tracer changed arguments; null otherwise.
    pub fn made_with(&self, name: &str) -> Value {
        let mut made = self.made.iter().flat_map(|made| &made.0);
        made.find(|(known, _)| known == name).map_or(Value::Null, |(_, value)| value.clone())
    }

    /// The elements of an array of numbers that was observed.
    #[track_caller]
    pub fn numbers(&self, name: &str) -> Vec<i64> {
        let values = self.argument(name)["values"].as_array();
        let values = values.unwrap_or_else(|| panic!("{name} was not observed: {self:?}"));
        values.iter().filter_map(Value::as_i64).collect()
    }

    /// Returns true if the command's result is true.
    pub fn succeeded(&self) -> bool {
        self.result == Value::Bool(true)
    }
}

impl<'de> Deserialize<'de> for Arguments {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Arguments;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object of arguments")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Arguments, A::Error> {
                let mut arguments = Vec::new();
                while let Some(argument) = map.next_entry()? {
                    arguments.push(argument);
                }
                Ok(Arguments(arguments))
            }
        }
        from.deserialize_map(InOrder)
    }
}
