//! The player of all commands of Level Zero: builds the arguments, calls the driver, and notes objects and memory that
//! the command created or destroyed. A command whose recorded result is `ZE_RESULT_ERROR_INVALID_…` is not passed to
//! the driver. A wait that succeeded in the recording may take 60 s (`WAIT_MAX`), after the first one in vain 100 ms
//! (`SETTLE_MAX`); other waits do not wait. Commands that fail here and succeeded there are noted.
//!
//! Passes no handle and no address of a trace to the driver.

use std::thread;
use std::time::{Duration, Instant};

use gapii_commands::{Api, CommandId};
use gapii_trace::description::{Description, Function, Kind as Meaning, Repr};

use super::pieces::Builder;
use super::settle::{SETTLE_MAX, scopes};
use super::words::{self, Words};
use super::{answers, memory, refused};
use crate::call::Call;
use crate::generated::facts::roles;
use crate::names::Kind;
use crate::objects::level_zero::Executor;
use crate::skip::Outcome;

const SUCCESS: u64 = 0;
const NOT_READY: u64 = 1;
/// Lowest `ZE_RESULT_ERROR_INVALID_…`: such a result says that an argument was wrong.
const FIRST_INVALID: u64 = 0x7800_0000;

/// Longest wait for a command whose recorded wait succeeded. After one such wait has timed out, later ones
/// last up to [`SETTLE_MAX`].
const WAIT_MAX: Duration = Duration::from_secs(60);
/// Time between two calls of a command that returns `ZE_RESULT_NOT_READY`.
const POLL: Duration = Duration::from_micros(50);

/// Plays one command. A command whose recorded result says that an argument was wrong is not passed to the
/// driver.
pub fn play(call: &mut Call<'_, '_>) -> Outcome {
    let known = call.command.known().filter(|known| known.api() == Api::LevelZero);
    let command = known.ok_or("it is not described")?;
    let function = Description::built_in().functions().get(command.index());
    let function = function.ok_or("it is not described")?;
    let recorded = call.recorded_result();
    let is_answer = function.result.kind != Meaning::Handle;
    if is_answer && recorded.is_some_and(|result| result >= FIRST_INVALID) {
        // Level Zero does not define what a driver does with wrong arguments.
        return Ok(());
    }
    refused::function(command)?;
    // SAFETY: parameters and result of each Level Zero function that is not refused are words: the test
    // `arguments_of_every_function_fit` counts them, and `Builder` refuses structures by value.
    let driver = unsafe { call.driver::<words::Function>(command.number()) }?;
    memory::update(call)?;
    let mut words = Builder::new(call, function).words()?;
    memory::may_free(call)?;
    let longest = match call.parts.level_zero.has_waited_in_vain {
        true => SETTLE_MAX,
        false => WAIT_MAX,
    };
    let deadline = wait_as_recorded(command, recorded, longest, &mut words);
    let mut result;
    loop {
        // SAFETY: `Builder` made the arguments: handles of the driver, and addresses of memory that the player
        // or the driver owns.
        result = unsafe { words::call(driver, &words) };
        if function.result.repr == Some(Repr::U32) {
            result &= u64::from(u32::MAX);
        }
        if result != NOT_READY || Instant::now() >= deadline || !is_answer {
            break;
        }
        thread::sleep(POLL);
    }
    call.returned(Some(result));
    call.parts.level_zero.has_waited_in_vain |=
        is_answer && recorded == Some(SUCCESS) && result == NOT_READY;
    if recorded == Some(SUCCESS) && result != SUCCESS && is_answer {
        note_failure(call, function, result);
    }
    learn(call, (command, function), result);
    Ok(())
}

/// Notes for the report that a command fails here which succeeded in the recording. Later commands may be
/// skipped because of it.
fn note_failure(call: &mut Call<'_, '_>, function: &Function, result: u64) {
    let name = match function.result.kind {
        Meaning::Enum(group) => Description::built_in().enum_name(group, result),
        _ => None,
    };
    let result = name.map_or_else(|| format!("{result:#x}"), str::to_owned);
    let hint = match call.command.known() {
        Some(CommandId::ZE_INIT | CommandId::ZE_INIT_DRIVERS) => {
            ": Level Zero's loader finds no driver on this machine"
        }
        _ => "",
    };
    call.parts.tally.note(format!("{} fails here, {result}{hint}", function.name));
}

