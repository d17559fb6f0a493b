//! `Compiling`: a thread's list that is being compiled, and the commands in it so far. Pixels are kept as they are in the
//! program's memory, so the parameters of glPixelStore are kept before them where they differ from those of the command
//! before; the list ends with the initial ones.

use core::cell::{Cell, RefCell};
use core::ptr;
use std::mem::take;

use gapii_commands::constants::{
    GL_TEXTURE0, GL_UNPACK_ALIGNMENT, GL_UNPACK_IMAGE_HEIGHT, GL_UNPACK_LSB_FIRST,
    GL_UNPACK_ROW_LENGTH, GL_UNPACK_SKIP_IMAGES, GL_UNPACK_SKIP_PIXELS, GL_UNPACK_SKIP_ROWS,
    GL_UNPACK_SWAP_BYTES,
};
use gapii_recorder::program::guarded;
use gapii_recorder::{Keeper, Thread};
use gapii_state::Context;
use gapii_state::gl::lists::{Piece, head, is_compiled, piece_head, unpacks};

use crate::generated::ids;
use crate::generated::ids::GL_PIXEL_STOREI;
use crate::snapshot::client_arrays::{self, Takes};
use crate::tls::{Words, words};
use crate::tracking;

/// Largest piece of memory of a command, in bytes.
const PIECE_BYTES_MAX: u64 = 1 << 40;

/// Parameters of glPixelStore that tell where pixels are.
pub const UNPACK: [u32; 8] = [
    GL_UNPACK_SWAP_BYTES,
    GL_UNPACK_LSB_FIRST,
    GL_UNPACK_ROW_LENGTH,
    GL_UNPACK_SKIP_ROWS,
    GL_UNPACK_SKIP_PIXELS,
    GL_UNPACK_ALIGNMENT,
    GL_UNPACK_IMAGE_HEIGHT,
    GL_UNPACK_SKIP_IMAGES,
];
/// Their initial values (OpenGL 4.6, table 8.1).
pub const INITIAL: [i32; 8] = [0, 0, 0, 0, 0, 4, 0, 0];

/// A thread's list that is being compiled.
pub struct Compiling {
    /// The state in which the thread keeps commands that no capture records.
    pub thread: Thread,
    /// The context that compiles the list; 0 for no list.
    context: Cell<u64>,
    list: Cell<u32>,
    words: RefCell<Vec<u64>>,
    /// The memory of the next command.
    pieces: RefCell<Vec<u64>>,
    words_max: Cell<usize>,
    is_cut: Cell<bool>,
    /// The parameters of glPixelStore that the commands so far set.
    unpack: Cell<[i32; 8]>,
}

/// The commands of a list.
pub struct Kept {
    /// The list's number.
    pub list: u32,
    /// The commands, see [`gapii_state::gl::lists`].
    pub words: Vec<u64>,
    /// Commands are missing.
    pub is_cut: bool,
}

impl Compiling {
    /// Returns the thread's own, if it has compiled a list. `words` are the thread's.
    pub fn of(words: &Words) -> Option<&'static Self> {
        let own = words.compiling.get().cast::<Self>();
        // SAFETY: null, or made by `make`, which leaks it.
        unsafe { own.as_ref() }
    }

    /// Makes one for a thread, whose words these are. It is never freed.
    pub fn make(words: &Words) -> &'static Self {
        let made: &'static Self = Box::leak(Box::new(Self {
            thread: Thread::without_ring(),
            context: Cell::new(0),
            list: Cell::new(0),
            words: RefCell::default(),
            pieces: RefCell::default(),
            words_max: Cell::new(0),
            is_cut: Cell::new(false),
            unpack: Cell::new(INITIAL),
        }));
        words.compiling.set(ptr::from_ref(made).cast());
        made
    }

    /// Whether a list is compiled in this context.
    pub fn is_of(&self, context: u64) -> bool {
        context != 0 && self.context.get() == context
    }

    /// Begins a list. False if the thread compiles one already, in another context: the commands of that one are lost.
    pub fn begin(&self, context: u64, list: u32, words_max: usize) -> bool {
        self.words.take();
        self.pieces.take();
        self.list.set(list);
        self.words_max.set(words_max);
        self.is_cut.set(false);
        self.unpack.set(INITIAL);
        self.context.replace(context) == 0
    }

    /// Ends the list, and returns its commands.
    pub fn end(&self) -> Kept {
        self.set_unpack(INITIAL);
        self.context.set(0);
        let mut words = self.words.take();
        words.shrink_to_fit();
        Kept { list: self.list.get(), words, is_cut: self.is_cut.get() }
    }

    fn push(&self, id: u16, fixed_bytes: u32, arguments: &[u64], pieces: &[u64]) {
        let mut words = self.words.borrow_mut();
        let len = 1 + arguments.len() + pieces.len();
        if self.is_cut.get() || words.len() + len > self.words_max.get() {
            self.is_cut.set(true);
            return;
        }
        words.push(head(id, fixed_bytes, len));
        words.extend_from_slice(arguments);
        words.extend_from_slice(pieces);
    }

    /// Keeps commands that set and enable the arrays that the next command reads. Returns those arrays, each with its texture
    /// unit. Of arrays in buffers and of generic attributes nothing is kept.
    fn set_arrays(&self) -> Vec<(u32, Option<u32>)> {
        let arrays =
            tracking::with_state(|state| state.context.as_deref().map(|context| *context.arrays()));
        let Some(arrays) = arrays.flatten() else { return Vec::new() };
        let mut enabled = Vec::new();
        for ((slot, id, name, takes), unit) in client_arrays::all() {
            let (Some(attrib), Some(binding)) = (arrays.attribs.get(slot), arrays.binding_of(slot))
            else {
                continue;
            };
            if !attrib.enabled {
                continue;
            }
            self.is_cut.set(self.is_cut.get() || binding.buffer.is_some());
            self.choose_unit(unit);
            let (size, kind) = (u64::from(attrib.size.cast_unsigned()), u64::from(attrib.kind));
            let stride = u64::from(binding.stride.cast_unsigned());
            match takes {
                Takes::SizeAndType => {
                    self.push(id, 24, &[size | kind << 32, stride, binding.offset], &[]);
                }
                Takes::Type => self.push(id, 16, &[kind | stride << 32, binding.offset], &[]),
                Takes::Nothing => self.push(id, 16, &[stride, binding.offset], &[]),
            }
            self.push(ids::GL_ENABLE_CLIENT_STATE, 4, &[name.into()], &[]);
            enabled.push((name, unit));
        }
        let has_others = arrays.attribs.iter().take(32).any(|attrib| attrib.enabled);
        self.is_cut.set(self.is_cut.get() || has_others);
        enabled
    }

    fn choose_unit(&self, unit: Option<u32>) {
        if let Some(unit) = unit {
            let name = u64::from(GL_TEXTURE0 + unit);
            self.push(ids::GL_CLIENT_ACTIVE_TEXTURE, 4, &[name], &[]);
        }
    }

    fn set_unpack(&self, wanted: [i32; 8]) {
        let before = self.unpack.replace(wanted);
        for ((name, value), before) in UNPACK.iter().zip(wanted).zip(before) {
            if value != before {
                let word = u64::from(*name) | u64::from(value.cast_unsigned()) << 32;
                self.push(GL_PIXEL_STOREI, 8, &[word], &[]);
            }
        }
    }
}

