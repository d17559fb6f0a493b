//! `Exporter`: makes events of commands, and of what happened beside them, and tracks of the threads and processes that they
//! belong to. Holds the names of functions that have come, and for each process the ends of up to 1,024 frames.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashSet};
use std::io::{self, Write};

use gapii_trace::clock::{Moment, TraceClock};
use gapii_trace::event::{Event, EventKind};
use gapii_trace::footer::{Footer, GapEntry};
use gapii_trace::tracker::Tracker;
use gapii_trace::{Command, Untrusted};

use super::frames::{Ended, FrameSlice, Frames};
use super::mark::Mark;
use super::packets::{
    Clock, ClockSnapshot, CounterDescriptor, DebugAnnotation, EventName, INCREMENTAL_STATE_CLEARED,
    InternedData, NEEDS_INCREMENTAL_STATE, ProcessDescriptor, ThreadDescriptor, TracePacket,
    TrackDescriptor, TrackEvent, UNIT_COUNT, UNIT_SIZE_BYTES, clock, kind,
};
use super::writer::PacketWriter;

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
    /// Slices of frames.
    pub frames: u64,
    /// Frames that are left out, because the trace does not have their times.
    pub untimed_frames: u64,
}

/// Writes a trace in Perfetto's format.
pub struct Exporter<'a, W: Write> {
    out: PacketWriter<W>,
    origin: Origin<'a>,
    /// Functions whose names are interned, by id.
    named: HashSet<u16>,
    processes: BTreeMap<u32, Process>,
    threads: HashSet<u32>,
    /// Tracks beside those of threads and processes that are written.
    beside: HashSet<u64>,
    /// Groups that are open, by thread.
    groups: BTreeMap<u32, u32>,
    summary: Summary,
}

/// Facts about a process, from its commands so far.
struct Process {
    frames: Frames,
    /// Since the last end of a frame.
    commands: u64,
    uploaded_bytes: u64,
}

/// Numbers of the tracks of a process, behind the number of the process' own track.
const FRAMES: u64 = 1;
const COMMANDS: u64 = 2;
const UPLOADED: u64 = 3;
const KEYFRAMES: u64 = 4;
/// Tracks of a process.
const TRACKS_OF_PROCESS: u64 = 5;
/// Numbers of the tracks of a thread, behind the number of the thread's own track.
const GAPS: u64 = 1;
const STOPS: u64 = 2;
const MARKS: u64 = 3;
/// Tracks of a thread.
const TRACKS_OF_THREAD: u64 = 4;
/// Number of the first track of threads.
const FIRST_OF_THREADS: u64 = 1 << 40;
/// Number of the track for what happens to the capture.
const CAPTURE: u64 = 1 << 41;

fn track_of_process(process: u32) -> u64 {
    1 + u64::from(process) * TRACKS_OF_PROCESS
}

fn track_of_thread(thread: u32) -> u64 {
    FIRST_OF_THREADS + u64::from(thread) * TRACKS_OF_THREAD
}

impl<'a, W: Write> Exporter<'a, W> {
    /// Begins a file.
    ///
    /// # Errors
    /// An error of `out`.
    pub fn begin(out: W, origin: Origin<'a>) -> io::Result<Self> {
        let mut exporter = Self {
            out: PacketWriter::new(out),
            origin,
            named: HashSet::new(),
            processes: BTreeMap::new(),
            threads: HashSet::new(),
            beside: HashSet::new(),
            groups: BTreeMap::new(),
            summary: Summary::default(),
        };
        exporter.clocks()?;
        Ok(exporter)
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

    /// Writes a command with which the program marks a place, on a track of its own. Without the time of the call it is left
    /// out.
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
        self.introduce_thread(command.thread, tracker)?;
        let track = self.track_beside(track_of_thread(command.thread), MARKS, "marks")?;
        let open = self.groups.entry(command.thread).or_default();
        let (kind, name) = match mark {
            Mark::Moment(text) => (kind::INSTANT, text),
            Mark::Begin(text) => {
                *open += 1;
                (kind::SLICE_BEGIN, text)
            }
            // The group may have begun before the trace.
            Mark::End if *open == 0 => return Ok(()),
            Mark::End => {
                *open -= 1;
                return self.end(track, at_ns, None);
            }
        };
        let name = if name.is_empty() { command.name() } else { name };
        let annotations = command.seq.map(|seq| number("seq", seq)).into_iter().collect();
        self.begin_event(kind, track, at_ns, name.to_owned(), annotations)
    }

