//! Reads a trace file: finds its whole blocks, with or without index, and gives commands out of
//! them in order of effect.
//!
//! Trusts no length and no offset of the file; allocates no more than the limits beside each type
//! say. A cut or damaged end is a [`Tail`], not an error: what is before it is read.

use std::cell::{Ref, RefCell};
use std::collections::VecDeque;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

use super::ahead::{Ahead, Input};
use super::assembler::{Advance, Anomalies, Assembler, Limits};
use super::blobs::{BlobEntry, BlobName, BlobSource, NamePrefix};
use super::block::{BLOCK_BYTES_MAX, BlockDecoder, DecodeError};
use super::command::Command;
use super::footer::{FOOTER_FRAME_BYTES_MAX, Footer};
use super::frame::{FrameKind, NO_INDEX, SKIPPABLE_HEADER_BYTES, TRAILER_BYTES, Trailer};
use super::header::{HEADER_FRAME_BYTES_MAX, HeaderError, TraceHeader};
use super::index::{INDEX_FRAME_BYTES_MAX, TraceIndex};
use super::meta::{End, Meta};
use super::record::Records;
use super::scan::{Found, FoundFrame, Scanner, Step};
use super::store::{BlobError, Store};
use super::story::Begin;
use gapii_abi::atom;

/// A trace file, opened.
pub struct TraceReader<R> {
    file: RefCell<BlockFile<R>>,
    file_len: u64,
    header: TraceHeader,
    blocks: Arc<[BlockLocation]>,
    index: Option<TraceIndex>,
    footer: Option<Footer>,
    tail: Tail,
    store: RefCell<Store>,
}

/// A file and where its blocks are.
pub(super) struct BlockFile<R> {
    input: R,
    blocks: Arc<[BlockLocation]>,
    decoder: BlockDecoder,
    compressed: Vec<u8>,
    /// The blocks read last: commands refer to blobs that have just gone by.
    recent: VecDeque<(usize, Arc<Vec<u8>>)>,
    recent_bytes: usize,
    /// The first blocks of the file, decompressed, for who reads it again.
    kept: Vec<Arc<Vec<u8>>>,
    /// Bytes that may still be kept.
    keep_bytes: usize,
    /// Opens the file again, for a thread that decodes ahead.
    reopen: Option<Reopen>,
    ahead: Option<Ahead>,
}

/// Opens a trace's file again, with a position of its own; `None`: that can't be done.
pub type Reopen = Box<dyn Fn() -> Option<Box<dyn Input>> + Send>;

/// Bytes of blocks that are kept decompressed.
const RECENT_BYTES_MAX: usize = 4 << 20;

/// Where a block is in its file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlockLocation {
    /// Bytes from the file's start to the block's frame.
    pub offset: u64,
    /// Bytes of the frame.
    pub compressed_len: u32,
    /// Bytes of records.
    pub raw_len: u32,
}

/// How what can be read of a file ends. Offsets are in bytes from the file's start.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Tail {
    /// With a footer, as written.
    Complete,
    /// The file ends before its footer; what begins at `at` is missing or cut.
    Truncated { at: u64 },
    /// What begins at `at` is not as written.
    Damaged { at: u64, why: String },
}

/// Why a file can't be read at all.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("not a trace: {0}")]
    Header(#[from] HeaderError),
    #[error("not a trace: no header frame")]
    NotATrace,
    #[error("not a trace: header of {len} bytes exceeds the limit of {HEADER_FRAME_BYTES_MAX}")]
    HeaderTooLong { len: u64 },
    #[error("file of {file_len} bytes ends within its header")]
    HeaderTruncated { file_len: u64 },
}

/// Why a block can't be read.
#[derive(Debug, thiserror::Error)]
pub enum BlockError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("block {index} at byte {at}: {why}")]
    Damaged { index: usize, at: u64, why: DecodeError },
    #[error("no block {index}, there are {count}")]
    NoSuchBlock { index: usize, count: usize },
}

