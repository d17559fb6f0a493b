//! Where the arguments of a command are when it is called, and where its structure of parameters has them. A command
//! with more than 15 parameters, other than 17, 18 or 23, or 128 bytes of them (`PARAMS_BYTES_MAX`) does not compile.
//!
//! [`Parameters`] is a list of types with the code that copies arguments from the trampoline's frame into the structure
//! and the code that calls a function with the parameters in the structure. The machine's calling convention
//! ([`crate::convention`]) decides where arguments are; `repr(C)` decides where parameters are. All of this is computed
//! at compile time.
//!
//! Types that are passed alike count as one: pointers and 64-bit integers, and signed and unsigned integers of
//! 32 bits. The 3,180 commands then have about 250 lists of types.

use core::mem::{align_of, size_of, transmute};

use crate::code::Code;
use crate::convention;
use crate::frame::Frame;

/// Most bytes of a command's parameters.
pub const PARAMS_BYTES_MAX: usize = 128;

/// The parameters of a command, for code that is the same for all commands.
pub struct Shape {
    /// Place of each parameter, in order.
    pub places: &'static [Place],
    /// Copies the arguments in a frame into a structure of parameters.
    ///
    /// # Safety
    /// The frame is of a call with this shape; the structure has room for [`Self::places`].
    pub take: unsafe fn(Frame, *mut u8),
}

/// Where a parameter is in the frame and in the structure.
#[derive(Clone, Copy)]
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

impl Class {
    /// Bytes in the structure of parameters.
    pub const fn bytes(self) -> u8 {
        match self {
            Self::Unsigned { bytes } | Self::Signed { bytes } | Self::Float { bytes } => bytes,
            Self::Structure { .. } => size_of::<*const ()>() as u8,
        }
    }

    /// Returns the value in the low bytes of `word`, extended to 64 bits.
    #[inline(always)]
    pub const fn extend(self, word: u64) -> u64 {
        let unused_bits = 64 - 8 * self.bytes() as u32;
        match self {
            Self::Signed { .. } => (((word << unused_bits) as i64) >> unused_bits) as u64,
            _ => (word << unused_bits) >> unused_bits,
        }
    }
}

/// A type that a parameter or a result of a command has.
pub trait Passed {
    /// The type that stands for this one and all others that are passed in the same way.
    type Alike: Argument;
}

macro_rules! passed {
    ($($($ty:ty),+ => $alike:ty;)*) => {
        $($(impl Passed for $ty {
            type Alike = $alike;
        })+)*
    };
}
passed! {
    u8 => u8;
    i8 => i8;
    u16 => u16;
    i16 => i16;
    u32, i32 => u32;
    u64, i64, isize => u64;
    f32 => f32;
    f64 => f64;
}

impl<T> Passed for *const T {
    type Alike = u64;
}

impl<T> Passed for *mut T {
    type Alike = u64;
}

/// A type of which a [`Shape`] is made.
pub trait Argument: Copy {
    /// What the structure of parameters has.
    type Param: Copy;
    /// How a function returns a value of this type.
    type Returned: Returned;
    const CLASS: Class;

    /// Returns the parameter that came in `word` or, for a structure by value, in the words from there on.
    ///
    /// # Safety
    /// `word` is the first word of such an argument in a frame.
    unsafe fn take(word: *mut u64) -> Self::Param;

    /// Returns the argument to pass for a parameter.
    ///
    /// # Safety
    /// `param` is valid for the command.
    unsafe fn pass(param: Self::Param) -> Self;
}

macro_rules! arguments {
    ($($class:ident in $register:ty: $($ty:ty),+;)*) => {
        $($(impl Argument for $ty {
            type Param = Self;
            type Returned = $register;
            const CLASS: Class = Class::$class { bytes: size_of::<Self>() as u8 };

            #[inline(always)]
            unsafe fn take(word: *mut u64) -> Self {
                // SAFETY: the low bytes of a word come first, and any bits are a value.
                unsafe { word.cast::<Self>().read() }
            }

            #[inline(always)]
            unsafe fn pass(param: Self) -> Self {
                param
            }
        })+)*
    };
}
arguments! {
    Unsigned in u64: u8, u16, u32, u64;
    Signed in u64: i8, i16;
    Float in f64: f32, f64;
}

/// A C structure by value, without floating-point members.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Structure<S>(S);

impl<S: Copy> Argument for Structure<S> {
    type Param = *mut Self;
    type Returned = u64; // No command returns one.
    const CLASS: Class = Class::Structure { bytes: size_of::<Self>() as u8 };

    #[inline(always)]
    unsafe fn take(word: *mut u64) -> *mut Self {
        const {
            assert!(align_of::<Self>() <= align_of::<u64>());
        }
        if convention::is_passed_by_address(size_of::<Self>()) {
            // SAFETY: the word is the address of the caller's copy.
            unsafe { word.cast::<*mut Self>().read() }
        } else {
            word.cast()
        }
    }

    #[inline(always)]
    unsafe fn pass(param: *mut Self) -> Self {
        // SAFETY: the program's structure, or one that a callback has put in its place.
        unsafe { param.read() }
    }
}

