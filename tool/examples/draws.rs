//! A tool that tints the program's clear color and skips its flushes. When the program terminates its display, the tool
//! reports the driver's time for draws.
//!
//! ```console
//! $ cargo build --release -p gapii --examples
//! $ gapii-ctl run --tool target/release/examples/libdraws.so -- PROGRAM
//! ```

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use gapii::commands::{eglTerminate, glClearColor, glDrawArrays, glDrawElements, glFlush};
use gapii::{Command, Tracer};

/// Closures run in the thread that makes the call, so shared data must be thread-safe.
static DRAWS: AtomicU64 = AtomicU64::new(0);
static NANOSECONDS: AtomicU64 = AtomicU64::new(0);

/// The dynamic loader runs this function when it has loaded the library.
#[used]
#[unsafe(link_section = ".init_array")]
static BEGIN: extern "C" fn() = begin;

extern "C" fn begin() {
    static TRACER: OnceLock<Tracer> = OnceLock::new();
    match trace() {
        Ok(tracer) => drop(TRACER.set(tracer)),
        Err(error) => eprintln!("draws: {error}"),
    }
}

fn trace() -> Result<Tracer, gapii::Error> {
    let mut tracer = Tracer::new()?;
    tracer.prologue::<glClearColor>(|call| {
        let color = call.params();
        color.red = 0.5 + color.red / 2.0;
    })?;
    tracer.prologue::<glFlush>(|call| call.skip())?;
    measure::<glDrawArrays>(&mut tracer)?;
    measure::<glDrawElements>(&mut tracer)?;
    tracer.epilogue::<eglTerminate>(|_call| report())?;
    tracer.enable()?;
    Ok(tracer)
}

/// The epilogue gets the value that the prologue of the same call returned.
fn measure<C: Command>(tracer: &mut Tracer) -> Result<(), gapii::Error> {
    tracer.around::<C, Instant>(
        |_call| Instant::now(),
        |_call, begun| {
            DRAWS.fetch_add(1, Ordering::Relaxed);
            NANOSECONDS.fetch_add(begun.elapsed().as_nanos() as u64, Ordering::Relaxed);
        },
    )
}

fn report() {
    let draws = DRAWS.load(Ordering::Relaxed);
    let each = NANOSECONDS.load(Ordering::Relaxed).checked_div(draws).unwrap_or(0);
    eprintln!("draws: {draws}, of {each} ns each");
}
