//! Finds the parts of a trace file: header, descriptions, blocks, index and footer. By the trailer if trailer, footer and index are
//! valid; otherwise by walking over all frames. A file that ends early is truncated, one with other bytes is damaged,
//! and everything before that place is read. Limits: header 16 MiB, index 256 MiB, footer 64 MiB; only a header that is
//! missing, cut or above its limit makes the file unreadable. Unknown skippable frames are ignored. Description frames are
//! looked for between the blocks.
//!
//! Trusts no length and no offset of the file.

use std::io::{self, Read, Seek, SeekFrom};

use super::block::{BLOCK_BYTES_MAX, BlockLocation};
use super::description::Part;
use super::description_frame::{
    DESCRIPTION_FRAME_BYTES_MAX, DESCRIPTION_FRAMES_MAX, DESCRIPTIONS_BYTES_MAX, PartDecoder,
    PartError,
};
use super::footer::{FOOTER_FRAME_BYTES_MAX, Footer};
use super::frame::{
    FrameKind, NO_INDEX, SKIPPABLE_HEADER_BYTES, TRAILER_BYTES, Trailer, has_description_frames,
};
use super::header::{HEADER_FRAME_BYTES_MAX, HeaderError, TraceHeader};
use super::index::{INDEX_FRAME_BYTES_MAX, TraceIndex};
use super::listing::{Listing, open_index};
use super::scan::{Found, FoundFrame, Scanner, Step};

/// How the readable part of a file ends. Offsets are in bytes from the file's start.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Tail {
    /// With a footer, as written.
    Complete,
    /// The file ends before its footer.
    Truncated {
        /// Where the missing or cut part begins.
        at: u64,
    },
    /// The file has bytes that are not as written.
    Damaged {
        /// Where the damaged part begins.
        at: u64,
        /// The damage, in one sentence.
        why: String,
    },
}

/// Why a file can't be read at all.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The file can't be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The header frame is invalid.
    #[error("not a trace: {0}")]
    Header(#[from] HeaderError),
    /// The file does not begin with a header frame.
    #[error("not a trace: it does not begin with the header of one")]
    NotATrace,
    /// The header frame exceeds the limit.
    #[error("not a trace: header of {len} bytes exceeds the limit of {HEADER_FRAME_BYTES_MAX}")]
    HeaderTooLong {
        /// Its length, in bytes.
        len: u64,
    },
    /// The file ends inside of its header.
    #[error("file of {file_len} bytes ends within its header")]
    HeaderTruncated {
        /// Length of the file, in bytes.
        file_len: u64,
    },
}

/// Where the parts of a file are.
pub(super) struct FileParts {
    pub blocks: Vec<BlockLocation>,
    pub index: Option<TraceIndex>,
    /// The lists of blobs of the index, if they are not in `index`.
    pub listing: Option<Listing>,
    pub footer: Option<Footer>,
    pub tail: Tail,
    /// The description frames, in order.
    pub descriptions: Vec<FoundFrame>,
    /// Where index and footer begin, if the trailer says it.
    pub tables_at: Option<(u64, u64)>,
}

impl FileParts {
    /// Finds the parts behind a header frame of `header_len` bytes: by the trailer if it is valid,
    /// otherwise by walking over all frames.
    pub(super) fn find<R: Read + Seek>(
        input: &mut R,
        header_len: u64,
        file_len: u64,
    ) -> io::Result<Self> {
        match parts_by_trailer(input, header_len, file_len)? {
            Some(parts) => Ok(parts),
            None => parts_by_scan(input, header_len, file_len),
        }
    }
}

