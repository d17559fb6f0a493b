//! Compares a recording of gapii with one of apitrace, command by command.
//!
//! Compares names, the order of each thread, every scalar, enum, bitfield and handle, and results. Handles are addresses
//! and differ from run to run, so they are compared by a one-to-one mapping. For memory, only its presence is compared.

use std::collections::{BTreeMap, HashMap};

use crate::apitrace::{Call, Value};
use crate::enums::Enums;
use crate::gapii::Command;

/// Returns one sentence per difference.
pub fn differences(commands: &[Command], calls: &[Call]) -> Vec<String> {
    let ours = by_thread(commands, |command| command.tid);
    let theirs = by_thread(calls, |call| i64::from(call.thread));
    let mut comparison =
        Comparison { enums: Enums::from_headers(), handles: HashMap::new(), found: Vec::new() };
    if ours.len() != theirs.len() {
        comparison.found.push(format!("{} threads, not {}", ours.len(), theirs.len()));
    }
    for (number, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
        comparison.thread(number, ours, theirs);
    }
    comparison.found
}

/// The items of each thread; threads are ordered by their first item.
fn by_thread<T>(items: &[T], thread: impl Fn(&T) -> i64) -> Vec<Vec<&T>> {
    let mut numbers = BTreeMap::new();
    let mut threads: Vec<Vec<&T>> = Vec::new();
    for item in items {
        let next = threads.len();
        let number = *numbers.entry(thread(item)).or_insert(next);
        if number == next {
            threads.push(Vec::new());
        }
        threads[number].push(item);
    }
    threads
}

struct Comparison {
    enums: &'static Enums,
    /// Our handle for each handle of apitrace.
    handles: HashMap<u64, u64>,
    found: Vec<String>,
}

impl Comparison {
    fn thread(&mut self, number: usize, ours: &[&Command], theirs: &[&Call]) {
        for (at, (command, call)) in ours.iter().zip(theirs).enumerate() {
            if command.name != call.name {
                // Every later command would differ too.
                let place =
                    format!("thread {number}, command {at} (apitrace's call {})", call.number);
                self.found.push(format!("{place}: {} is not {}", command.name, call.name));
                return;
            }
            self.command(command, call);
        }
        if ours.len() != theirs.len() {
            self.found.push(format!(
                "thread {number}: {} commands, not {}",
                ours.len(),
                theirs.len()
            ));
        }
    }

    fn command(&mut self, command: &Command, call: &Call) {
        if command.args.0.len() != call.args.len() {
            self.found.push(format!("{command:?} has other parameters than {call:?}"));
            return;
        }
        for ((name, ours), (_, theirs)) in command.args.0.iter().zip(&call.args) {
            if !self.same(ours, theirs) {
                self.found.push(format!(
                    "{}, {name}: {ours} is not {theirs:?} (call {})",
                    call.name, call.number
                ));
            }
        }
        match &call.result {
            Some(theirs) => self.result(command, theirs, call.number),
            None if command.result.is_null() => {}
            None => self.found.push(format!("{} returned {}", call.name, command.result)),
        }
    }

    fn result(&mut self, command: &Command, theirs: &Value, number: u64) {
        // A new handle: from now on, theirs stands for ours.
        if let (Value::Pointer(theirs), Some(ours)) = (theirs, handle(&command.result)) {
            self.handles.insert(*theirs, ours);
        }
        if !self.same(&command.result, theirs) {
            let Command { name, result, .. } = command;
            self.found.push(format!("{name} returned {result}, not {theirs:?} (call {number})"));
        }
    }

    fn same(&self, ours: &serde_json::Value, theirs: &Value) -> bool {
        match theirs {
            Value::Null => handle(ours) == Some(0),
            Value::Pointer(theirs) => match (self.handles.get(theirs), handle(ours)) {
                (Some(known), Some(ours)) => *known == ours,
                // An address in the program, or memory whose contents our recording has.
                (None, Some(ours)) => ours != 0,
                (_, None) => ours.is_object(),
            },
            Value::Memory => {
                ours.is_object()
                    || ours.is_array()
                    || ours.is_string()
                    || handle(ours).is_some_and(|h| h != 0)
            }
            Value::Integer(theirs) => {
                self.integer(ours) == Some(*theirs) || float(ours) == Some(*theirs as f64)
            }
            Value::Number(theirs) => {
                float(ours).is_some_and(|ours| (ours - theirs).abs() <= 1e-5 * theirs.abs())
            }
            Value::Names(names) => match self.named(names) {
                Some(theirs) => {
                    self.integer(ours) == Some(theirs) || float(ours) == Some(theirs as f64)
                }
                None => false,
            },
        }
    }

