//! Statistics of a trace: commands by function, frame and thread, memory, redundant state changes, and the driver's
//! and the GPU's time if they were measured. A change is redundant if a command that only sets state (GLES, no result, no pointer, no
//! `act` role) leaves all tracked state as it was. Commands of snapshots count as `setup_commands` alone; commands in
//! flight have no time. Lists functions, and the slowest commands, 10 unless another number is asked for. Sums of times
//! saturate.

use std::collections::{BTreeMap, HashMap};

use gapii_commands::Api;
use gapii_follow::follow::Follower;
use gapii_state::changes::{self, Changes};
use gapii_trace::Command;
use gapii_trace::description::{Function, Kind, Observed};
use gapii_trace::filter::Filter;
use gapii_trace::value::Observation;
use schemars::JsonSchema;
use serde::Serialize;

use crate::role::Role;

/// Number of commands in [`Stats::slowest`], unless [`Counter::listing`] has another one.
const SLOWEST_MAX: usize = 10;

/// Counts of a trace.
#[derive(Clone, PartialEq, Debug, Default, Serialize, JsonSchema)]
pub struct Stats {
    /// Number of commands that the program called.
    pub commands: u64,
    /// Commands of snapshots, which the program did not call. No other count includes them.
    pub setup_commands: u64,
    /// Draws.
    pub draws: u64,
    /// Compute dispatches.
    pub dispatches: u64,
    /// Commands that only set state.
    pub state_changes: u64,
    /// State changes that set the current value again.
    pub redundant_changes: u64,
    /// Bytes that the program passed to the driver for buffers and textures.
    pub uploaded_bytes: u64,
    /// Bytes that draws read from the program's own memory.
    pub client_bytes: u64,
    /// Bytes that the driver wrote into the program's memory.
    pub read_back_bytes: u64,
    /// The driver's time; `None` if no command was timed. All fields of this type have this meaning.
    pub driver: Option<Durations>,
    /// The driver's time per frame.
    pub driver_in_frames: Option<Spread>,
    /// The GPU's time; `None` if no command was timed there.
    pub gpu: Option<Durations>,
    /// The GPU's time per frame.
    pub gpu_in_frames: Option<Spread>,
    /// The commands with the longest times in the driver, at most 10 or the number of `--top`, the longest first. With
    /// `--function` those of the chosen functions.
    pub slowest: Vec<SlowCommand>,
    /// By function, sorted by name; with `--function` only these, and with `--top` only the first of them.
    pub functions: Vec<FunctionStats>,
    /// By process and frame.
    pub frames: Vec<FrameStats>,
    /// By thread.
    pub threads: Vec<ThreadStats>,
}

/// Commands of one function.
#[derive(Clone, PartialEq, Debug, Default, Serialize, JsonSchema)]
pub struct FunctionStats {
    /// Name of the function.
    pub name: String,
    /// Number of calls.
    pub commands: u64,
    /// Bytes that the calls read from the program's memory.
    pub read_bytes: u64,
    /// Bytes that the calls wrote into the program's memory.
    pub written_bytes: u64,
    /// Calls that only set state, and set the current value again.
    pub redundant: u64,
    /// The driver's time for these calls.
    pub driver: Option<Durations>,
    /// The GPU's time for these calls.
    pub gpu: Option<Durations>,
}

/// Durations of commands, in the driver or on the GPU.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, JsonSchema)]
pub struct Durations {
    /// Timed commands. Commands in flight at the end are not timed. On the GPU each execution of a command in a list counts.
    pub commands: u64,
    /// Sum of their times, in nanoseconds.
    pub total_ns: u64,
    /// Mean time, in nanoseconds.
    pub mean_ns: u64,
    /// Longest time, in nanoseconds.
    pub max_ns: u64,
    /// Number of the first command with the longest time; `None` if that command took no effect.
    pub max_seq: Option<u64>,
    /// Share of the time of all commands, from 0 to 1.
    pub share: f64,
}

