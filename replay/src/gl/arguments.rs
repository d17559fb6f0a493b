//! Arguments in the driver's form, for generated code.
//!
//! How much memory a driver may touch is computed from the arguments. It is compared with the room
//! there is before the driver gets a pointer.

use std::ffi::{c_char, c_void};

use crate::call::Call;
use crate::names::Kind;
use crate::skip::Skip;
use gapii_commands::ids;

/// Largest number of strings of one command.
const TEXTS_MAX: usize = 1 << 16;

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

    /// The driver's object for a handle that is an address; null if the handle is not known.
    pub fn handle(&mut self, kind: Kind, index: usize) -> *mut c_void {
        let found = self.parts.names.find(self.scopes, kind, self.bits(index));
        found.unwrap_or(0) as usize as *mut c_void
    }

    /// The driver's name for a bind command. An unknown name is generated first, since binding
    /// creates the object.
    pub fn bound_name(&mut self, kind: Kind, index: usize) -> Result<u32, Skip> {
        let recorded = self.bits(index);
        if recorded == 0 {
            return Ok(0);
        }
        if let Some(known) = self.parts.names.find(self.scopes, kind, recorded) {
            return Ok(known as u32);
        }
        let Some(generate) = self.generator(kind) else { return Ok(self.name(kind, index)) };
        let mut real = 0;
        unsafe {
            let generate = self.own_driver::<unsafe extern "C" fn(i32, *mut u32)>(generate)?;
            generate(1, &raw mut real);
        }
        self.parts.names.insert(self.scopes, kind, recorded, u64::from(real));
        Ok(real)
    }

    /// Function that generates names of a kind in this context; `None` for kinds that binding does
    /// not create.
    fn generator(&mut self, kind: Kind) -> Option<u16> {
        let is_es1 = self.parts.facts(self.scopes).version.0 < 2;
        Some(match (kind, is_es1) {
            (Kind::Buffer, _) => ids::GL_GEN_BUFFERS,
            (Kind::Texture, _) => ids::GL_GEN_TEXTURES,
            (Kind::Framebuffer, false) => ids::GL_GEN_FRAMEBUFFERS,
            (Kind::Framebuffer, true) => ids::GL_GEN_FRAMEBUFFERS_OES,
            (Kind::Renderbuffer, false) => ids::GL_GEN_RENDERBUFFERS,
            (Kind::Renderbuffer, true) => ids::GL_GEN_RENDERBUFFERS_OES,
            (Kind::Query, _) if self.parts.facts(self.scopes).version >= (3, 0) => {
                ids::GL_GEN_QUERIES
            }
            (Kind::Query, _) => ids::GL_GEN_QUERIES_EXT,
            _ => return None,
        })
    }

    /// Id of this command's function, for a player that several commands share.
    pub fn own_function(&self) -> Result<u16, Skip> {
        let known =
            self.command.known().ok_or_else(|| Skip::from("this build does not know it"))?;
        Ok(known.number())
    }
}
