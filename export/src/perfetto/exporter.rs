//! `Events`: writes the slices and moments of a timeline as events on tracks. Holds the names of functions that have come.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};

use gapii_trace::clock::{Moment, TraceClock};
use gapii_trace::footer::GapEntry;

use super::packets::{
    Clock, ClockSnapshot, CounterDescriptor, DebugAnnotation, EventName, INCREMENTAL_STATE_CLEARED,
    InternedData, NEEDS_INCREMENTAL_STATE, ProcessDescriptor, ThreadDescriptor, TracePacket,
    TrackDescriptor, TrackEvent, UNIT_COUNT, UNIT_SIZE_BYTES, clock, kind,
};
use super::writer::PacketWriter;
use crate::timeline::{
    Among, CommandSlice, Exporter, FrameSlice, GpuSlice, MarkedMoment, Origin, ProcessFacts,
    StopSlice, ThreadFacts, Timeline,
};

/// A file in Perfetto's format.
pub struct Events<W: Write> {
    out: PacketWriter<W>,
    /// Functions whose names are interned, by id.
    named: HashSet<u16>,
    /// Tracks beside those of threads and processes that are written.
    beside: HashSet<u64>,
    /// Tracks of contexts on the GPU, by process and context.
    gpu: HashMap<(u32, Among), u64>,
    has_capture: bool,
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
/// Number of the first track of contexts on the GPU.
const FIRST_OF_GPU: u64 = 1 << 42;

fn track_of_process(process: u32) -> u64 {
    1 + u64::from(process) * TRACKS_OF_PROCESS
}

fn track_of_thread(thread: u32) -> u64 {
    FIRST_OF_THREADS + u64::from(thread) * TRACKS_OF_THREAD
}

/// Begins a file.
///
/// # Errors
/// An error of `out`.
pub fn begin<W: Write>(out: W, origin: Origin<'_>) -> io::Result<Exporter<'_, Events<W>>> {
    let out = PacketWriter::new(out);
    let (named, beside) = (HashSet::new(), HashSet::new());
    let gpu = HashMap::new();
    let mut events = Events { out, named, beside, gpu, has_capture: false };
    events.clocks(origin.clock)?;
    Ok(Exporter::new(events, origin.footer))
}

impl<W: Write> Timeline for Events<W> {
    type Output = W;
    type Group = ();

    fn process(&mut self, facts: ProcessFacts) -> io::Result<()> {
        let ProcessFacts { process, pid, name } = facts;
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

    fn thread(&mut self, facts: ThreadFacts) -> io::Result<()> {
        self.track(TrackDescriptor {
            uuid: Some(track_of_thread(facts.thread)),
            thread: Some(ThreadDescriptor {
                pid: Some(facts.process.pid as i32),
                tid: Some(facts.tid.into()),
                thread_name: Some(facts.name),
            }),
            ..TrackDescriptor::default()
        })
    }

    /// Writes a command with its begin and its end.
    fn command(&mut self, command: &CommandSlice<'_>) -> io::Result<()> {
        let iid = 1 + u64::from(command.id);
        let is_new = self.named.insert(command.id);
        let event_names = vec![EventName { iid: Some(iid), name: Some(command.name.to_owned()) }];
        let event = TrackEvent {
            r#type: Some(kind::SLICE_BEGIN),
            track_uuid: Some(track_of_thread(command.thread)),
            name_iid: Some(iid),
            debug_annotations: command.seq.map(|seq| number("seq", seq)).into_iter().collect(),
            flow_ids: flow_of(command.seq).filter(|_| command.ends_frame).into_iter().collect(),
            ..TrackEvent::default()
        };
        let packet = TracePacket {
            interned_data: is_new.then_some(InternedData { event_names }),
            sequence_flags: Some(NEEDS_INCREMENTAL_STATE),
            track_event: Some(event),
            ..TracePacket::default()
        };
        self.out.write_at(command.begin_ns, packet)?;
        self.end(track_of_thread(command.thread), command.end_ns, None)
    }

    fn gpu(&mut self, slice: &GpuSlice<'_>) -> io::Result<()> {
        let track = self.track_of_gpu(slice.process, slice.among)?;
        let annotations = slice.seq.map(|seq| number("seq", seq)).into_iter().collect();
        self.begin_slice(track, slice.begin_ns, slice.name.to_owned(), annotations)?;
        self.end(track, slice.end_ns, None)
    }

    /// Writes a frame, and its counters from its begin on.
    fn frame(&mut self, process: u32, frame: &FrameSlice) -> io::Result<()> {
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

    fn stop(&mut self, stop: &StopSlice) -> io::Result<()> {
        let track = self.track_beside(track_of_thread(stop.thread), STOPS, "held and waiting")?;
        self.begin_slice(track, stop.begin_ns, stop.name.to_owned(), vec![next(stop.next_seq)])?;
        self.end(track, stop.end_ns, None)
    }

    fn keyframe(&mut self, facts: ProcessFacts, at_ns: u64, next_seq: u64) -> io::Result<()> {
        let track = self.track_beside(track_of_process(facts.process), KEYFRAMES, "keyframes")?;
        let annotations = vec![next(next_seq)];
        self.begin_event(kind::INSTANT, track, at_ns, "keyframe".to_owned(), annotations)
    }

    fn mark(&mut self, mark: &MarkedMoment<'_>) -> io::Result<()> {
        self.marked(kind::INSTANT, mark)
    }

    fn begin_group(&mut self, begin: &MarkedMoment<'_>) -> io::Result<()> {
        self.marked(kind::SLICE_BEGIN, begin)
    }

    fn end_group(&mut self, thread: u32, at_ns: u64, group: Option<()>) -> io::Result<()> {
        let track = self.track_of_marks(thread)?;
        match group {
            Some(()) => self.end(track, at_ns, None),
            None => Ok(()),
        }
    }

    fn gap(&mut self, gap: &GapEntry) -> io::Result<()> {
        let track = self.track_beside(track_of_thread(gap.thread), GAPS, "gaps")?;
        let annotations = vec![number("commands", gap.calls), number("records", gap.records)];
        let name = format!("not recorded: {}", gap.cause);
        self.begin_slice(track, gap.start_ns, name, annotations)?;
        self.end(track, gap.end_ns, None)
    }

    fn seam(&mut self, from_ns: u64, to_ns: u64) -> io::Result<()> {
        if !self.has_capture {
            self.has_capture = true;
            self.track(TrackDescriptor {
                uuid: Some(CAPTURE),
                name: Some("capture".to_owned()),
                ..TrackDescriptor::default()
            })?;
        }
        self.begin_slice(CAPTURE, from_ns, "no daemon".to_owned(), Vec::new())?;
        self.end(CAPTURE, to_ns, None)
    }

    fn finish(self) -> io::Result<W> {
        Ok(self.out.into_inner())
    }
}

impl<W: Write> Events<W> {
    /// Writes the readings of the clocks at the begin and at the end.
    fn clocks(&mut self, known: Option<TraceClock>) -> io::Result<()> {
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

    fn track(&mut self, descriptor: TrackDescriptor) -> io::Result<()> {
        let track_descriptor = Some(descriptor);
        self.out.write(TracePacket { track_descriptor, ..TracePacket::default() })
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

    /// Returns the track of a context or a list on the GPU, which is written the first time.
    fn track_of_gpu(&mut self, process: u32, among: Among) -> io::Result<u64> {
        if let Some(track) = self.gpu.get(&(process, among)) {
            return Ok(*track);
        }
        let track = FIRST_OF_GPU + self.gpu.len() as u64;
        self.gpu.insert((process, among), track);
        self.track(TrackDescriptor {
            uuid: Some(track),
            name: Some(format!("GPU, {among}")),
            parent_uuid: Some(track_of_process(process)),
            ..TrackDescriptor::default()
        })?;
        Ok(track)
    }

    fn track_of_marks(&mut self, thread: u32) -> io::Result<u64> {
        self.track_beside(track_of_thread(thread), MARKS, "marks")
    }

    fn marked(&mut self, kind: i32, mark: &MarkedMoment<'_>) -> io::Result<()> {
        let track = self.track_of_marks(mark.thread)?;
        let annotations = mark.seq.map(|seq| number("seq", seq)).into_iter().collect();
        self.begin_event(kind, track, mark.at_ns, mark.name.to_owned(), annotations)
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

fn next(seq: u64) -> DebugAnnotation {
    number("seq of the next command", seq)
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
