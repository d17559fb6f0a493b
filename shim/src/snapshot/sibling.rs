//! A context of the shim's own that shares objects with the program's, to read them with: of OpenGL ES 3.2, 3.1 or 3.0,
//! with the attributes of the program's context; of OpenGL with the same version and profile, too. It is current on a
//! thread of its own, which blocks all signals, so that everything that the program has current, set or pending stays as
//! it is. If a job does not end within the stall limit (default 2 s), as when the driver hangs, the program goes on, the
//! sibling gets no further jobs, and what it should have read is missing.
//!
//! The thread that describes begins a sibling wherever it needs one. Those that are over wait to be used again until the
//! description is over ([`end_idle`]): some drivers need tens of milliseconds for a context and its first shaders.

use std::cell::{Cell, OnceCell};
use std::sync::Mutex;
use std::sync::mpsc::{self, Sender};
use std::thread::JoinHandle;

use gapii_commands::constants;
use gapii_commands::constants::EGL_OPENGL_ES_API;
use gapii_state::Process;

use super::blocked_signals::Blocked;
use super::emit::Emitter;
use super::formats::Layout;
use super::gl;
use super::image_layer::Image;
use super::like::{Like, System};
use super::owed::Uploaded;
use super::pixels::Reader;
use super::staging::{BYTES_AT_ONCE, BufferReader};
use crate::capture;
use crate::tls::words;

const EGL_NONE: i32 = constants::EGL_NONE as i32;
const EGL_HEIGHT: i32 = constants::EGL_HEIGHT as i32;
const EGL_WIDTH: i32 = constants::EGL_WIDTH as i32;
const EGL_CONTEXT_MAJOR_VERSION: i32 = constants::EGL_CONTEXT_MAJOR_VERSION as i32;
const EGL_CONTEXT_MINOR_VERSION: i32 = constants::EGL_CONTEXT_MINOR_VERSION as i32;

/// What jobs read with. Lives on the sibling's thread while its context is current.
pub struct Readers {
    images: Reader,
    buffers: BufferReader,
}

type Job = Box<dyn FnOnce(&mut Readers) + Send>;

/// Siblings that are over, to be used again. Only the thread that describes uses them. A forked child may find the list
/// locked for good; it then makes new ones.
static IDLE: Mutex<Vec<Working>> = Mutex::new(Vec::new());

/// A context that shares with one of the program's.
pub struct Sibling {
    /// `None` once it is over.
    working: Option<Working>,
}

/// The context and its thread.
struct Working {
    /// The program's context.
    share: u64,
    /// Display and handle of a context of GLX, which is destroyed on the program's thread.
    of_glx: Option<(u64, u64)>,
    jobs: Option<Sender<Job>>,
    thread: Option<JoinHandle<()>>,
    /// It did not answer within the stall limit, and gets no further jobs.
    is_lost: Cell<bool>,
    /// Memory for pixels, used again and again.
    spare: Cell<Vec<u8>>,
}

/// A sibling of a context that is made when it is first needed.
pub struct OnDemand<'a> {
    process: &'a Process,
    share: u64,
    made: OnceCell<Option<Sibling>>,
}

impl<'a> OnDemand<'a> {
    /// `share` is the program's context.
    pub fn new(process: &'a Process, share: u64) -> Self {
        Self { process, share, made: OnceCell::new() }
    }

    /// `None` if the driver makes none.
    pub fn get(&self) -> Option<&Sibling> {
        self.made.get_or_init(|| Sibling::begin(self.process, self.share)).as_ref()
    }
}

/// A context of the shim's own that shares with none, current with a surface of the program on a thread of its own.
pub struct Alone;

