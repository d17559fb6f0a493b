//! Programs whose threads and processes are ordered by themselves or by the driver alone, and checks that the merged
//! stream is a possible order of events.
//!
//! A check names the first command that cannot stand at its place.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command as Process;

use crate::fake_driver;
use crate::gapii::{Command, Session};
use crate::programs::program;

/// Turns of a loop for which the fake driver stays in a command after the command's effect is visible to other
/// threads: about 100 ns.
const LINGER: &str = "200";

/// Members pass a token round; the stream must have their hops in the order in which they passed it.
///
/// `members` are `threads` or `processes`; `direction` is `up` or `down`, see
/// `programs/order_token.c`.
#[track_caller]
pub fn check_token(members: &str, direction: &str, count: u32, hops: u64) {
    let arguments = [members, direction, &count.to_string(), &hops.to_string()];
    let commands = record("order_token", &arguments);
    assert_eq!(counts_up(&uniforms(&commands, 0), hops), Ok(()));
    assert_eq!(hops_stand_together(&commands), Ok(()));
}

/// Two threads create and delete textures; the driver must not give out a name before its deletion.
#[track_caller]
pub fn check_names(pairs: u64) {
    let commands = record("order_names", &[&pairs.to_string()]);
    let created = commands.iter().filter(|command| command.name == "glGenTextures").count();
    assert_eq!(created as u64, pairs);
    assert_eq!(names_live_once(&commands), Ok(()));
}

/// Two threads compete for a context; it must be acquired only after its release.
#[track_caller]
pub fn check_current(turns: u64) {
    let commands = record("order_current", &[&turns.to_string()]);
    assert_eq!(counts_up(&uniforms(&commands, 0), turns), Ok(()));
    assert_eq!(contexts_have_one_owner(&commands), Ok(()));
}

/// Threads make one call each, which must stand between the main thread's calls before and after.
#[track_caller]
pub fn check_first_call(threads: u64) {
    let commands = record("order_first_call", &[&threads.to_string()]);
    assert_eq!(counts_up(&uniforms(&commands, 0), 2 * threads), Ok(()));
}

/// The commands of a program that runs on the fake driver to its end, nothing lost.
#[track_caller]
fn record(name: &str, arguments: &[&str]) -> Vec<Command> {
    let session = Session::new();
    let mut process = Process::new(program(name));
    process.args(arguments).env("FAKE_DRIVER_LINGER", LINGER);
    fake_driver::use_in(&mut process, None::<&Path>);
    let recording = session.record(&[], &process);
    let trace = recording.trace;
    recording.run.ok();
    trace.is_whole("exit");
    trace.commands()
}

/// Values of `glUniform1i(location, v)`, in stream order.
pub fn uniforms(commands: &[Command], location: i64) -> Vec<i64> {
    commands
        .iter()
        .filter(|command| command.name == "glUniform1i" && command.integer("location") == location)
        .map(|command| command.integer("v0"))
        .collect()
}

/// Checks that `values` are 0, 1, 2, …, `count` values in all.
pub fn counts_up(values: &[i64], count: u64) -> Result<(), String> {
    let wrong = values.iter().enumerate().find(|(index, value)| *index as i64 != **value);
    match wrong {
        Some((index, value)) => Err(format!("place {index} has {value}")),
        None if values.len() as u64 != count => Err(format!("{} of {count}", values.len())),
        None => Ok(()),
    }
}

/// Each hop of `programs/order_token.c` is three commands of one thread, and no other thread's stand
/// between them.
pub fn hops_stand_together(commands: &[Command]) -> Result<(), String> {
    const HOP: [&str; 3] = ["glUniform1i", "glGenTextures", "glDeleteTextures"];
    let hops: Vec<_> = commands.iter().filter(|c| HOP.contains(&&*c.name)).collect();
    for hop in hops.chunks(HOP.len()) {
        let whole = hop.len() == HOP.len()
            && hop.iter().zip(HOP).all(|(command, name)| command.name == name)
            && hop.iter().all(|command| command.tid == hop[0].tid);
        if !whole {
            return Err(format!("hop {:?}", hop));
        }
    }
    Ok(())
}

