//! The extension that docs/apilang.md adds with a description alone.

use std::sync::Arc;

use gapii_follow::{Context, Group, Process, Thread, command};
use gapii_state::Memory;

const GL_INCLUSIVE_EXT: u64 = 0x8F10;
const GL_EXCLUSIVE_EXT: u64 = 0x8F11;

/// Two rectangles at address 16.
struct Rectangles;

impl Memory for Rectangles {
    fn read(&self, address: u64, into: &mut [u8]) -> bool {
        let bytes: Vec<u8> = (1_i32..=8).flat_map(i32::to_le_bytes).collect();
        let from = address.checked_sub(16).map(|from| from as usize);
        let found = from.and_then(|from| bytes.get(from..)?.get(..into.len()));
        found.map(|found| into.copy_from_slice(found)).is_some()
    }

    fn text_len(&self, _: u64, _: u64) -> u64 {
        0
    }
}

#[test]
fn window_rectangles_are_state_of_the_context() {
    let mut thread = Thread::new(Arc::new(Process::default()), 1);
    thread.context = Some(Box::new(Context::new(1, Arc::new(Group::default()), (3, 2))));
    let enter = command("glWindowRectanglesEXT").and_then(|known| known.enter).unwrap();
    let mut check = |mode: u64, count: u64, expected: (u64, &[i32])| {
        enter(&mut thread, &Rectangles, &[mode, count, 16], 0);
        let context = thread.context.as_deref().unwrap();
        let found = (u64::from(context.window_rectangle_mode), &*context.window_rectangles);
        assert_eq!(found, expected);
    };
    let both = [1, 2, 3, 4, 5, 6, 7, 8];
    check(GL_INCLUSIVE_EXT, 2, (GL_INCLUSIVE_EXT, &both));
    check(0, 1, (GL_INCLUSIVE_EXT, &both));
    check(GL_EXCLUSIVE_EXT, u64::from(u32::MAX), (GL_INCLUSIVE_EXT, &both));
    check(GL_EXCLUSIVE_EXT, 0, (GL_EXCLUSIVE_EXT, &[]));
}