impl<R: Read + Seek> TraceReader<R> {
    /// Reads the header and finds the blocks.
    pub fn open(mut input: R) -> Result<Self, OpenError> {
        let file_len = input.seek(SeekFrom::End(0))?;
        let (header, header_len) = read_header(&mut input, file_len)?;
        let layout = match layout_by_trailer(&mut input, header_len, file_len)? {
            Some(layout) => layout,
            None => layout_by_scan(&mut input, header_len, file_len)?,
        };
        let blocks: Arc<[BlockLocation]> = layout.blocks.into();
        let file = BlockFile {
            input,
            blocks: Arc::clone(&blocks),
            decoder: BlockDecoder::new(BLOCK_BYTES_MAX),
            compressed: Vec::new(),
            recent: VecDeque::new(),
            recent_bytes: 0,
            kept: Vec::new(),
            keep_bytes: 0,
            reopen: None,
            ahead: None,
        };
        let mut index = layout.index;
        let blobs = index.as_mut().and_then(|index| index.blobs.take());
        Ok(Self {
            file: RefCell::new(file),
            file_len,
            header,
            blocks,
            index,
            footer: layout.footer,
            tail: layout.tail,
            store: Store::of_index(blobs),
        })
    }

    /// Has a thread decode the blocks ahead wherever commands are read in order. `reopen` is called
    /// once for each time that they are.
    pub fn decode_ahead(&mut self, reopen: Reopen) {
        self.file.get_mut().reopen = Some(reopen);
    }

    /// Keeps the first blocks of the file decompressed from when they are read first, as many as fit
    /// into `bytes`: for who reads all of it more than once.
    pub fn keep_decoded(&mut self, bytes: usize) {
        self.file.get_mut().keep_bytes = bytes;
    }

    pub fn header(&self) -> &TraceHeader {
        &self.header
    }

    /// The whole blocks of the file, in order.
    pub fn blocks(&self) -> &[BlockLocation] {
        &self.blocks
    }

    /// The index, where the file has one that fits it.
    pub fn index(&self) -> Option<&TraceIndex> {
        self.index.as_ref()
    }

    /// The footer, where the file has one.
    pub fn footer(&self) -> Option<&Footer> {
        self.footer.as_ref()
    }

    /// How what can be read ends, as far as is known: a damaged block shows when it is read.
    pub fn tail(&self) -> &Tail {
        &self.tail
    }

    /// Bytes of the file when it was opened.
    pub fn file_len(&self) -> u64 {
        self.file_len
    }

    /// Replaces `raw` with the records of a block, checksum verified.
    pub fn read_block(&mut self, index: usize, raw: &mut Vec<u8>) -> Result<(), BlockError> {
        let block = self.file.get_mut().block(index)?;
        raw.clear();
        raw.extend_from_slice(&block);
        Ok(())
    }

    /// The bytes of a blob.
    pub fn blob(&self, name: BlobName) -> Result<Vec<u8>, BlobError> {
        self.store.borrow_mut().bytes(&mut self.file.borrow_mut(), name, None)
    }

    /// The blobs whose name begins so, `most` of them at most.
    pub fn blobs_named(&self, prefix: &NamePrefix, most: usize) -> io::Result<Vec<BlobEntry>> {
        self.store.borrow_mut().find(&mut self.file.borrow_mut(), prefix, most)
    }

