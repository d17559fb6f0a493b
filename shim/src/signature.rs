//! Where each command's arguments are when it is called, and where they go in its structure of parameters.
//!
//! The calling convention of the machine ([`crate::convention`]) decides the first, `repr(C)` the second.
//! Both are worked out at compile time from the list of commands.

use core::ffi::{c_char, c_void};
use core::mem::offset_of;

use gapii_tool_api::{for_each_command, params};

use crate::convention::{self, STACK_WORDS_MAX};
use crate::generated::ids;

/// Most bytes of a command's parameters.
pub const PARAMS_BYTES_MAX: usize = 128;
/// Most bytes of a command's result.
pub const RESULT_BYTES_MAX: usize = 8;

/// The signature of a command.
///
/// `repr(C)`: the trampoline reads [`Self::flags`].
#[repr(C)]
pub struct Signature {
    /// Index of the first of its [`Place`]s.
    first: u16,
    count: u8,
    /// Words of arguments that the caller puts on the stack.
    pub stack_words: u8,
    flags: u8,
    result_bytes: u8,
    result: Option<Class>,
}

/// Where a parameter is.
///
/// Of 8 bytes, so that no multiplication is needed to find one.
#[derive(Clone, Copy)]
#[repr(align(8))]
pub struct Place {
    /// Its first word in the trampoline's frame: see [`convention`].
    pub word: u8,
    /// Offset in the structure of parameters, in bytes.
    pub offset: u8,
    /// Size in the structure of parameters, in bytes.
    pub bytes: u8,
    /// How it is passed.
    pub class: Class,
}

/// How a value is passed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// An unsigned integer or a pointer.
    Unsigned {
        bytes: u8,
    },
    Signed {
        bytes: u8,
    },
    Float {
        bytes: u8,
    },
    /// A C structure by value, without floating-point members; the parameter is its address.
    Structure {
        bytes: u8,
    },
}

impl Signature {
    /// The trampoline must keep floating-point registers: a parameter is in one.
    pub const HAS_FLOATS: u8 = 1;
    /// The result comes in a floating-point register.
    pub const RETURNS_FLOAT: u8 = 2;
    /// A parameter has fewer than 4 bytes: callers extend it to 4.
    pub const HAS_NARROW: u8 = 4;
    /// A parameter is a structure by value whose words are in the frame.
    pub const HAS_STRUCTURES: u8 = 8;
    /// The result has fewer than 4 bytes: callees extend it to 4.
    const RETURNS_NARROW: u8 = 16;
    /// For the trampoline's instructions.
    pub const OFFSET_OF_FLAGS: usize = offset_of!(Self, flags);
    const NONE: Self =
        Self { first: 0, count: 0, stack_words: 0, flags: 0, result_bytes: 0, result: None };

    /// Returns the signature of command `id`.
    #[inline(always)]
    pub fn of(id: u16) -> &'static Signature {
        // SAFETY: ids are below COUNT.
        unsafe { SIGNATURES.get_unchecked(usize::from(id)) }
    }

    /// Places of the parameters, in their order.
    #[inline(always)]
    pub fn places(&self) -> &'static [Place] {
        let (first, count) = (usize::from(self.first), usize::from(self.count));
        // SAFETY: `signatures` has counted the same places.
        unsafe { PLACES.get_unchecked(first..first + count) }
    }

    /// Returns whether any of the flags in `flag` is set.
    #[inline(always)]
    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// Bytes of the result; 0 without one.
    #[inline(always)]
    pub fn result_bytes(&self) -> u8 {
        self.result_bytes
    }

    /// Returns the result in the low bytes of `word` as callees leave it in a register. Callers rely on its being
    /// extended where it has fewer than 4 bytes.
    #[inline(always)]
    pub fn result_in_register(&self, word: u64) -> u64 {
        if self.has(Self::RETURNS_NARROW) { self.extended_result(word) } else { word }
    }

    #[inline(never)]
    fn extended_result(&self, word: u64) -> u64 {
        self.result.map_or(word, |class| class.extend(word))
    }
}

impl Class {
    const fn bytes(self) -> u8 {
        match self {
            Self::Unsigned { bytes } | Self::Signed { bytes } | Self::Float { bytes } => bytes,
            Self::Structure { .. } => size_of::<*const c_void>() as u8,
        }
    }

    /// The value in the low bytes of `word`, extended to 64 bits.
    #[inline(always)]
    pub const fn extend(self, word: u64) -> u64 {
        let unused_bits = 64 - 8 * self.bytes() as u32;
        match self {
            Self::Signed { .. } => (((word << unused_bits) as i64) >> unused_bits) as u64,
            _ => (word << unused_bits) >> unused_bits,
        }
    }
}

/// A type that parameters and results have.
trait Passed {
    const CLASS: Class;
}

macro_rules! passed {
    ($($class:ident: $($ty:ty),+;)*) => {
        $($(impl Passed for $ty {
            const CLASS: Class = Class::$class { bytes: size_of::<$ty>() as u8 };
        })+)*
    };
}
passed! {
    Unsigned: u8, u16, u32, u64;
    Signed: i8, i16, i32, i64, isize;
    Float: f32, f64;
}

