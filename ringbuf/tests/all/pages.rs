//! Memory files: their seals, their maps, and the processes that may write them.

use std::fs::File;
use std::num::NonZeroU64;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use gapii_ringbuf::{
    CounterMap, FRAME_RULE_BYTES, MapError, Mode, ModeMap, ModeSettings, ModeWriter, Overflow,
    Segment, SegmentLayout, StoreTerms,
};
use memmap2::MmapOptions;

fn layout() -> SegmentLayout {
    SegmentLayout::new(2, 4096).expect("sizes are in range")
}

#[test]
#[cfg_attr(miri, ignore = "needs a second mapping of a memory file")]
fn memory_files_cannot_change_their_length() {
    let files: [(&str, OwnedFd); 3] = [
        ("counter", CounterMap::create().expect("memfd works").1),
        ("mode", ModeWriter::create().expect("memfd works").1),
        ("segment", Segment::create(layout()).expect("memfd works").1),
    ];
    for (name, fd) in files {
        let file = File::from(fd);
        let len = file.metadata().expect("an open file").len();
        for other in [0, len - 1, len + 1] {
            assert!(file.set_len(other).is_err(), "{name} became {other} bytes long");
        }
        assert_eq!(file.metadata().expect("an open file").len(), len);
    }
}

#[test]
#[cfg_attr(miri, ignore = "needs a second mapping of a memory file")]
fn mode_page_cannot_be_mapped_for_writing_by_whoever_gets_it() {
    let (_writer, fd) = ModeWriter::create().expect("memfd works");
    let error = MmapOptions::new().len(4096).map_raw(fd.as_raw_fd()).expect_err("it is sealed");
    assert_eq!(error.kind(), std::io::ErrorKind::PermissionDenied);
    assert!(ModeMap::map(fd.as_fd()).is_ok());
}

#[test]
#[cfg_attr(miri, ignore = "needs a second mapping of a memory file")]
fn store_reaches_the_reader() {
    let (mut writer, fd) = ModeWriter::create().expect("memfd works");
    let reader = ModeMap::map(fd.as_fd()).expect("our own page");
    assert_eq!(reader.store(), StoreTerms::default());
    let terms = StoreTerms { number: 7, end: 1 << 40 };
    writer.set_store(terms);
    assert_eq!(reader.store(), terms);
}

#[test]
#[cfg_attr(miri, ignore = "needs a second mapping of a memory file")]
fn settings_reach_the_reader_with_their_generation() {
    let (mut writer, fd) = ModeWriter::create().expect("memfd works");
    let reader = ModeMap::map(fd.as_fd()).expect("our own page");
    let (idle, settings) = reader.settings().expect("nobody writes");
    assert_eq!(settings, ModeSettings::default());
    let settings = ModeSettings {
        mode: Mode::Capturing,
        overflow: Overflow::Drop,
        frames: 100,
        skip_frames: 3,
        stall_ns: 5,
        observe_frames: 7,
        observe_pixels: true,
        times_driver: true,
        times_gpu: true,
        keyframe_every: 9,
        counts_submits: true,
        at_any_command: true,
        attach_bytes: 9,
    };
    let generation = writer.set(settings);
    assert!(generation > idle);
    assert_eq!(reader.settings(), Some((generation, settings)));
    writer.ask_keyframe();
    assert_eq!(reader.keyframes_asked(), 1);
    assert_eq!(reader.keyframe_at(), None);
    writer.ask_keyframe_at(NonZeroU64::MAX);
    assert_eq!(reader.keyframe_at(), Some(NonZeroU64::MAX));
    assert!(!reader.drain_sleeps());
    writer.set_drain_sleeping(true);
    assert!(reader.drain_sleeps());
    // A request holds for the settings that exist when the application reads it, however late that is.
    writer.set(settings);
    assert_eq!(reader.keyframes_asked(), 0);
    assert_eq!(reader.keyframe_at(), None);
}

#[test]
#[cfg_attr(miri, ignore = "needs a second mapping of a memory file")]
fn frame_rule_is_read_only_with_the_settings_that_it_belongs_to() {
    let (mut writer, fd) = ModeWriter::create().expect("memfd works");
    let reader = ModeMap::map(fd.as_fd()).expect("our own page");
    let idle = reader.generation();
    assert_eq!(reader.frame_rule(idle), Some([0; FRAME_RULE_BYTES]));
    writer.set_frame_rule(b"glFlush\0group:frame\0");
    assert_eq!(reader.settings(), None, "the settings are changing");
    assert_eq!(reader.frame_rule(idle), None);
    let first = writer.set(ModeSettings { mode: Mode::Capturing, ..ModeSettings::default() });
    let text = reader.frame_rule(first).expect("nobody writes");
    assert!(text.starts_with(b"glFlush\0group:frame\0\0"), "{text:?}");
    assert_eq!(reader.frame_rule(idle), None, "another order's");
    writer.set_frame_rule(&[b'x'; 2 * FRAME_RULE_BYTES]);
    let second = writer.set(ModeSettings::default());
    assert_eq!(reader.frame_rule(second), Some([b'x'; FRAME_RULE_BYTES]), "cut to the room");
    writer.set_frame_rule(&[]);
    let third = writer.set(ModeSettings::default());
    assert_eq!(reader.frame_rule(third), Some([0; FRAME_RULE_BYTES]));
}

