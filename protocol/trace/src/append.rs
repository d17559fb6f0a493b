//! Appends the daemon's own records to the bytes of a block, padded to 8 bytes, without stamp and flags.
//!
//! These records have neither stamps nor flags.

use gapii_abi::atom::{Atom, HEADER_LEN, Header};

/// Appends an atom to the bytes of a block. Every atom of fixed length implements this.
pub trait AppendTo {
    /// Appends the record, without stamp and flags.
    fn append_to(&self, out: &mut Vec<u8>);
}

impl<A: Atom> AppendTo for A {
    fn append_to(&self, out: &mut Vec<u8>) {
        append(out, self, |_| {});
    }
}

/// Appends the record of `atom`; `tail` appends what follows the fixed part.
pub(super) fn append<A: Atom>(out: &mut Vec<u8>, atom: &A, tail: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0; HEADER_LEN as usize]);
    out.extend_from_slice(atom.encode().as_ref());
    tail(out);
    let len = u32::try_from(out.len() - start).expect("our own records are short");
    let header = Header::new(A::ID, 0, len);
    out[start..start + HEADER_LEN as usize].copy_from_slice(&header.0.to_le_bytes());
    out.resize(start + header.span_untrusted() as usize, 0);
}
