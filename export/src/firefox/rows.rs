//! `Rows`: the rows of several tables, kept in one file until each table is written column by column. Holds up to
//! [`PENDING_MAX`], 16 KiB, of each table, and where its pieces are.

use std::io::{self, Read, Seek, SeekFrom, Write};

/// Most bytes of a table that are held.
const PENDING_MAX: usize = 16 << 10;

/// What a row is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A command; its first value is its number plus one, or 0.
    Command,
    /// A frame: its number, commands, uploaded bytes.
    Frame,
    /// A gap: its commands, its records.
    Gap,
    /// A time without a daemon.
    Seam,
    /// A hold or a wait: the number of the next command.
    Stop,
    /// A keyframe: the number of the next command. A moment, at the row's begin.
    Keyframe,
    /// A mark; its value is as of a command. A moment.
    Mark,
    /// The begin of a group; its value is as of a command.
    GroupBegin,
    /// The end of a group, at the row's end.
    GroupEnd,
}

const KINDS: [Kind; 9] = [
    Kind::Command,
    Kind::Frame,
    Kind::Gap,
    Kind::Seam,
    Kind::Stop,
    Kind::Keyframe,
    Kind::Mark,
    Kind::GroupBegin,
    Kind::GroupEnd,
];

/// A marker.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Row {
    pub kind: Kind,
    /// Index in the list of categories.
    pub category: u8,
    /// Index in the table's list of names.
    pub name: u32,
    pub begin_ns: u64,
    pub end_ns: u64,
    pub values: [u64; 3],
}

/// Bytes of a row.
const ROW_LEN: usize = 48;

impl Row {
    fn to_bytes(self) -> [u8; ROW_LEN] {
        let mut bytes = [0; ROW_LEN];
        (bytes[0], bytes[1]) = (self.kind as u8, self.category);
        bytes[4..8].copy_from_slice(&self.name.to_le_bytes());
        let words = [self.begin_ns, self.end_ns].into_iter().chain(self.values);
        for (to, word) in bytes[8..].chunks_exact_mut(8).zip(words) {
            to.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    fn of_bytes(bytes: &[u8; ROW_LEN]) -> Row {
        let word = |at: usize| {
            let mut word = [0; 8];
            word.copy_from_slice(&bytes[8 + 8 * at..][..8]);
            u64::from_le_bytes(word)
        };
        Row {
            kind: KINDS[usize::from(bytes[0]) % KINDS.len()],
            category: bytes[1],
            name: u32::from_le_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]),
            begin_ns: word(0),
            end_ns: word(1),
            values: [word(2), word(3), word(4)],
        }
    }
}

/// Rows of tables that are numbered from 0.
pub struct Rows<S> {
    file: S,
    /// Length of the file.
    len: u64,
    tables: Vec<Table>,
}

#[derive(Default)]
struct Table {
    pending: Vec<u8>,
    /// Offset and length of each piece in the file.
    pieces: Vec<(u64, usize)>,
}

impl<S: Read + Write + Seek> Rows<S> {
    /// Keeps rows in `file`, which is empty.
    pub fn new(file: S) -> Rows<S> {
        Rows { file, len: 0, tables: Vec::new() }
    }

    /// Adds a table, and returns its number.
    pub fn add_table(&mut self) -> usize {
        self.tables.push(Table::default());
        self.tables.len() - 1
    }

    /// Adds a row to a table.
    pub fn push(&mut self, table: usize, row: Row) -> io::Result<()> {
        let Table { pending, pieces } = &mut self.tables[table];
        pending.extend_from_slice(&row.to_bytes());
        if pending.len() + ROW_LEN > PENDING_MAX {
            // The file is only appended to until the first row is read.
            self.file.write_all(pending)?;
            pieces.push((self.len, pending.len()));
            self.len += pending.len() as u64;
            pending.clear();
        }
        Ok(())
    }

    /// Calls `take` with each row of a table, in order. No row can be added afterwards.
    pub fn each(
        &mut self,
        table: usize,
        mut take: impl FnMut(&Row) -> io::Result<()>,
    ) -> io::Result<()> {
        let Table { pending, pieces } = &self.tables[table];
        let mut take_all = |bytes: &[u8]| {
            let (rows, _) = bytes.as_chunks::<ROW_LEN>();
            rows.iter().try_for_each(|row| take(&Row::of_bytes(row)))
        };
        let mut piece = vec![0; PENDING_MAX];
        for (offset, len) in pieces {
            self.file.seek(SeekFrom::Start(*offset))?;
            self.file.read_exact(&mut piece[..*len])?;
            take_all(&piece[..*len])?;
        }
        take_all(pending)
    }

    /// Returns the number of rows of a table.
    pub fn count(&self, table: usize) -> u64 {
        let Table { pending, pieces } = &self.tables[table];
        let bytes = pieces.iter().map(|(_, len)| len).sum::<usize>() + pending.len();
        (bytes / ROW_LEN) as u64
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    #[test]
    fn rows_of_each_table_come_back_in_order() {
        let row = |table: u64, number: u64| Row {
            kind: KINDS[number as usize % KINDS.len()],
            category: 3,
            name: number as u32,
            begin_ns: u64::MAX - number,
            end_ns: u64::MAX,
            values: [table, number, 5],
        };
        let mut rows = Rows::new(Cursor::new(Vec::new()));
        for table in 0..3 {
            assert_eq!(rows.add_table(), table);
        }
        let counts = [2000, 1, 0];
        for number in 0..2000 {
            for table in (0..3).filter(|table| number < counts[*table]) {
                rows.push(table, row(table as u64, number)).unwrap();
            }
        }
        assert!(rows.len > 0, "some rows are in the file");
        // Twice, as for two columns.
        for table in (0..3).chain(0..3) {
            let mut found = Vec::new();
            rows.each(table, |row| {
                found.push(*row);
                Ok(())
            })
            .unwrap();
            let expected: Vec<_> =
                (0..counts[table]).map(|number| row(table as u64, number)).collect();
            assert_eq!((found, rows.count(table)), (expected, counts[table]));
        }
    }
}
