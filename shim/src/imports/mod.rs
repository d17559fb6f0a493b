//! Memory that EGL images were imported from (`EGL_LINUX_DMA_BUF_EXT`): other programs and devices write it without a
//! command. The shim keeps a descriptor of its own for each image, and reads the memory while it records
//! (docs/decisions/imported-memory.md):
//!
//! - at the import: eglCreateImage has each plane as a range, in order, at the address of the shim's copy;
//! - at the first command that makes the driver read, after the memory may have changed: the command has the blocks of 4 KiB
//!   that differ from the copy. Memory may have changed after the end of a frame, a wait for a sync and eglMakeCurrent;
//! - in a snapshot, as at the import.
//!
//! What cannot be read is named in a MISSING record. At most `IMPORTS_MAX` (256) images with `CONTENTS_MAX` (256 MiB) are
//! recorded at a time. A writer that is not done is waited for, `PATIENCE` (20 ms) at most each time that the memory may have
//! changed. An image that is only rendered to is not read again. Where another thread reads at this moment, a command does not
//! wait for it. A program without such images reads one word.

mod source;

use core::fmt;
use core::ops::Range;
use core::sync::atomic::AtomicBool;
use core::sync::atomic::Ordering::Relaxed;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::time::{Duration, Instant};

use gapii_abi::atom::{MISSING, Missing};
use gapii_recorder::{ErrnoGuard, Recorder};
use gapii_state::egl::{DmaBuf, Unknown};
use gapii_state::{Image, NO_PARAM, Process, Ref, Values};

use crate::capture;
use crate::environment;
use crate::program_memory::ProgramMemory;
use crate::tls::words;
use source::{Reading, Source};

/// Most images whose memory is known.
const IMPORTS_MAX: usize = 256;
/// Most descriptors of the shim's own for them.
const DESCRIPTORS_MAX: usize = 128;
/// Most bytes of copies.
const CONTENTS_MAX: u64 = 256 << 20;
/// How long the program waits for the writers of all images, each time that memory may have changed.
const PATIENCE: Duration = Duration::from_millis(20);
/// How long eglCreateImage and a snapshot wait for a thread that reads; in a forked child such a thread may be gone.
const LIST_PATIENCE: Duration = Duration::from_millis(200);
const LOOK_AGAIN: Duration = Duration::from_micros(50);
/// If one of its bytes has changed, a block is recorded.
const BLOCK_BYTES: usize = 4096;
/// Bytes that are read at once.
const PIECE_BYTES: usize = 16 * BLOCK_BYTES;
/// Most attributes of an image.
const ATTRIBUTES_MAX: u64 = 64;

const EGL_NONE: i64 = gapii_commands::constants::EGL_NONE as i64;
const EGL_LINUX_DMA_BUF_EXT: u32 = gapii_commands::constants::EGL_LINUX_DMA_BUF_EXT;

/// The program has an imported image. Relaxed everywhere: a thread that uses an image synchronises with the one that made it.
static ANY: AtomicBool = AtomicBool::new(false);
/// The memory may have changed since it was read last. Relaxed, as above.
static IS_STALE: AtomicBool = AtomicBool::new(false);
static IMPORTS: Mutex<Vec<Import>> = Mutex::new(Vec::new());

/// An imported image.
struct Import {
    /// The image; none while the thread `maker` is in eglCreateImage.
    image: Ref<Image>,
    /// Address of the thread's words.
    maker: usize,
    /// What the shim knows of the memory.
    memory: Result<Known, Why>,
    /// Epoch of the capture that has the memory.
    epoch: u64,
    /// The image is rendered to, and no texture has it.
    is_target: bool,
    /// Why the running capture lacks the memory, while it does not say so: the driver may refuse the image.
    untold: Option<Why>,
    /// The capture says that changes are missing.
    is_told: bool,
}

/// Memory that can be read.
struct Known {
    layout: DmaBuf,
    /// Of each plane the index in `sources`.
    plane_sources: Vec<usize>,
    sources: Vec<Source>,
    /// What the capture has of each plane; empty while no capture has it.
    contents: Vec<Vec<u8>>,
}

/// Why memory is not recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Why {
    Layout(Unknown),
    /// The descriptor cannot be duplicated, mapped or read.
    Unreadable,
    /// The memory ends before the last pixel.
    Outside,
    TooMany,
    NoRoom,
    /// Whoever writes the memory was not done.
    Written,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Layout(why) => why.fmt(f),
            Self::Unreadable => f.write_str("its descriptor cannot be read"),
            Self::Outside => f.write_str("it ends before the last pixel"),
            Self::TooMany => f.write_str("the program has too many such images"),
            Self::NoRoom => write!(f, "such images take more than {} MiB", CONTENTS_MAX >> 20),
            Self::Written => {
                write!(f, "it was still being written after {} ms", PATIENCE.as_millis())
            }
        }
    }
}

