//! Memory that the driver writes: each output of a command has a piece of its own, of at least 16 MiB (`PIECE_BYTES`),
//! within `Limits::output_bytes` (256 MiB); a command that needs more is skipped. The first 1 MiB (`FILLED_BYTES`) of
//! an output is filled with `UNWRITTEN` before the driver runs, to tell what was not written. The region ends with a
//! guard that can't be accessed.

use super::region::Region;
use crate::skip::Skip;

/// Byte with which outputs are filled before a command. Bytes that still have this value afterwards
/// were not written.
pub const UNWRITTEN: u8 = 0xA7;
/// Number of bytes at the start of an output that are filled.
pub const FILLED_BYTES: usize = 1 << 20;

/// Room of an output whose extent is not known.
const PIECE_BYTES: usize = 16 << 20;
/// Alignment of outputs.
const ALIGNMENT: usize = 64;
/// Bytes that are kept between commands.
const KEPT_BYTES: usize = 64 << 20;

/// Memory that the driver wrote for an output parameter.
#[derive(Clone, Copy, Debug)]
pub struct Output {
    /// Index of the parameter.
    pub param: usize,
    /// The program's address of the output.
    pub address: u64,
    /// The driver's address of the output, in `Outputs`.
    pub at: usize,
    /// Length of the output in bytes.
    pub len: u64,
}

/// Memory that commands write.
pub struct Outputs {
    region: Region,
    bytes: usize,
    /// End of the pieces given out.
    used: usize,
    /// Bytes at the start that drivers may have written.
    touched: usize,
}

impl Outputs {
    /// Room for `bytes` of outputs of one command.
    pub fn new(bytes: usize) -> std::io::Result<Self> {
        Ok(Self { region: Region::new(bytes)?, bytes, used: 0, touched: 0 })
    }

    /// Forgets what the previous command wrote.
    pub(crate) fn reset(&mut self) {
        if self.touched > KEPT_BYTES {
            self.region.release(0, self.touched);
            self.touched = 0;
        }
        self.used = 0;
    }

    /// Room for an output of at least `need` bytes (0: not known). Its first `fill` bytes are
    /// [`UNWRITTEN`].
    pub fn piece(&mut self, need: u64, fill: u64) -> Result<*mut u8, Skip> {
        let start = self.used;
        let left = self.bytes - start;
        let least = if need == 0 { PIECE_BYTES } else { 0 };
        let need = usize::try_from(need).ok().filter(|need| (*need).max(least) <= left);
        let Some(need) = need else {
            return Err(Skip::from("it writes more memory than replay takes"));
        };
        let room = need.max(PIECE_BYTES).min(left);
        self.used = (start + room).next_multiple_of(ALIGNMENT).min(self.bytes);
        let fill = usize::try_from(fill).unwrap_or(usize::MAX).min(room);
        if self.touched < start + need.max(fill) {
            self.touched = start + need.max(fill);
        }
        // SAFETY: `fill` is no more than the piece's room, which lies in the writable part.
        unsafe { self.region.at(start).write_bytes(UNWRITTEN, fill) };
        Ok(self.region.at(start))
    }

    /// Number of bytes left for further pieces of this command.
    pub fn left(&self) -> u64 {
        (self.bytes - self.used) as u64
    }

    /// Present content of a piece, at most `len` bytes.
    pub fn bytes(&self, piece: usize, len: u64) -> &[u8] {
        let base = self.region.at(0).cast_const();
        let offset = piece.wrapping_sub(base as usize);
        if offset > self.bytes {
            return &[];
        }
        let len = usize::try_from(len).unwrap_or(usize::MAX).min(self.bytes - offset);
        // SAFETY: within the writable part; drivers write to it only during commands, which borrow
        // `self` mutably to obtain a piece.
        unsafe { std::slice::from_raw_parts(base.wrapping_add(offset), len) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_do_not_overlap_and_end_within_the_room() {
        let mut outputs = Outputs::new(64 << 20).unwrap();
        let first = outputs.piece(40 << 20, 8).unwrap();
        let second = outputs.piece(8, 8).unwrap();
        assert!(second as usize - first as usize >= 40 << 20);
        assert_eq!(outputs.bytes(second as usize, 8), [UNWRITTEN; 8]);
        assert!(outputs.piece(32 << 20, 8).is_err());
        outputs.reset();
        assert_eq!(outputs.piece(64 << 20, 0).unwrap(), first);
        assert!(outputs.piece(1, 0).is_err());
    }

    #[test]
    fn piece_is_filled_before_the_driver_writes() {
        let mut outputs = Outputs::new(64 << 20).unwrap();
        let piece = outputs.piece(4, 4).unwrap();
        // SAFETY: a piece of four bytes.
        unsafe { piece.write_bytes(9, 4) };
        assert_eq!(outputs.bytes(piece as usize, 4), [9; 4]);
        outputs.reset();
        assert_eq!(outputs.bytes(outputs.region.at(0) as usize, 4), [9; 4]);
        let piece = outputs.piece(4, 4).unwrap();
        assert_eq!(outputs.bytes(piece as usize, 4), [UNWRITTEN; 4]);
    }
}
