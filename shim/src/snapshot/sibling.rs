//! A context of the shim's own that shares objects with the program's, to read them with.
//!
//! It is current on a thread that lives as long as it does, so that nothing is changed of what the
//! program has current, set and pending. Blocks all signals there, and calls no hooked function.

use std::cell::Cell;
use std::sync::mpsc::{self, Sender};
use std::thread::JoinHandle;

use gapii_commands::constants;
use gapii_commands::constants::EGL_OPENGL_ES_API;
use gapii_state::{Context, Process};

use super::formats::Layout;
use super::gl;
use super::image_layer::Image;
use super::pixels::Reader;
use crate::capture;

const EGL_NONE: i32 = constants::EGL_NONE as i32;
const EGL_HEIGHT: i32 = constants::EGL_HEIGHT as i32;
const EGL_WIDTH: i32 = constants::EGL_WIDTH as i32;
const EGL_CONTEXT_MAJOR_VERSION: i32 = constants::EGL_CONTEXT_MAJOR_VERSION as i32;
const EGL_CONTEXT_MINOR_VERSION: i32 = constants::EGL_CONTEXT_MINOR_VERSION as i32;

type Job = Box<dyn FnOnce(&mut Reader) + Send>;

/// The context and its thread.
pub struct Sibling {
    jobs: Option<Sender<Job>>,
    thread: Option<JoinHandle<()>>,
    /// It did not answer in time, and is asked no more.
    is_lost: Cell<bool>,
    /// Memory that pixels were in.
    spare: Cell<Vec<u8>>,
}

/// What the context is made with.
struct Wanted {
    display: u64,
    config: u64,
    share: u64,
    /// Without the version.
    attributes: Vec<i32>,
}

impl Sibling {
    /// Of the context that is current. `None`: the driver makes none.
    pub fn begin(process: &Process, context: &Context) -> Option<Self> {
        let wanted = Wanted::of(process, context.handle)?;
        // What was drawn has to be there for others.
        gl::finish();
        let (jobs, to_do) = mpsc::channel::<Job>();
        let blocked = Blocked::all();
        let thread = std::thread::Builder::new().spawn(move || {
            let Some(current) = wanted.make_current() else { return };
            if let Some(mut reader) = Reader::new() {
                for job in to_do {
                    job(&mut reader);
                }
            }
            drop(current);
        });
        drop(blocked);
        let sibling = Self {
            jobs: Some(jobs),
            thread: Some(thread.ok()?),
            is_lost: Cell::new(false),
            spare: Cell::default(),
        };
        sibling.ask(|_| Some(()))?;
        Some(sibling)
    }

    /// Has `take` look at an image's pixels, as they are uploaded with an alignment of 1. `None`: they
    /// can't be read.
    pub fn with_pixels(
        &self,
        image: Image,
        layout: Layout,
        take: impl FnOnce(&[u8]),
    ) -> Option<()> {
        self.with(take, move |reader, out| reader.read(image, layout, out))
    }

    /// The same of an image in a compressed format: width and height in pixels and bytes of a block.
    pub fn with_blocks(
        &self,
        image: Image,
        block: (i32, i32, usize),
        take: impl FnOnce(&[u8]),
    ) -> Option<()> {
        self.with(take, move |reader, out| reader.read_blocks(image, block, out))
    }

    fn with(
        &self,
        take: impl FnOnce(&[u8]),
        read: impl FnOnce(&mut Reader, &mut Vec<u8>) -> Option<()> + Send + 'static,
    ) -> Option<()> {
        let mut out = self.spare.take();
        let out = self.ask(move |reader| read(reader, &mut out).map(|()| out))?;
        take(&out);
        self.spare.set(out);
        Some(())
    }

