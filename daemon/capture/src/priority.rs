//! Priority of threads whose work can wait: nice 10 (`LOW_PRIORITY`), about a tenth of the time of a busy thread. If
//! the system refuses, they run at the daemon's own priority.

/// Niceness of a thread whose work can wait: beside a busy thread of an application it gets a tenth of the
/// processor time.
const LOW_PRIORITY: i32 = 10;

/// Lowers the priority of the calling thread.
///
/// The priority is not the lowest: a thread that gets next to no processor time delays the end of a killed
/// daemon, and no other daemon can take over before that end.
pub fn yield_to_programs() {
    // On Linux this sets the niceness of the calling thread only.
    if let Err(error) = rustix::process::setpriority_process(None, LOW_PRIORITY) {
        tracing::debug!(%error, "compression runs at the daemon's own priority");
    }
}