    /// The blobs that the index lists, by name; `None` without index.
    pub fn listed_blobs(&self) -> Option<Ref<'_, [BlobEntry]>> {
        Ref::filter_map(self.store.borrow(), Store::listed).ok()
    }

    /// The END record, where the stream has one. Reads the last block.
    pub fn end(&mut self) -> io::Result<Option<End>> {
        let Some(last) = self.blocks.len().checked_sub(1) else { return Ok(None) };
        let mut raw = Vec::new();
        match self.read_block(last, &mut raw) {
            Ok(()) => Ok(end_in(&raw)),
            Err(BlockError::Io(error)) => Err(error),
            Err(_) => Ok(None),
        }
    }

    /// All commands, from the first block.
    pub fn commands(&mut self) -> io::Result<Commands<'_, R>> {
        self.commands_limited(Limits::default())
    }

    /// All commands, holding no more than `limits` say.
    pub fn commands_limited(&mut self, limits: Limits) -> io::Result<Commands<'_, R>> {
        let mut assembler = Assembler::new(limits);
        assembler.begin(self.header.begin());
        assembler.expect_in_flight(self.end()?.map_or_else(Vec::new, |end| end.in_flight));
        Ok(Commands {
            reader: self,
            assembler,
            next_block: 0,
            blocks_read: 0,
            enough_at: usize::MAX,
            damaged: false,
            frames: None,
        })
    }

    /// The commands of these frames of every process. With an index the blocks before them are not
    /// read, and a command entered there comes without its arguments.
    pub fn commands_in_frames(
        &mut self,
        frames: RangeInclusive<u64>,
    ) -> io::Result<Commands<'_, R>> {
        let blocks = self
            .index
            .as_ref()
            .zip(self.footer.as_ref())
            .map(|(index, footer)| blocks_of_frames(index, footer.processes.len(), &frames));
        let mut commands = self.commands()?;
        if let Some(blocks) = blocks {
            if blocks.start > 0 {
                commands.assembler.begin(Begin::Middle);
            }
            commands.next_block = blocks.start;
            commands.enough_at = blocks.end;
        }
        commands.frames = Some(frames);
        Ok(commands)
    }
}

impl<R: Read + Seek> BlobSource for TraceReader<R> {
    fn bytes(&self, name: BlobName, size: u64) -> Option<Arc<Vec<u8>>> {
        self.store.borrow_mut().cached(&mut self.file.borrow_mut(), name, size)
    }
}

impl<R: Read + Seek> BlockFile<R> {
    pub(super) fn blocks(&self) -> &[BlockLocation] {
        &self.blocks
    }

    /// The records of a block, checksum verified.
    pub(super) fn block(&mut self, index: usize) -> Result<Arc<Vec<u8>>, BlockError> {
        let Some(block) = self.blocks.get(index).copied() else {
            return Err(BlockError::NoSuchBlock { index, count: self.blocks.len() });
        };
        let recent = || self.recent.iter().find(|(at, _)| *at == index).map(|(_, raw)| raw);
        if let Some(raw) = self.kept.get(index).or_else(recent) {
            return Ok(Arc::clone(raw));
        }
        let ready = self.ahead.as_mut().and_then(|ahead| ahead.take(index));
        let raw = match ready {
            Some(raw) => raw,
            None => Arc::new(self.decode(index, block)?),
        };
        self.keep(index, &raw);
        Ok(raw)
    }

    fn decode(&mut self, index: usize, block: BlockLocation) -> Result<Vec<u8>, BlockError> {
        self.input.seek(SeekFrom::Start(block.offset))?;
        self.compressed.resize(block.compressed_len as usize, 0);
        self.input.read_exact(&mut self.compressed)?;
        let mut raw = Vec::new();
        let decoded = self.decoder.decode_into(&self.compressed, &mut raw);
        decoded.map_err(|why| BlockError::Damaged { index, at: block.offset, why })?;
        Ok(raw)
    }

    /// From block `first` on a thread decodes ahead what is not kept, if the file can be opened again.
    fn begin_ahead(&mut self, first: usize) {
        let first = first.max(self.kept.len());
        let input = self.reopen.as_ref().and_then(|reopen| reopen());
        self.ahead = input.and_then(|input| Ahead::begin(input, Arc::clone(&self.blocks), first));
    }

    fn keep(&mut self, index: usize, raw: &Arc<Vec<u8>>) {
        if index == self.kept.len() && raw.len() <= self.keep_bytes {
            self.keep_bytes -= raw.len();
            self.kept.push(Arc::clone(raw));
            return;
        }
        self.recent_bytes += raw.len();
        self.recent.push_back((index, Arc::clone(raw)));
        while self.recent_bytes > RECENT_BYTES_MAX
            && let Some((_, oldest)) = self.recent.pop_front()
        {
            self.recent_bytes -= oldest.len();
            if let Some(ahead) = &self.ahead {
                ahead.give_back(oldest);
            }
        }
    }
}