    /// What a job says that is done on the sibling's thread. `None`: it could not be done in time.
    pub fn ask<R: Send + 'static>(
        &self,
        job: impl FnOnce(&mut Reader) -> Option<R> + Send + 'static,
    ) -> Option<R> {
        let (answer, answered) = mpsc::sync_channel(1);
        let job = move |reader: &mut Reader| {
            // Who asked may have gone.
            let _ = answer.send(job(reader));
        };
        if self.is_lost.get() {
            return None;
        }
        self.jobs.as_ref()?.send(Box::new(job)).ok()?;
        let answer = answered.recv_timeout(capture::stall_limit());
        self.is_lost.set(answer.is_err());
        answer.ok()?
    }
}

impl Drop for Sibling {
    fn drop(&mut self) {
        self.jobs = None;
        // A driver that does not come back is not waited for.
        let is_lost = self.is_lost.get();
        if let Some(thread) = self.thread.take().filter(|thread| !is_lost || thread.is_finished()) {
            let _ = thread.join();
        }
    }
}

impl Wanted {
    /// All but the version is what the program's context has: some of it has to be, to share.
    fn of(process: &Process, handle: u64) -> Option<Self> {
        const OF_VERSION: [i32; 3] =
            [EGL_CONTEXT_MAJOR_VERSION, EGL_CONTEXT_MINOR_VERSION, EGL_NONE];
        let state = process.lock();
        let (_, context) =
            state.egl_contexts.named().find(|(object, _)| object.name() == handle)?;
        let others = context.attributes.iter().map(|(name, value)| (*name as i32, *value));
        let others = others.filter(|(name, _)| !OF_VERSION.contains(name));
        let attributes = others.flat_map(|(name, value)| [name, value]).collect();
        Some(Self { display: context.display, config: context.config, share: handle, attributes })
    }

    /// Makes the context and makes it current on this thread.
    fn make_current(&self) -> Option<Current> {
        gl::egl_bind_api(EGL_OPENGL_ES_API);
        let context = [2, 1, 0].into_iter().map(|minor| self.make(minor)).find(|it| *it != 0)?;
        let mut current = Current { display: self.display, context, surface: 0 };
        if gl::egl_make_current(self.display, 0, 0, context) != 0 {
            return Some(current);
        }
        let size = [EGL_WIDTH, 1, EGL_HEIGHT, 1, EGL_NONE];
        // SAFETY: a list that ends.
        current.surface =
            unsafe { gl::egl_create_pbuffer(self.display, self.config, size.as_ptr()) };
        let surface = current.surface;
        (gl::egl_make_current(self.display, surface, surface, context) != 0).then_some(current)
    }

    fn make(&self, minor: i32) -> u64 {
        let version = [EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION, minor];
        let list = [&version[..], &self.attributes, &[EGL_NONE]].concat();
        // SAFETY: a list that ends.
        unsafe { gl::egl_create_context(self.display, self.config, self.share, list.as_ptr()) }
    }
}

/// The context, current on this thread until this is dropped.
struct Current {
    display: u64,
    context: u64,
    /// 0: it needs none.
    surface: u64,
}

impl Drop for Current {
    fn drop(&mut self) {
        gl::egl_make_current(self.display, 0, 0, 0);
        if self.surface != 0 {
            gl::egl_destroy_surface(self.display, self.surface);
        }
        gl::egl_destroy_context(self.display, self.context);
        gl::egl_release_thread();
    }
}

/// While it lives no signal comes to this thread; threads that it starts have none for ever.
struct Blocked {
    before: libc::sigset_t,
}

impl Blocked {
    fn all() -> Option<Self> {
        // SAFETY: a set is plain numbers.
        let mut all: libc::sigset_t = unsafe { core::mem::zeroed() };
        let mut before = all;
        // SAFETY: a set of this thread's own.
        unsafe { libc::sigfillset(&raw mut all) };
        // SAFETY: as above.
        let refused =
            unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before) };
        (refused == 0).then_some(Self { before })
    }
}

impl Drop for Blocked {
    fn drop(&mut self) {
        let before = &raw const self.before;
        // SAFETY: what the thread had.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before, core::ptr::null_mut()) };
    }
}
