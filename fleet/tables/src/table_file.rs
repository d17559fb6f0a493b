//! `TableFile`: a Parquet file with the rows of one trace in one table. Until it is finished it has another name, which engines
//! pass over. Holds up to 8,192 rows or 4 MiB of text beside the row group that is being encoded, which has up to 262,144 rows or
//! 32 MiB.

use std::io;

use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use tempfile::NamedTempFile;

use crate::columns::{Cell, Columns};
use crate::schema::{self, Table};

/// Rows that are encoded at once.
const ROWS: usize = 8192;
/// Bytes of text at which fewer are.
const TEXT_BYTES: usize = 4 << 20;
/// Most rows of a row group.
const GROUP_ROWS: usize = 1 << 18;
/// Bytes at which a row group ends earlier.
const GROUP_BYTES: usize = 32 << 20;

/// A file of a table.
pub struct TableFile {
    columns: Columns,
    writer: ArrowWriter<NamedTempFile>,
    rows: u64,
}

/// A file that has all its rows.
pub struct Written {
    /// The file, under its temporary name.
    pub draft: NamedTempFile,
    /// Number of its rows.
    pub rows: u64,
    /// Number of its bytes.
    pub bytes: u64,
}

impl TableFile {
    /// Begins a file in `draft`, for the trace with this digest.
    ///
    /// # Errors
    /// An error of the file.
    pub fn begin(table: &'static Table, trace: &str, draft: NamedTempFile) -> io::Result<Self> {
        let columns = Columns::of(table);
        let fact = |key: &str, value: &str| KeyValue::new(key.to_owned(), value.to_owned());
        let facts = vec![
            fact("gapii.schema", &schema::VERSION.to_string()),
            fact("gapii.table", table.name),
            fact("gapii.trace", trace),
        ];
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_created_by(concat!("gapii-tables version ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_key_value_metadata(Some(facts))
            .set_max_row_group_row_count(Some(GROUP_ROWS))
            .set_max_row_group_bytes(Some(GROUP_BYTES))
            // An index of pages is larger than the rows of a small file.
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_offset_index_disabled(true)
            .build();
        // Parquet's own schema says all; Arrow's beside it would double the size of a small file.
        let options =
            ArrowWriterOptions::new().with_properties(properties).with_skip_arrow_metadata(true);
        let writer = ArrowWriter::try_new_with_options(draft, columns.schema(), options);
        Ok(Self { columns, writer: writer.map_err(unwritten)?, rows: 0 })
    }

    /// Adds a row.
    ///
    /// # Errors
    /// An error of the file.
    pub fn add<const N: usize>(&mut self, row: [Cell<'_>; N]) -> io::Result<()> {
        self.columns.add(row);
        self.rows += 1;
        match self.columns.rows() >= ROWS || self.columns.text_bytes() >= TEXT_BYTES {
            true => self.encode(),
            false => Ok(()),
        }
    }

    /// Ends the file.
    ///
    /// # Errors
    /// An error of the file.
    pub fn finish(mut self) -> io::Result<Written> {
        self.encode()?;
        let draft = self.writer.into_inner().map_err(unwritten)?;
        let bytes = draft.as_file().metadata()?.len();
        Ok(Written { draft, rows: self.rows, bytes })
    }

    fn encode(&mut self) -> io::Result<()> {
        if self.columns.rows() == 0 {
            return Ok(());
        }
        let batch = self.columns.take().map_err(io::Error::other)?;
        self.writer.write(&batch).map_err(unwritten)
    }
}

fn unwritten(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(error) => match error.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => io::Error::other(other),
        },
        error => io::Error::other(error),
    }
}