    /// Writes what happened beside the commands. Gaps and times without a daemon come from the footer.
    ///
    /// # Errors
    /// An error of the output.
    pub fn happened(&mut self, event: &Event, tracker: &Tracker) -> io::Result<()> {
        let (Some(thread), Some(process)) = (event.thread, event.process) else { return Ok(()) };
        let Some(begin_ns) = event.begin_ns else { return Ok(()) };
        let seq = || vec![number("seq of the next command", event.seq)];
        let name = match event.kind {
            EventKind::Hold => "held for a snapshot",
            EventKind::Wait => "waits for room",
            EventKind::Keyframe => {
                let track = self.track_beside(track_of_process(process), KEYFRAMES, "keyframes")?;
                return self.begin_event(kind::INSTANT, track, begin_ns, "keyframe".into(), seq());
            }
            EventKind::Gap { .. } | EventKind::NoDaemon => return Ok(()),
        };
        self.introduce_thread(thread, tracker)?;
        let track = self.track_beside(track_of_thread(thread), STOPS, "held and waiting")?;
        self.begin_slice(track, begin_ns, name.to_owned(), seq())?;
        self.end(track, begin_ns.saturating_add(event.duration_ns.unwrap_or(0)), None)
    }

    /// Writes what comes last, and returns the output.
    ///
    /// # Errors
    /// An error of the output.
    pub fn finish(mut self) -> io::Result<(W, Summary)> {
        for index in self.processes.keys().copied().collect::<Vec<_>>() {
            while let Some(frame) =
                self.processes.get_mut(&index).and_then(|process| process.frames.next())
            {
                self.frame(index, &frame)?;
            }
        }
        if let Some(footer) = self.origin.footer {
            self.gaps(footer)?;
            self.seams(footer)?;
        }
        Ok((self.out.into_inner(), self.summary))
    }

    /// Writes the readings of the clocks at the begin and at the end.
    fn clocks(&mut self) -> io::Result<()> {
        let known = self.origin.clock;
        let moments = known.map_or([None; 2], |clock| [Some(clock.began), clock.ended]);
        let sequence_flags = Some(INCREMENTAL_STATE_CLEARED);
        let mut flags = sequence_flags;
        for moment in moments.into_iter().flatten() {
            let clock_snapshot = Some(snapshot(&moment));
            let sequence_flags = flags.take();
            self.out.write(TracePacket { clock_snapshot, sequence_flags, ..Default::default() })?;
        }
        match flags {
            None => Ok(()),
            sequence_flags => {
                self.out.write(TracePacket { sequence_flags, ..TracePacket::default() })
            }
        }
    }

