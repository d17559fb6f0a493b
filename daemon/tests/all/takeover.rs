//! The memory that a process hands over after its daemon has ended: accepted only in the right form, and only if
//! a client wants it.

use std::fs::File;
use std::io::{IoSlice, Read};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;

use crate::support::{Daemon, LIMIT};
use gapii_abi::app::{AppHello, FLAG_TAKE_OVER, HelloReply, REPLY_LEN, reply_status};
use gapii_control::{Event, Request};
use gapii_ringbuf::{
    CaptureId, CounterMap, Mode, ModeSettings, ModeWriter, Segment, SegmentLayout,
};
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};

const SLOTS: u32 = 4;
const RING_BYTES: u64 = 65_536;

fn layout() -> SegmentLayout {
    SegmentLayout::new(SLOTS, RING_BYTES).unwrap()
}

fn hello() -> AppHello {
    AppHello {
        flags: FLAG_TAKE_OVER,
        slot_count: SLOTS,
        ring_bytes: RING_BYTES,
        ..AppHello::new(std::process::id())
    }
}

/// Makes a mode page that states this, and how many captures can be continued.
fn page(mode: Mode, takers: u32) -> OwnedFd {
    let (mut writer, fd) = ModeWriter::create().unwrap();
    writer.set_capture(CaptureId { session: [3; 16], number: 1 });
    writer.set_takers(takers);
    writer.set(ModeSettings { mode, ..ModeSettings::default() });
    fd
}

fn segment() -> OwnedFd {
    Segment::create(layout()).unwrap().1
}

fn counter() -> OwnedFd {
    CounterMap::create().unwrap().1
}

/// Makes a memory file that any process may shorten.
fn unsealed(bytes: u64) -> OwnedFd {
    let fd = memfd_create("unsealed", MemfdFlags::CLOEXEC).unwrap();
    ftruncate(&fd, bytes).unwrap();
    fd
}

/// Sends a hello with descriptors. Returns the status of the answer, and whether descriptors came with it.
fn answer(daemon: &Daemon, hello: &AppHello, fds: &[OwnedFd]) -> Option<u16> {
    let mut socket = UnixStream::connect(daemon.path("app.sock")).unwrap();
    socket.set_read_timeout(Some(LIMIT)).unwrap();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(8))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let fds: Vec<_> = fds.iter().map(AsFd::as_fd).collect();
    assert!(fds.is_empty() || control.push(SendAncillaryMessage::ScmRights(&fds)));
    let bytes = hello.to_bytes();
    sendmsg(&socket, &[IoSlice::new(&bytes)], &mut control, SendFlags::NOSIGNAL).unwrap();
    let mut bytes = [0; REPLY_LEN];
    socket.read_exact(&mut bytes).ok()?;
    let reply = HelloReply::from_bytes(&bytes).unwrap();
    assert_eq!(reply.segment_bytes, 0, "a refusal promises nothing");
    Some(reply.status)
}

#[test]
fn handed_over_memory_of_a_wrong_form_is_refused() {
    let daemon = Daemon::start(&[]);
    let capturing = || page(Mode::Capturing, 1);
    let file = || OwnedFd::from(File::open("/dev/zero").unwrap());
    let sizes = |slot_count, ring_bytes| AppHello { slot_count, ring_bytes, ..hello() };
    let all = || vec![counter(), capturing(), segment()];
    let cases: Vec<(&str, AppHello, Vec<OwnedFd>)> = vec![
        ("nothing", hello(), vec![]),
        ("too little", hello(), vec![counter(), capturing()]),
        ("in another order", hello(), vec![segment(), capturing(), counter()]),
        ("devices", hello(), vec![file(), file(), file()]),
        ("a counter that may shrink", hello(), vec![unsealed(4096), capturing(), segment()]),
        ("a page that may shrink", hello(), vec![counter(), unsealed(4096), segment()]),
        ("rings that may shrink", hello(), {
            vec![counter(), capturing(), unsealed(layout().segment_bytes())]
        }),
        ("too many rings", sizes(u32::MAX, RING_BYTES), all()),
        ("more rings than are there", sizes(SLOTS + 1, RING_BYTES), all()),
        ("rings of no size", sizes(SLOTS, 0), all()),
        ("rings of any size", sizes(SLOTS, 1 << 40), all()),
        ("larger rings", sizes(SLOTS, 2 * RING_BYTES), all()),
    ];
    let count = cases.len() as u64;
    for (what, hello, fds) in cases {
        let status = answer(&daemon, &hello, &fds);
        assert_eq!(status, Some(reply_status::NO_CAPTURE), "{what}");
    }
    match daemon.client().ask(&Request::Status) {
        Event::Status(status) => {
            assert_eq!((status.rejected.app_hellos, status.apps.len()), (count, 0));
        }
        other => panic!("not a status: {other:?}"),
    }
}

#[test]
fn capture_that_is_unknown_or_unwanted_is_not_continued() {
    let daemon = Daemon::start(&[]);
    for (what, page) in [
        ("idle", page(Mode::Idle, 1)),
        ("kept in memory", page(Mode::Capturing, 0)),
        ("of no capture", ModeWriter::create().unwrap().1),
        ("unwanted", page(Mode::Capturing, 1)),
    ] {
        let status = answer(&daemon, &hello(), &[counter(), page, segment()]);
        assert_eq!(status, Some(reply_status::NO_CAPTURE), "{what}");
    }
    let Event::Apps(apps) = daemon.client().ask(&Request::Apps) else {
        panic!("apps are asked for")
    };
    assert_eq!(apps, []);
}
