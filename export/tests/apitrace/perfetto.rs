//! Exports to Perfetto's format: which tracks and events a file has.

use std::collections::BTreeMap;

use gapii_abi::atom::{EFFECT, EndReason, FRAME_END, GapCause};
use gapii_export::perfetto;
use gapii_export::perfetto::packets::{Trace, TracePacket, TrackDescriptor, TrackEvent, kind};
use gapii_export::timeline::{Origin, Summary};
use gapii_trace::clock::{Moment, TraceClock};
use gapii_trace::footer::GapEntry;
use prost::Message;

use crate::describe::{CLEAR, Payload, SWAP, swap_args};
use crate::events;
use crate::writer::{Writer, open};

/// A trace of two threads: two frames of the first, and a command of the second in between.
fn written(is_timed: bool) -> Writer {
    let mut w = Writer::new();
    let process = w.process(1, "gears");
    let (a, b) = (w.thread(process, 10, 1), w.thread(process, 11, 2));
    let command = |w: &mut Writer, thread, id, flags, times: [u64; 2], end_ns| {
        let (args, result) = match id {
            SWAP => (swap_args(), Payload::new().u32(1)),
            _ => (Payload::new().u32(0x4100), Payload::new()),
        };
        w.enter(thread, id, EFFECT, None, &args);
        if flags != 0 {
            w.time(thread, end_ns);
        }
        match is_timed {
            true => w.leave_timed(thread, id, flags, &times, &result),
            false => w.leave(thread, id, flags, None, &result),
        }
    };
    // Each as the time in the driver, and its begin.
    command(&mut w, a, CLEAR, 0, [10, 1000], 0);
    command(&mut w, a, SWAP, FRAME_END, [50, 1010], 1065);
    command(&mut w, b, CLEAR, 0, [500, 1040], 0);
    command(&mut w, a, CLEAR, 0, [0, 1070], 0);
    command(&mut w, a, SWAP, FRAME_END, [30, 1080], 1111);
    w.footer.gaps.push(GapEntry {
        thread: b,
        records: 2,
        calls: 1,
        start_ns: 1600,
        end_ns: 1700,
        cause: GapCause::Dropped,
        ..GapEntry::default()
    });
    w.end(EndReason::Stop, Vec::new());
    w
}

fn exported(is_timed: bool) -> (Vec<TracePacket>, Summary) {
    let w = written(is_timed);
    let footer = w.footer.clone();
    let began = Moment { monotonic_ns: 500, unix_ns: 70_500, boot_ns: 900 };
    let ended = Moment { monotonic_ns: 2500, unix_ns: 72_500, boot_ns: 2900 };
    let clock = Some(TraceClock { began, ended: Some(ended) });
    let mut exporter =
        perfetto::begin(Vec::new(), Origin { clock, footer: Some(&footer) }).unwrap();
    let mut reader = open(&w.finish());
    let mut commands = reader.commands().unwrap();
    while commands.advance().unwrap() {
        let command = commands.command();
        let uploaded = if command.name() == "glClear" { 7 } else { 0 };
        exporter.command(&command, commands.assembler().tracker(), uploaded).unwrap();
    }
    let (file, summary) = exporter.finish().unwrap();
    (Trace::decode(&*file).unwrap().packet, summary)
}

/// Returns the tracks by number.
fn tracks(packets: &[TracePacket]) -> BTreeMap<u64, TrackDescriptor> {
    let tracks = packets.iter().filter_map(|packet| packet.track_descriptor.clone());
    tracks.map(|track| (track.uuid.unwrap(), track)).collect()
}

/// Returns a track's name, or that of its process or thread.
fn name_of(track: &TrackDescriptor) -> String {
    let process = track.process.as_ref().and_then(|process| process.process_name.clone());
    let thread = track.thread.as_ref().and_then(|thread| thread.tid).map(|tid| tid.to_string());
    process.or(thread).or(track.name.clone()).unwrap()
}

