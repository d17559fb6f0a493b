//! Lists of the index as columns: rows of five numbers, compressed to a few bytes each, because most numbers grow from row to
//! row as they did before. At most [`ROWS_MAX`], 4,194,305 rows; more are refused, as are columns of different lengths.
//!
//! ```text
//! zstd data frame { rows, column 0, column 1, …, column 4 }
//! ```
//!
//! `rows` and the numbers are in LEB128. The numbers of a column are differences to the row before (the first to 0), modulo
//! 2^64, with the sign in the lowest bit. Up to format version 9 a list is an array of maps, which is read, too.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};

use super::block::{BlockDecoder, encode_block};

/// Most rows of a list.
pub const ROWS_MAX: usize = (4 << 20) + 1;
/// Longest list before compression, in bytes.
const BYTES_MAX: usize = 64 << 20;
/// The zstd level of columns.
const LEVEL: i32 = 3;
const COLUMNS: usize = 5;

/// A row as its numbers.
pub trait Row: Sized {
    /// Returns the numbers of the row.
    fn numbers(&self) -> [u64; COLUMNS];

    /// Returns the row of these numbers; `None` if one of them is too large.
    fn of(numbers: [u64; COLUMNS]) -> Option<Self>;
}

/// Returns the bytes of the columns. `None` if the rows are too many.
pub fn encode<R: Row>(rows: &[R]) -> Option<Vec<u8>> {
    let mut raw = Vec::with_capacity(rows.len() * 8);
    put(&mut raw, rows.len() as u64);
    for column in 0..COLUMNS {
        let mut before = 0;
        for row in rows {
            let number = row.numbers()[column];
            let step = number.wrapping_sub(before) as i64;
            put(&mut raw, (step << 1 ^ step >> 63) as u64);
            before = number;
        }
    }
    let fits = rows.len() <= ROWS_MAX && raw.len() <= BYTES_MAX;
    fits.then(|| encode_block(&raw, LEVEL).ok()).flatten()
}

/// Returns the rows whose columns are in `bytes`.
fn decode<R: Row>(bytes: &[u8]) -> Option<Vec<R>> {
    let mut raw = Vec::new();
    BlockDecoder::new(BYTES_MAX).decompress_into(bytes, &mut raw).ok()?;
    let mut rest = &raw[..];
    // Each number takes a byte or more.
    let rows = usize::try_from(take(&mut rest)?).ok()?;
    if rows > ROWS_MAX || rows > rest.len() / COLUMNS {
        return None;
    }
    let mut numbers = vec![[0; COLUMNS]; rows];
    for column in 0..COLUMNS {
        let mut number = 0_u64;
        for row in &mut numbers {
            let step = take(&mut rest)?;
            number = number.wrapping_add(step >> 1 ^ (step & 1).wrapping_neg());
            row[column] = number;
        }
    }
    rest.is_empty().then(|| numbers.into_iter().map(R::of).collect())?
}

/// Reads a list: columns or, of an older version, an array.
///
/// # Errors
/// The deserializer's, or that the bytes are no columns.
pub fn deserialize<'de, D: Deserializer<'de>, R: Row + Deserialize<'de>>(
    from: D,
) -> Result<Vec<R>, D::Error> {
    from.deserialize_any(List(PhantomData))
}

struct List<R>(PhantomData<R>);

impl<'de, R: Row + Deserialize<'de>> Visitor<'de> for List<R> {
    type Value = Vec<R>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("columns of numbers, or an array")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Self::Value, E> {
        decode(bytes).ok_or_else(|| E::custom("columns that are damaged"))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut rows = Vec::new();
        while let Some(row) = list.next_element()? {
            rows.push(row);
        }
        Ok(rows)
    }
}

/// Appends a number in LEB128.
fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Takes a number in LEB128 from the front of `bytes`. Bits beyond 64 are lost.
fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7F) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(PartialEq, Debug, Clone, Copy, serde::Deserialize)]
    struct Numbers([u64; COLUMNS]);

    impl Row for Numbers {
        fn numbers(&self) -> [u64; COLUMNS] {
            self.0
        }

        fn of(numbers: [u64; COLUMNS]) -> Option<Self> {
            (numbers[0] < 1000).then_some(Self(numbers))
        }
    }

    #[test]
    fn rows_come_back() {
        let grows = |at: u64| Numbers([1, at, at / 100, 22 * at, 10_u64.pow(15) + 1_000_003 * at]);
        let wild = [[999, u64::MAX, 0, 1 << 63, 5], [0, 0, u64::MAX, 1, 4], [7; COLUMNS]];
        for rows in [vec![], (0..5000).map(grows).collect(), wild.map(Numbers).to_vec()] {
            let bytes = encode(&rows).expect("they are few");
            assert_eq!(decode(&bytes), Some(rows.clone()));
            assert!(bytes.len() < 200, "{} bytes for {} rows", bytes.len(), rows.len());
        }
    }

    #[test]
    fn columns_that_are_wrong_are_refused() {
        let check = |raw: &[u8], expected: Option<usize>| {
            let found = decode::<Numbers>(&encode_block(raw, 1).unwrap());
            assert_eq!(found.map(|rows| rows.len()), expected, "{raw:?}");
        };
        check(&[1, 2, 2, 2, 2, 2], Some(1));
        check(&[1, 2, 2, 2, 2], None);
        check(&[1, 2, 2, 2, 2, 2, 2], None);
        check(&[1, 0x80, 2, 2, 2, 2], None);
        check(&[1, 0xD0, 0x0F, 2, 2, 2, 2], None);
        check(&[1, 0xCE, 0x0F, 2, 2, 2, 2], Some(1));
        check(&[0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1, 2, 2, 2, 2, 2], None);
        check(&[0x80; 40], None);
        assert_eq!(decode::<Numbers>(b"no frame"), None);
    }
}
