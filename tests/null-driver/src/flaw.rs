//! What the driver does wrong, so that tests can see whether somebody notices: `GAPII_NULL_FLAW`.

use std::sync::LazyLock;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Flaw {
    /// `copies`: one bit of what a list copies is another one.
    Copies,
    /// `device`: it has another device, and groups of another size.
    Device,
    /// `kernels`: it takes no kernels.
    Kernels,
}

static FLAW: LazyLock<Option<Flaw>> = LazyLock::new(|| {
    Some(match std::env::var("GAPII_NULL_FLAW").ok()?.as_str() {
        "copies" => Flaw::Copies,
        "device" => Flaw::Device,
        "kernels" => Flaw::Kernels,
        _ => return None,
    })
});

pub fn has(flaw: Flaw) -> bool {
    *FLAW == Some(flaw)
}