/// Attributes of eglCreateImage, in words of `W` bytes.
fn attributes<const W: u64>(list: u64) -> HashMap<u32, i64> {
    let word = |at: u64| match W {
        4 => i64::from(ProgramMemory.get::<i32>(list + 4 * at)),
        _ => ProgramMemory.get::<i64>(list + 8 * at),
    };
    let names = (0..ATTRIBUTES_MAX).map(|pair| (word(2 * pair), 2 * pair + 1));
    let pairs = names.take_while(|(name, _)| list != 0 && !matches!(*name, 0 | EGL_NONE));
    pairs.map(|(name, at)| (name as u32, word(at))).collect()
}

/// eglCreateImage is about to be recorded: names the planes of imported memory for its record. `W` is the size of an attribute
/// in bytes.
pub fn record<const W: u64>(recorder: &mut Recorder, target: u32, list: u64) {
    if target != EGL_LINUX_DMA_BUF_EXT {
        return;
    }
    let _errno = ErrnoGuard::save();
    let Some(mut imports) = locked() else { return };
    let mut import = Import::of(&imports, &attributes::<W>(list));
    let room = CONTENTS_MAX.saturating_sub(imports.iter().map(Import::bytes).sum());
    match import.describe(capture::epoch(), room) {
        Ok(planes) => {
            for (address, len) in planes {
                recorder.set_range_apart();
                recorder.add_range(NO_PARAM, address, len);
            }
        }
        Err(why) => import.untold = Some(why),
    }
    push(&mut imports, import);
}

/// eglCreateImage has returned, whether or not it was recorded. `find` returns the tracked image for the handle.
pub fn made<const W: u64>(
    target: u32,
    list: u64,
    is_made: bool,
    find: impl FnOnce() -> Ref<Image>,
) {
    if target != EGL_LINUX_DMA_BUF_EXT {
        return;
    }
    let _errno = ErrnoGuard::save();
    let Some(mut imports) = locked() else { return };
    let mine = words_address();
    let pending = imports.iter().position(|it| it.image.is_none() && it.maker == mine);
    let pending = pending.map(|at| imports.remove(at));
    let is_wanted = is_made && (pending.is_some() || environment::monitors());
    let image = if is_wanted { find() } else { Ref::NONE };
    if !image.is_none() {
        let import = pending.unwrap_or_else(|| Import::of(&imports, &attributes::<W>(list)));
        push(&mut imports, Import { image, ..import });
    }
    ANY.store(!imports.is_empty(), Relaxed);
    may_have_changed();
}

/// The memory may have changed: another program or a device had its turn.
#[inline]
pub fn may_have_changed() {
    if ANY.load(Relaxed) {
        IS_STALE.store(true, Relaxed);
    }
}

/// Names what has changed, for the record of a command that makes the driver read.
#[inline]
pub fn observe(recorder: &mut Recorder) {
    if IS_STALE.load(Relaxed) {
        observe_changes(recorder);
    }
}

#[cold]
fn observe_changes(recorder: &mut Recorder) {
    let _errno = ErrnoGuard::save();
    let Ok(mut imports) = IMPORTS.try_lock() else { return };
    IS_STALE.store(false, Relaxed);
    let (epoch, until) = (capture::epoch(), Instant::now() + PATIENCE);
    for import in imports.iter_mut().filter(|it| !it.image.is_none()) {
        if let Some(why) = import.untold.take() {
            tell_missing(recorder, import.sentence(why).as_bytes());
        }
        if import.epoch != epoch || import.is_target {
            continue;
        }
        let Ok(known) = &mut import.memory else { continue };
        let changed = known.refresh(until, |address, len, is_first| {
            if is_first {
                recorder.set_range_apart();
            }
            recorder.add_range(NO_PARAM, address, len);
        });
        if let Err(why) = changed
            && !import.is_told
        {
            import.is_told = true;
            tell_missing(recorder, format!("changes of the {}", import.sentence(why)).as_bytes());
        }
    }
}

/// A frame has ended. Lets memory go whose image is destroyed and that no texture or renderbuffer has, and copies that no
/// capture needs.
pub fn frame_ended(process: impl FnOnce() -> Option<Arc<Process>>) {
    if !ANY.load(Relaxed) {
        return;
    }
    may_have_changed();
    let _errno = ErrnoGuard::save();
    let Some(process) = process() else { return };
    let uses = Uses::of(&process);
    let Ok(mut imports) = IMPORTS.try_lock() else { return };
    let state = process.lock();
    imports.retain_mut(|import| {
        let image = import.image;
        let is_alive = state.images.find(image.name()) == image;
        let (is_sampled, is_rendered) =
            (uses.sampled.contains(&image), uses.rendered.contains(&image));
        import.is_target = is_rendered && !is_sampled;
        if !capture::is_running() {
            import.forget();
        }
        image.is_none() || is_alive || is_sampled || is_rendered
    });
    ANY.store(!imports.is_empty(), Relaxed);
}