impl Alone {
    /// Passes width and height of the surface to `job` while it is current, and returns the answer. `None` if the surface
    /// cannot be made current, or the job takes longer than the stall limit.
    pub fn run<R: Send + 'static>(
        display: u64,
        config: u64,
        surface: u64,
        job: impl FnOnce(i32, i32) -> R + Send + 'static,
    ) -> Option<R> {
        let wanted = Wanted { like: Like::of_es3(display, config), share: 0, made: 0 };
        let (answer, answered) = mpsc::sync_channel(1);
        let blocked = Blocked::all();
        let thread = std::thread::Builder::new().spawn(move || {
            let Some(current) = wanted.make_current_with(surface) else { return };
            let size = [EGL_WIDTH, EGL_HEIGHT].map(|name| {
                let mut value = 0;
                // SAFETY: `value` is writable.
                unsafe { gl::egl_query_surface(display, surface, name, &raw mut value) };
                value
            });
            let done = job(size[0], size[1]);
            drop(current);
            // The asking thread may have given up.
            let _ = answer.send(done);
        });
        drop(blocked);
        let answer = answered.recv_timeout(capture::stall_limit());
        let thread = thread.ok()?;
        // A thread whose driver call does not return is left alone.
        if answer.is_ok() || thread.is_finished() {
            let _ = thread.join();
        }
        answer.ok()
    }
}

/// A context that is to be made.
struct Wanted {
    like: Like,
    share: u64,
    /// The context, if it is there already: those of GLX are made on the program's thread.
    made: u64,
}

impl Sibling {
    /// Makes a context that shares with the program's context `share`, or takes one that is over. `None` if the driver
    /// makes none.
    pub fn begin(process: &Process, share: u64) -> Option<Self> {
        let like = Like::of(process, share)?;
        // The sibling sees what the current context has drawn.
        if words().context_api.get() != 0 {
            gl::finish_program();
        }
        let working = Working::idle(share).or_else(|| Working::begin(like, share))?;
        Some(Self { working: Some(working) })
    }

    /// Passes an image's pixels to `take`, as they are uploaded with an alignment of 1. `None` if they cannot be read.
    pub fn with_pixels(
        &self,
        image: Image,
        layout: Layout,
        take: impl FnOnce(&[u8]),
    ) -> Option<()> {
        self.with(take, move |readers, out| readers.images.read(image, layout, out))
    }

    /// Passes the blocks of an image in a compressed format to `take`. `block` is the width and height of a block in pixels,
    /// and its size in bytes.
    pub fn with_blocks(
        &self,
        image: Image,
        block: (i32, i32, usize),
        take: impl FnOnce(&[u8]),
    ) -> Option<()> {
        self.with(take, move |readers, out| readers.images.read_blocks(image, block, out))
    }

    /// As [`Self::with_pixels`]; the pixels may be sent while the program runs on.
    pub fn send_pixels(
        &self,
        emitter: &mut Emitter,
        image: Image,
        layout: Layout,
        take: impl FnOnce(&mut Emitter, Uploaded),
    ) -> Option<()> {
        // A pixel has a byte at least, and what is not owed then is sent at once.
        emitter.owes(image.width.unsigned_abs() as usize * image.height.unsigned_abs() as usize);
        self.send(emitter, take, move |readers, out| readers.images.read(image, layout, out))
    }

    /// As [`Self::with_blocks`]; the blocks may be sent while the program runs on.
    pub fn send_blocks(
        &self,
        emitter: &mut Emitter,
        image: Image,
        block: (i32, i32, usize),
        take: impl FnOnce(&mut Emitter, Uploaded),
    ) -> Option<()> {
        self.send(emitter, take, move |readers, out| readers.images.read_blocks(image, block, out))
    }

    /// As [`Self::with_buffer`]; the bytes may be sent while the program runs on.
    pub fn send_buffer(
        &self,
        emitter: &mut Emitter,
        name: u32,
        size: usize,
        take: impl FnOnce(&mut Emitter, Uploaded),
    ) -> Option<()> {
        if !emitter.owes(size) {
            return self.with_buffer(name, size, |bytes| take(emitter, Uploaded::of(bytes)));
        }
        self.send(emitter, take, move |readers, out| readers.buffers.read(name, size, out))
    }