impl Keeper for Compiling {
    fn memory(&self, is_slot: bool, param: u8, address: u64, bytes: u64) {
        let mut pieces = self.pieces.borrow_mut();
        let piece = if is_slot { Piece::Slot } else { Piece::Range };
        let begin = pieces.len();
        pieces.extend(piece_head(piece, false, param, address, bytes));
        let data = begin + 2;
        let is_memory = address != 0 && bytes < PIECE_BYTES_MAX;
        let has_room = bytes.div_ceil(8) <= self.words_max.get() as u64;
        self.is_cut.set(self.is_cut.get() || is_memory && !has_room);
        if is_memory && has_room {
            pieces.resize(data + bytes.div_ceil(8) as usize, 0);
            let into = pieces.get_mut(data..).map_or(ptr::null_mut(), <[u64]>::as_mut_ptr);
            // SAFETY: the words hold as many bytes, and are the shim's own.
            if unsafe { guarded::read(address, into.cast(), bytes as usize) } {
                return;
            }
        }
        pieces.truncate(begin);
        pieces.extend(piece_head(piece, true, param, address, bytes));
    }

    fn command(&self, id: u16, fixed_bytes: u32, arguments: &[u64]) {
        let pieces = take(&mut *self.pieces.borrow_mut());
        if !self.is_of(words().context.get()) || !is_compiled(id) {
            return;
        }
        if !pieces.is_empty() {
            let unpack = tracking::with_state(|state| state.context.as_deref().map(unpack_of));
            self.set_unpack(unpack.flatten().unwrap_or(INITIAL));
        }
        if unpacks(id) && has_unpack_buffer() {
            self.is_cut.set(true);
        }
        let arrays = if reads_arrays(id) { self.set_arrays() } else { Vec::new() };
        self.push(id, fixed_bytes, arguments, &pieces);
        for (array, unit) in arrays {
            self.choose_unit(unit);
            self.push(ids::GL_DISABLE_CLIENT_STATE, 4, &[array.into()], &[]);
        }
    }

    fn lost(&self) {
        self.pieces.borrow_mut().clear();
        self.is_cut.set(true);
    }
}

/// Whether a command reads vertex arrays when it is compiled.
fn reads_arrays(id: u16) -> bool {
    matches!(
        id,
        ids::GL_ARRAY_ELEMENT
            | ids::GL_ARRAY_ELEMENT_EXT
            | ids::GL_DRAW_ARRAYS
            | ids::GL_DRAW_ARRAYS_EXT
            | ids::GL_DRAW_ARRAYS_INSTANCED
            | ids::GL_DRAW_ELEMENTS
            | ids::GL_DRAW_ELEMENTS_BASE_VERTEX
            | ids::GL_DRAW_ELEMENTS_INSTANCED
            | ids::GL_DRAW_RANGE_ELEMENTS
            | ids::GL_DRAW_RANGE_ELEMENTS_BASE_VERTEX
            | ids::GL_DRAW_RANGE_ELEMENTS_EXT
            | ids::GL_MULTI_DRAW_ARRAYS
            | ids::GL_MULTI_DRAW_ARRAYS_EXT
            | ids::GL_MULTI_DRAW_ELEMENTS
            | ids::GL_MULTI_DRAW_ELEMENTS_EXT
    )
}

fn has_unpack_buffer() -> bool {
    let has = |context: &Context| context.pixel_unpack_buffer.is_some();
    tracking::with_state(|state| state.context.as_deref().is_some_and(has)) == Some(true)
}

fn unpack_of(context: &Context) -> [i32; 8] {
    [
        context.unpack_swap_bytes.into(),
        context.unpack_lsb_first.into(),
        context.unpack_row_length,
        context.unpack_skip_rows,
        context.unpack_skip_pixels,
        context.unpack_alignment,
        context.unpack_image_height,
        context.unpack_skip_images,
    ]
}