/// A command with a long time in the driver.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, JsonSchema)]
pub struct SlowCommand {
    /// Number of the command; `None` if it took no effect.
    pub seq: Option<u64>,
    /// Name of the function.
    pub name: String,
    /// Index of its process in the trace.
    pub process: u32,
    /// Number of the frame.
    pub frame: u64,
    /// Thread id of the operating system.
    pub tid: u32,
    /// The driver's time, in nanoseconds.
    pub driver_ns: u64,
}

/// Minimum, median and maximum.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, JsonSchema)]
pub struct Spread {
    /// Minimum, in nanoseconds.
    pub min_ns: u64,
    /// Median, in nanoseconds.
    pub median_ns: u64,
    /// Maximum, in nanoseconds.
    pub max_ns: u64,
}

/// Commands of one frame of a process. The last entry of a process may be a frame that did not end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, JsonSchema)]
pub struct FrameStats {
    /// Index in the trace.
    pub process: u32,
    /// Number of the frame, from 0.
    pub frame: u64,
    /// True if the frame ended; false for the commands after the last frame.
    pub is_complete: bool,
    /// Commands.
    pub commands: u64,
    /// Draws.
    pub draws: u64,
    /// Bytes that the program passed to the driver for buffers and textures.
    pub uploaded_bytes: u64,
    /// The driver's time, in nanoseconds.
    pub driver_ns: Option<u64>,
    /// The GPU's time for the frame's commands, in nanoseconds.
    pub gpu_ns: Option<u64>,
}

/// Commands of one thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, JsonSchema)]
pub struct ThreadStats {
    /// Index in the trace.
    pub thread: u32,
    /// Index of its process.
    pub process: u32,
    /// Thread id of the operating system.
    pub tid: u32,
    /// Commands.
    pub commands: u64,
    /// Draws.
    pub draws: u64,
    /// The driver's time, in nanoseconds.
    pub driver_ns: Option<u64>,
}

/// Counts commands in the order in which they took effect.
#[derive(Default)]
pub struct Counter {
    stats: Stats,
    /// Functions in the order of their first commands.
    functions: Vec<FunctionStats>,
    /// Positions in `functions`, by name.
    positions: HashMap<String, usize>,
    /// Facts about functions, by function id; `None` before the function's first command.
    known: Vec<Option<Known>>,
    frames: Latest<(u32, u64), FrameStats>,
    threads: Latest<u32, ThreadStats>,
    follower: Follower,
    /// The functions to list; all if it is empty.
    listed: Filter,
    /// Number of slowest commands.
    slowest_max: Option<usize>,
}

/// What the counter looks up once for each function.
#[derive(Clone, Copy)]
struct Known {
    /// Position in [`Counter::functions`]; `None` if the function is not listed.
    position: Option<usize>,
    /// Whether the function only sets state.
    only_sets: bool,
}

/// Counts by key. The counts of the key that came last are at hand, because most commands have the key of the one before.
struct Latest<K, V> {
    all: BTreeMap<K, V>,
    latest: Option<(K, V)>,
}

impl<K, V> Default for Latest<K, V> {
    fn default() -> Self {
        Self { all: BTreeMap::new(), latest: None }
    }
}

impl<K: Ord + Copy, V> Latest<K, V> {
    /// Returns the counts of a key, which are `new` before its first command.
    fn of(&mut self, key: K, new: impl FnOnce() -> V) -> &mut V {
        let Self { all, latest } = self;
        if let Some((before, counts)) = latest.take_if(|(before, _)| *before != key) {
            all.insert(before, counts);
        }
        let found = || (key, all.remove(&key).unwrap_or_else(new));
        &mut latest.get_or_insert_with(found).1
    }

    /// Returns all counts, by key.
    fn finish(mut self) -> Vec<V> {
        self.all.extend(self.latest);
        self.all.into_values().collect()
    }
}