/// Returns the slices of a track, each as its name, begin and end, in the order of their ends. They nest.
fn slices(packets: &[TracePacket], uuid: u64) -> Vec<(String, u64, u64)> {
    let interned = packets.iter().filter_map(|packet| packet.interned_data.as_ref());
    let names: BTreeMap<_, _> = interned
        .flat_map(|data| &data.event_names)
        .map(|name| (name.iid.unwrap(), name.name.clone().unwrap()))
        .collect();
    let mut open: Vec<(String, u64)> = Vec::new();
    let mut slices = Vec::new();
    for (at_ns, event) in events(packets).filter(|(_, event)| event.track_uuid == Some(uuid)) {
        match event.r#type.unwrap() {
            kind::SLICE_BEGIN => {
                let interned = event.name_iid.map(|iid| names[&iid].clone());
                assert!(open.last().is_none_or(|(_, begin)| *begin <= at_ns));
                open.push((interned.or(event.name.clone()).unwrap(), at_ns));
            }
            kind::SLICE_END => {
                let (name, begin_ns) = open.pop().expect("a slice has begun");
                assert!(begin_ns <= at_ns, "{name}");
                slices.push((name, begin_ns, at_ns));
            }
            other => panic!("an event of kind {other} among slices"),
        }
    }
    assert!(open.is_empty(), "{open:?}");
    slices
}

fn events(packets: &[TracePacket]) -> impl Iterator<Item = (u64, &TrackEvent)> {
    packets.iter().filter_map(|packet| Some((packet.timestamp?, packet.track_event.as_ref()?)))
}

fn slice(name: &str, begin_ns: u64, end_ns: u64) -> (String, u64, u64) {
    (name.to_owned(), begin_ns, end_ns)
}

#[test]
fn commands_frames_and_gaps_are_slices_on_their_tracks() {
    let (packets, summary) = exported(true);
    let expected = Summary { commands: 5, untimed: 0, gpu: 0, frames: 2, untimed_frames: 0 };
    assert_eq!(summary, expected);
    let mut by_track = BTreeMap::new();
    for (uuid, track) in tracks(&packets).into_iter().filter(|(_, track)| track.counter.is_none()) {
        by_track.insert(name_of(&track), slices(&packets, uuid));
    }
    let expected = [
        (
            "10",
            vec![
                slice("glClear", 1000, 1010),
                slice("eglSwapBuffers", 1010, 1060),
                slice("glClear", 1070, 1070),
                slice("eglSwapBuffers", 1080, 1110),
            ],
        ),
        ("11", vec![slice("glClear", 1040, 1540)]),
        ("frames", vec![slice("frame 0", 1000, 1065), slice("frame 1", 1065, 1111)]),
        ("gaps", vec![slice("not recorded: dropped", 1600, 1700)]),
        ("gears", vec![]),
    ];
    let expected: BTreeMap<_, _> =
        expected.into_iter().map(|(name, slices)| (name.to_owned(), slices)).collect();
    assert_eq!(by_track, expected);
}

#[test]
fn flow_leads_from_the_command_that_ends_a_frame_to_the_frames_end() {
    let (packets, _) = exported(true);
    let flows = |ids: fn(&TrackEvent) -> &Vec<u64>| {
        let flows = events(&packets)
            .flat_map(move |(at_ns, event)| ids(event).iter().map(move |id| (*id, at_ns)));
        flows.collect::<Vec<_>>()
    };
    assert_eq!(flows(|event| &event.flow_ids), [(2, 1010), (5, 1080)]);
    assert_eq!(flows(|event| &event.terminating_flow_ids), [(2, 1065), (5, 1111)]);
}

