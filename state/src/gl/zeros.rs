//! Memory for contents of buffers; none if there is not enough.

/// Returns this many zero bytes; `None` if there is no memory for them.
pub fn zeros(bytes: usize) -> Option<Vec<u8>> {
    let mut zeros = Vec::new();
    zeros.try_reserve_exact(bytes).ok()?;
    zeros.resize(bytes, 0);
    Some(zeros)
}
