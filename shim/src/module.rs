//! The loaded file that contains an address, as the loader sees it: whether it is a copy of gapii, or the program
//! itself.

use core::ffi::{CStr, c_void};
use core::mem::MaybeUninit;
use std::ffi::{CString, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A file that the loader has mapped.
pub struct Module {
    base: *mut c_void,
    path: *const libc::c_char,
}

impl Module {
    /// Returns the module that contains `address`.
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

    /// Returns the module that contains this code.
    pub fn ours() -> Option<Module> {
        Module::of(Module::ours as *const c_void)
    }

    /// Returns the module's load address.
    pub fn base(&self) -> usize {
        self.base as usize
    }

    /// Returns the path that the module was loaded from; null if the loader has none.
    pub fn path(&self) -> *const libc::c_char {
        self.path
    }

    /// Returns the path that the module was loaded from, if the loader has one.
    pub fn path_str(&self) -> Option<&CStr> {
        if self.path.is_null() {
            return None;
        }
        // SAFETY: the loader keeps the name as long as the module, and the module is this one or is never unloaded.
        Some(unsafe { CStr::from_ptr(self.path) })
    }

    /// Whether the module is a copy of this library: this one, or another. A program that has the archive linked in
    /// may have the library preloaded, too.
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

/// Returns the path of the first loaded file of which `is_wanted` holds, as the loader has it.
pub fn loaded<F: Fn(&CStr) -> bool>(is_wanted: F) -> Option<CString> {
    /// What [`look`] looks for, and what it has found.
    struct Search<F>(F, Option<CString>);

    unsafe extern "C" fn look<F: Fn(&CStr) -> bool>(
        info: *mut libc::dl_phdr_info,
        _size: libc::size_t,
        search: *mut c_void,
    ) -> libc::c_int {
        // SAFETY: the loader passes the argument of dl_iterate_phdr.
        let Search(is_wanted, found) = unsafe { &mut *search.cast::<Search<F>>() };
        // SAFETY: the loader passes a description that it has filled.
        let name = unsafe { (*info).dlpi_name };
        if name.is_null() {
            return 0;
        }
        // SAFETY: the name of a loaded file, which stays loaded during the call.
        let path = unsafe { CStr::from_ptr(name) };
        if !is_wanted(path) {
            return 0;
        }
        *found = Some(path.to_owned());
        1
    }

    let mut search = Search(is_wanted, None);
    // SAFETY: `look` gets the search, which outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(look::<F>), (&raw mut search).cast()) };
    search.1
}