/// A list of types: a tuple of [`Argument`]s.
pub trait Parameters {
    const PLACES: &'static [Place];

    const SHAPE: &'static Shape = &Shape { places: Self::PLACES, take: Self::take };

    /// See [`Shape::take`].
    ///
    /// # Safety
    /// The frame is of a call with these parameters; the structure has room for [`Self::PLACES`].
    unsafe fn take(frame: Frame, params: *mut u8);

    /// Calls a function with the parameters in a structure. Returns the result in the low bytes of a word, whose
    /// other bytes are arbitrary.
    ///
    /// # Safety
    /// `code` is a function with these parameters, which are valid for it. It returns an `R`, or nothing.
    unsafe fn call<R: Returned>(code: Code, params: *const u8) -> u64;
}

/// How a result comes: in an integer register or in a floating-point register.
pub trait Returned {
    fn to_word(self) -> u64;
}

impl Returned for u64 {
    #[inline(always)]
    fn to_word(self) -> u64 {
        self
    }
}

impl Returned for f64 {
    #[inline(always)]
    fn to_word(self) -> u64 {
        self.to_bits()
    }
}

/// Implements [`Parameters`] for tuples of one length. Each element has its index behind it.
macro_rules! parameters {
    ($($ty:ident $at:literal),*) => {
        impl<$($ty: Argument),*> Parameters for ($($ty,)*) {
            const PLACES: &'static [Place] = &places([$($ty::CLASS),*]);

            #[allow(unused_variables)] // Without parameters.
            #[inline(always)]
            unsafe fn take(frame: Frame, params: *mut u8) {
                $(
                    let place = const { Self::PLACES[$at] };
                    // SAFETY: the caller's duty.
                    let word = unsafe { frame.at(place.word) };
                    // SAFETY: the caller's duty.
                    let argument = unsafe { $ty::take(word) };
                    // SAFETY: the caller's duty.
                    let param = unsafe { params.add(place.offset as usize) };
                    // SAFETY: the structure has a parameter of this type there.
                    unsafe { param.cast::<$ty::Param>().write(argument) };
                )*
            }

            #[allow(unused_variables)] // Without parameters.
            #[inline(always)]
            unsafe fn call<R: Returned>(code: Code, params: *const u8) -> u64 {
                type Function<R, $($ty),*> = unsafe extern "C" fn($($ty),*) -> R;
                // SAFETY: the caller's duty.
                let function = unsafe { transmute::<Code, Function<R, $($ty),*>>(code) };
                // SAFETY: the caller's duty.
                let result = unsafe {
                    function($({
                        let param = params.add(const { Self::PLACES[$at].offset as usize });
                        $ty::pass(param.cast::<$ty::Param>().read())
                    }),*)
                };
                result.to_word()
            }
        }
    };
}
parameters! {}
parameters! { A 0 }
parameters! { A 0, B 1 }
parameters! { A 0, B 1, C 2 }
parameters! { A 0, B 1, C 2, D 3 }
parameters! { A 0, B 1, C 2, D 3, E 4 }
parameters! { A 0, B 1, C 2, D 3, E 4, F 5 }
parameters! { A 0, B 1, C 2, D 3, E 4, F 5, G 6 }
parameters! { A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7 }
parameters! { A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8 }
parameters! { A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9 }
parameters! { A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10 }
parameters! { A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11 }
parameters! { A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11, M 12 }
parameters! { A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11, M 12, N 13 }
parameters! { A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11, M 12, N 13, O 14 }
parameters! {
    A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11, M 12, N 13, O 14, P 15, Q 16
}
parameters! {
    A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11, M 12, N 13, O 14, P 15, Q 16,
    S 17
}
parameters! {
    A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11, M 12, N 13, O 14, P 15, Q 16,
    S 17, T 18, U 19, V 20, W 21, X 22
}

/// Returns the places of parameters: in the frame by the machine's calling convention, in the structure by
/// `repr(C)`.
const fn places<const COUNT: usize>(classes: [Class; COUNT]) -> [Place; COUNT] {
    let unplaced = Place { word: 0, offset: 0, bytes: 0, class: Class::Unsigned { bytes: 0 } };
    let mut places = [unplaced; COUNT];
    let mut arguments = Arguments::NONE;
    let mut offset = 0;
    let mut at = 0;
    while at < COUNT {
        let class = classes[at];
        let word = arguments.next(class);
        let bytes = class.bytes();
        offset = usize::next_multiple_of(offset, bytes as usize);
        assert!(word < 256 && offset + bytes as usize <= PARAMS_BYTES_MAX);
        places[at] = Place { word: word as u8, offset: offset as u8, bytes, class };
        offset += bytes as usize;
        at += 1;
    }
    places
}

/// Assigns registers and stack words to arguments, in order.
struct Arguments {
    integers: usize,
    floats: usize,
    stack_words: usize,
}

impl Arguments {
    const NONE: Self = Self { integers: 0, floats: 0, stack_words: 0 };

    /// Returns the next argument's first word in the trampoline's frame.
    const fn next(&mut self, class: Class) -> usize {
        let words = match class {
            Class::Structure { bytes } if !convention::is_passed_by_address(bytes as usize) => {
                bytes.div_ceil(8) as usize
            }
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
