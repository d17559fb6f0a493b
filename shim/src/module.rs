//! Which loaded file this code is in: the loader's view of ourselves.

use core::ffi::{CStr, c_void};
use core::mem::MaybeUninit;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A file mapped by the loader.
pub struct Module {
    base: *mut c_void,
    path: *const libc::c_char,
}

impl Module {
    /// The module that contains `address`.
    pub fn of(address: *const c_void) -> Option<Module> {
        let mut info = MaybeUninit::<libc::Dl_info>::uninit();
        // SAFETY: `info` is writable; any address may be asked for.
        if unsafe { libc::dladdr(address, info.as_mut_ptr()) } == 0 {
            return None;
        }
        // SAFETY: dladdr filled it.
        let info = unsafe { info.assume_init() };
        Some(Module { base: info.dli_fbase, path: info.dli_fname })
    }

    /// The module of this code.
    pub fn ours() -> Option<Module> {
        Module::of(Module::ours as *const c_void)
    }

    /// Where it begins.
    pub fn base(&self) -> usize {
        self.base as usize
    }

    /// The path it was loaded from; null where the loader has none.
    pub fn path(&self) -> *const libc::c_char {
        self.path
    }

    /// The path it was loaded from.
    pub fn path_str(&self) -> Option<&CStr> {
        if self.path.is_null() {
            return None;
        }
        // SAFETY: the loader keeps the name as long as the module, and we are in it or never
        // unload what we found.
        Some(unsafe { CStr::from_ptr(self.path) })
    }

    /// Whether the module is this library's file, be it this copy or another: a program that has the
    /// archive linked in may have the library preloaded, too.
    pub fn is_gapii(&self) -> bool {
        self.path_str().is_some_and(|path| {
            gapii_loader::is_gapii_file(Path::new(OsStr::from_bytes(path.to_bytes())))
        })
    }

    /// Whether the module is the program itself.
    pub fn is_program(&self) -> bool {
        // SAFETY: reads the auxiliary vector.
        let headers = unsafe { libc::getauxval(libc::AT_PHDR) } as usize;
        headers.wrapping_sub(self.base as usize) < 4096
    }
}