#[test]
fn counters_have_a_value_for_each_frame() {
    let (packets, _) = exported(true);
    let tracks = tracks(&packets);
    let values: Vec<_> = events(&packets)
        .filter(|(_, event)| event.r#type == Some(kind::COUNTER))
        .map(|(at_ns, event)| {
            (name_of(&tracks[&event.track_uuid.unwrap()]), at_ns, event.counter_value.unwrap())
        })
        .collect();
    let [commands, bytes] = ["commands per frame", "bytes uploaded per frame"].map(str::to_owned);
    assert_eq!(
        values,
        [
            (commands.clone(), 1000, 2),
            (bytes.clone(), 1000, 7),
            (commands, 1065, 3),
            (bytes, 1065, 14),
        ]
    );
}

#[test]
fn clocks_are_read_at_begin_and_end_and_names_hold_from_the_first_packet_on() {
    let (packets, _) = exported(true);
    let snapshots: Vec<Vec<_>> = packets
        .iter()
        .filter_map(|packet| packet.clock_snapshot.as_ref())
        .map(|it| {
            it.clocks.iter().map(|it| (it.clock_id.unwrap(), it.timestamp.unwrap())).collect()
        })
        .collect();
    assert_eq!(snapshots, [[(1, 70_500), (3, 500), (6, 900)], [(1, 72_500), (3, 2500), (6, 2900)]]);
    let cleared: Vec<_> = packets.iter().map(|packet| packet.sequence_flags == Some(1)).collect();
    assert!(cleared[0] && !cleared[1..].contains(&true));
    assert!(packets.iter().all(|packet| packet.trusted_packet_sequence_id == Some(1)));
    assert!(events(&packets).count() > 0);
    let by_monotonic = |packet: &&TracePacket| packet.timestamp_clock_id == Some(3);
    assert_eq!(packets.iter().filter(by_monotonic).count(), events(&packets).count());
}

#[test]
fn trace_without_the_times_of_commands_has_its_frames() {
    let (packets, summary) = exported(false);
    let expected = Summary { commands: 0, untimed: 5, gpu: 0, frames: 2, untimed_frames: 0 };
    assert_eq!(summary, expected);
    assert!(events(&packets).all(|(_, event)| event.flow_ids.is_empty()));
    assert!(events(&packets).all(|(_, event)| event.terminating_flow_ids.is_empty()));
}

#[test]
fn holds_waits_keyframes_and_marks_are_events_on_their_tracks() {
    let file = events::export(perfetto::begin(Vec::new(), Origin::default()).unwrap());
    let packets = Trace::decode(&*file).unwrap().packet;
    let tracks = tracks(&packets);
    let on = |name: &str| {
        let (uuid, track) = tracks.iter().find(|(_, track)| name_of(track) == name).unwrap();
        let events = events(&packets).filter(|(_, event)| event.track_uuid == Some(*uuid));
        let told = events.map(|(at_ns, event)| {
            (at_ns, event.r#type.unwrap(), event.name.clone().unwrap_or_default())
        });
        (track.parent_uuid, told.collect::<Vec<_>>())
    };
    let event = |at_ns: u64, kind: i32, name: &str| (at_ns, kind, name.to_owned());
    let (thread, _) = tracks.iter().find(|(_, track)| track.thread.is_some()).unwrap();
    let held = vec![
        event(1010, kind::SLICE_BEGIN, "waits for room"),
        event(1030, kind::SLICE_END, ""),
        event(1000, kind::SLICE_BEGIN, "held for a snapshot"),
        event(1050, kind::SLICE_END, ""),
    ];
    assert_eq!(on("held and waiting"), (Some(*thread), held));
    let marks = vec![
        event(1210, kind::SLICE_BEGIN, "shadows"),
        event(1220, kind::INSTANT, "here"),
        event(1230, kind::SLICE_BEGIN, "glClear"),
        event(1240, kind::SLICE_END, ""),
    ];
    assert_eq!(on("marks"), (Some(*thread), marks));
    assert_eq!(on("keyframes").1, [event(1100, kind::INSTANT, "keyframe")]);
}