/// A name is given out only while it is free, and deleted only while it is live.
pub fn names_live_once(commands: &[Command]) -> Result<(), String> {
    let mut live = BTreeSet::new();
    for command in commands {
        let allowed = match &*command.name {
            "glGenTextures" => live.insert(command.numbers("textures")[0]),
            "glDeleteTextures" => live.remove(&command.numbers("textures")[0]),
            _ => true,
        };
        if !allowed {
            return Err(format!("{command:?}"));
        }
    }
    Ok(())
}

/// A context is current on one thread at a time.
pub fn contexts_have_one_owner(commands: &[Command]) -> Result<(), String> {
    let mut owner: BTreeMap<i64, i64> = BTreeMap::new();
    for command in commands {
        if command.name != "eglMakeCurrent" || !command.succeeded() {
            continue;
        }
        let thread = command.tid;
        let wanted = command.integer("ctx");
        if owner.get(&wanted).is_some_and(|holder| *holder != thread) {
            return Err(format!("{command:?} while {:?} has it", owner.get(&wanted)));
        }
        owner.retain(|_, holder| *holder != thread);
        if wanted != 0 {
            owner.insert(wanted, thread);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::gapii::Arguments;

    fn command(thread: i64, name: &str, args: &[(&str, Value)], result: Value) -> Command {
        let args = args.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        Command {
            seq: Some(0),
            pid: 1,
            tid: thread,
            context: 1,
            frame: 0,
            name: name.to_owned(),
            args: Arguments(args),
            result,
            ..Command::default()
        }
    }

    fn names(thread: i64, what: &str, name: i64) -> Command {
        command(thread, what, &[("textures", json!({"values": [name]}))], Value::Null)
    }

    fn make_current(thread: i64, context: i64, done: bool) -> Command {
        command(thread, "eglMakeCurrent", &[("ctx", json!(context))], json!(done))
    }

    #[test]
    fn numbers_out_of_order_are_found() {
        let check = |values: &[i64], fine: bool| {
            assert_eq!(counts_up(values, 3).is_ok(), fine, "{values:?}")
        };
        check(&[0, 1, 2], true);
        check(&[0, 2, 1], false);
        check(&[0, 1], false);
        check(&[0, 1, 2, 3], false);
    }

    #[test]
    fn hop_torn_apart_is_found() {
        let hop = |thread| {
            ["glUniform1i", "glGenTextures", "glDeleteTextures"]
                .map(|name| command(thread, name, &[], Value::Null))
        };
        let [a, b, c] = hop(1);
        let [d, e, f] = hop(2);
        let check = |commands: &[&Command], fine: bool| {
            let commands: Vec<_> = commands.iter().copied().cloned().collect();
            assert_eq!(hops_stand_together(&commands).is_ok(), fine, "{commands:?}");
        };
        check(&[&a, &b, &c, &d, &e, &f], true);
        check(&[&a, &b, &d, &c, &e, &f], false);
        check(&[&a, &b, &f, &d, &e, &c], false);
        check(&[&a, &b, &c, &d, &e], false);
    }

    #[test]
    fn name_given_out_before_its_deletion_is_found() {
        let (gen_1, delete_1) = (names(1, "glGenTextures", 1), names(1, "glDeleteTextures", 1));
        let gen_2 = names(2, "glGenTextures", 1);
        assert!(names_live_once(&[gen_1.clone(), delete_1.clone(), gen_2.clone()]).is_ok());
        assert!(names_live_once(&[gen_1, gen_2, delete_1.clone()]).is_err());
        assert!(names_live_once(&[delete_1]).is_err());
    }

    #[test]
    fn context_acquired_before_its_release_is_found() {
        let (take, give) = (make_current(1, 7, true), make_current(1, 0, true));
        let (refused, taken) = (make_current(2, 7, false), make_current(2, 7, true));
        let check = |commands: &[&Command], fine: bool| {
            let commands: Vec<_> = commands.iter().copied().cloned().collect();
            assert_eq!(contexts_have_one_owner(&commands).is_ok(), fine, "{commands:?}");
        };
        check(&[&take, &refused, &give, &taken], true);
        check(&[&take, &taken, &give], false);
    }
}