impl<T> Passed for *const T {
    const CLASS: Class = Class::Unsigned { bytes: size_of::<Self>() as u8 };
}

impl<T> Passed for *mut T {
    const CLASS: Class = Class::Unsigned { bytes: size_of::<Self>() as u8 };
}

/// What the list of commands says of one.
struct Declared {
    /// Class of each parameter, and its offset in the structure.
    params: &'static [(Class, usize)],
    result: Option<Class>,
}

macro_rules! declared {
    ($($name:ident($($field:ident: $ty:ty $(=> $by_value:ident)?),*) $(-> $result:ty)?;)*) => {
        const DECLARED: [Declared; ids::COUNT] = [$(
            Declared {
                params: &[$((class!($ty $(=> $by_value)?), offset_of!(params::$name, $field))),*],
                result: optional!($(<$result>::CLASS)?),
            }
        ),*];
    };
}

macro_rules! class {
    ($ty:ty) => {
        <$ty>::CLASS
    };
    ($ty:ty => $by_value:ident) => {
        Class::Structure { bytes: size_of::<gapii_ze_api::types::$by_value>() as u8 }
    };
}

macro_rules! optional {
    () => {
        None
    };
    ($value:expr) => {
        Some($value)
    };
}

for_each_command!(declared);

const PLACE_COUNT: usize = {
    let (mut id, mut sum) = (0, 0);
    while id < DECLARED.len() {
        sum += DECLARED[id].params.len();
        id += 1;
    }
    sum
};

/// Places of all commands' parameters, in the order of ids.
static PLACES: [Place; PLACE_COUNT] = LAYOUT.places;

/// Signatures by id.
pub static SIGNATURES: [Signature; ids::COUNT] = LAYOUT.signatures;

const LAYOUT: Layout = lay_out();

struct Layout {
    places: [Place; PLACE_COUNT],
    signatures: [Signature; ids::COUNT],
}

const fn lay_out() -> Layout {
    let place = Place { word: 0, offset: 0, bytes: 0, class: Class::Unsigned { bytes: 0 } };
    let mut places = [place; PLACE_COUNT];
    let mut signatures = [const { Signature::NONE }; ids::COUNT];
    let (mut id, mut at) = (0, 0);
    while id < DECLARED.len() {
        let Declared { params, result } = DECLARED[id];
        let mut arguments = Arguments::NONE;
        let mut flags = match result {
            Some(Class::Float { .. }) => Signature::RETURNS_FLOAT,
            Some(class) if class.bytes() < 4 => Signature::RETURNS_NARROW,
            _ => 0,
        };
        let result_bytes = match result {
            Some(class) => class.bytes(),
            None => 0,
        };
        let first = at as u16;
        let mut param = 0;
        while param < params.len() {
            let (class, offset) = params[param];
            // A large structure of which only the address is passed is a pointer like any other.
            let class = match class {
                Class::Structure { bytes } if convention::is_passed_by_address(bytes) => {
                    <*const c_void>::CLASS
                }
                class => class,
            };
            flags |= match class {
                Class::Float { .. } => Signature::HAS_FLOATS,
                Class::Structure { .. } => Signature::HAS_STRUCTURES,
                Class::Unsigned { bytes } | Class::Signed { bytes } if bytes < 4 => {
                    Signature::HAS_NARROW
                }
                Class::Unsigned { .. } | Class::Signed { .. } => 0,
            };
            let word = arguments.next(class);
            assert!(word < 256 && offset + class.bytes() as usize <= PARAMS_BYTES_MAX);
            places[at] =
                Place { word: word as u8, offset: offset as u8, bytes: class.bytes(), class };
            param += 1;
            at += 1;
        }
        assert!(arguments.stack_words <= STACK_WORDS_MAX);
        let (count, stack_words) = (params.len() as u8, arguments.stack_words as u8);
        signatures[id] = Signature { first, count, stack_words, flags, result_bytes, result };
        id += 1;
    }
    Layout { places, signatures }
}

/// Gives arguments their registers and stack words, in order.
struct Arguments {
    integers: usize,
    floats: usize,
    stack_words: usize,
}

impl Arguments {
    const NONE: Self = Self { integers: 0, floats: 0, stack_words: 0 };

    /// The next argument's first word in the trampoline's frame.
    const fn next(&mut self, class: Class) -> usize {
        let words = match class {
            Class::Structure { bytes } => bytes.div_ceil(8) as usize,
            _ => 1,
        };
        let is_float = matches!(class, Class::Float { .. });
        if is_float && self.floats < convention::FLOAT_REGISTERS {
            self.floats += 1;
            return convention::INTEGER_REGISTERS + self.floats - 1;
        }
        let fits = words <= convention::STRUCTURE_REGISTERS
            && self.integers + words <= convention::INTEGER_REGISTERS;
        if !is_float && fits {
            self.integers += words;
            return self.integers - words;
        }
        if !is_float && convention::STACK_ENDS_REGISTERS {
            self.integers = convention::INTEGER_REGISTERS;
        }
        self.stack_words += words;
        convention::FIRST_STACK_WORD + self.stack_words - words
    }
}