    /// Writes the tracks of a command's process and thread, unless they are written.
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
            let name = tracker.process_at(process).map(|track| track.name.to_string());
            self.tracks_of_process(process, command.pid, name.unwrap_or_default())?;
        }
        self.introduce_thread(thread, tracker)
    }

    /// Writes the track of a thread, unless it is written.
    fn introduce_thread(&mut self, thread: u32, tracker: &Tracker) -> io::Result<()> {
        let Some(track) = tracker.thread_at(thread) else { return Ok(()) };
        if !self.threads.insert(thread) {
            return Ok(());
        }
        let name = track.name.split(|byte| *byte == 0).next().unwrap_or_default();
        let name = Untrusted::from(String::from_utf8_lossy(name).as_ref()).to_string();
        let pid = tracker.process_at(track.process).map_or(0, |process| process.pid);
        self.track(TrackDescriptor {
            uuid: Some(track_of_thread(thread)),
            thread: Some(ThreadDescriptor {
                pid: Some(pid as i32),
                tid: Some(track.tid.into()),
                thread_name: Some(name),
            }),
            ..TrackDescriptor::default()
        })
    }

    /// Writes a track beside the track `own`, unless it is written, and returns its number.
    fn track_beside(&mut self, own: u64, offset: u64, name: &str) -> io::Result<u64> {
        let uuid = own + offset;
        if self.beside.insert(uuid) {
            self.track(TrackDescriptor {
                uuid: Some(uuid),
                name: Some(name.to_owned()),
                parent_uuid: Some(own),
                ..TrackDescriptor::default()
            })?;
        }
        Ok(uuid)
    }

    fn tracks_of_process(&mut self, process: u32, pid: u32, name: String) -> io::Result<()> {
        let own = track_of_process(process);
        let descriptor = ProcessDescriptor { pid: Some(pid as i32), process_name: Some(name) };
        self.track(TrackDescriptor {
            uuid: Some(own),
            process: Some(descriptor),
            ..TrackDescriptor::default()
        })?;
        for (offset, name, unit) in [
            (FRAMES, "frames", None),
            (COMMANDS, "commands per frame", Some(UNIT_COUNT)),
            (UPLOADED, "bytes uploaded per frame", Some(UNIT_SIZE_BYTES)),
        ] {
            self.track(TrackDescriptor {
                uuid: Some(own + offset),
                name: Some(name.to_owned()),
                parent_uuid: Some(own),
                counter: unit.map(|unit| CounterDescriptor { unit: Some(unit) }),
                ..TrackDescriptor::default()
            })?;
        }
        Ok(())
    }

    /// Writes a command with its begin and its end.
    fn slice(&mut self, command: &Command<'_>, begin_ns: u64, driver_ns: u64) -> io::Result<()> {
        self.summary.commands += 1;
        let iid = 1 + u64::from(command.id);
        let name = match command.name() {
            "" => format!("unknown_{}", command.id),
            name => name.to_owned(),
        };
        let is_new = self.named.insert(command.id);
        let event_names = vec![EventName { iid: Some(iid), name: Some(name) }];
        let event = TrackEvent {
            r#type: Some(kind::SLICE_BEGIN),
            track_uuid: Some(track_of_thread(command.thread)),
            name_iid: Some(iid),
            debug_annotations: command.seq.map(|seq| number("seq", seq)).into_iter().collect(),
            flow_ids: flow_of(command.seq)
                .filter(|_| command.frame_end_ns.is_some())
                .into_iter()
                .collect(),
            ..TrackEvent::default()
        };
        let packet = TracePacket {
            interned_data: is_new.then_some(InternedData { event_names }),
            sequence_flags: Some(NEEDS_INCREMENTAL_STATE),
            track_event: Some(event),
            ..TracePacket::default()
        };
        self.out.write_at(begin_ns, packet)?;
        self.end(track_of_thread(command.thread), begin_ns.saturating_add(driver_ns), None)
    }

    /// Writes a frame, and its counters from its begin on.
    fn frame(&mut self, process: u32, frame: &FrameSlice) -> io::Result<()> {
        self.summary.frames += 1;
        let FrameSlice { number: frame_number, begin_ns, ended } = *frame;
        let own = track_of_process(process);
        for (offset, value) in [(COMMANDS, ended.commands), (UPLOADED, ended.uploaded_bytes)] {
            let event = TrackEvent {
                r#type: Some(kind::COUNTER),
                track_uuid: Some(own + offset),
                counter_value: Some(i64::try_from(value).unwrap_or(i64::MAX)),
                ..TrackEvent::default()
            };
            self.event(begin_ns, event)?;
        }
        let track = own + FRAMES;
        let seq = ended.seq.map(|seq| number("seq of the last command", seq));
        let annotations = seq.into_iter().chain([number("commands", ended.commands)]).collect();
        self.begin_slice(track, begin_ns, format!("frame {frame_number}"), annotations)?;
        self.end(track, ended.end_ns, flow_of(ended.seq).filter(|_| ended.has_slice))
    }

    /// Writes the gaps of threads that are in the file.
    fn gaps(&mut self, footer: &Footer) -> io::Result<()> {
        for gap in &footer.gaps {
            let GapEntry { thread, start_ns, end_ns, .. } = *gap;
            if !self.threads.contains(&thread) || start_ns == 0 || end_ns < start_ns {
                continue;
            }
            let track = self.track_beside(track_of_thread(thread), GAPS, "gaps")?;
            let annotations = vec![number("commands", gap.calls), number("records", gap.records)];
            let name = format!("not recorded: {}", gap.cause);
            self.begin_slice(track, start_ns, name, annotations)?;
            self.end(track, end_ns, None)?;
        }
        Ok(())
    }

    /// Writes the times in which no daemon recorded.
    fn seams(&mut self, footer: &Footer) -> io::Result<()> {
        if footer.seams.is_empty() {
            return Ok(());
        }
        self.track(TrackDescriptor {
            uuid: Some(CAPTURE),
            name: Some("capture".to_owned()),
            ..TrackDescriptor::default()
        })?;
        for seam in footer.seams.iter().filter(|seam| seam.to_ns >= seam.from_ns) {
            self.begin_slice(CAPTURE, seam.from_ns, "no daemon".to_owned(), Vec::new())?;
            self.end(CAPTURE, seam.to_ns, None)?;
        }
        Ok(())
    }

    fn track(&mut self, descriptor: TrackDescriptor) -> io::Result<()> {
        let track_descriptor = Some(descriptor);
        self.out.write(TracePacket { track_descriptor, ..TracePacket::default() })
    }

    fn begin_slice(
        &mut self,
        track: u64,
        at_ns: u64,
        name: String,
        annotations: Vec<DebugAnnotation>,
    ) -> io::Result<()> {
        self.begin_event(kind::SLICE_BEGIN, track, at_ns, name, annotations)
    }

    /// Writes an event with a name: a moment, or the begin of a slice.
    fn begin_event(
        &mut self,
        kind: i32,
        track: u64,
        at_ns: u64,
        name: String,
        debug_annotations: Vec<DebugAnnotation>,
    ) -> io::Result<()> {
        let event = TrackEvent {
            r#type: Some(kind),
            track_uuid: Some(track),
            name: Some(name),
            debug_annotations,
            ..TrackEvent::default()
        };
        self.event(at_ns, event)
    }

    /// Ends the slice that began last on a track; `flow` ends there, too.
    fn end(&mut self, track: u64, at_ns: u64, flow: Option<u64>) -> io::Result<()> {
        let event = TrackEvent {
            r#type: Some(kind::SLICE_END),
            track_uuid: Some(track),
            terminating_flow_ids: flow.into_iter().collect(),
            ..TrackEvent::default()
        };
        self.event(at_ns, event)
    }

    fn event(&mut self, at_ns: u64, event: TrackEvent) -> io::Result<()> {
        let track_event = Some(event);
        self.out.write_at(at_ns, TracePacket { track_event, ..TracePacket::default() })
    }
}

/// Returns the number of the flow from a command to the frame that it ends.
fn flow_of(seq: Option<u64>) -> Option<u64> {
    seq.map(|seq| seq.wrapping_add(1))
}

fn number(name: &str, value: u64) -> DebugAnnotation {
    DebugAnnotation {
        uint_value: Some(value),
        name: Some(name.to_owned()),
        ..DebugAnnotation::default()
    }
}

/// Returns the known readings. The boot time is the clock that viewers show, as in files of Perfetto itself.
fn snapshot(moment: &Moment) -> ClockSnapshot {
    let readings = [
        (clock::REALTIME, moment.unix_ns),
        (clock::MONOTONIC, moment.monotonic_ns),
        (clock::BOOTTIME, moment.boot_ns),
    ];
    let known = readings.into_iter().filter(|(_, ns)| *ns != 0);
    let reading = |(id, ns)| Clock { clock_id: Some(id), timestamp: Some(ns) };
    let primary = if moment.boot_ns == 0 { clock::MONOTONIC } else { clock::BOOTTIME };
    ClockSnapshot { clocks: known.map(reading).collect(), primary_trace_clock: Some(primary) }
}
