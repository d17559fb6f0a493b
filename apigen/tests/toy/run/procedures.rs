//! Procedures: their statements have the same effect as if they were written in the calling commands.

use crate::commands::*;
use crate::program::{Seen, thread};
use crate::{Ignore, Nothing};

const QUEUE: u64 = 0x9000;

#[test]
fn procedure_has_its_effects_in_every_command_that_calls_it() {
    let mut thread = thread();
    let mut seen = Seen::default();
    toySubmit::leave(&mut thread, &Nothing, &mut seen, QUEUE, 3, 1);
    toyFinish::leave(&mut thread, &Nothing, &mut seen, QUEUE, 1);
    let memory = (crate::NO_PARAM, QUEUE, 16);
    assert_eq!(seen.ranges, [memory, memory]);
    let process = thread.process.lock();
    let queue = process.queues.get(process.queues.find(QUEUE)).expect("it was submitted to");
    assert_eq!((queue.finished, queue.last_count), (2, 0));
    assert_eq!(process.finished_queues, [QUEUE, QUEUE]);
}

#[test]
fn variable_of_a_command_is_not_that_of_a_procedure_with_its_name() {
    let mut thread = thread();
    toySubmit::leave(&mut thread, &Nothing, &mut Ignore, QUEUE, 1, 1);
    assert!(thread.process.lock().is_submitted);
    toySubmit::leave(&mut thread, &Nothing, &mut Ignore, QUEUE, 1, 0);
    assert!(!thread.process.lock().is_submitted);
}

#[test]
fn argument_is_cut_to_the_width_of_the_parameter() {
    let mut thread = thread();
    toySubmit::leave(&mut thread, &Nothing, &mut Ignore, QUEUE, i32::MAX, 1);
    let process = thread.process.lock();
    let queue = process.queues.get(process.queues.find(QUEUE)).expect("it was submitted to");
    assert_eq!(queue.last_count, i64::from(i32::MIN));
}

#[test]
fn procedure_in_an_else_branch_deletes_the_queue() {
    let mut thread = thread();
    toySubmit::leave(&mut thread, &Nothing, &mut Ignore, QUEUE, 1, 1);
    toyFinish::leave(&mut thread, &Nothing, &mut Ignore, QUEUE, 0);
    let process = thread.process.lock();
    assert!(process.queues.find(QUEUE).is_none());
}