/// Reads the memory of an image for a snapshot of this epoch, and calls `emit` with address and bytes of each plane; without
/// planes if the memory is missing.
///
/// # Errors
/// The sentence that says what the trace lacks.
pub fn describe(
    image: Ref<Image>,
    epoch: u64,
    emit: impl FnOnce(&[(u64, u64)]),
) -> Result<(), String> {
    let _errno = ErrnoGuard::save();
    let mut imports = locked();
    let mut imports = imports.iter_mut().flat_map(|imports| imports.iter_mut());
    let (mut mine, mut taken) = (None, 0);
    for import in imports.by_ref() {
        match import.image == image {
            true => mine = Some(import),
            false if import.epoch == epoch => taken += import.bytes(),
            false => {}
        }
    }
    let Some(import) = mine else {
        emit(&[]);
        return Err(sentence(None, Why::TooMany));
    };
    import.forget();
    match import.describe(epoch, CONTENTS_MAX.saturating_sub(taken)) {
        Ok(planes) => {
            emit(&planes);
            Ok(())
        }
        Err(why) => {
            emit(&[]);
            Err(import.sentence(why))
        }
    }
}

/// For a forked child, in which nothing is read until it imports an image itself.
pub fn forget() {
    ANY.store(false, Relaxed);
    IS_STALE.store(false, Relaxed);
}

/// The list; `None` if another thread has it for longer than [`LIST_PATIENCE`].
fn locked() -> Option<MutexGuard<'static, Vec<Import>>> {
    let begin = Instant::now();
    loop {
        match IMPORTS.try_lock() {
            Ok(list) => return Some(list),
            Err(TryLockError::Poisoned(list)) => return Some(list.into_inner()),
            Err(TryLockError::WouldBlock) if begin.elapsed() > LIST_PATIENCE => return None,
            Err(TryLockError::WouldBlock) => std::thread::sleep(LOOK_AGAIN),
        }
    }
}

impl Import {
    /// The import of a thread that is in eglCreateImage with these attributes.
    fn of(others: &[Self], attributes: &HashMap<u32, i64>) -> Self {
        let descriptors: usize = others.iter().map(Self::descriptors).sum();
        let memory = DmaBuf::of(|name| attributes.get(&name).copied())
            .map_err(Why::Layout)
            .and_then(|layout| Known::of(layout, DESCRIPTORS_MAX.saturating_sub(descriptors)));
        Self {
            image: Ref::NONE,
            maker: words_address(),
            memory,
            epoch: 0,
            is_target: false,
            untold: None,
            is_told: false,
        }
    }

    fn descriptors(&self) -> usize {
        self.memory.as_ref().map_or(0, |known| known.sources.len())
    }

    /// Bytes of the copy.
    fn bytes(&self) -> u64 {
        self.memory.as_ref().map_or(0, |it| it.contents.iter().map(|it| it.len() as u64).sum())
    }

    /// Reads all planes into a new copy, if it takes `room` bytes at most. Returns address and bytes of each plane.
    fn describe(&mut self, epoch: u64, room: u64) -> Result<Vec<(u64, u64)>, Why> {
        let known = self.memory.as_mut().map_err(|why| *why)?;
        let planes = &known.layout.planes;
        if planes.iter().map(|plane| plane.bytes).sum::<u64>() > room {
            return Err(Why::NoRoom);
        }
        known.contents = planes.iter().map(|plane| vec![0; plane.bytes as usize]).collect();
        if let Err(why) = known.refresh(Instant::now() + PATIENCE, |_, _, _| {}) {
            known.contents = Vec::new();
            return Err(why);
        }
        (self.epoch, self.is_told) = (epoch, false);
        Ok(known.contents.iter().map(|it| (it.as_ptr() as u64, it.len() as u64)).collect())
    }

    /// Frees the copy: no capture has the memory.
    fn forget(&mut self) {
        if let Ok(known) = &mut self.memory {
            known.contents = Vec::new();
        }
        (self.epoch, self.untold) = (0, None);
    }

    fn sentence(&self, why: Why) -> String {
        sentence(self.memory.as_ref().ok().map(|known| &known.layout), why)
    }
}

