//! `Queue`: a thread that executes the steps of command lists, in order.

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Release};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use gapii_ze_api::types::{
    ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS, ZE_RESULT_ERROR_DEVICE_LOST,
    ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, ze_command_queue_desc_t, ze_result_t,
};

use crate::flag::Flag;
use crate::flaw::{self, Flaw};
use crate::kernel::Mix;
use crate::object::Answer;
use crate::timer;

/// One command of a list.
#[derive(Clone)]
pub struct Step {
    /// Flags that must be raised before the step.
    pub waits: Vec<Arc<Flag>>,
    pub action: Action,
    /// The flag that is raised after the step.
    pub signals: Option<Arc<Flag>>,
}

/// The work of a step. The program makes sure that the addresses are valid.
#[derive(Clone)]
pub enum Action {
    Nothing,
    Copy { to: usize, from: usize, size: usize },
    Fill { to: usize, pattern: Arc<[u8]>, size: usize },
    WriteCount { to: usize },
    Set(Arc<Flag>, bool),
    Mix(Mix),
}

struct Work {
    steps: Vec<Step>,
    done: Arc<Flag>,
}

/// A queue. When it is dropped, its thread finishes its work and ends.
pub struct Queue {
    work: Sender<Work>,
    is_synchronous: bool,
}

impl Queue {
    pub fn start(desc: &ze_command_queue_desc_t) -> Result<Self, ze_result_t> {
        let is_synchronous = desc.mode == ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS;
        let (work, works) = channel();
        let thread = thread::Builder::new().name("ze queue".to_owned());
        let started = thread.spawn(move || run(&works));
        let queue = |_| Self { work, is_synchronous };
        started.map(queue).map_err(|_| ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY)
    }

    /// Submits steps; `done` is raised after them. A synchronous queue has executed them when this returns.
    pub fn submit(&self, steps: Vec<Step>, done: Arc<Flag>) -> Answer {
        self.send(steps, done)?;
        if self.is_synchronous {
            self.synchronize(u64::MAX)?;
        }
        Ok(())
    }

    /// Whether everything that was submitted before is done within `timeout_ns`.
    pub fn synchronize(&self, timeout_ns: u64) -> Result<bool, ze_result_t> {
        let done = Arc::new(Flag::default());
        self.send(Vec::new(), Arc::clone(&done))?;
        Ok(done.wait(timeout_ns))
    }

    fn send(&self, steps: Vec<Step>, done: Arc<Flag>) -> Answer {
        self.work.send(Work { steps, done }).map_err(|_| ZE_RESULT_ERROR_DEVICE_LOST)
    }
}

fn run(works: &Receiver<Work>) {
    for work in works {
        work.steps.iter().for_each(execute);
        work.done.set(true);
    }
}

fn execute(step: &Step) {
    for flag in &step.waits {
        flag.wait(u64::MAX);
    }
    match &step.action {
        Action::Nothing => {}
        Action::Copy { to, from, size } => {
            let (to, from) = (*to as *mut u8, *from as *const u8);
            // SAFETY: the program's duty; see `Action`.
            unsafe { to.copy_from(from, *size) };
            if flaw::has(Flaw::Copies) && *size > 0 {
                // SAFETY: as above.
                let first = unsafe { to.read() };
                // SAFETY: as above.
                unsafe { to.write(first ^ 1) };
            }
        }
        Action::Fill { to, pattern, size } => {
            let to = *to as *mut u8;
            for (at, byte) in (0..*size).zip(pattern.iter().cycle()) {
                // SAFETY: within `size`; the rest is the program's duty.
                let place = unsafe { to.add(at) };
                // SAFETY: as above.
                unsafe { place.write(*byte) };
            }
        }
        Action::WriteCount { to } => {
            // SAFETY: see `Action`; the host may read the word meanwhile.
            let place = unsafe { AtomicU64::from_ptr(*to as *mut u64) };
            // Release: the work before it is done.
            place.store(timer::count(), Release);
        }
        Action::Set(flag, raised) => flag.set(*raised),
        Action::Mix(mix) => mix.run(),
    }
    if let Some(flag) = &step.signals {
        flag.set(true);
    }
}

/// Returns the address of the memory that a copy or a fill uses.
pub fn address(pointer: *const c_void) -> usize {
    pointer.expose_provenance()
}
