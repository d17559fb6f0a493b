//! Frames, and commands by name.

use crate::commands::*;
use crate::described::dispatch::COMMANDS;
use crate::dispatch::{CommandState, find};
use crate::generated::constants::*;
use crate::program::{Heap, Seen, context, thread};
use crate::whole::Thread;
use crate::{Ignore, Nothing};

fn command(name: &str) -> Option<&'static CommandState<Thread>> {
    find(COMMANDS, name)
}

#[test]
fn successful_swap_ends_the_frame() {
    let mut thread = thread();
    let mut seen = Seen::default();
    toySwap::leave(&mut thread, &Nothing, &mut seen, 1);
    toySwap::leave(&mut thread, &Nothing, &mut seen, 0);
    assert_eq!(seen.frames, 1);
    assert_eq!(thread.process.lock().frames, 1);
}

#[test]
fn value_of_all_64_bits_is_compared() {
    let mut thread = thread();
    toyWait::enter(&mut thread, &Nothing, &mut Ignore, u64::MAX);
    toyWait::enter(&mut thread, &Nothing, &mut Ignore, 1);
    assert_eq!(thread.process.lock().waited, 1);
}

#[test]
fn condition_on_the_result_is_evaluated_after_the_driver() {
    let mut thread = thread();
    toyMakeCurrent::leave(&mut thread, &Nothing, &mut Ignore, 7, 1);
    toyMakeCurrent::leave(&mut thread, &Nothing, &mut Ignore, 8, 0);
    assert_eq!(thread.current, 7);
}

#[test]
fn commands_are_called_by_name_with_bits() {
    let mut thread = thread();
    let heap = Heap::default();
    let names = heap.put_u32(&[6]);
    let generate = command("toyGenBuffers").expect("it does something");
    assert!(generate.enter.is_none());
    generate.leave.expect("it makes names")(&mut thread, &heap, &[1, names], 0);
    let bind = command("toyBindBuffer").and_then(|bind| bind.enter).expect("it binds");
    bind(&mut thread, &heap, &[TOY_VERTICES as u64, 6], 0);
    assert_eq!(context(&thread).vertices.name(), 6);
    let scale = command("toyScale").and_then(|scale| scale.enter).expect("it scales");
    scale(&mut thread, &heap, &[u64::from(2.5f32.to_bits()), 0], 0);
    assert_eq!(context(&thread).scale, 2.5);
    assert!(command("toyGetError").is_none());
}
