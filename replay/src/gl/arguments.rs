//! Arguments in the driver's form, for generated code. How much memory a driver may touch is computed from the
//! arguments; a command that would read or write more than replay provides is skipped. Null becomes memory of zeros
//! where a driver may not check for null. A name that binding creates is generated first, and deleted again if the
//! driver refuses the command. More than 65,536 strings (`TEXTS_MAX`) skip the command.

use std::ffi::{c_char, c_void};

use crate::call::{Call, Generated};
use crate::names::Kind;
use crate::skip::{Outcome, Skip};
use gapii_commands::constants::GL_LIST_INDEX;
use gapii_commands::ids;

/// Largest number of strings of one command.
const TEXTS_MAX: usize = 1 << 16;

/// Ids of the functions for names of one kind.
struct NameFunctions {
    generate: u16,
    is: u16,
    delete: u16,
}

impl Call<'_, '_> {
    /// An argument that the driver treats as a number although its type is a pointer.
    pub fn address(&self, index: usize) -> *mut c_void {
        self.usize(index) as *mut c_void
    }

    /// An input from which the driver reads up to `need` bytes. Null becomes memory that reads as
    /// zeros, since not every driver checks for null. Skips a command that reads more memory than
    /// replay provides.
    pub fn input<T>(&mut self, index: usize, need: i64) -> Result<*const T, Skip> {
        match self.bits(index) {
            0 => Ok(self.parts.memory.void().cast()),
            _ => self.input_or_null(index, need),
        }
    }

    /// As [`Self::input`], but null stays null.
    pub fn input_or_null<T>(&mut self, index: usize, need: i64) -> Result<*const T, Skip> {
        let address = self.bits(index);
        let need = u64::try_from(need).unwrap_or(0);
        if address != 0 && need > self.parts.memory.readable_from(address) {
            return Err(Skip::from("it reads more memory than replay takes"));
        }
        self.pointer(index)
    }

    /// An input from which the driver reads up to `need` bytes, or an offset while a buffer is
    /// bound to `binding`.
    pub fn input_or_offset<T>(
        &mut self,
        index: usize,
        binding: u32,
        need: i64,
    ) -> Result<*const T, Skip> {
        let address = self.bits(index);
        if address == 0 || self.bound(binding) != 0 {
            return Ok(self.usize(index) as *const T);
        }
        self.input(index, need)
    }

    /// An output to which the driver writes up to `need` bytes. For null the driver gets room, too,
    /// since not every driver checks for null.
    pub fn room<T>(&mut self, index: usize, need: i64) -> Result<*mut T, Skip> {
        match self.bits(index) {
            0 => Ok(self.parts.outputs.piece(u64::try_from(need).unwrap_or(0), 0)?.cast()),
            _ => self.room_or_null(index, need),
        }
    }

    /// As [`Self::room`], but null stays null.
    pub fn room_or_null<T>(&mut self, index: usize, need: i64) -> Result<*mut T, Skip> {
        self.output_of(index, u64::try_from(need).unwrap_or(0))
    }

    /// An output to which the driver writes up to `need` bytes, or an offset while a buffer is bound to `binding`.
    pub fn room_or_offset<T>(
        &mut self,
        index: usize,
        binding: u32,
        need: i64,
    ) -> Result<*mut T, Skip> {
        self.output_or_offset(index, binding, u64::try_from(need).unwrap_or(0))
    }

    /// An input array of `count` strings. Strings that the trace lacks are empty.
    pub fn text_array(&mut self, index: usize, count: i64) -> Result<*const *const c_char, Skip> {
        let count = usize::try_from(count).unwrap_or(0);
        if count > TEXTS_MAX {
            return Err(Skip::from("it has more strings than replay takes"));
        }
        let mut texts = self.texts(index);
        texts.resize(count, Vec::new());
        Ok(self.place_texts(&texts)?.0)
    }

    /// As [`Self::text_array`], but null stays null.
    pub fn text_array_or_null(
        &mut self,
        index: usize,
        count: i64,
    ) -> Result<*const *const c_char, Skip> {
        match self.bits(index) {
            0 => Ok(std::ptr::null()),
            _ => self.text_array(index, count),
        }
    }

    /// The driver's object for a handle that is an address. A handle that is not known becomes an address
    /// of the player's zeros, which is no object; null stays null, which some commands ignore.
    pub fn handle(&mut self, kind: Kind, index: usize) -> *mut c_void {
        match self.parts.names.find(self.scopes, kind, self.bits(index)) {
            Some(found) => found as usize as *mut c_void,
            None => self.parts.memory.void().cast_mut().cast(),
        }
    }

