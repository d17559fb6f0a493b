//! A driver that notes its calls, for tests of what the player passes to it.

use std::io::Cursor;
use std::sync::{Mutex, MutexGuard, PoisonError};

use gapii_replay::{Loader, Options, Quiet, Report, replay};
use gapii_trace::TraceReader;

#[allow(dead_code, reason = "some of it is the fuzzer's")]
#[path = "../../fuzz/fake_driver.rs"]
mod fake_driver;
#[allow(dead_code, reason = "most of it is the fuzzer's")]
#[path = "../../fuzz/script.rs"]
mod script;

pub use fake_driver::FakeDriver;
pub use script::Written;

/// Calls of the driver. One test uses it at a time.
static CALLS: Mutex<Vec<String>> = Mutex::new(Vec::new());
static TURN: Mutex<()> = Mutex::new(());

/// Notes a call of the driver.
pub fn note(call: String) {
    CALLS.lock().unwrap_or_else(PoisonError::into_inner).push(call);
}

/// Looks up a name: one of these functions, otherwise a function of the fake driver.
macro_rules! spies {
    ($name:expr; $($function:ident),* $(,)?) => {{
        let spy = match $name.to_str().ok()? {
            $(stringify!($function) => $function as *mut c_void,)*
            _ => std::ptr::null_mut(),
        };
        NonNull::new(spy).or_else(|| crate::spying::FakeDriver.find($name))
    }};
}
pub(crate) use spies;

/// Plays commands with `loader`. Returns the driver's calls, the report, and the lock that keeps
/// other tests out.
pub fn played(
    loader: &impl Loader,
    commands: &[Written<'_>],
) -> (Vec<String>, Report, MutexGuard<'static, ()>) {
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    fake_driver::reset();
    CALLS.lock().unwrap_or_else(PoisonError::into_inner).clear();
    let trace = script::trace_of(commands);
    let mut reader = TraceReader::open(Cursor::new(trace)).expect("a whole header");
    let report = replay(&mut reader, loader, Options::default(), &mut Quiet).expect("it is played");
    let calls = std::mem::take(&mut *CALLS.lock().unwrap_or_else(PoisonError::into_inner));
    (calls, report, turn)
}

/// A command without memory.
pub fn plain<'a>(name: &'a str, args: &'a [u64]) -> Written<'a> {
    Written { name, args, ..Written::default() }
}