pub(super) fn read_header<R: Read + Seek>(
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

/// Finds the parts by the trailer. Returns `None` unless trailer, footer and index are all valid and fit
/// the file.
fn parts_by_trailer<R: Read + Seek>(
    input: &mut R,
    header_len: u64,
    file_len: u64,
) -> io::Result<Option<FileParts>> {
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
    let (Ok(footer), Ok((index, listing))) = (Footer::decode(&footer), open_index(index)) else {
        return Ok(None);
    };
    let Some(blocks) = locate_blocks(&index, header_len, index_at) else { return Ok(None) };
    Ok(Some(FileParts {
        index: Some(index),
        listing,
        footer: Some(footer),
        tail: Tail::Complete,
        descriptions: frames_between(input, &blocks, header_len, index_at)?,
        blocks,
        tables_at: Some((index_at, footer_at)),
    }))
}

/// Returns the blocks of an index, if they are in order between the header and `end`.
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

/// Returns the description frames in front of the blocks, between the header and `end`.
fn frames_between<R: Read + Seek>(
    input: &mut R,
    blocks: &[BlockLocation],
    header_len: u64,
    end: u64,
) -> io::Result<Vec<FoundFrame>> {
    let mut frames = Vec::new();
    let mut at = header_len;
    let begins = blocks.iter().map(|block| (block.offset, u64::from(block.compressed_len)));
    for (begin, len) in begins.chain([(end, 0)]) {
        if at < begin {
            let mut scanner = Scanner::new(&mut *input, at, begin)?;
            while let Step::Frame(frame) = scanner.step()? {
                frames.extend(is_description(&frame).then_some(frame));
            }
        }
        at = begin + len;
    }
    Ok(frames)
}

fn is_description(frame: &FoundFrame) -> bool {
    frame.found == Found::Skippable { magic: FrameKind::Description.magic() }
}

/// What the description frames of a file have.
#[derive(Default)]
pub(super) struct Described {
    /// The parts that are whole, with the offsets of their frames.
    pub parts: Vec<(u64, Part)>,
    /// Offset of the first frame that describes nothing, and why.
    pub damage: Option<(u64, PartError)>,
}

/// Adds what the description frames of a file have to the header, unless this build has all of it. Damage is noted in `tail`.
pub(super) fn describe(
    header: &mut TraceHeader,
    frames: &mut Vec<FoundFrame>,
    tail: &mut Tail,
    read: impl FnMut(u64, u64) -> io::Result<Vec<u8>>,
) -> io::Result<()> {
    if !has_description_frames(header.version) {
        frames.clear();
    }
    if header.is_own() || frames.is_empty() {
        return Ok(());
    }
    let described = read_descriptions(frames, read)?;
    header.description.to_mut().add(described.parts.into_iter().map(|(_, part)| part));
    if let Some((at, why)) = described.damage
        && *tail == Tail::Complete
    {
        *tail = Tail::Damaged { at, why: why.to_string() };
    }
    Ok(())
}

/// Reads description frames.
pub(super) fn read_descriptions(
    frames: &[FoundFrame],
    mut read: impl FnMut(u64, u64) -> io::Result<Vec<u8>>,
) -> io::Result<Described> {
    let mut decoder = PartDecoder::default();
    let mut left = DESCRIPTIONS_BYTES_MAX as u64;
    let mut described = Described::default();
    for (count, frame) in frames.iter().enumerate() {
        let fits = frame.len <= left.min(DESCRIPTION_FRAME_BYTES_MAX as u64);
        let part = match fits && count < DESCRIPTION_FRAMES_MAX {
            true => {
                left -= frame.len;
                decoder.decode(&read(frame.offset, frame.len)?)
            }
            false => Err(PartError::TooMuch),
        };
        match part {
            Ok(part) => described.parts.push((frame.offset, part)),
            Err(error) => {
                described.damage.get_or_insert((frame.offset, error));
            }
        }
    }
    Ok(described)
}

/// What a walk over the frames of a file finds.
pub(super) struct Frames {
    pub blocks: Vec<BlockLocation>,
    pub descriptions: Vec<FoundFrame>,
    /// The other frames that readers skip.
    others: Vec<FoundFrame>,
    /// `Truncated` where the walk ended.
    pub tail: Tail,
}

impl Frames {
    /// Walks from the frame at `offset` to the end of a file of `file_len` bytes.
    pub(super) fn find<R: Read + Seek>(
        input: &mut R,
        offset: u64,
        file_len: u64,
    ) -> io::Result<Self> {
        let mut scanner = Scanner::new(input, offset, file_len)?;
        let (mut blocks, mut descriptions, mut others) = (Vec::new(), Vec::new(), Vec::new());
        let tail = loop {
            match scanner.step()? {
                Step::Frame(FoundFrame { found: Found::Data { raw_len }, offset, len }) => {
                    blocks.push(BlockLocation { offset, compressed_len: len as u32, raw_len });
                }
                Step::Frame(frame) if is_description(&frame) => descriptions.push(frame),
                Step::Frame(frame) => others.push(frame),
                Step::End | Step::Truncated => break Tail::Truncated { at: scanner.offset() },
                Step::Damaged(why) => {
                    break Tail::Damaged { at: scanner.offset(), why: why.to_owned() };
                }
            }
        };
        Ok(Self { blocks, descriptions, others, tail })
    }
}

/// Finds the parts by walking over all frames.
fn parts_by_scan<R: Read + Seek>(
    input: &mut R,
    header_len: u64,
    file_len: u64,
) -> io::Result<FileParts> {
    let frames = Frames::find(input, header_len, file_len)?;
    let Frames { blocks, descriptions, others, mut tail } = frames;
    let (mut index, mut footer) = (None, None);
    for frame in others {
        match read_table(input, frame, file_len, &mut tail)? {
            Some(Table::Index(found)) => index = Some(found),
            Some(Table::Footer(found)) => footer = Some(*found),
            None => {}
        }
    }
    let fits = |index: &TraceIndex| {
        // The scan knows the length of packed blocks alone.
        let place = |block: &BlockLocation| (block.offset, block.compressed_len);
        let located = locate_blocks(index, header_len, file_len);
        located.is_some_and(|it| it.iter().map(place).eq(blocks.iter().map(place)))
    };
    if index.as_ref().is_some_and(|index| !fits(index)) {
        index = None;
        if tail == Tail::Complete {
            let why = "the index does not fit the blocks".to_owned();
            tail = Tail::Damaged { at: file_len, why };
        }
    }
    Ok(FileParts { blocks, index, listing: None, footer, tail, descriptions, tables_at: None })
}

enum Table {
    Index(TraceIndex),
    Footer(Box<Footer>),
}

/// Returns the index or footer in a frame that the walk found, and notes in `tail` what is wrong with it.
/// Other skippable frames are ignored.
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

/// Returns true if the trailer of a footer frame has the right offset and says that there is no index.
fn trailer_fits(frame: &[u8], offset: u64) -> bool {
    let trailer = frame.last_chunk::<TRAILER_BYTES>().and_then(Trailer::from_bytes);
    trailer == Some(Trailer { index_offset: NO_INDEX, footer_offset: offset })
}

/// Reads `len` bytes of the file.
pub(super) fn read_range<R: Read + Seek>(
    input: &mut R,
    offset: u64,
    len: u64,
) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; len as usize];
    input.seek(SeekFrom::Start(offset))?;
    input.read_exact(&mut bytes)?;
    Ok(bytes)
}