#[test]
#[cfg_attr(miri, ignore = "needs a second mapping of a memory file")]
fn waiter_on_the_mode_page_wakes_when_the_settings_change() {
    let (mut writer, fd) = ModeWriter::create().expect("memfd works");
    let reader = ModeMap::map(fd.as_fd()).expect("our own page");
    let seen = reader.orders().load(Ordering::Acquire);
    let started = Instant::now();
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| {
            while reader.orders().load(Ordering::Acquire) == seen {
                reader.wait_order(seen, Duration::from_secs(60));
            }
        });
        writer.set(ModeSettings { mode: Mode::Capturing, ..ModeSettings::default() });
        waiter.join().expect("the waiter does not panic");
    });
    assert!(started.elapsed() < Duration::from_secs(30));
}

#[test]
#[cfg_attr(miri, ignore = "needs a second mapping of a memory file")]
fn doorbell_wakes_the_drain() {
    let (daemon, fd) = CounterMap::create().expect("memfd works");
    let shim = CounterMap::map(fd.as_fd()).expect("our own page");
    let seen = daemon.doorbell();
    std::thread::scope(|scope| {
        let drain = scope.spawn(|| {
            while daemon.doorbell() == seen {
                daemon.wait_doorbell(seen, Duration::from_secs(60));
            }
        });
        shim.ring_doorbell();
        drain.join().expect("the drain does not panic");
    });
}

#[test]
#[cfg_attr(miri, ignore = "needs a second mapping of a memory file")]
fn segment_that_is_not_what_was_agreed_is_not_mapped() {
    let (_segment, fd) = Segment::create(layout()).expect("memfd works");
    assert!(Segment::map(fd.as_fd(), layout()).is_ok());

    let other = SegmentLayout::new(3, 4096).expect("sizes are in range");
    let error = Segment::map(fd.as_fd(), other).expect_err("another length");
    assert!(matches!(error, MapError::Length { .. }), "{error}");

    let unsealed = tempfile_like(layout().segment_bytes());
    let error = Segment::map(unsealed.as_fd(), layout()).expect_err("it could shrink");
    assert!(matches!(error, MapError::NotSealed), "{error}");

    let (_counter, counter) = CounterMap::create().expect("memfd works");
    let error = Segment::map(counter.as_fd(), layout()).expect_err("another length");
    assert!(matches!(error, MapError::Length { expected, .. } if expected > 4096), "{error}");
}

#[test]
#[cfg_attr(miri, ignore = "needs a second mapping of a memory file")]
fn segment_with_a_damaged_header_is_not_mapped() {
    for (offset, value) in [(0, 1_u32), (8, 1), (12, 1), (16, 8192)] {
        let (_segment, fd) = Segment::create(layout()).expect("memfd works");
        let map = MmapOptions::new().len(4096).map_raw(fd.as_raw_fd()).expect("writable");
        // SAFETY: the offset is in the page that was just mapped.
        let word = unsafe { map.as_mut_ptr().add(offset) };
        // SAFETY: as above; aligned to 4, and nothing else uses it now.
        unsafe { word.cast::<u32>().write(value) };
        let error = Segment::map(fd.as_fd(), layout()).expect_err("damaged");
        let named = match offset {
            0 => matches!(error, MapError::Magic(_)),
            8 => matches!(error, MapError::Version(1)),
            _ => matches!(error, MapError::Sizes { .. }),
        };
        assert!(named, "{error}");
    }
}

/// A memory file that can be cut short while it is mapped.
fn tempfile_like(len: u64) -> OwnedFd {
    // SAFETY: the name is a C string.
    let fd = unsafe { libc::memfd_create(c"unsealed".as_ptr(), libc::MFD_CLOEXEC) };
    assert!(fd >= 0);
    // SAFETY: just created, and nothing else uses it.
    let file = unsafe { <File as std::os::fd::FromRawFd>::from_raw_fd(fd) };
    file.set_len(len).expect("it is not sealed");
    file.into()
}
