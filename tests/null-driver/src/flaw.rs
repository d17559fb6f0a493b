//! Faults that tests can switch on, to check that they are detected: `GAPII_NULL_FLAW`.

use std::sync::LazyLock;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Flaw {
    /// `copies`: one bit of everything that a list copies is wrong.
    Copies,
    /// `device`: reports another device, with another group size.
    Device,
    /// `kernels`: refuses to create kernels.
    Kernels,
    /// `timer`: the device has no timer.
    Timer,
    /// `modules`: a module has other code than its binary says.
    Modules,
}

static FLAW: LazyLock<Option<Flaw>> = LazyLock::new(|| {
    Some(match std::env::var("GAPII_NULL_FLAW").ok()?.as_str() {
        "copies" => Flaw::Copies,
        "device" => Flaw::Device,
        "kernels" => Flaw::Kernels,
        "modules" => Flaw::Modules,
        "timer" => Flaw::Timer,
        _ => return None,
    })
});

pub fn has(flaw: Flaw) -> bool {
    *FLAW == Some(flaw)
}
