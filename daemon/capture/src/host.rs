//! The name of this machine, which headers of traces have.

use gapii_trace::Untrusted;

/// Returns the kernel's name for this machine (uname(2)); empty if it is not UTF-8.
pub fn name() -> Untrusted {
    rustix::system::uname().nodename().to_str().unwrap_or_default().into()
}