    /// The driver's name for a command that creates the object if it does not exist. An unknown name is
    /// generated first; [`Self::settle_bound_name`] follows the command.
    pub fn bound_name(&mut self, kind: Kind, index: usize) -> Result<u32, Skip> {
        let recorded = self.bits(index);
        if recorded == 0 {
            return Ok(0);
        }
        if let Some(known) = self.parts.names.find(self.scopes, kind, recorded) {
            return Ok(known as u32);
        }
        let Some(about) = self.functions_of(kind) else { return Ok(self.name(kind, index)) };
        let mut real = 0;
        unsafe {
            let generate =
                self.own_driver::<unsafe extern "C" fn(i32, *mut u32)>(about.generate)?;
            generate(1, &raw mut real);
        }
        if self.parts.names.insert(self.scopes, kind, recorded, u64::from(real)) {
            self.generated = Some(Generated { kind, recorded, real });
        }
        Ok(real)
    }

    /// Called when the driver has returned: deletes the name that [`Self::bound_name`] generated if the driver
    /// refused the command, so that the recorded name stays one that names no object. A command that is compiled into a
    /// display list makes its object later.
    pub fn settle_bound_name(&mut self) -> Outcome {
        let Some(Generated { kind, recorded, real }) = self.generated.take() else { return Ok(()) };
        let Some(about) = self.functions_of(kind) else { return Ok(()) };
        if !self.parts.facts(self.scopes).is_es && self.parts.integer(GL_LIST_INDEX) != 0 {
            return Ok(());
        }
        unsafe {
            let is = self.own_driver::<unsafe extern "C" fn(u32) -> u8>(about.is)?;
            let delete = self.own_driver::<unsafe extern "C" fn(i32, *const u32)>(about.delete)?;
            if is(real) == 0 {
                delete(1, &raw const real);
                self.parts.names.remove(self.scopes, kind, recorded);
            }
        }
        Ok(())
    }

    /// Functions for names of a kind in this context; `None` for kinds that binding does not create.
    ///
    /// The kinds are those of OpenGL ES 3.2, 6.1, 8.1 and 9.2. Samplers, vertex arrays, queries, pipelines
    /// and transform feedbacks are not among them: the driver refuses names of these kinds that it did not
    /// generate. In a core profile there are none.
    fn functions_of(&mut self, kind: Kind) -> Option<NameFunctions> {
        let facts = self.parts.facts(self.scopes);
        if facts.is_core {
            return None;
        }
        let is_es1 = !facts.has((2, 0), (1, 0));
        let (generate, is, delete) = match (kind, is_es1) {
            (Kind::Buffer, _) => (ids::GL_GEN_BUFFERS, ids::GL_IS_BUFFER, ids::GL_DELETE_BUFFERS),
            (Kind::Texture, _) => {
                (ids::GL_GEN_TEXTURES, ids::GL_IS_TEXTURE, ids::GL_DELETE_TEXTURES)
            }
            (Kind::Framebuffer, false) => {
                (ids::GL_GEN_FRAMEBUFFERS, ids::GL_IS_FRAMEBUFFER, ids::GL_DELETE_FRAMEBUFFERS)
            }
            (Kind::Framebuffer, true) => (
                ids::GL_GEN_FRAMEBUFFERS_OES,
                ids::GL_IS_FRAMEBUFFER_OES,
                ids::GL_DELETE_FRAMEBUFFERS_OES,
            ),
            (Kind::Renderbuffer, false) => {
                (ids::GL_GEN_RENDERBUFFERS, ids::GL_IS_RENDERBUFFER, ids::GL_DELETE_RENDERBUFFERS)
            }
            (Kind::Renderbuffer, true) => (
                ids::GL_GEN_RENDERBUFFERS_OES,
                ids::GL_IS_RENDERBUFFER_OES,
                ids::GL_DELETE_RENDERBUFFERS_OES,
            ),
            (Kind::AssemblyProgram, _) => {
                (ids::GL_GEN_PROGRAMS_ARB, ids::GL_IS_PROGRAM_ARB, ids::GL_DELETE_PROGRAMS_ARB)
            }
            _ => return None,
        };
        Some(NameFunctions { generate, is, delete })
    }

    /// Id of this command's function, for a player that several commands share.
    pub fn own_function(&self) -> Result<u16, Skip> {
        let known =
            self.command.known().ok_or_else(|| Skip::from("this build does not know it"))?;
        Ok(known.number())
    }
}
