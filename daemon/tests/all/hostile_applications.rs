//! Hostile applications: each loses its own commands, and no other application loses any.

use std::io::{BufReader, Read, Write};
use std::os::unix::net::UnixStream;

use crate::support::{App, Daemon, LIMIT, capture_of};
use gapii_abi::app::{AppHello, HELLO_LEN, REPLY_LEN};
use gapii_control::{Event, Request, Target};
use gapii_trace::{Footer, TraceReader, verify};

/// The daemon's handling of a hostile application's ring.
#[derive(Clone, Copy, Debug)]
pub enum Fate {
    /// The ring is refused, for a reason that begins like this.
    Refused(&'static str),
    /// The ring is refused, and its accounts do not add up, because the application has overwritten them.
    Torn,
    /// The ring is read on: the contents are odd, but break no rule for rings.
    Read,
}
use Fate::{Read as Taken, Refused, Torn};

/// An attack: its description, and the orders with which an application carries it out.
pub type Lie = (&'static str, &'static [&'static str], Fate);

/// A header word has the length in its low 32 bits, the id from bit 32 on and the flags from bit 48 on.
pub const LIES: &[Lie] = &[
    // Indices.
    ("head goes back to the beginning", &["read", "word slot+0 0"], Refused("head-backwards")),
    ("head is a lap ahead", &["advance 0x10008"], Refused("head-too-far")),
    (
        "head is at the end of all numbers",
        &["word slot+0 0xfffffffffffffff8"],
        Refused("head-too-far"),
    ),
    ("head is between two words", &["advance 3"], Refused("head-misaligned")),
    ("head runs over what was never written", &["advance 0x4000"], Refused("bad-length")),
    // Lengths.
    ("record of no length", &["word head+0 0x100000000", "advance 8"], Refused("bad-length")),
    (
        "record shorter than its header",
        &["word head+0 0x100000007", "advance 8"],
        Refused("bad-length"),
    ),
    (
        "record longer than any may be",
        &["word head+0 0x1ffffffff", "advance 0x800"],
        Refused("bad-length"),
    ),
    ("record past the head", &["word head+0 0x100000040", "advance 16"], Refused("bad-length")),
    (
        "record with a stamp and no room for it",
        &["word head+0 0x1000100000008", "advance 8"],
        Refused("bad-length"),
    ),
    ("padding in the middle", &["word head+0 0xffff00000010", "advance 16"], Refused("bad-length")),
    (
        "record over the end of the ring",
        &["near-end", "read", "word head+0 0x100000080", "advance 0x80"],
        Refused("spans-wrap"),
    ),
    // Stamps.
    (
        "stamp below the one before",
        &["word head+0 0x1000100000010", "word head+8 1", "advance 16"],
        Refused("stamp-decreased"),
    ),
    (
        "stamp from the far future",
        &["word head+0 0x5000100000010", "word head+8 0xffffffffffffffff", "advance 16"],
        Taken,
    ),
    (
        "thread whose first record has no stamp",
        &["retire", "claim", "follow", "word head+0 0x100000008", "advance 8"],
        Refused("first-record-unstamped"),
    ),
    (
        "thread that follows no order that was given",
        &["retire", "claim", "word slot+224 0xffffffffffffffff", "word head+0 8", "advance 8"],
        Taken,
    ),
    (
        "part that begins behind all that is published",
        &["retire", "claim", "word slot+216 0xfffffffffffffff8", "word slot+224 4", "calls 5"],
        Taken,
    ),
    (
        "part that begins in the middle of a record",
        &[
            "retire",
            "claim",
            "word slot+216 8",
            "word slot+224 4",
            "word head+0 0x100000010",
            "advance 16",
        ],
        Refused("bad-length"),
    ),
    // Kinds of records.
    ("flags that mean nothing", &["record 1 0x8000 8"], Refused("reserved-flags")),
    (
        "record of a kind that only the daemon writes",
        &["record 0xff10 0 24"],
        Refused("reserved-id"),
    ),
    ("record of a kind that there is not", &["record 0xff03 0 24"], Refused("record 0xff03")),
    ("command that there is not", &["record 0xfe00 4 8"], Taken),
    ("command whose arguments are cut off", &["record 1 4 0"], Taken),
    ("time in a capture without times", &["record 1 0x22 16"], Refused("record 0x0001 has a time")),
    ("leave of a command that was not entered", &["record 1 2 8"], Taken),
    // Contents of records.
    ("thread record of another thread", &["record 0xff01 0 24 7"], Refused("thread")),
    ("thread record that is cut off", &["record 0xff01 0 8 1"], Refused("record 0xff01")),
    ("context record that is cut off", &["record 0xff02 0 4 1"], Refused("record 0xff02")),
    ("gap of more than there can be", &["record 0xff04 0 64 255"], Taken),
    ("end of the capture for no known reason", &["record 0xff05 0 16 255"], Taken),
    ("end of the capture, again and again", &["records 500 0xff05 0 16 1"], Taken),
    ("piece of a blob beyond its end", &["record 0xff06 0 16 255"], Taken),
    (
        "blob of more than any memory",
        &["word head+0 0x1ff0600000020", "word head+8 0xfffffffffffffff0", "advance 0x20"],
        Taken,
    ),
    ("contents that the store never had", &["record 0xff0c 0 40 255"], Refused("a piece of")),
    ("limits that are cut off", &["record 0xff07 0 4 1"], Refused("record 0xff07")),
    ("frame that nobody asked for", &["record 0xff08 0 64 255"], Taken),
    ("snapshot out of nowhere", &["record 0xff09 0 16 255"], Refused("record 0xff09")),
    ("keyframe where none is due", &["record 0xff0a 0 16 255"], Taken),
    ("subject of no kind", &["record 0xff0b 0 32 255"], Taken),
    // Floods.
    ("storm of contexts", &["records 20000 0xff02 0 16 7"], Taken),
    ("storm of frames", &["records 20000 1 12 8"], Taken),
    ("storm of empty commands", &["records 50000 1 4 0"], Taken),
    // Slots.
    ("slot in no known state", &["half slot+64 7"], Taken),
    ("slot that is free while its thread writes", &["half slot+64 0", "calls 5"], Taken),
    ("slot given back while its thread writes", &["half slot+64 2", "calls 5"], Taken),
    ("all slots taken by nobody", &["claim-all"], Taken),
    (
        "name of a thread that is no text",
        &["word slot+72 0xffffffffffffffff", "half slot+68 0"],
        Taken,
    ),
    ("more produced than was written", &["word slot+16 0xffffffffffffffff"], Taken),
    ("commands finished that were never begun", &["word slot+8 0xffffffffffffffff"], Taken),
    (
        "waits and losses beyond measure",
        &[
            "word slot+88 0xffffffffffffffff",
            "word slot+96 0xffffffffffffffff",
            "word slot+104 0xffffffffffffffff",
            "word slot+112 0xffffffffffffffff",
            "word slot+120 0xffffffffffffffff",
        ],
        Taken,
    ),
    (
        "daemon's own words overwritten",
        &["word slot+128 0xffffffffffffffff", "half slot+136 77", "half slot+140 1"],
        Taken,
    ),
    // The segment.
    ("header overwritten", &["word header+0 0", "word header+8 0", "word header+16 1"], Taken),
    (
        "claims beyond measure",
        &[
            "word header+64 0xffffffffffffffff",
            "word header+88 0xffffffffffffffff",
            "word header+96 0xffffffffffffffff",
            "word header+104 0xffffffffffffffff",
        ],
        Taken,
    ),
    ("hooks put back in the future", &["word header+72 0xffffffffffffffff"], Taken),
    ("memory that shrinks or grows", &["no-shrink"], Taken),
    ("memory given back to the system", &["read", "punch"], Torn),
    // The socket.
    ("talk after the hello", &["talk"], Taken),
    ("socket closed in the middle", &["hang-up"], Taken),
    ("a second hello of the same process", &["hello"], Taken),
    // Memory that all applications share.
    ("counter of all goes back to nothing", &["counter 0", "calls 5"], Taken),
    ("counter of all is at its end", &["counter 0xfffffffffffffff0", "calls 50"], Taken),
];

#[test]
fn lie_costs_the_liar_alone() {
    let daemon = Daemon::start(&["--ring-size", "64K"]);
    let mut victim = daemon.app();
    let told = LIES.iter().filter_map(|lie| check(&daemon, &mut victim, *lie).err());
    let wrong: Vec<_> = told.collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Captures the hostile application and an honest one in one stream.
fn check(daemon: &Daemon, victim: &mut App, (what, orders, fate): Lie) -> Result<(), String> {
    let mut liar = daemon.app();
    let mut client = daemon.client();
    let file = tempfile::tempfile().unwrap();
    client.start(capture_of(Target::All), &file);
    victim.obey(&["wait", "thread", "calls 100"]);
    liar.obey(&["wait", "thread", "calls 5"]);
    for order in orders {
        liar.tell(order);
        assert!(liar.answered(), "{what}: {order} failed");
    }
    victim.obey(&["calls 100", "end 4", "retire"]);
    liar.tell("kill");
    client.ended();
    let mut reader = TraceReader::open(BufReader::new(file)).unwrap();
    let verification = verify(&mut reader).unwrap();
    // A ring that is read on may have nonsense, which a reader of the trace reports.
    if matches!(fate, Refused(_)) && !verification.ok {
        return Err(format!("{what}: {:#?}", verification.problems));
    }
    let footer = reader.footer().cloned().ok_or_else(|| format!("{what}: no footer"))?;
    let is_victims = |process: u32| pid_of(&footer, process) == Some(victim.pid());
    let threads: Vec<_> = footer.threads.iter().filter(|it| is_victims(it.process)).collect();
    match threads[..] {
        [it] if (it.emitted, it.lost) == (it.produced, 0) && it.emitted >= 200 => {}
        _ => return Err(format!("{what}: the other one has {threads:?}")),
    }
    let refused: Vec<_> = footer.refused.iter().map(|ring| ring.why.raw()).collect();
    match (fate, &refused[..]) {
        (Refused(why), [only]) if only.starts_with(why) => Ok(()),
        (Torn, [_]) => Ok(()),
        (Taken, []) => Ok(()),
        _ => Err(format!("{what}: {fate:?} was due, and refused was {refused:?}")),
    }
}

fn pid_of(footer: &Footer, process: u32) -> Option<u32> {
    footer.processes.iter().find(|known| known.process == process).map(|known| known.pid)
}

#[test]
fn ten_thousand_connections_keep_no_peer_out() {
    let daemon = Daemon::start(&[]);
    let connect = |name: &str| UnixStream::connect(daemon.path(name)).unwrap();
    // No connection sends anything, and all that fit stay open.
    let mut open = Vec::new();
    for number in 0..10_000 {
        let socket = connect(["app.sock", "ctl.sock"][number % 2]);
        if number % 20 < 2 {
            open.push(socket);
        }
    }
    let mut app = daemon.app();
    app.obey(&["idle"]);
    let Event::Status(status) = daemon.client().ask(&Request::Status) else { panic!("a status") };
    assert_eq!(status.apps.len(), 1);
    assert!(status.rejected.app_timeouts > 100, "{:?}", status.rejected);
    assert!(status.rejected.ctl_timeouts > 100, "{:?}", status.rejected);
}

#[test]
fn hello_that_comes_byte_by_byte_is_accepted_and_delays_no_peer() {
    let daemon = Daemon::start(&[]);
    let mut slow = UnixStream::connect(daemon.path("app.sock")).unwrap();
    slow.set_read_timeout(Some(LIMIT)).unwrap();
    let hello: [u8; HELLO_LEN] = AppHello::new(1).to_bytes();
    let (first, rest) = hello.split_at(HELLO_LEN - 1);
    first.iter().for_each(|byte| slow.write_all(&[*byte]).unwrap());
    let mut other = daemon.app();
    other.obey(&["idle"]);
    slow.write_all(rest).unwrap();
    slow.read_exact(&mut [0; REPLY_LEN]).unwrap();
}
