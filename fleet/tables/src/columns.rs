//! `Columns`: rows of a table in memory, as Arrow's arrays. Knows no table: a row whose cells do not fit the table's columns is
//! a mistake of this program, and panics.

use std::sync::Arc;

use arrow_array::builder::{
    ArrayBuilder, BooleanBuilder, Int64Builder, ListBuilder, MapBuilder, StringBuilder,
    TimestampMicrosecondBuilder, UInt64Builder,
};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};

use crate::schema::{Kind, Table};

/// A value of a row.
#[derive(Clone, Debug)]
pub enum Cell<'a> {
    /// No value.
    None,
    /// A number or a handle.
    Number(u64),
    Flag(bool),
    Text(&'a str),
    /// Nanoseconds of Unix time.
    Moment(u64),
    Numbers(&'a [u64]),
    Texts(Vec<&'a str>),
    Tags(&'a [(String, String)]),
}

impl From<u64> for Cell<'_> {
    fn from(number: u64) -> Self {
        Cell::Number(number)
    }
}

impl From<u32> for Cell<'_> {
    fn from(number: u32) -> Self {
        Cell::Number(number.into())
    }
}

impl From<bool> for Cell<'_> {
    fn from(flag: bool) -> Self {
        Cell::Flag(flag)
    }
}

impl<'a> From<&'a str> for Cell<'a> {
    fn from(text: &'a str) -> Self {
        Cell::Text(text)
    }
}

impl<'a, T: Into<Cell<'a>>> From<Option<T>> for Cell<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Cell::None, Into::into)
    }
}

/// Rows of a table.
pub struct Columns {
    table: &'static Table,
    schema: SchemaRef,
    builders: Vec<Builder>,
    rows: usize,
    text_bytes: usize,
}

enum Builder {
    Number(Int64Builder),
    Handle(UInt64Builder),
    Flag(BooleanBuilder),
    Text(StringBuilder),
    Moment(TimestampMicrosecondBuilder),
    Numbers(ListBuilder<Int64Builder>),
    Texts(ListBuilder<StringBuilder>),
    Tags(MapBuilder<StringBuilder, StringBuilder>),
}

impl Columns {
    /// Returns no rows of a table.
    pub fn of(table: &'static Table) -> Self {
        let mut builders: Vec<_> = table.columns.iter().map(|it| Builder::of(it.kind)).collect();
        let fields = table.columns.iter().zip(&mut builders).map(|(column, builder)| {
            Field::new(column.name, builder.finish().data_type().clone(), column.is_optional)
        });
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        Self { table, schema, builders, rows: 0, text_bytes: 0 }
    }

    /// Arrow's schema of the table.
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Bytes of the texts in them.
    pub fn text_bytes(&self) -> usize {
        self.text_bytes
    }

    /// Adds a row.
    pub fn add<const N: usize>(&mut self, row: [Cell<'_>; N]) {
        assert_eq!(N, self.builders.len(), "cells of a row of {}", self.table.name);
        for ((cell, builder), column) in
            row.into_iter().zip(&mut self.builders).zip(self.table.columns)
        {
            let is_none = matches!(cell, Cell::None);
            assert!(column.is_optional || !is_none, "{} has a value in each row", column.name);
            self.text_bytes += builder.add(cell);
        }
        self.rows += 1;
    }

    /// Takes all rows out.
    ///
    /// # Errors
    /// Arrow's, if the columns do not fit the schema.
    pub fn take(&mut self) -> Result<RecordBatch, ArrowError> {
        (self.rows, self.text_bytes) = (0, 0);
        let columns = self.builders.iter_mut().map(Builder::finish).collect();
        RecordBatch::try_new(self.schema(), columns)
    }
}

impl Builder {
    fn of(kind: Kind) -> Self {
        match kind {
            Kind::Number => Builder::Number(Int64Builder::new()),
            Kind::Handle => Builder::Handle(UInt64Builder::new()),
            Kind::Flag => Builder::Flag(BooleanBuilder::new()),
            Kind::Text => Builder::Text(StringBuilder::new()),
            Kind::Moment => {
                Builder::Moment(TimestampMicrosecondBuilder::new().with_timezone("UTC"))
            }
            Kind::Numbers => Builder::Numbers(ListBuilder::new(Int64Builder::new())),
            Kind::Texts => Builder::Texts(ListBuilder::new(StringBuilder::new())),
            Kind::Tags => {
                Builder::Tags(MapBuilder::new(None, StringBuilder::new(), StringBuilder::new()))
            }
        }
    }

    /// Adds a cell, and returns the bytes of its texts.
    fn add(&mut self, cell: Cell<'_>) -> usize {
        match (self, cell) {
            (Builder::Number(to), Cell::Number(number)) => to.append_value(signed(number)),
            (Builder::Number(to), Cell::None) => to.append_null(),
            (Builder::Handle(to), Cell::Number(number)) => to.append_value(number),
            (Builder::Handle(to), Cell::None) => to.append_null(),
            (Builder::Flag(to), Cell::Flag(flag)) => to.append_value(flag),
            (Builder::Text(to), Cell::Text(text)) => {
                to.append_value(text);
                return text.len();
            }
            (Builder::Text(to), Cell::None) => to.append_null(),
            (Builder::Moment(to), Cell::Moment(unix_ns)) => to.append_value(signed(unix_ns / 1000)),
            (Builder::Moment(to), Cell::None) => to.append_null(),
            (Builder::Numbers(to), Cell::Numbers(numbers)) => {
                to.append_value(numbers.iter().map(|number| Some(signed(*number))));
            }
            (Builder::Texts(to), Cell::Texts(texts)) => {
                let bytes = texts.iter().map(|text| text.len()).sum();
                to.append_value(texts.into_iter().map(Some));
                return bytes;
            }
            (Builder::Tags(to), Cell::Tags(tags)) => {
                for (key, value) in tags {
                    to.keys().append_value(key);
                    to.values().append_value(value);
                }
                to.append(true).expect("a key has a value");
            }
            (_, cell) => panic!("the column does not take {cell:?}"),
        }
        0
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Builder::Number(it) => ArrayBuilder::finish(it),
            Builder::Handle(it) => ArrayBuilder::finish(it),
            Builder::Flag(it) => ArrayBuilder::finish(it),
            Builder::Text(it) => ArrayBuilder::finish(it),
            Builder::Moment(it) => ArrayBuilder::finish(it),
            Builder::Numbers(it) => ArrayBuilder::finish(it),
            Builder::Texts(it) => ArrayBuilder::finish(it),
            Builder::Tags(it) => ArrayBuilder::finish(it),
        }
    }
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