impl Known {
    fn of(layout: DmaBuf, descriptors: usize) -> Result<Self, Why> {
        let mut of_program = Vec::new();
        let (mut sources, mut plane_sources): (Vec<Source>, _) = (Vec::new(), Vec::new());
        for plane in &layout.planes {
            let known = of_program.iter().position(|it| *it == plane.descriptor);
            let at = match known {
                Some(at) => at,
                None if sources.len() >= descriptors => return Err(Why::TooMany),
                None => {
                    of_program.push(plane.descriptor);
                    sources.push(Source::open(plane.descriptor).ok_or(Why::Unreadable)?);
                    sources.len() - 1
                }
            };
            let is_inside = sources.get(at).is_some_and(|it| it.has(plane.offset, plane.bytes));
            if !is_inside {
                return Err(Why::Outside);
            }
            plane_sources.push(at);
        }
        Ok(Self { layout, plane_sources, sources, contents: Vec::new() })
    }

    /// Reads the planes again, waiting for their writers until the given time. Calls `changed` with address and bytes of each
    /// part of the copy that has changed, and with whether it is the first part of its plane.
    fn refresh(
        &mut self,
        until: Instant,
        mut changed: impl FnMut(u64, u64, bool),
    ) -> Result<(), Why> {
        let mut buffer = vec![0; PIECE_BYTES];
        for (number, source) in self.sources.iter().enumerate() {
            let left = until.saturating_duration_since(Instant::now());
            let reading = source.begin(left).ok_or(Why::Written)?;
            let planes = self.layout.planes.iter().zip(&self.plane_sources).zip(&mut self.contents);
            for ((plane, _), contents) in planes.filter(|((_, source), _)| **source == number) {
                let at = contents.as_ptr() as u64;
                let mut is_first = true;
                let is_read = update(&reading, plane.offset, contents, &mut buffer, |range| {
                    changed(at + range.start as u64, range.len() as u64, is_first);
                    is_first = false;
                });
                if !is_read {
                    return Err(Why::Unreadable);
                }
            }
        }
        Ok(())
    }
}

/// Reads memory from `offset` on, and copies the blocks that differ. Calls `changed` with each range of them; ranges of one
/// call may adjoin. Returns false if a part cannot be read.
fn update(
    reading: &Reading<'_>,
    offset: u64,
    contents: &mut [u8],
    buffer: &mut [u8],
    mut changed: impl FnMut(Range<usize>),
) -> bool {
    let mut from = 0;
    for piece in contents.chunks_mut(PIECE_BYTES) {
        let Some(now) = buffer.get_mut(..piece.len()) else { return false };
        if !reading.copy(offset + from as u64, now) {
            return false;
        }
        if now != piece {
            let blocks = piece.chunks_mut(BLOCK_BYTES).zip(now.chunks(BLOCK_BYTES)).enumerate();
            for (block, (old, new)) in blocks.filter(|(_, (old, new))| old != new) {
                old.copy_from_slice(new);
                let at = from + block * BLOCK_BYTES;
                changed(at..at + new.len());
            }
        }
        from += piece.len();
    }
    true
}

/// The images that textures have, and those that renderbuffers have.
#[derive(Default)]
struct Uses {
    sampled: Vec<Ref<Image>>,
    rendered: Vec<Ref<Image>>,
}

impl Uses {
    fn of(process: &Process) -> Self {
        let mut uses = Self::default();
        let groups = process.contexts().share_groups();
        for (_, group) in groups {
            let group = group.lock();
            let textures = group.textures.named().chain(group.textures.deleted());
            uses.sampled.extend(textures.map(|(_, it)| it.image).filter(|it| !it.is_none()));
            let renderbuffers = group.renderbuffers.named().chain(group.renderbuffers.deleted());
            uses.rendered.extend(renderbuffers.map(|(_, it)| it.image).filter(|it| !it.is_none()));
        }
        uses
    }
}

fn push(imports: &mut Vec<Import>, import: Import) {
    if imports.len() < IMPORTS_MAX {
        imports.push(import);
    }
}

fn words_address() -> usize {
    core::ptr::from_ref(words()).addr()
}

fn sentence(layout: Option<&DmaBuf>, why: Why) -> String {
    match layout {
        Some(it) => format!(
            "memory of an imported EGL image ({} x {}, {}): {why}",
            it.width,
            it.height,
            it.format_name()
        ),
        None => format!("memory of an imported EGL image: {why}"),
    }
}

/// Writes what the trace lacks: a sentence a line.
pub fn tell_missing(recorder: &mut Recorder, sentences: &[u8]) {
    let mut payload = Missing { len: sentences.len() as u32 }.encode().to_vec();
    payload.extend_from_slice(sentences);
    recorder.write_meta(MISSING, &payload);
}
