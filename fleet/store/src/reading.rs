//! Reads a file of a store in ranges. A range that breaks off is continued at its next byte.

use std::io::Write;
use std::ops::Range;
use std::time::Duration;

use futures_util::StreamExt;
use object_store::{GetOptions, GetRange};

use crate::Store;
use crate::error::Error;

/// Bytes of a request.
const RANGE_BYTES: u64 = 16 << 20;
/// How often reading is tried without a byte that arrives.
const TRIES_MAX: u32 = 8;
const FIRST_WAIT: Duration = Duration::from_millis(200);

impl Store {
    /// Writes the file `name` to `out`. Returns its length in bytes.
    ///
    /// # Errors
    /// [`Error`]; `out` then has the first bytes of the file.
    pub fn read(&self, name: &str, out: &mut dyn Write) -> Result<u64, Error> {
        let path = self.path(name)?;
        let what = self.shown(name);
        let head = GetOptions::new().with_head(true);
        let found = self.ask(&what, self.place.objects.get_opts(&path, head))?;
        let (bytes, tag) = (found.meta.size, found.meta.e_tag);
        let (mut at, mut tries) = (0, 0);
        while at < bytes {
            let from = at;
            let range = at..bytes.min(at + RANGE_BYTES);
            match self.part(&path, &what, range, tag.as_ref(), out, &mut at) {
                Ok(()) if at > from => tries = 0,
                Ok(()) => return Err(Error::Replaced { what }),
                Err(error) if error.is_temporary() && (at > from || tries < TRIES_MAX) => {
                    tries = if at > from { 0 } else { tries + 1 };
                    std::thread::sleep(FIRST_WAIT * 2_u32.pow(tries.min(5)));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(bytes)
    }

    /// Writes a range to `out`, and moves `at` behind each byte that was written.
    fn part(
        &self,
        path: &object_store::path::Path,
        what: &str,
        range: Range<u64>,
        tag: Option<&String>,
        out: &mut dyn Write,
        at: &mut u64,
    ) -> Result<(), Error> {
        let end = range.end;
        let options = GetOptions::new().with_range(Some(GetRange::Bounded(range)));
        let found =
            self.ask(what, self.place.objects.get_opts(path, options.with_if_match(tag)))?;
        let mut pieces = found.into_stream();
        while *at < end {
            let Some(piece) = self.runtime.block_on(pieces.next()) else { break };
            let piece = piece.map_err(|error| self.failure(&error, what))?;
            let piece = &piece[..piece.len().min((end - *at) as usize)];
            out.write_all(piece)?;
            *at += piece.len() as u64;
        }
        Ok(())
    }
}
