//! Secure execution (`AT_SECURE`, getauxval(3)): a set-uid or set-gid program, or one with file capabilities. There the
//! layer sleeps: it changes no table and creates no tracer.

/// Whether the kernel has started the process with other rights than its caller has. Makes no system call.
pub fn is_secure() -> bool {
    // SAFETY: reads the vector that the kernel gave the process at its start.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}
