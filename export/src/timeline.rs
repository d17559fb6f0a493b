//! `Exporter`: turns commands, and what happened beside them, into the slices and moments of a timeline: commands, their work on
//! the GPU, holds, waits, gaps and marks of threads, frames and keyframes of processes, and times without a daemon. A [`Timeline`] writes them in a
//! format. Commands and frames without a time are counted and left out. Holds for each process the ends of up to 1,024 frames.

use std::borrow::Cow;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::{self, Display, Formatter};
use std::io;

use gapii_trace::clock::TraceClock;
use gapii_trace::event::{Event, EventKind};
use gapii_trace::footer::{Footer, GapEntry};
use gapii_trace::gpu_times::GpuSpan;
use gapii_trace::tracker::Tracker;
use gapii_trace::{Command, Untrusted};

use crate::frames::Frames;
pub use crate::frames::{Ended, FrameSlice};
pub use crate::mark::Mark;

/// Facts about a trace that stand beside its commands.
#[derive(Clone, Copy, Debug, Default)]
pub struct Origin<'a> {
    /// The clock of the trace; without it the file has no other clock.
    pub clock: Option<TraceClock>,
    /// The footer, with gaps and seams.
    pub footer: Option<&'a Footer>,
}

/// Counts of an export.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Summary {
    /// Slices of commands.
    pub commands: u64,
    /// Commands that are left out, because the trace does not have their times.
    pub untimed: u64,
    /// Slices of work on the GPU.
    pub gpu: u64,
    /// Slices of frames.
    pub frames: u64,
    /// Frames that are left out, because the trace does not have their times.
    pub untimed_frames: u64,
}

/// A process.
#[derive(Clone, Debug)]
pub struct ProcessFacts {
    /// Index in the trace.
    pub process: u32,
    /// Process id.
    pub pid: u32,
    /// Name; empty if it is not known.
    pub name: String,
}

/// A thread, before its first slice.
#[derive(Clone, Debug)]
pub struct ThreadFacts {
    /// Index in the trace.
    pub thread: u32,
    /// Its process, which may not have come yet.
    pub process: ProcessFacts,
    /// Thread id.
    pub tid: u32,
    /// Name; may be empty.
    pub name: String,
}

/// A command between the driver call and the driver's return.
#[derive(Clone, Copy, Debug)]
pub struct CommandSlice<'a> {
    /// Index of the thread in the trace.
    pub thread: u32,
    /// Function id.
    pub id: u16,
    /// Name of the function.
    pub name: &'a str,
    /// Name of the API; empty if the trace does not describe the function.
    pub api: &'a str,
    /// Ordinal among the commands that took effect.
    pub seq: Option<u64>,
    /// When the driver was called.
    pub begin_ns: u64,
    /// When the driver returned.
    pub end_ns: u64,
    /// Whether it ended a frame that has a slice.
    pub ends_frame: bool,
}

/// Commands that the GPU executes one after another, by handle.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Among {
    /// Those of a context.
    Context(u64),
    /// Those in a command list of Level Zero.
    List(u64),
}

impl Display for Among {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Among::Context(handle) => write!(out, "context {handle:#x}"),
            Among::List(handle) => write!(out, "list {handle:#x}"),
        }
    }
}

/// The work of a command on the GPU.
#[derive(Clone, Copy, Debug)]
pub struct GpuSlice<'a> {
    /// Index of the process in the trace.
    pub process: u32,
    /// The commands among which the GPU executes it.
    pub among: Among,
    /// Name of the command's function.
    pub name: &'a str,
    /// Ordinal among the commands that took effect.
    pub seq: Option<u64>,
    /// When the GPU had executed all commands of the context or list before.
    pub begin_ns: u64,
    /// When it had executed the command.
    pub end_ns: u64,
}

/// A time in which a thread stood still.
#[derive(Clone, Copy, Debug)]
pub struct StopSlice {
    /// Index of the thread in the trace.
    pub thread: u32,
    /// Why it stood still.
    pub name: &'static str,
    /// Ordinal of the next command.
    pub next_seq: u64,
    /// When it stopped.
    pub begin_ns: u64,
    /// When it went on.
    pub end_ns: u64,
}