/// Returns how many bytes a command uploads from memory of the program; 0 for a command that is no upload.
pub fn uploaded_bytes(command: &Command<'_>) -> u64 {
    let is_upload = Role::Upload.is_of(command.known()) && command.has_memory();
    if is_upload { observed_bytes(command).0 } else { 0 }
}

impl Counter {
    /// Returns a counter that lists only functions that `listed` names, and `slowest_max` slowest commands. Totals are those
    /// of all commands.
    pub fn listing(listed: Filter, slowest_max: Option<usize>) -> Self {
        Self { listed, slowest_max, ..Self::default() }
    }

    /// Counts the next command.
    pub fn count(&mut self, command: &Command<'_>) {
        changes::take();
        self.follower.follow(command);
        self.tally(command, changes::take());
    }

    /// Counts the next command, if the caller follows the state: `made` is what the command has changed there.
    pub fn tally(&mut self, command: &Command<'_>, made: Changes) {
        if command.is_setup {
            self.stats.setup_commands += 1;
            return;
        }
        let known = command.known();
        let (read, written) = if command.has_memory() { observed_bytes(command) } else { (0, 0) };
        let is_draw = u64::from(Role::Draw.is_of(known));
        let uploaded = if Role::Upload.is_of(known) { read } else { 0 };
        let stats = &mut self.stats;
        stats.commands += 1;
        stats.draws += is_draw;
        stats.dispatches += u64::from(Role::Dispatch.is_of(known));
        stats.uploaded_bytes += uploaded;
        stats.client_bytes += if is_draw == 1 { read } else { 0 };
        stats.read_back_bytes += written;

        let sets = made.assignments > 0 && self.known(command).only_sets;
        // Of a command that only sets state, whether the state changed.
        let changed = sets.then_some(made.changes > 0);
        self.rank(command);
        let gpu_ns = || command.gpu.iter().map(|span| Some(span.duration_ns));
        note(&mut self.stats.driver, command.driver_ns, command.seq);
        gpu_ns().for_each(|gpu_ns| note(&mut self.stats.gpu, gpu_ns, command.seq));
        if let Some(position) = self.known(command).position {
            let function = &mut self.functions[position];
            note(&mut function.driver, command.driver_ns, command.seq);
            gpu_ns().for_each(|gpu_ns| note(&mut function.gpu, gpu_ns, command.seq));
            function.commands += 1;
            function.read_bytes += read;
            function.written_bytes += written;
            function.redundant += u64::from(changed == Some(false));
        }
        self.stats.state_changes += u64::from(changed.is_some());
        self.stats.redundant_changes += u64::from(changed == Some(false));

        let Command { process, frame, thread, tid, .. } = *command;
        let new = || FrameStats { process, frame, ..FrameStats::default() };
        let in_frame = self.frames.of((process, frame), new);
        in_frame.is_complete |= command.ends_frame;
        in_frame.commands += 1;
        in_frame.draws += is_draw;
        in_frame.uploaded_bytes += uploaded;
        add(&mut in_frame.driver_ns, command.driver_ns);
        // A list takes the GPU's time in the frame in which it is executed.
        let here = command.gpu.iter().filter(|span| span.submitted_ns.is_none());
        here.for_each(|span| add(&mut in_frame.gpu_ns, Some(span.duration_ns)));
        add(&mut in_frame.gpu_ns, command.submitted_gpu_ns);
        let new = || ThreadStats { thread, process, tid, ..Default::default() };
        let of_thread = self.threads.of(thread, new);
        of_thread.commands += 1;
        of_thread.draws += is_draw;
        add(&mut of_thread.driver_ns, command.driver_ns);
    }