    /// Has `take` look at the first `size` bytes of a buffer. `None`: they can't be read.
    pub fn with_buffer(&self, name: u32, size: usize, take: impl FnOnce(&[u8])) -> Option<()> {
        if size > BYTES_AT_ONCE {
            return self.with(take, move |readers, out| readers.buffers.read(name, size, out));
        }
        let at = self.ask(move |readers| readers.buffers.map(name, size))?;
        let at: *const u8 = core::ptr::with_exposed_provenance(at);
        // SAFETY: the driver has mapped as many bytes for reading, until the next job.
        take(unsafe { core::slice::from_raw_parts(at, size) });
        self.ask(|readers| {
            readers.buffers.unmap();
            Some(())
        });
        Some(())
    }

    fn with(
        &self,
        take: impl FnOnce(&[u8]),
        read: impl FnOnce(&mut Readers, &mut Vec<u8>) -> Option<()> + Send + 'static,
    ) -> Option<()> {
        let spare = &self.working.as_ref()?.spare;
        let mut out = spare.take();
        let out = self.ask(move |readers| read(readers, &mut out).map(|()| out))?;
        take(&out);
        spare.set(out);
        Some(())
    }

    fn send(
        &self,
        emitter: &mut Emitter,
        take: impl FnOnce(&mut Emitter, Uploaded),
        read: impl FnOnce(&mut Readers, &mut Vec<u8>) -> Option<()> + Send + 'static,
    ) -> Option<()> {
        let spare = &self.working.as_ref()?.spare;
        let mut out = spare.take();
        let mut out = self.ask(move |readers| read(readers, &mut out).map(|()| out))?;
        let contents = emitter.uploaded(&mut out);
        take(emitter, contents);
        spare.set(out);
        Some(())
    }

    /// Runs a job on the sibling's thread, with the sibling current, and returns its answer. `None` if it has none, or does
    /// not end within the stall limit.
    pub fn ask<R: Send + 'static>(
        &self,
        job: impl FnOnce(&mut Readers) -> Option<R> + Send + 'static,
    ) -> Option<R> {
        self.working.as_ref()?.ask(job)
    }
}

impl Drop for Sibling {
    fn drop(&mut self) {
        let usable = self.working.take().filter(|working| !working.is_lost.get());
        if let (Some(working), Ok(mut idle)) = (usable, IDLE.try_lock()) {
            idle.push(working);
        }
    }
}

/// Ends the siblings that are over: the description is.
pub fn end_idle() {
    if let Ok(mut idle) = IDLE.try_lock() {
        idle.clear();
    }
}

/// For a forked child: the siblings' threads do not exist in it.
pub fn forget_idle() {
    if let Ok(mut idle) = IDLE.try_lock() {
        core::mem::forget(core::mem::take(&mut *idle));
    }
}

impl Working {
    /// Takes one that is over and shares with the program's context `share`.
    fn idle(share: u64) -> Option<Self> {
        let mut idle = IDLE.try_lock().ok()?;
        let at = idle.iter().position(|it| it.share == share)?;
        Some(idle.swap_remove(at))
    }

    /// `None` if the driver makes no such context.
    fn begin(like: Like, share: u64) -> Option<Self> {
        let of_glx = match like.system {
            System::Glx => Some((like.display, like.create_of_glx(share))),
            System::Egl => None,
        };
        if of_glx.is_some_and(|(_, context)| context == 0) {
            return None;
        }
        let wanted = Wanted { like, share, made: of_glx.map_or(0, |(_, context)| context) };
        let (jobs, to_do) = mpsc::channel::<Job>();
        let blocked = Blocked::all();
        let thread = std::thread::Builder::new().spawn(move || {
            let Some(current) = wanted.make_current() else { return };
            if let Some(images) = Reader::new() {
                let mut readers = Readers { images, buffers: BufferReader::default() };
                for job in to_do {
                    job(&mut readers);
                }
            }
            drop(current);
        });
        drop(blocked);
        let working = Self {
            share,
            of_glx,
            jobs: Some(jobs),
            thread: Some(thread.ok()?),
            is_lost: Cell::new(false),
            spare: Cell::default(),
        };
        working.ask(|_| Some(()))?;
        Some(working)
    }