/// A moment that a program marks, or at which a group of its commands begins.
#[derive(Clone, Copy, Debug)]
pub struct MarkedMoment<'a> {
    /// Index of the thread in the trace.
    pub thread: u32,
    /// The program's text, or where it is empty the name of the command.
    pub name: &'a str,
    /// Ordinal of the command.
    pub seq: Option<u64>,
    /// When the program called it.
    pub at_ns: u64,
}

/// A format of timelines. Everything comes in the order of the trace: a command after its process and thread, and what else
/// belongs to a thread after the thread. Commands of a thread do not overlap, nor do frames of a process, nor the work of a
/// context on the GPU.
pub trait Timeline {
    /// What a finished file leaves.
    type Output;
    /// What the end of a group needs of its begin.
    type Group;

    /// Adds a process.
    ///
    /// # Errors
    /// An error of the output, as of all methods.
    fn process(&mut self, facts: ProcessFacts) -> io::Result<()>;
    /// Adds a thread.
    fn thread(&mut self, facts: ThreadFacts) -> io::Result<()>;
    /// Adds a command.
    fn command(&mut self, command: &CommandSlice<'_>) -> io::Result<()>;
    /// Adds the work of a command on the GPU, behind the command.
    fn gpu(&mut self, slice: &GpuSlice<'_>) -> io::Result<()>;
    /// Adds a frame of a process.
    fn frame(&mut self, process: u32, frame: &FrameSlice) -> io::Result<()>;
    /// Adds a hold or a wait of a thread. One may be within a later one.
    fn stop(&mut self, stop: &StopSlice) -> io::Result<()>;
    /// Adds a keyframe of a process, which may not have come yet.
    fn keyframe(&mut self, facts: ProcessFacts, at_ns: u64, next_seq: u64) -> io::Result<()>;
    /// Adds a moment that a program marked.
    fn mark(&mut self, mark: &MarkedMoment<'_>) -> io::Result<()>;
    /// Begins a group of a thread's commands, within those that are open.
    fn begin_group(&mut self, begin: &MarkedMoment<'_>) -> io::Result<Self::Group>;
    /// Ends the group of a thread that began last; `None` if it began before the trace.
    fn end_group(&mut self, thread: u32, at_ns: u64, group: Option<Self::Group>) -> io::Result<()>;
    /// Adds a gap of a thread.
    fn gap(&mut self, gap: &GapEntry) -> io::Result<()>;
    /// Adds a time in which no daemon recorded.
    fn seam(&mut self, from_ns: u64, to_ns: u64) -> io::Result<()>;
    /// Ends the file.
    fn finish(self) -> io::Result<Self::Output>;
}

/// Writes a trace as a timeline.
pub struct Exporter<'a, T: Timeline> {
    timeline: T,
    footer: Option<&'a Footer>,
    processes: BTreeMap<u32, Process>,
    threads: HashSet<u32>,
    /// End of the last slice on the GPU, by process and commands.
    gpu_ends: HashMap<(u32, Among), u64>,
    /// Slices of commands in lists, which are written in the order of their begins.
    executions: Vec<Execution>,
    /// Groups that are open, by thread.
    groups: HashMap<u32, Vec<T::Group>>,
    summary: Summary,
}

/// An execution of a command in a list.
struct Execution {
    process: u32,
    span: GpuSpan,
    name: String,
    seq: Option<u64>,
}

/// Facts about a process, from its commands so far.
struct Process {
    frames: Frames,
    /// Since the last end of a frame.
    commands: u64,
    uploaded_bytes: u64,
}

impl<'a, T: Timeline> Exporter<'a, T> {
    /// Exports to `timeline`, at the end with the gaps and seams of `footer`.
    pub fn new(timeline: T, footer: Option<&'a Footer>) -> Self {
        Self {
            timeline,
            footer,
            processes: BTreeMap::new(),
            threads: HashSet::new(),
            gpu_ends: HashMap::new(),
            executions: Vec::new(),
            groups: HashMap::new(),
            summary: Summary::default(),
        }
    }

    /// Writes a command. `tracker` is as of the last record that was read, and `uploaded_bytes` what the command uploads.
    /// A command of a snapshot, which the program did not call, is no event.
    ///
    /// # Errors
    /// An error of the output.
    pub fn command(
        &mut self,
        command: &Command<'_>,
        tracker: &Tracker,
        uploaded_bytes: u64,
    ) -> io::Result<()> {
        if command.is_setup {
            return Ok(());
        }
        self.introduce(command, tracker)?;
        let times = command.begin_ns.zip(command.driver_ns);
        match times {
            Some((begin_ns, driver_ns)) => self.slice(command, begin_ns, driver_ns)?,
            None => self.summary.untimed += 1,
        }
        for span in command.gpu {
            self.gpu(command, *span)?;
        }
        let Some(process) = self.processes.get_mut(&command.process) else { return Ok(()) };
        process.commands += 1;
        process.uploaded_bytes = process.uploaded_bytes.saturating_add(uploaded_bytes);
        if !command.ends_frame {
            return Ok(());
        }
        let Some(end_ns) = command.frame_end_ns else {
            self.summary.untimed_frames += 1;
            return Ok(());
        };
        let (commands, uploaded_bytes) = (process.commands, process.uploaded_bytes);
        (process.commands, process.uploaded_bytes) = (0, 0);
        let has_slice = times.is_some();
        let ended = Ended { end_ns, seq: command.seq, has_slice, commands, uploaded_bytes };
        match process.frames.end(ended) {
            Some(frame) => self.frame(command.process, &frame),
            None => Ok(()),
        }
    }

    /// Writes a command with which the program marks a place. Without the time of the call it is left out.
    ///
    /// # Errors
    /// An error of the output.
    pub fn mark(
        &mut self,
        command: &Command<'_>,
        tracker: &Tracker,
        mark: Mark<'_>,
    ) -> io::Result<()> {
        let Some(at_ns) = command.begin_ns else { return Ok(()) };
        let (thread, seq) = (command.thread, command.seq);
        self.introduce_thread(thread, tracker)?;
        let text = match mark {
            Mark::Moment(text) | Mark::Begin(text) => text,
            Mark::End => "",
        };
        let name = if text.is_empty() { command.name() } else { text };
        let moment = MarkedMoment { thread, name, seq, at_ns };
        let open = self.groups.entry(thread).or_default();
        match mark {
            Mark::Moment(_) => self.timeline.mark(&moment),
            Mark::Begin(_) => {
                open.push(self.timeline.begin_group(&moment)?);
                Ok(())
            }
            Mark::End => self.timeline.end_group(thread, at_ns, open.pop()),
        }
    }

    /// Writes what happened beside the commands. Gaps and times without a daemon come from the footer.
    ///
    /// # Errors
    /// An error of the output.
    pub fn happened(&mut self, event: &Event, tracker: &Tracker) -> io::Result<()> {
        let (Some(thread), Some(process)) = (event.thread, event.process) else { return Ok(()) };
        let Some(begin_ns) = event.begin_ns else { return Ok(()) };
        let next_seq = event.seq;
        let name = match event.kind {
            EventKind::Hold => "held for a snapshot",
            EventKind::Wait => "waits for room",
            EventKind::Keyframe => {
                return self.timeline.keyframe(facts_of(process, tracker), begin_ns, next_seq);
            }
            EventKind::Gap { .. } | EventKind::NoDaemon => return Ok(()),
        };
        self.introduce_thread(thread, tracker)?;
        let end_ns = begin_ns.saturating_add(event.duration_ns.unwrap_or(0));
        self.timeline.stop(&StopSlice { thread, name, next_seq, begin_ns, end_ns })
    }

    /// Writes what comes last, and returns what the finished file leaves.
    ///
    /// # Errors
    /// An error of the output.
    pub fn finish(mut self) -> io::Result<(T::Output, Summary)> {
        for index in self.processes.keys().copied().collect::<Vec<_>>() {
            while let Some(frame) =
                self.processes.get_mut(&index).and_then(|process| process.frames.next())
            {
                self.frame(index, &frame)?;
            }
        }
        self.lists()?;
        for gap in self.footer.iter().flat_map(|footer| &footer.gaps) {
            let has_times = gap.start_ns != 0 && gap.end_ns >= gap.start_ns;
            if has_times && self.threads.contains(&gap.thread) {
                self.timeline.gap(gap)?;
            }
        }
        let seams = self.footer.iter().flat_map(|footer| &footer.seams);
        for seam in seams.filter(|seam| seam.to_ns >= seam.from_ns) {
            self.timeline.seam(seam.from_ns, seam.to_ns)?;
        }
        Ok((self.timeline.finish()?, self.summary))
    }

    /// Adds a command's process and thread, unless they are there.
    fn introduce(&mut self, command: &Command<'_>, tracker: &Tracker) -> io::Result<()> {
        let (process, thread) = (command.process, command.thread);
        if let Entry::Vacant(entry) = self.processes.entry(process) {
            let begin_ns = match (command.begin_ns, tracker.current_block()) {
                (Some(begin_ns), _) => begin_ns,
                (None, Some(block)) => block.start_ns,
                (None, None) => u64::MAX,
            };
            let frames = Frames::beginning_at(begin_ns, command.frame);
            entry.insert(Process { frames, commands: 0, uploaded_bytes: 0 });
            self.timeline.process(facts_of(process, tracker))?;
        }
        self.introduce_thread(thread, tracker)
    }

    /// Adds a thread, unless it is there.
    fn introduce_thread(&mut self, thread: u32, tracker: &Tracker) -> io::Result<()> {
        let Some(track) = tracker.thread_at(thread) else { return Ok(()) };
        if !self.threads.insert(thread) {
            return Ok(());
        }
        let name = track.name.split(|byte| *byte == 0).next().unwrap_or_default();
        let name = Untrusted::from(String::from_utf8_lossy(name).as_ref()).to_string();
        let process = facts_of(track.process, tracker);
        self.timeline.thread(ThreadFacts { thread, process, tid: track.tid, name })
    }

    fn slice(&mut self, command: &Command<'_>, begin_ns: u64, driver_ns: u64) -> io::Result<()> {
        self.summary.commands += 1;
        let name = name_of(command);
        self.timeline.command(&CommandSlice {
            thread: command.thread,
            id: command.id,
            name: &name,
            api: command.function.map_or("", |function| &function.api),
            seq: command.seq,
            begin_ns,
            end_ns: begin_ns.saturating_add(driver_ns),
            ends_frame: command.frame_end_ns.is_some(),
        })
    }

    /// Writes the work of a command on the GPU. The GPU's clock is read anew for each frame, so slices may seem to overlap by
    /// the error of these readings: each begins where the one before has ended.
    fn gpu(&mut self, command: &Command<'_>, span: GpuSpan) -> io::Result<()> {
        let Command { process, context, seq, .. } = *command;
        let name = name_of(command);
        if span.list != 0 {
            let name = name.into_owned();
            self.executions.push(Execution { process, span, name, seq });
            return Ok(());
        }
        self.gpu_slice(process, Among::Context(context), span, &name, seq)
    }

    /// Writes the executions of commands in lists.
    fn lists(&mut self) -> io::Result<()> {
        let mut executions = core::mem::take(&mut self.executions);
        executions.sort_by_key(|it| (it.process, it.span.list, it.span.begin_ns));
        for Execution { process, span, name, seq } in executions {
            self.gpu_slice(process, Among::List(span.list), span, &name, seq)?;
        }
        Ok(())
    }

    fn gpu_slice(
        &mut self,
        process: u32,
        among: Among,
        span: GpuSpan,
        name: &str,
        seq: Option<u64>,
    ) -> io::Result<()> {
        self.summary.gpu += 1;
        let last_ns = self.gpu_ends.entry((process, among)).or_default();
        let begin_ns = span.begin_ns.max(*last_ns);
        let end_ns = span.begin_ns.saturating_add(span.duration_ns).max(begin_ns);
        *last_ns = end_ns;
        self.timeline.gpu(&GpuSlice { process, among, name, seq, begin_ns, end_ns })
    }

    fn frame(&mut self, process: u32, frame: &FrameSlice) -> io::Result<()> {
        self.summary.frames += 1;
        self.timeline.frame(process, frame)
    }
}

/// Returns the name of a command's function; a function that the trace does not describe has its number as a name.
fn name_of<'a>(command: &Command<'a>) -> Cow<'a, str> {
    match command.name() {
        "" => format!("unknown_{}", command.id).into(),
        name => name.into(),
    }
}

fn facts_of(process: u32, tracker: &Tracker) -> ProcessFacts {
    let track = tracker.process_at(process);
    let pid = track.map_or(0, |track| track.pid);
    let name = track.map(|track| track.name.to_string()).unwrap_or_default();
    ProcessFacts { process, pid, name }
}