    /// Returns the counts.
    pub fn finish(mut self) -> Stats {
        // Those of a snapshot have no command that the program called.
        self.functions.retain(|function| function.commands > 0);
        self.functions.sort_by(|a, b| a.name.cmp(&b.name));
        self.stats.functions = self.functions;
        self.stats.frames = self.frames.finish();
        self.stats.threads = self.threads.finish();
        let Stats { functions, driver, gpu, frames, .. } = &mut self.stats;
        settle(driver, functions.iter_mut().map(|function| &mut function.driver));
        settle(gpu, functions.iter_mut().map(|function| &mut function.gpu));
        let spread =
            |time_of: fn(&FrameStats) -> Option<u64>| Spread::over(frames.iter().map(time_of));
        (self.stats.driver_in_frames, self.stats.gpu_in_frames) =
            (spread(|it| it.driver_ns), spread(|it| it.gpu_ns));
        self.stats
    }

    /// Lists the command if it is one of the slowest so far. Of equal times the first one stays.
    fn rank(&mut self, command: &Command<'_>) {
        let Some(driver_ns) = command.driver_ns else { return };
        if self.known(command).position.is_none() {
            return;
        }
        let slowest = &mut self.stats.slowest;
        let at = slowest.partition_point(|slow| slow.driver_ns >= driver_ns);
        let most = self.slowest_max.unwrap_or(SLOWEST_MAX);
        if at >= most {
            return;
        }
        slowest.truncate(most - 1);
        let Command { seq, process, frame, tid, .. } = *command;
        let name = command.name().to_owned();
        slowest.insert(at, SlowCommand { seq, name, process, frame, tid, driver_ns });
    }

    /// Whether the command's function is listed.
    fn lists(&self, command: &Command<'_>) -> bool {
        self.listed.is_empty()
            || command.function.is_some_and(|function| self.listed.wants_function(function))
    }

    /// Returns what is known of the command's function.
    fn known(&mut self, command: &Command<'_>) -> Known {
        let id = usize::from(command.id);
        match self.known.get(id) {
            Some(Some(known)) => *known,
            _ => self.learn(command),
        }
    }

    #[cold]
    fn learn(&mut self, command: &Command<'_>) -> Known {
        let position = self.lists(command).then(|| {
            let name = command.name();
            let next = self.functions.len();
            let position = *self.positions.entry(name.to_owned()).or_insert(next);
            if position == next {
                let new = FunctionStats { name: name.to_owned(), ..FunctionStats::default() };
                self.functions.push(new);
            }
            position
        });
        let known = Known { position, only_sets: command.function.is_some_and(only_sets) };
        let id = usize::from(command.id);
        if self.known.len() <= id {
            self.known.resize(id + 1, None);
        }
        self.known[id] = Some(known);
        known
    }
}

impl Durations {
    fn settle(&mut self, total_ns: u64) {
        self.mean_ns = self.total_ns.checked_div(self.commands).unwrap_or(0);
        if total_ns > 0 {
            self.share = self.total_ns as f64 / total_ns as f64;
        }
    }
}

impl Spread {
    fn over(frames: impl Iterator<Item = Option<u64>>) -> Option<Self> {
        let mut times: Vec<u64> = frames.flatten().collect();
        times.sort_unstable();
        let median_ns = *times.get(times.len() / 2)?;
        Some(Self { min_ns: *times.first()?, median_ns, max_ns: *times.last()? })
    }
}

/// Computes the means and shares of all commands' times and of the functions'.
fn settle<'a>(
    all: &'a mut Option<Durations>,
    functions: impl Iterator<Item = &'a mut Option<Durations>>,
) {
    let total_ns = all.map_or(0, |all| all.total_ns);
    functions.chain([all]).flatten().for_each(|times| times.settle(total_ns));
}

/// Adds a command's time, if it has one. The sum saturates, because a trace may claim any time.
fn note(times: &mut Option<Durations>, time_ns: Option<u64>, seq: Option<u64>) {
    let Some(time_ns) = time_ns else { return };
    let times = times.get_or_insert_default();
    if times.commands == 0 || time_ns > times.max_ns {
        (times.max_ns, times.max_seq) = (time_ns, seq);
    }
    times.commands += 1;
    times.total_ns = times.total_ns.saturating_add(time_ns);
}

