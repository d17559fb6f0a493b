//! Commands of Level Zero, all of them played by one player that goes by their descriptions.
//!
//! Every function takes integers and addresses, so a call is a row of words. What makes a word of the
//! recording one of this process is its type: an object is looked up by what the trace called it, what is
//! behind a pointer is built anew from what was observed there (`pieces`), and other addresses are of
//! allocations, which are the driver's own here, or of the program's memory (`allocations`). What the host
//! wrote into memory that it shares with devices is put there before each command that tells of it.
//!
//! Descriptions are this build's and not the trace's: a pointer that a trace calls a number would get to the
//! driver. Sizes of copies are held against the memory that there is (`extents`); other numbers get to the
//! driver as they are, which does not check them either.

mod allocations;
mod extents;
mod pieces;
mod refused;
mod words;

use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, Instant};

use gapii_commands::{Api, CommandId};
use gapii_protocol::trace::description::{Description, Function, Kind as Meaning, Repr};

use crate::call::{Call, Outcome, Skip};
use crate::driver;
use crate::names::{Kind, Scopes};
use allocations::Allocations;
use extents::Extent;
pub use extents::Rows;
use pieces::Builder;
pub use pieces::{Piece, Shape, leaves};
use words::Words;

const SUCCESS: u64 = 0;
const NOT_READY: u64 = 1;
/// Results from here on say that the call was wrong.
const FIRST_INVALID: u64 = 0x7800_0000;

/// Most regions whose rows are known.
const ROWS_MAX: usize = 1 << 16;

/// How long something is waited for that the program had waited for, until it was so in vain once.
const WAIT_MAX: Duration = Duration::from_secs(60);
/// The same from then on, and of what may be waiting for a command that is still to be played.
const SETTLE_MAX: Duration = Duration::from_millis(100);
const POLL: Duration = Duration::from_micros(50);

/// What is known of Level Zero's objects and memory.
#[derive(Default)]
pub struct LevelZero {
    processes: BTreeMap<u32, Allocations>,
    /// What the trace has told of the programs' own memory, by process.
    own_memory: BTreeMap<u32, Allocations>,
    /// What executes something, by the driver's handles.
    executors: BTreeMap<u64, Executor>,
    /// They were given something since they were last waited for.
    is_busy: bool,
    /// Something was waited for that did not come, which may be so again: a command was skipped.
    has_waited_in_vain: bool,
    /// Memory of which lists write only rows, by process and by the first one's address.
    rows: BTreeMap<(u32, u64), Rows>,
    /// What the command at hand points at.
    pieces: Vec<Piece>,
}

/// A queue, or a list that has one of its own.
#[derive(Clone, Copy)]
enum Executor {
    Queue,
    List,
}

impl LevelZero {
    /// Forgets what the command before pointed at.
    pub(crate) fn reset(&mut self) {
        self.pieces.clear();
    }

    fn allocations(&mut self, process: u32) -> &mut Allocations {
        self.processes.entry(process).or_default()
    }

    /// A list will write there.
    fn note_rows(&mut self, process: u32, address: u64, extent: Extent) {
        match extent {
            Extent::Rows { first, rows, .. } if self.rows.len() < ROWS_MAX => {
                self.rows.insert((process, address.wrapping_add(first)), rows);
            }
            _ => {
                self.rows.remove(&(process, address));
            }
        }
    }

    /// Whether one may be at work while another was waited for.
    pub(crate) fn has_several_executors(&self) -> bool {
        self.executors.len() > 1
    }

    /// What the command at hand has where the recording had `address`.
    pub(crate) fn piece(&self, address: u64) -> Option<&Piece> {
        self.pieces.iter().find(|piece| piece.address == address)
    }
}

/// Whether it is a command that is played here.
pub fn describes(name: &str) -> bool {
    number(name).is_some()
}

fn number(name: &str) -> Option<u16> {
    let command = CommandId::named(name).filter(|command| command.api() == Api::LevelZero)?;
    Some(command.number())
}

/// Plays one command.
pub fn play(call: &mut Call<'_, '_>) -> Outcome {
    let name = call.command.name();
    let Some(number) = number(name) else { return Err(Skip::from("it is not described")) };
    let Some(function) = Description::built_in().functions().get(usize::from(number)) else {
        return Err(Skip::from("it is not described"));
    };
    let recorded = call.recorded_result();
    let is_answer = function.result.kind != Meaning::Handle;
    if is_answer && recorded.is_some_and(|result| result >= FIRST_INVALID) {
        // What drivers do with a wrong call is not said.
        return Ok(());
    }
    refused::function(name)?;
    // SAFETY: every function of Level Zero that is not refused is one of words.
    let driver = unsafe { call.driver::<words::Function>(number) }?;
    allocations::update(call)?;
    let mut words = Builder::new(call, function).words()?;
    allocations::may_free(call, function)?;
    let longest = match call.parts.level_zero.has_waited_in_vain {
        true => SETTLE_MAX,
        false => WAIT_MAX,
    };
    let deadline = wait_as_recorded(function, recorded, longest, &mut words);
    let mut result;
    loop {
        // SAFETY: its arguments are the driver's objects, and memory of the player's or the driver's own.
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
    learn(call, function, result);
    Ok(())
}

/// Says that a command fails which had not: others may be skipped because of it.
fn note_failure(call: &mut Call<'_, '_>, function: &Function, result: u64) {
    let name = match function.result.kind {
        Meaning::Enum(group) => Description::built_in().enum_name(group, result),
        _ => None,
    };
    let result = name.map_or_else(|| format!("{result:#x}"), str::to_owned);
    let hint = match &*function.name {
        "zeInit" | "zeInitDrivers" => ": Level Zero's loader finds no driver on this machine",
        _ => "",
    };
    call.parts.report.note(format!("{} fails here, {result}{hint}", function.name));
}

/// What the command changed is compared: now memory of both is what the program saw.
pub fn after(call: &mut Call<'_, '_>) {
    allocations::completed(call);
}

/// What is here for memory of the recording, allocated or the program's own.
pub fn memory<'a>(call: &'a Call<'_, '_>, address: u64, len: usize) -> Option<&'a [u8]> {
    let parts = &*call.parts;
    let allocations = parts.level_zero.processes.get(&call.command.process);
    let allocated = allocations.and_then(|allocations| allocations.bytes(address, len));
    allocated.or_else(|| parts.memory.held(address, len))
}