/// Commands of a trace, in order of effect; those in flight at the end come last.
pub struct Commands<'r, R> {
    reader: &'r mut TraceReader<R>,
    assembler: Assembler,
    next_block: usize,
    blocks_read: usize,
    /// Index of the first block that is read only for the rest of commands begun before it.
    enough_at: usize,
    /// The block read last is not as written; none after it is read.
    damaged: bool,
    frames: Option<RangeInclusive<u64>>,
}

impl<R: Read + Seek> Commands<'_, R> {
    /// Has commands come with what tracers did to them, and those as well that a tracer had skipped, which
    /// have no number. To be said before the first command.
    pub fn with_tracers(mut self) -> Self {
        self.assembler.tell_tracers();
        self
    }

    /// The next command, or `None` at the end of what can be read: [`Self::tail`] says which end.
    /// Errors are the file's; damage is not one.
    pub fn next_command(&mut self) -> io::Result<Option<Command<'_>>> {
        Ok(if self.advance()? { Some(self.command()) } else { None })
    }

    /// Goes on to the next command, which [`Self::command`] then has. False at the end.
    pub fn advance(&mut self) -> io::Result<bool> {
        while self.advance_any()? {
            let frame = self.assembler.frame();
            if self.frames.as_ref().is_none_or(|frames| frames.contains(&frame)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The command that [`Self::advance`] came to.
    pub fn command(&self) -> Command<'_> {
        let reader = &*self.reader;
        self.assembler.command(&reader.header.description, reader)
    }

    /// How what was read ends.
    pub fn tail(&self) -> &Tail {
        &self.reader.tail
    }

    /// What was not as a whole trace has it, so far.
    pub fn anomalies(&self) -> Anomalies {
        self.assembler.anomalies()
    }

    /// The assembler, for its state so far.
    pub fn assembler(&self) -> &Assembler {
        &self.assembler
    }

    fn advance_any(&mut self) -> io::Result<bool> {
        loop {
            match self.assembler.advance() {
                Ok(Advance::Command) => return Ok(true),
                Ok(Advance::Done) => return Ok(false),
                Ok(Advance::NeedsBlock) => {
                    if self.next_block >= self.enough_at && !self.assembler.holds_commands() {
                        return Ok(false);
                    }
                    self.read_next_block()?;
                }
                Err(error) => self.stop_at_block(self.next_block - 1, error.to_string()),
            }
        }
    }

    fn read_next_block(&mut self) -> io::Result<()> {
        let index = self.next_block;
        if self.damaged || index >= self.reader.blocks.len() {
            self.assembler.finish();
            return Ok(());
        }
        self.next_block += 1;
        let file = self.reader.file.get_mut();
        // Not worth it for one block.
        if self.blocks_read == 1 {
            file.begin_ahead(index);
        }
        self.blocks_read += 1;
        match self.assembler.refill(|| file.block(index)) {
            Ok(()) => Ok(()),
            Err(BlockError::Io(error)) => Err(error),
            Err(error) => {
                self.stop_at_block(index, error.to_string());
                Ok(())
            }
        }
    }

    fn stop_at_block(&mut self, index: usize, why: String) {
        let at = self.reader.blocks.get(index).map_or(self.reader.file_len, |block| block.offset);
        self.reader.tail = Tail::Damaged { at, why };
        self.damaged = true;
    }
}

/// Where the parts of a file are.
struct Layout {
    blocks: Vec<BlockLocation>,
    index: Option<TraceIndex>,
    footer: Option<Footer>,
    tail: Tail,
}

fn read_header<R: Read + Seek>(
    input: &mut R,
    file_len: u64,
) -> Result<(TraceHeader, u64), OpenError> {
    let mut start = [0; SKIPPABLE_HEADER_BYTES];
    if file_len < start.len() as u64 {
        return Err(OpenError::NotATrace);
    }
    input.seek(SeekFrom::Start(0))?;
    input.read_exact(&mut start)?;
    let word = |at: usize| u32::from_le_bytes(std::array::from_fn(|i| start[at + i]));
    if word(0) != FrameKind::Header.magic() {
        return Err(OpenError::NotATrace);
    }
    let len = u64::from(word(4)) + start.len() as u64;
    if len > HEADER_FRAME_BYTES_MAX as u64 {
        return Err(OpenError::HeaderTooLong { len });
    }
    if len > file_len {
        return Err(OpenError::HeaderTruncated { file_len });
    }
    let frame = read_range(input, 0, len)?;
    Ok((TraceHeader::decode(&frame)?, len))
}

/// What the end of the file says, if all of it holds: trailer, footer, and an index that fits.
fn layout_by_trailer<R: Read + Seek>(
    input: &mut R,
    header_len: u64,
    file_len: u64,
) -> io::Result<Option<Layout>> {
    let Some(trailer_at) = file_len.checked_sub(TRAILER_BYTES as u64) else { return Ok(None) };
    let mut bytes = [0; TRAILER_BYTES];
    input.seek(SeekFrom::Start(trailer_at))?;
    input.read_exact(&mut bytes)?;
    let Some(trailer) = Trailer::from_bytes(&bytes) else { return Ok(None) };
    let (index_at, footer_at) = (trailer.index_offset, trailer.footer_offset);
    let ordered = header_len <= index_at && index_at < footer_at && footer_at < file_len;
    let within = file_len - footer_at.min(file_len) <= FOOTER_FRAME_BYTES_MAX as u64
        && footer_at.saturating_sub(index_at) <= INDEX_FRAME_BYTES_MAX as u64;
    if !ordered || !within {
        return Ok(None);
    }
    let footer = read_range(input, footer_at, file_len - footer_at)?;
    let index = read_range(input, index_at, footer_at - index_at)?;
    let (Ok(footer), Ok(index)) = (Footer::decode(&footer), TraceIndex::decode(&index)) else {
        return Ok(None);
    };
    let Some(blocks) = locate_blocks(&index, header_len, index_at) else { return Ok(None) };
    Ok(Some(Layout { blocks, index: Some(index), footer: Some(footer), tail: Tail::Complete }))
}

/// The blocks of an index, if they lie in order between header and index.
fn locate_blocks(index: &TraceIndex, header_len: u64, end: u64) -> Option<Vec<BlockLocation>> {
    let compressed_max = zstd::zstd_safe::compress_bound(BLOCK_BYTES_MAX) as u64;
    let mut at = header_len;
    let mut blocks = Vec::with_capacity(index.blocks.len());
    for entry in &index.blocks {
        let block = BlockLocation {
            offset: entry.file_offset,
            compressed_len: entry.compressed_len,
            raw_len: entry.raw_len,
        };
        if block.offset < at || u64::from(block.compressed_len) > compressed_max {
            return None;
        }
        at = block.offset.checked_add(u64::from(block.compressed_len))?;
        blocks.push(block);
    }
    (at <= end).then_some(blocks)
}

/// What a walk over all frames finds.
fn layout_by_scan<R: Read + Seek>(
    input: &mut R,
    header_len: u64,
    file_len: u64,
) -> io::Result<Layout> {
    let mut scanner = Scanner::new(&mut *input, header_len, file_len)?;
    let mut blocks = Vec::new();
    let mut ours = Vec::new();
    let mut tail = loop {
        match scanner.step()? {
            Step::Frame(FoundFrame { found: Found::Data { raw_len }, offset, len }) => {
                blocks.push(BlockLocation { offset, compressed_len: len as u32, raw_len });
            }
            Step::Frame(frame) => ours.push(frame),
            Step::End | Step::Truncated => break Tail::Truncated { at: scanner.offset() },
            Step::Damaged(why) => {
                break Tail::Damaged { at: scanner.offset(), why: why.to_owned() };
            }
        }
    };
    drop(scanner);
    let (mut index, mut footer) = (None, None);
    for frame in ours {
        match read_table(input, frame, file_len, &mut tail)? {
            Some(Table::Index(found)) => index = Some(found),
            Some(Table::Footer(found)) => footer = Some(*found),
            None => {}
        }
    }
    let fits = |index: &TraceIndex| {
        locate_blocks(index, header_len, file_len).is_some_and(|located| located == blocks)
    };
    if index.as_ref().is_some_and(|index| !fits(index)) {
        index = None;
        if tail == Tail::Complete {
            let why = "the index does not fit the blocks".to_owned();
            tail = Tail::Damaged { at: file_len, why };
        }
    }
    Ok(Layout { blocks, index, footer, tail })
}

enum Table {
    Index(TraceIndex),
    Footer(Box<Footer>),
}

/// The index or footer that a walk found; notes in `tail` what is wrong with it. Frames of others
/// are passed over.
fn read_table<R: Read + Seek>(
    input: &mut R,
    frame: FoundFrame,
    file_len: u64,
    tail: &mut Tail,
) -> io::Result<Option<Table>> {
    let Found::Skippable { magic } = frame.found else { return Ok(None) };
    let (kind, limit) = match magic {
        magic if magic == FrameKind::Index.magic() => (FrameKind::Index, INDEX_FRAME_BYTES_MAX),
        magic if magic == FrameKind::Footer.magic() => (FrameKind::Footer, FOOTER_FRAME_BYTES_MAX),
        _ => return Ok(None),
    };
    let damaged = |why: String| Tail::Damaged { at: frame.offset, why };
    if frame.len > limit as u64 {
        *tail = damaged(format!("{} of {} bytes exceeds the limit", kind.name(), frame.len));
        return Ok(None);
    }
    let bytes = read_range(input, frame.offset, frame.len)?;
    if kind == FrameKind::Index {
        return Ok(match TraceIndex::decode(&bytes) {
            Ok(index) => Some(Table::Index(index)),
            Err(error) => {
                *tail = damaged(error.to_string());
                None
            }
        });
    }
    match Footer::decode(&bytes) {
        Ok(footer) => {
            let last = frame.offset + frame.len == file_len;
            if last && matches!(tail, Tail::Truncated { .. }) {
                *tail = match trailer_fits(&bytes, frame.offset) {
                    true => Tail::Complete,
                    false => damaged("the footer's trailer is wrong".to_owned()),
                };
            }
            Ok(Some(Table::Footer(Box::new(footer))))
        }
        Err(error) => {
            *tail = damaged(error.to_string());
            Ok(None)
        }
    }
}

/// Whether the last bytes of a footer frame say where it is, and that there is no index.
fn trailer_fits(frame: &[u8], offset: u64) -> bool {
    let trailer = frame.last_chunk::<TRAILER_BYTES>().and_then(Trailer::from_bytes);
    trailer == Some(Trailer { index_offset: NO_INDEX, footer_offset: offset })
}

fn read_range<R: Read + Seek>(input: &mut R, offset: u64, len: u64) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; len as usize];
    input.seek(SeekFrom::Start(offset))?;
    input.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// The END record among a block's records.
fn end_in(raw: &[u8]) -> Option<End> {
    let records = Records::new(raw).map_while(Result::ok);
    let end = records.filter(|record| record.header.id() == atom::END).last()?;
    match Meta::decode(atom::END, end.payload) {
        Ok(Meta::End(end)) => Some(end),
        _ => None,
    }
}

/// The blocks that hold these frames of all `processes`, by the index.
fn blocks_of_frames(
    index: &TraceIndex,
    processes: usize,
    frames: &RangeInclusive<u64>,
) -> Range<usize> {
    let ends = |frame: u64| index.frame_ends.iter().filter(move |end| end.frame == frame);
    let first = index.frame_ends.iter().map(|end| end.frame).min().unwrap_or(0);
    let start = match frames.start().checked_sub(1) {
        None => 0,
        // What was kept need not begin with frame 0.
        Some(before) if before < first => 0,
        Some(before) => {
            ends(before).map(|end| end.block as usize).min().unwrap_or(index.blocks.len())
        }
    };
    let ended = ends(*frames.end());
    let end = match ended.clone().count() == processes {
        true => ended.map(|end| end.block as usize + 1).max().unwrap_or(0),
        false => index.blocks.len(),
    };
    start..end
}
