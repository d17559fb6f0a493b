//! Whether the program has confined itself: it has installed a seccomp filter after the first look. Such a program,
//! Chromium's GPU process for example, may be ended by a system call that it does not make itself. The shim's rare system
//! calls are left out then.
//!
//! Reads `/proc/thread-self/status`, because every filter lets files be opened or refuses that with an error, but a question
//! like `prctl(PR_GET_SECCOMP)` can end the program. Allocates nothing.

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use libc::c_int;

/// Values of `STATE`. Threads may look at the same time: they find the same, or one finds the sandbox closed, which stays.
///
/// | value | meaning | entered from |
/// |---|---|---|
/// | `NOT_LOOKED` | nobody has looked | |
/// | `CLOSED` | the program has confined itself | any |
/// | `NO_PROC` | `/proc` is not mounted: nothing is known | `NOT_LOOKED` |
/// | `FIRST` + n | it had n filters at the first look | `NOT_LOOKED` |
static STATE: AtomicU32 = AtomicU32::new(NOT_LOOKED);
const NOT_LOOKED: u32 = 0;
const CLOSED: u32 = 1;
const NO_PROC: u32 = 2;
const FIRST: u32 = 3;

/// Returns whether the program has confined itself since the first call, or so that `/proc` was refused to the first call
/// already. Takes tens of microseconds. Keeps `errno`.
pub fn is_confined() -> bool {
    // Relaxed: the word stands on its own, in this function.
    let known = STATE.load(Relaxed);
    if known == CLOSED || known == NO_PROC {
        return known == CLOSED;
    }
    // SAFETY: has no failure.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: this thread's own.
    let before = unsafe { errno.read() };
    let found = next(known, look());
    // SAFETY: as above.
    unsafe { errno.write(before) };
    if found != known {
        STATE.store(found, Relaxed);
    }
    found == CLOSED
}

/// Returns the state after `known` when the number of filters, or the error, is `seen`.
fn next(known: u32, seen: Result<u32, c_int>) -> u32 {
    match (known, seen) {
        (NOT_LOOKED, Ok(filters)) => FIRST.saturating_add(filters),
        (NOT_LOOKED, Err(libc::ENOENT)) => NO_PROC,
        (known, Ok(filters)) if FIRST.saturating_add(filters) <= known => known,
        (_, Ok(_) | Err(_)) => CLOSED,
    }
}

/// Returns the number of seccomp filters of this thread.
fn look() -> Result<u32, c_int> {
    let (path, flags) = (c"/proc/thread-self/status", libc::O_RDONLY | libc::O_CLOEXEC);
    // SAFETY: a NUL-terminated path.
    let file = unsafe { libc::open(path.as_ptr(), flags) };
    if file < 0 {
        return Err(errno());
    }
    let mut count = Count::default();
    let mut buffer = [0_u8; 1024];
    let result = loop {
        // SAFETY: the buffer has the length.
        let read = unsafe { libc::read(file, buffer.as_mut_ptr().cast(), buffer.len()) };
        match usize::try_from(read) {
            Ok(0) => break Ok(count.filters.max(count.mode)),
            Ok(read) => buffer.iter().take(read).for_each(|byte| count.take(*byte)),
            Err(_) => break Err(errno()),
        }
    };
    // SAFETY: opened above.
    unsafe { libc::close(file) };
    result
}

fn errno() -> c_int {
    // SAFETY: has no failure.
    let location = unsafe { libc::__errno_location() };
    // SAFETY: this thread's own.
    unsafe { location.read() }
}

/// Reads the text byte by byte.
#[derive(Default)]
struct Count {
    /// How much of each name has been read at the beginning of the present line; `None` if it is another line.
    matched: [Option<usize>; 2],
    /// A byte was read.
    has_begun: bool,
    /// The value of `Seccomp`: 2 with filters.
    mode: u32,
    /// The value of `Seccomp_filters`, of Linux 5.9 and later.
    filters: u32,
}

const NAMES: [&[u8]; 2] = [b"Seccomp:\t", b"Seccomp_filters:\t"];

impl Count {
    fn take(&mut self, byte: u8) {
        if !self.has_begun || byte == b'\n' {
            self.has_begun = true;
            self.matched = [Some(0); 2];
            if byte == b'\n' {
                return;
            }
        }
        let values = [&mut self.mode, &mut self.filters];
        for ((matched, name), value) in self.matched.iter_mut().zip(NAMES).zip(values) {
            let Some(at) = *matched else { continue };
            match name.get(at) {
                Some(wanted) => *matched = (*wanted == byte).then_some(at + 1),
                None if byte.is_ascii_digit() => {
                    *value = value.saturating_mul(10).saturating_add(u32::from(byte - b'0'));
                }
                None => *matched = None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_counted_in_the_text_of_proc() {
        let check = |text: &str, mode, filters| {
            let mut count = Count::default();
            text.bytes().for_each(|byte| count.take(byte));
            assert_eq!((count.mode, count.filters), (mode, filters), "{text}");
        };
        check("Name:\tx\nNoNewPrivs:\t0\nSeccomp:\t2\nSeccomp_filters:\t13\nCpus:\tf\n", 2, 13);
        check("Name:\tSeccomp:\t7\nSeccomp:\t0\nSeccomp_filters:\t0\n", 0, 0);
        check("Seccomp:\t2\nSpeculation_Store_Bypass:\t1\n", 2, 0);
    }

    #[test]
    fn program_is_confined_by_a_filter_more_or_a_refusal() {
        let check = |known, seen, expected| assert_eq!(next(known, seen), expected, "{seen:?}");
        check(NOT_LOOKED, Ok(0), FIRST);
        check(NOT_LOOKED, Ok(2), FIRST + 2);
        check(NOT_LOOKED, Err(libc::ENOENT), NO_PROC);
        check(NOT_LOOKED, Err(libc::EACCES), CLOSED);
        check(FIRST + 2, Ok(2), FIRST + 2);
        check(FIRST + 2, Ok(3), CLOSED);
        check(FIRST, Err(libc::ENOENT), CLOSED);
    }

    #[test]
    #[cfg_attr(miri, ignore = "reads a file of the kernel")]
    fn this_process_is_not_confined() {
        assert_eq!(look().map(|_| ()), Ok(()));
        assert!(!is_confined() && !is_confined());
    }
}