/// Which bytes of memory that a list has written are its own, if not all of them.
pub fn rows(call: &Call<'_, '_>, address: u64) -> Option<Rows> {
    call.parts.level_zero.rows.get(&(call.command.process, address)).copied()
}

/// Has a command that waits do so for as long as it takes where the program got what it waited for, and
/// not at all where it did not; until when it is asked again.
fn wait_as_recorded(
    function: &Function,
    recorded: Option<u64>,
    longest: Duration,
    words: &mut Words,
) -> Instant {
    /// Of all functions that wait, the second is the time in nanoseconds.
    const TIMEOUT: usize = 1;
    let now = Instant::now();
    let has_timeout = function.params.get(TIMEOUT).is_some_and(|param| param.name == "timeout");
    if recorded != Some(SUCCESS) {
        if has_timeout {
            words[TIMEOUT] = 0;
        }
        return now;
    }
    if has_timeout {
        words[TIMEOUT] = longest.as_nanos() as u64;
        return now;
    }
    now + longest
}

/// Takes note of objects and memory that the driver has made, and forgets what it has taken back.
fn learn(call: &mut Call<'_, '_>, function: &Function, result: u64) {
    let scopes = scopes(call);
    if function.result.kind == Meaning::Handle {
        if let Some(recorded) = call.recorded_result() {
            call.parts.names.insert(scopes, Kind::LevelZero, recorded, result);
        }
        return;
    }
    pieces::learn_handles(call, scopes);
    if result == SUCCESS {
        // Whether a list is immediate does not matter much.
        let gives_work = ["Append", "Execute"].iter().any(|word| function.name.contains(word));
        call.parts.level_zero.is_busy |= gives_work;
        allocations::learn(call, function);
        if function.name.contains("Destroy") {
            let gone = call.bits(0);
            if let Some(real) = call.parts.names.find(scopes, Kind::LevelZero, gone) {
                call.parts.level_zero.executors.remove(&real);
            }
            call.parts.names.remove(scopes, Kind::LevelZero, gone);
        }
        let (executor, made) = match &*function.name {
            "zeCommandQueueCreate" => (Executor::Queue, call.bits(3)),
            "zeCommandListCreateImmediate" => (Executor::List, call.bits(3)),
            _ => return,
        };
        if let Some((_, real)) = pieces::pointers(call, made) {
            call.parts.level_zero.executors.insert(real, executor);
        }
    }
}

/// Waits for what devices are doing, if not for long: it may wait for the host itself.
fn settle(call: &mut Call<'_, '_>) {
    if !std::mem::take(&mut call.parts.level_zero.is_busy) {
        return;
    }
    const QUEUE: u16 = driver::function("zeCommandQueueSynchronize");
    const LIST: u16 = driver::function("zeCommandListHostSynchronize");
    type Synchronize = unsafe extern "C" fn(u64, u64) -> u32;
    let wait_ns = SETTLE_MAX.as_nanos() as u64;
    for (handle, executor) in &call.parts.level_zero.executors {
        let function = match executor {
            Executor::Queue => QUEUE,
            Executor::List => LIST,
        };
        // SAFETY: the type of both.
        if let Ok(synchronize) = unsafe { call.own_driver::<Synchronize>(function) } {
            // SAFETY: a handle that the driver gave out, and not taken back.
            unsafe { synchronize(*handle, wait_ns) };
        }
    }
}

/// Of all objects of the command's process.
fn scopes(call: &mut Call<'_, '_>) -> Scopes {
    call.parts.names.scopes(call.command.process, 0)
}

#[cfg(test)]
mod tests {
    use super::words::WORDS_MAX;
    use super::*;

    #[test]
    fn what_was_waited_for_is_waited_for() {
        let timeout = |name: &str, recorded| {
            let mut words = [5; WORDS_MAX];
            let function = Description::built_in().named(name).expect("it is described");
            let polls = wait_as_recorded(function, recorded, WAIT_MAX, &mut words) > Instant::now();
            (words[1], polls)
        };
        let long = WAIT_MAX.as_nanos() as u64;
        assert_eq!(timeout("zeFenceHostSynchronize", Some(SUCCESS)), (long, false));
        assert_eq!(timeout("zeFenceHostSynchronize", Some(NOT_READY)), (0, false));
        assert_eq!(timeout("zeEventQueryStatus", Some(SUCCESS)), (5, true));
        assert_eq!(timeout("zeEventQueryStatus", Some(NOT_READY)), (5, false));
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
        let functions = Description::built_in().functions().iter();
        let ours = functions.filter(|function| function.api == "level_zero");
        let places = ours.filter_map(|it| it.params.iter().position(|it| it.name == "timeout"));
        assert_eq!(places.collect::<Vec<_>>(), [1; 4]);
    }
}
