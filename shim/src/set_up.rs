//! Set-up of the shim at the process' first command, and the stubs that run it: finds the driver's functions, connects
//! to a daemon, and waits for a capture if the daemon says so. In a process that `GAPII_PROCESS` excludes it only finds
//! the driver's functions.
//!
//! Until the shim is set up, every slot of the table leads to a stub. The stub saves all argument registers, runs
//! [`set_up`], which acts once, and then jumps to where the slot leads by then. The stubs' instructions are in one
//! module per machine.

use std::sync::Once;

use gapii_abi::app::{API_EGL, API_GLX};
use gapii_commands::Api;
use gapii_recorder::ErrnoGuard;
use gapii_recorder::program::pages;

use crate::arena;
use crate::capture;
use crate::code::Code;
use crate::driver_functions;
use crate::environment;
use crate::first_command::{self, Passed};
#[cfg(not(test))]
use crate::handlers::HANDLERS;
use crate::process;
use crate::safe_point::{self, Moment};
use crate::stubs;
use crate::table::{self, Hooks};
use crate::tracking;
use crate::wait;

#[cfg(target_arch = "aarch64")]
#[path = "set_up/aarch64.rs"]
mod instructions;
#[cfg(target_arch = "x86_64")]
#[path = "set_up/x86_64.rs"]
mod instructions;

/// Runs at the first call of each command, and until then at the process' first commands of EGL, OpenGL or GLX: finds
/// the driver's function, and [`wake`]s. Returns the code that command `id` goes on to. Never unwinds.
///
/// A function is looked up when it is first called: looking up the 2,900 names that libraries export takes tens of
/// milliseconds, and a program may load the library of a command later.
extern "C" fn set_up(id: usize) -> Code {
    static ONCE: Once = Once::new();
    let _errno = ErrnoGuard::save();
    note_api(id as u16);
    ONCE.call_once(table::note_set_up);
    let has_function = driver_functions::has(id as u16);
    wake();
    if has_function { table::slot(id) } else { stubs::absent as *const () as Code }
}

/// Notes the API of a command. OpenGL counts as a part of EGL or GLX, whichever the process has called.
fn note_api(id: u16) {
    let known = process::apis();
    let bit = match id {
        id if const { Api::Glx.ids() }.contains(&id) => API_GLX,
        id if const { Api::Gl.ids() }.contains(&id) && known & (API_EGL | API_GLX) != 0 => return,
        _ => API_EGL,
    };
    if known & bit == 0 {
        process::note_api(bit);
    }
}

/// Returns once the process may make its first command of any API. The first caller connects to a daemon, and waits for
/// a capture if the environment says so.
pub fn wake() {
    static ONCE: Once = Once::new();
    let _errno = ErrnoGuard::save();
    ONCE.call_once(|| {
        // The first look: what the program allows itself before it has closed a sandbox.
        gapii_edges::is_confined();
        arena::guard_forks();
        tracking::guard_forks();
        #[cfg(not(test))]
        table::set_handlers(&HANDLERS);
    });
    let hooks = if environment::wanted() { Hooks::at_rest() } else { Hooks::None };
    if first_command::pass(|| begin(hooks)) == Passed::Nested {
        table::switch(hooks);
    }
}

fn begin(hooks: Hooks) {
    if hooks != Hooks::None {
        pages::set_up();
        if environment::wait_limit().is_some() {
            wait::for_capture();
        } else {
            process::connect();
        }
        // A signal handler's command has let other threads' commands through, too.
        let is_first = !first_command::was_interrupted();
        safe_point::safe_point(if is_first { Moment::FirstCommand } else { Moment::Command });
    }
    // Until the table is switched, the stubs hold all other threads. A capture has switched it.
    if !capture::is_running() {
        table::switch(hooks);
    }
}
