//! Modules and kernels. The kernel `mix` is the only one that runs code: each of the first bytes of its memory becomes
//! `byte * code + addend + constant + global + threads`, modulo 256. The module's first byte is `code`, its first
//! specialisation constant `constant`, the first byte of its global variable `global`; `threads` is the number of groups
//! times the size of a group in the first dimension. Arguments: the address, the number of bytes (32 bits), `addend` (8
//! bits).
//!
//! A launch takes the arguments and the group size that the kernel has at the append.

use std::collections::BTreeMap;
use std::ffi::CStr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gapii_ze_api::types::{ZE_MEMORY_TYPE_DEVICE, ze_group_count_t};

use crate::flaw::{self, Flaw};
use crate::memory::{allocate, block_of, free};

/// Size of a module's global variable, in bytes.
const GLOBAL_BYTES: usize = 64;

/// A module: its code, and memory for its global variable.
pub struct Module {
    code: u8,
    constant: u8,
    global: usize,
}

/// A kernel of a module.
pub struct Kernel {
    module: Arc<Module>,
    mixes: bool,
    settings: Mutex<Settings>,
}

/// What a launch takes from its kernel.
#[derive(Clone, Default)]
struct Settings {
    arguments: BTreeMap<u32, Vec<u8>>,
    group_size: u32,
}

/// The work of a launch of `mix`.
#[derive(Clone)]
pub struct Mix {
    module: Arc<Module>,
    memory: usize,
    bytes: usize,
    added: u8,
}

impl Module {
    /// Builds a module. `None` if there is no memory for its global variable.
    pub fn new(code: &[u8], constant: u8) -> Option<Self> {
        let global = allocate(GLOBAL_BYTES, 0, ZE_MEMORY_TYPE_DEVICE)?.expose_provenance();
        let wrong = u8::from(flaw::has(Flaw::Modules));
        Some(Self { code: code.first().copied().unwrap_or(1) ^ wrong, constant, global })
    }

    /// Address and size in bytes of the global variable.
    pub fn global(&self) -> (*mut u8, usize) {
        (std::ptr::with_exposed_provenance_mut(self.global), GLOBAL_BYTES)
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        free(self.global().0);
    }
}

impl Kernel {
    pub fn new(module: &Arc<Module>, name: &CStr) -> Self {
        let settings = Settings { group_size: 1, ..Settings::default() };
        Self { module: Arc::clone(module), mixes: name == c"mix", settings: Mutex::new(settings) }
    }

    pub fn set_argument(&self, index: u32, value: &[u8]) {
        self.settings().arguments.insert(index, value.to_vec());
    }

    pub fn set_group_size(&self, sizes: [u32; 3]) {
        self.settings().group_size = sizes[0];
    }

    /// Returns the work of a launch with the present arguments. `None` if the kernel runs no code, an argument is missing,
    /// or the memory is not allocated.
    pub fn launch(&self, groups: &ze_group_count_t) -> Option<Mix> {
        let settings = self.settings();
        let argument = |index| settings.arguments.get(&index).filter(|_| self.mixes);
        let memory = u64::from_le_bytes(*argument(0)?.first_chunk()?) as usize;
        let bytes = u32::from_le_bytes(*argument(1)?.first_chunk()?) as usize;
        let threads = groups.groupCountX.wrapping_mul(settings.group_size) as u8;
        let addend = *argument(2)?.first()?;
        let block = block_of(memory)?;
        let is_inside = memory - block.address + bytes <= block.layout.size();
        is_inside.then(|| Mix {
            module: Arc::clone(&self.module),
            memory,
            bytes,
            added: addend.wrapping_add(self.module.constant).wrapping_add(threads),
        })
    }

    fn settings(&self) -> MutexGuard<'_, Settings> {
        self.settings.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Mix {
    /// Runs the kernel. The program makes sure that the memory is still allocated.
    pub fn run(&self) {
        // SAFETY: the module lives, and its global variable has bytes.
        let global = unsafe { self.module.global().0.read() };
        let memory: *mut u8 = std::ptr::with_exposed_provenance_mut(self.memory);
        for at in 0..self.bytes {
            // SAFETY: inside the allocation; see `Kernel::launch`.
            let place = unsafe { memory.add(at) };
            // SAFETY: as above.
            let byte = unsafe { place.read() };
            let mixed = byte.wrapping_mul(self.module.code).wrapping_add(self.added);
            // SAFETY: as above.
            unsafe { place.write(mixed.wrapping_add(global)) };
        }
    }
}