fn add(total_ns: &mut Option<u64>, time_ns: Option<u64>) {
    if let Some(time_ns) = time_ns {
        *total_ns = Some(total_ns.unwrap_or(0).saturating_add(time_ns));
    }
}

/// Returns true if the only purpose of a function is to set state: it returns nothing, reads and writes no
/// memory, draws nothing, and has no other effect.
fn only_sets(function: &Function) -> bool {
    let is_address = |kind| {
        use Kind::{Array, Attributes, Chain, Pointer, String, Strings, Struct};
        matches!(kind, Array | Attributes(_) | Chain | Pointer | String | Strings | Struct(_))
    };
    Api::named(&function.api) == Some(Api::Gl)
        && function.result.is_void()
        && !function.params.iter().any(|param| is_address(param.ty.kind))
        && ![Role::Draw, Role::Dispatch, Role::Upload, Role::Act]
            .iter()
            .any(|role| role.is_of(function.known))
}

/// Returns the bytes that a command read from the program's memory, and wrote into it.
fn observed_bytes(command: &Command<'_>) -> (u64, u64) {
    let (mut read, mut written) = (0, 0);
    for arg in command.args() {
        let size = size_of(arg.observation);
        match arg.param.observed {
            Observed::In => read += size,
            Observed::Out => written += size,
            Observed::No => {}
        }
    }
    read += command.ranges_read().map(|range| size_of(range.observation)).sum::<u64>();
    written += command.ranges_written().map(|range| size_of(range.observation)).sum::<u64>();
    (read, written)
}

fn size_of(observation: Observation<'_>) -> u64 {
    match observation {
        Observation::Bytes(bytes) => bytes.len() as u64,
        Observation::Blob { size, .. } => size,
        Observation::None
        | Observation::Unnamed { .. }
        | Observation::Unrecorded { .. }
        | Observation::Missing { .. } => 0,
    }
}

#[cfg(test)]
mod tests {
    use gapii_trace::Description;

    use super::*;

    #[test]
    fn commands_with_other_effects_are_not_state_changes() {
        let functions = Description::built_in().functions();
        let sets = |name: &str| only_sets(functions.iter().find(|f| f.name == name).expect(name));
        for name in ["glBindTexture", "glClearColor", "glEnable", "glUseProgram", "glViewport"] {
            assert!(sets(name), "{name}");
        }
        for name in ["glClear", "glCompileShader", "glDrawArrays", "glGenTextures", "glIsEnabled"] {
            assert!(!sets(name), "{name}");
        }
    }

    #[test]
    fn times_have_sums_and_shares_and_never_overflow() {
        let mut driver = None;
        note(&mut driver, None, Some(6));
        assert_eq!(driver, None);
        for (seq, time_ns) in (7..).zip([2, 30, 10, 30]) {
            note(&mut driver, Some(time_ns), Some(seq));
        }
        let mut driver = driver.unwrap_or_default();
        driver.settle(144);
        let expected = Durations {
            commands: 4,
            total_ns: 72,
            mean_ns: 18,
            max_ns: 30,
            max_seq: Some(8),
            share: 0.5,
        };
        assert_eq!(driver, expected);
        let mut most = Some(driver);
        note(&mut most, Some(u64::MAX), None);
        assert_eq!(most.map(|most| most.total_ns), Some(u64::MAX));
    }

    #[test]
    fn spread_of_frames_covers_frames_with_times_only() {
        let frames = [Some(9), None, Some(1), Some(4)];
        let expected = Spread { min_ns: 1, median_ns: 4, max_ns: 9 };
        assert_eq!(Spread::over(frames.into_iter()), Some(expected));
        assert_eq!(Spread::over([None].into_iter()), None);
    }
}