    /// As [`Sibling::ask`].
    fn ask<R: Send + 'static>(
        &self,
        job: impl FnOnce(&mut Readers) -> Option<R> + Send + 'static,
    ) -> Option<R> {
        let (answer, answered) = mpsc::sync_channel(1);
        let job = move |readers: &mut Readers| {
            // The asking thread may have given up.
            let _ = answer.send(job(readers));
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

impl Drop for Working {
    fn drop(&mut self) {
        self.jobs = None;
        // A thread whose driver call does not return is left alone.
        let is_lost = self.is_lost.get();
        if let Some(thread) = self.thread.take().filter(|thread| !is_lost || thread.is_finished()) {
            let _ = thread.join();
            if let Some((display, context)) = self.of_glx {
                gl::glx_destroy_context(display, context);
            }
        }
    }
}

impl Wanted {
    /// Makes the context and makes it current on this thread with a surface of the program.
    fn make_current_with(&self, surface: u64) -> Option<Current> {
        let current = self.make()?;
        let display = self.like.display;
        (gl::egl_make_current(display, surface, surface, current.context) != 0).then_some(current)
    }

    /// Makes the context and makes it current on this thread.
    fn make_current(&self) -> Option<Current> {
        let (display, config) = (self.like.display, self.like.config);
        let mut current = self.make()?;
        if self.like.system == System::Glx {
            return (gl::glx_make_current(display, 0, 0, current.context) != 0).then_some(current);
        }
        if gl::egl_make_current(display, 0, 0, current.context) != 0 {
            return Some(current);
        }
        let size = [EGL_WIDTH, 1, EGL_HEIGHT, 1, EGL_NONE];
        // SAFETY: a list that ends.
        current.surface = unsafe { gl::egl_create_pbuffer(display, config, size.as_ptr()) };
        let surface = current.surface;
        (gl::egl_make_current(display, surface, surface, current.context) != 0).then_some(current)
    }

    /// `None` if the driver makes no context.
    fn make(&self) -> Option<Current> {
        let Like { system, display, api, .. } = self.like;
        let mut context = self.made;
        if system == System::Egl {
            gl::egl_bind_api(api);
            let lists = match api {
                EGL_OPENGL_ES_API => [2, 1, 0].map(|minor| self.of_version(3, minor)).to_vec(),
                _ => vec![self.like.attributes.clone()],
            };
            let contexts = lists.iter().map(|list| self.create(list));
            context = contexts.into_iter().find(|it| *it != 0)?;
        }
        Some(Current { system, display, context, surface: 0 })
    }

    /// The attributes of the program's context with another version: drivers demand some of them for sharing.
    fn of_version(&self, major: i32, minor: i32) -> Vec<i32> {
        const OF_VERSION: [i32; 3] =
            [EGL_CONTEXT_MAJOR_VERSION, EGL_CONTEXT_MINOR_VERSION, EGL_NONE];
        let version = [EGL_CONTEXT_MAJOR_VERSION, major, EGL_CONTEXT_MINOR_VERSION, minor];
        let (pairs, _) = self.like.attributes.as_chunks::<2>();
        let others = pairs.iter().filter(|[name, _]| !OF_VERSION.contains(name)).flatten().copied();
        version.into_iter().chain(others).chain([EGL_NONE]).collect()
    }

    fn create(&self, attributes: &[i32]) -> u64 {
        let Like { display, config, .. } = self.like;
        // SAFETY: a list that ends.
        unsafe { gl::egl_create_context(display, config, self.share, attributes.as_ptr()) }
    }
}

/// The context, current on this thread until this is dropped.
struct Current {
    system: System,
    display: u64,
    context: u64,
    /// 0: it needs none.
    surface: u64,
}

impl Drop for Current {
    fn drop(&mut self) {
        if self.system == System::Glx {
            gl::glx_make_current(self.display, 0, 0, 0);
            return;
        }
        gl::egl_make_current(self.display, 0, 0, 0);
        if self.surface != 0 {
            gl::egl_destroy_surface(self.display, self.surface);
        }
        gl::egl_destroy_context(self.display, self.context);
        gl::egl_release_thread();
    }
}
