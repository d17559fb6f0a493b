//! Hand-written functions: their arguments, and that no lock is held while they run.

use crate::commands::*;
use crate::generated::constants::*;
use crate::generated::extensions::TOY_EXT_bind;
use crate::program::{Heap, Seen, context, thread};
use crate::toy::CHANGED_MAPS;
use crate::whole::Thread;
use crate::{Ignore, NO_PARAM, Nothing};

/// The range that a command with `@consumes` observes first.
const CHANGED: (u8, u64, u64) = (NO_PARAM, CHANGED_MAPS, 1);

const SHORT: u32 = 0x31;
const FLOAT: u32 = 0x32;

fn with_array() -> Thread {
    let mut thread = thread();
    toyArray::enter(&mut thread, &Nothing, &mut Ignore, 2, 3, FLOAT, 12, 0x4000);
    toyEnableArray::enter(&mut thread, &Nothing, &mut Ignore, 2, 1);
    thread
}

#[test]
fn client_array_is_observed_up_to_the_last_drawn_vertex() {
    let mut thread = with_array();
    let mut seen = Seen::default();
    toyDraw::enter(&mut thread, &Nothing, &mut seen, 1, 3);
    assert_eq!(seen.ranges, [CHANGED, (NO_PARAM, 0x4000 + 12, 36)]);
    let context = context(&thread);
    assert_eq!((context.draws, context.row_length, context.scales[0]), (1, 1, 3.0));
}

#[test]
fn command_with_a_negative_size_changes_nothing() {
    let mut thread = with_array();
    let mut seen = Seen::default();
    toyArray::enter(&mut thread, &Nothing, &mut Ignore, 2, 4, SHORT, -1, 0x5000);
    toyDraw::enter(&mut thread, &Nothing, &mut seen, 0, -1);
    assert_eq!(seen.ranges, [CHANGED]);
    assert_eq!(context(&thread).draws, 0);
    toyDraw::enter(&mut thread, &Nothing, &mut seen, 1, 3);
    assert_eq!(seen.ranges[2], (NO_PARAM, 0x4000 + 12, 36));
}

#[test]
fn assignment_past_the_end_of_an_array_does_nothing() {
    let mut thread = thread();
    toyEnableArray::enter(&mut thread, &Nothing, &mut Ignore, 4, 1);
    assert!(context(&thread).arrays.iter().all(|array| !array.enabled));
}

#[test]
fn highest_index_is_computed_from_client_memory_since_version_1_1() {
    let heap = Heap::default();
    let indices = heap.put(&[0, 0, 5, 0, 2, 0]);
    let mut thread = with_array();
    let mut seen = Seen::default();
    toyDrawIndexed::enter(&mut thread, &heap, &mut seen, 3, SHORT, indices);
    assert_eq!(seen.ranges, [CHANGED, (2, indices, 6)], "the version is 1.0");

    let context = thread.context.as_deref_mut().unwrap();
    context.version = (1, 1);
    let mut seen = Seen::default();
    toyDrawIndexed::enter(&mut thread, &heap, &mut seen, 3, SHORT, indices);
    assert_eq!(seen.ranges, [CHANGED, (2, indices, 6), (NO_PARAM, 0x4000, 6 * 12)]);

    let context = thread.context.as_deref_mut().unwrap();
    // Extensions are bits. The runtime names them by its own list, not by the toy's.
    context.extensions.add(gapii_state::generated::extensions::NAMES[TOY_EXT_bind]);
    let mut seen = Seen::default();
    toyDrawIndexed::enter(&mut thread, &heap, &mut seen, 3, SHORT, indices);
    assert_eq!(seen.ranges, [CHANGED, (2, indices, 6)], "there is the extension");
}

#[test]
fn return_ends_the_part() {
    let mut thread = thread();
    let target = TOY_INDICES as u32;
    toyBindBuffer::enter(&mut thread, &Nothing, &mut Ignore, target, 1);
    let mut seen = Seen::default();
    toyDrawIndexed::enter(&mut thread, &Nothing, &mut seen, 3, SHORT, 4);
    assert_eq!(context(&thread).row_length, 10);
    toyDrawIndexed::enter(&mut thread, &Nothing, &mut seen, 3, SHORT, 2);
    assert_eq!(context(&thread).row_length, 10);
    assert_eq!(seen.ranges, [CHANGED, CHANGED]);
}

#[test]
fn image_is_observed_unless_a_pixel_buffer_is_bound() {
    let mut thread = thread();
    toyRowLength::enter(&mut thread, &Nothing, &mut Ignore, 10);
    let mut seen = Seen::default();
    toyUpload::enter(&mut thread, &Nothing, &mut seen, 4, 3, SHORT, 0x5000);
    toyDownload::leave(&mut thread, &Nothing, &mut seen, 4, 3, SHORT, 0x6000);
    assert_eq!(seen.ranges, [(3, 0x5000, 60), (3, 0x6000, 24)]);
    let target = TOY_VERTICES as u32;
    toyBindBuffer::enter(&mut thread, &Nothing, &mut Ignore, target, 1);
    let mut seen = Seen::default();
    toyUpload::enter(&mut thread, &Nothing, &mut seen, 4, 3, SHORT, 0);
    toyDownload::leave(&mut thread, &Nothing, &mut seen, 4, 3, SHORT, 0);
    assert_eq!(seen, Seen::default());
}