    fn integer(&self, value: &serde_json::Value) -> Option<i128> {
        match value {
            serde_json::Value::Bool(value) => Some(i128::from(*value)),
            serde_json::Value::Number(number) => {
                number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from))
            }
            serde_json::Value::String(names) => self.named(names),
            _ => None,
        }
    }

    fn named(&self, names: &str) -> Option<i128> {
        match names {
            "true" => Some(1),
            "false" => Some(0),
            names => self.enums.value(names).map(i128::from),
        }
    }
}

fn float(value: &serde_json::Value) -> Option<f64> {
    value.as_f64()
}

/// A handle or address: a number, or `"0x…"`.
fn handle(value: &serde_json::Value) -> Option<u64> {
    match value {
        serde_json::Value::String(text) => u64::from_str_radix(text.strip_prefix("0x")?, 16).ok(),
        value => value.as_u64(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::gapii::Arguments;

    fn command(args: &[(&str, serde_json::Value)], result: serde_json::Value) -> Command {
        Command {
            seq: Some(0),
            pid: 1,
            tid: 1,
            context: 1,
            frame: 0,
            name: "glTest".into(),
            args: Arguments(
                args.iter().map(|(name, value)| ((*name).into(), value.clone())).collect(),
            ),
            result,
            ..Command::default()
        }
    }

    fn call(args: &[Value], result: Option<Value>) -> Call {
        let args = args.iter().map(|value| ("x".to_owned(), value.clone())).collect();
        Call { number: 1, thread: 0, name: "glTest".into(), args, result }
    }

    #[test]
    fn argument_that_differs_is_found() {
        let check = |ours: serde_json::Value, theirs: Value, same: bool| {
            let found = differences(
                &[command(&[("x", ours.clone())], json!(null))],
                &[call(std::slice::from_ref(&theirs), None)],
            );
            assert_eq!(found.is_empty(), same, "{ours} and {theirs:?}: {found:?}");
        };
        let names = |text: &str| Value::Names(text.to_owned());
        check(json!("GL_TRIANGLES"), names("GL_TRIANGLES"), true);
        check(json!("GL_TRIANGLES"), names("GL_POINTS"), false);
        check(json!("GL_POINTS"), names("GL_NONE"), true);
        check(json!(9987), names("GL_LINEAR_MIPMAP_LINEAR"), true);
        check(json!(true), names("GL_TRUE"), true);
        check(
            json!("GL_COLOR_BUFFER_BIT|GL_DEPTH_BUFFER_BIT"),
            names("GL_DEPTH_BUFFER_BIT | GL_COLOR_BUFFER_BIT"),
            true,
        );
        check(
            json!("GL_COLOR_BUFFER_BIT"),
            names("GL_DEPTH_BUFFER_BIT | GL_COLOR_BUFFER_BIT"),
            false,
        );
        check(json!(-1), Value::Integer(-1), true);
        check(json!(0.1f32), Value::Number(0.1), true);
        check(json!(0.2), Value::Number(0.1), false);
        check(json!(1.0), Value::Integer(1), true);
        check(json!("0x0"), Value::Null, true);
        check(json!({"size": 4}), Value::Null, false);
        check(json!({"size": 4}), Value::Memory, true);
    }

    #[test]
    fn handle_that_changes_sides_is_found() {
        let made = |ours: u64, theirs: u64| {
            (command(&[], json!(ours)), call(&[], Some(Value::Pointer(theirs))))
        };
        let used = |ours: u64, theirs: u64| {
            (command(&[("x", json!(ours))], json!(null)), call(&[Value::Pointer(theirs)], None))
        };
        let check = |third: (Command, Call), same: bool| {
            let (ours, theirs): (Vec<_>, Vec<_>) =
                [made(10, 100), made(20, 200), third].into_iter().unzip();
            assert_eq!(differences(&ours, &theirs).is_empty(), same);
        };
        check(used(20, 200), true);
        check(used(10, 200), false);
    }
}