/// Called after the answers were compared: takes the recorded content of memory that the command changed as
/// the content that the program saw.
pub fn after(call: &mut Call<'_, '_>) {
    memory::completed(call);
}

/// Sets the time for which a command waits: up to `longest` if the recorded wait succeeded, otherwise 0.
/// Returns until when a command without such a time is called again.
fn wait_as_recorded(
    command: CommandId,
    recorded: Option<u64>,
    longest: Duration,
    words: &mut Words,
) -> Instant {
    let now = Instant::now();
    let has_succeeded = recorded == Some(SUCCESS);
    match roles::TIMEOUT_NS.param(command) {
        Some(timeout) => {
            words[timeout] = if has_succeeded { longest.as_nanos() as u64 } else { 0 };
            now
        }
        None if has_succeeded => now + longest,
        None => now,
    }
}

/// Notes objects and memory that the command created, and forgets those that it destroyed.
fn learn(call: &mut Call<'_, '_>, (command, function): (CommandId, &Function), result: u64) {
    let scopes = scopes(call);
    if function.result.kind == Meaning::Handle {
        if let Some(recorded) = call.recorded_result() {
            call.parts.names.insert(scopes, Kind::LevelZero, recorded, result);
        }
        return;
    }
    answers::learn_handles(call, scopes);
    if result == SUCCESS {
        // Only a command of an immediate list begins to run here. After others a wait returns at once.
        call.parts.level_zero.is_busy |= roles::SUBMITS.has(command);
        memory::learn(call);
        if let Some(destroyed) = roles::DESTROYED.param(command) {
            let gone = call.bits(destroyed);
            if let Some(real) = call.parts.names.find(scopes, Kind::LevelZero, gone) {
                call.parts.level_zero.executors.remove(&real);
            }
            call.parts.names.remove(scopes, Kind::LevelZero, gone);
        }
        let new =
            [(&roles::NEW_QUEUE, Executor::Queue), (&roles::NEW_IMMEDIATE_LIST, Executor::List)];
        for (role, executor) in new {
            let made = role.param(command).map(|pointer| call.bits(pointer));
            if let Some((_, real)) = made.and_then(|made| answers::pointers(call, made)) {
                call.parts.level_zero.executors.insert(real, executor);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::words::WORDS_MAX;
    use super::*;

    #[test]
    fn wait_lasts_if_the_recorded_one_succeeded() {
        let timeout = |name: &str, recorded| {
            let mut words = [5; WORDS_MAX];
            let command = CommandId::named(name).expect("the name is a command");
            let polls = wait_as_recorded(command, recorded, WAIT_MAX, &mut words) > Instant::now();
            (words[1], polls)
        };
        let long = WAIT_MAX.as_nanos() as u64;
        assert_eq!(timeout("zeFenceHostSynchronize", Some(SUCCESS)), (long, false));
        assert_eq!(timeout("zeFenceHostSynchronize", Some(NOT_READY)), (0, false));
        assert_eq!(timeout("zeEventQueryStatus", Some(SUCCESS)), (5, true));
        assert_eq!(timeout("zeEventQueryStatus", Some(NOT_READY)), (5, false));
    }

    #[test]
    fn destroyed_object_is_the_last_argument() {
        let mut count = 0;
        for command in CommandId::all() {
            let Some(destroyed) = roles::DESTROYED.param(command) else { continue };
            let params = &gapii_commands::descriptions().function(command).params;
            assert_eq!(destroyed + 1, params.len(), "{command}");
            count += 1;
        }
        assert_eq!(count, 18);
    }

    #[test]
    fn arguments_of_every_function_fit() {
        let functions = gapii_commands::descriptions().functions.iter();
        for function in functions.filter(|function| function.api == Api::LevelZero) {
            assert!(function.params.len() <= WORDS_MAX, "{}", function.name);
        }
    }

    #[test]
    fn functions_that_wait_have_their_time_second() {
        let ours = CommandId::all().filter(|command| command.api() == Api::LevelZero);
        let places = ours.filter_map(|command| roles::TIMEOUT_NS.param(command));
        assert_eq!(places.collect::<Vec<_>>(), [1; 4]);
    }
}
