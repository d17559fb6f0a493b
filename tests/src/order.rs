//! Programs whose threads and processes are ordered, by themselves or by the driver alone, and the
//! checks that the merged stream can be what happened.
//!
//! A check names the first command that can't stand where it stands.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command as Process;

use crate::fake_driver;
use crate::gapii::{Command, Session};
use crate::programs::program;

/// How long the fake driver stays in a command after others can see what it did, in turns of a
/// loop: about 100 ns.
const LINGER: &str = "200";

/// Members hand a token round, and the stream has their hops in hand-over order.
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

/// Two threads create and destroy, and no name is given out before its deletion.
#[track_caller]
pub fn check_names(pairs: u64) {
    let commands = record("order_names", &[&pairs.to_string()]);
    let created = commands.iter().filter(|command| command.name == "glGenTextures").count();
    assert_eq!(created as u64, pairs);
    assert_eq!(names_live_once(&commands), Ok(()));
}

/// Two threads fight for a context, and it is acquired only after its release.
#[track_caller]
pub fn check_current(turns: u64) {
    let commands = record("order_current", &[&turns.to_string()]);
    assert_eq!(counts_up(&uniforms(&commands, 0), turns), Ok(()));
    assert_eq!(contexts_have_one_owner(&commands), Ok(()));
}

/// Threads live for one call, and it stands between the main thread's calls before and after.
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

/// `values` are 0, 1, 2 … `count` of them.
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
            && hop.iter().all(|command| command.thread == hop[0].thread);
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
        let thread = command.thread;
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
