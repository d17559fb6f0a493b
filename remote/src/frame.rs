//! Encoding of frames, the unit of transfer over a connection. A payload has at most 1 MiB, 4 KiB before the client is
//! authenticated (`KNOCK_LEN_MAX`), 64 KiB for a piece of output. A wrong magic, checksum, kind or length makes the
//! connection unusable; the link goes on over another one.
//!
//! ```text
//!  0  4  magic "gapL"
//!  4  4  length of the payload
//!  8  1  kind
//!  9  7  zero
//! 16  8  number: for numbered kinds, counted from 0 in each direction; for ACK, the number of processed frames
//! 24  8  offset: for CHUNK and OUTPUT_END, the offset in the output; otherwise 0
//! 32  8  checksum of the payload
//! 40  8  checksum of the 40 bytes above
//! 48     payload
//! ```
//!
//! Integers are little-endian. A checksum is the first eight bytes of BLAKE3. It detects bytes that a connection
//! corrupted; TLS or ssh authenticate. The header has its own checksum, so that a reader never waits for a payload of a
//! corrupted length. A length field never makes a reader allocate more than its limit.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt};

/// Length in bytes of a frame without its payload.
pub const HEADER_LEN: usize = 48;
/// Longest payload in bytes: one message of the control protocol.
pub const PAYLOAD_LEN_MAX: usize = gapii_control::MESSAGE_LEN_MAX as usize;
/// Longest payload in bytes before the client is authenticated.
pub const KNOCK_LEN_MAX: usize = 4 << 10;
/// Longest payload in bytes of a CHUNK.
pub const CHUNK_LEN_MAX: usize = 64 << 10;

const MAGIC: [u8; 4] = *b"gapL";

/// Kind of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Kind {
    /// Client's first frame: identifies the client and the link to resume.
    Knock = 1,
    /// Daemon's first frame to an admitted client.
    Welcome = 2,
    /// Daemon's only frame to a refused client.
    Refused = 3,
    /// Numbered, from the client: a request without an output.
    Request = 4,
    /// Numbered, from the client: a request whose result is written to an output.
    RequestWithOutput = 5,
    /// Numbered, from the daemon: an event.
    Event = 6,
    /// Numbered, from the daemon: a piece of the output.
    Chunk = 7,
    /// Numbered, from the daemon: the end of the output. The offset is its length, the payload its BLAKE3 hash.
    OutputEnd = 8,
    /// Numbered, from the client: writing the output failed; the payload is the reason.
    OutputFailed = 9,
    /// Acknowledgement: the number of numbered frames that were processed. Also a sign of life.
    Ack = 10,
    /// End of the link; no frame follows.
    Bye = 11,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 11] = [
        Self::Knock,
        Self::Welcome,
        Self::Refused,
        Self::Request,
        Self::RequestWithOutput,
        Self::Event,
        Self::Chunk,
        Self::OutputEnd,
        Self::OutputFailed,
        Self::Ack,
        Self::Bye,
    ];

    /// Whether frames of this kind are numbered, and held until they are acknowledged.
    pub fn is_numbered(self) -> bool {
        matches!(
            self,
            Self::Request
                | Self::RequestWithOutput
                | Self::Event
                | Self::Chunk
                | Self::OutputEnd
                | Self::OutputFailed
        )
    }

    fn from_byte(byte: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| *kind as u8 == byte)
    }
}

/// A complete, verified frame.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Frame {
    pub kind: Kind,
    pub number: u64,
    pub offset: u64,
    pub payload: Vec<u8>,
}

/// Why bytes are not a valid frame.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    #[error("the peer does not speak the gapii link protocol: its data begins with {0:?}")]
    Foreign(String),
    #[error("the checksum of a frame's header is wrong")]
    Header,
    #[error("the checksum of a frame of {0} bytes is wrong")]
    Payload(usize),
    #[error("frame kind {0} is unknown")]
    Kind(u8),
    #[error("a frame of {len} bytes exceeds the limit of {limit}")]
    TooLong { len: usize, limit: usize },
    #[error("the connection ended")]
    Ended,
    #[error(transparent)]
    Io(io::Error),
}

/// Returns the encoded frame. `payload` has at most [`PAYLOAD_LEN_MAX`] bytes.
pub fn encode(kind: Kind, number: u64, offset: u64, payload: &[u8]) -> Vec<u8> {
    debug_assert!(payload.len() <= PAYLOAD_LEN_MAX);
    let mut frame = Vec::with_capacity(HEADER_LEN + payload.len());
    frame.extend_from_slice(&MAGIC);
    frame.extend_from_slice(&(payload.len() as u32).to_le_bytes());
    frame.extend_from_slice(&[kind as u8, 0, 0, 0, 0, 0, 0, 0]);
    frame.extend_from_slice(&number.to_le_bytes());
    frame.extend_from_slice(&offset.to_le_bytes());
    frame.extend_from_slice(&check(payload));
    let header = check(&frame);
    frame.extend_from_slice(&header);
    frame.extend_from_slice(payload);
    frame
}

/// Reads exactly one frame, with a payload of at most `limit` bytes.
///
/// Not cancellation-safe: bytes that were read are lost when the future is dropped.
pub async fn read(from: &mut (impl AsyncRead + Unpin), limit: usize) -> Result<Frame, FrameError> {
    let mut header = [0; HEADER_LEN];
    let mut filled = 0;
    while filled < HEADER_LEN {
        match from.read(&mut header[filled..]).await.map_err(FrameError::Io)? {
            0 => return Err(FrameError::Ended),
            count => filled += count,
        }
        Header::begins(&header[..filled])?;
    }
    let header = Header::parse(&header, limit)?;
    let mut payload = vec![0; header.len];
    from.read_exact(&mut payload).await.map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => FrameError::Ended,
        _ => FrameError::Io(error),
    })?;
    header.with(payload)
}

/// Splits a stream of bytes into frames.
#[derive(Debug, Default)]
pub struct Inbox {
    bytes: Vec<u8>,
    /// Offset of the first frame that was not taken yet.
    start: usize,
}

impl Inbox {
    /// Appends bytes that have arrived.
    pub fn extend(&mut self, bytes: &[u8]) {
        self.bytes.drain(..std::mem::take(&mut self.start));
        self.bytes.extend_from_slice(bytes);
    }

    /// Returns the next frame; `None` while it is incomplete. After an error the stream cannot be resynchronised.
    pub fn next_frame(&mut self) -> Result<Option<Frame>, FrameError> {
        let bytes = &self.bytes[self.start..];
        Header::begins(bytes)?;
        let Some(header) = bytes.first_chunk() else { return Ok(None) };
        let header = Header::parse(header, PAYLOAD_LEN_MAX)?;
        let end = HEADER_LEN + header.len;
        let Some(payload) = bytes.get(HEADER_LEN..end) else { return Ok(None) };
        let frame = header.with(payload.to_vec())?;
        self.start += end;
        Ok(Some(frame))
    }
}

/// A header with a valid checksum.
struct Header {
    len: usize,
    kind: Kind,
    number: u64,
    offset: u64,
    payload_check: [u8; 8],
}

impl Header {
    /// Checks that a frame can begin with `bytes`, so that a foreign protocol is detected at its first byte.
    fn begins(bytes: &[u8]) -> Result<(), FrameError> {
        let len = bytes.len().min(MAGIC.len());
        if bytes[..len] == MAGIC[..len] {
            return Ok(());
        }
        let shown = &bytes[..bytes.len().min(HEADER_LEN)];
        Err(FrameError::Foreign(String::from_utf8_lossy(shown).into_owned()))
    }

    fn parse(bytes: &[u8; HEADER_LEN], limit: usize) -> Result<Self, FrameError> {
        let at = |range: std::ops::Range<usize>| {
            let mut word = [0; 8];
            word[..range.len()].copy_from_slice(&bytes[range]);
            u64::from_le_bytes(word)
        };
        if check(&bytes[..40]) != bytes[40..] {
            return Err(FrameError::Header);
        }
        let len_untrusted = at(4..8) as usize;
        if len_untrusted > limit {
            return Err(FrameError::TooLong { len: len_untrusted, limit });
        }
        let kind = Kind::from_byte(bytes[8]).ok_or(FrameError::Kind(bytes[8]))?;
        let payload_check = at(32..40).to_le_bytes();
        Ok(Self { len: len_untrusted, kind, number: at(16..24), offset: at(24..32), payload_check })
    }

    fn with(self, payload: Vec<u8>) -> Result<Frame, FrameError> {
        if check(&payload) != self.payload_check {
            return Err(FrameError::Payload(payload.len()));
        }
        let Self { kind, number, offset, .. } = self;
        Ok(Frame { kind, number, offset, payload })
    }
}

fn check(bytes: &[u8]) -> [u8; 8] {
    let hash = *blake3::hash(bytes).as_bytes();
    let mut first = [0; 8];
    first.copy_from_slice(&hash[..8]);
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(bytes: &[u8]) -> Result<Vec<Frame>, FrameError> {
        let mut inbox = Inbox::default();
        let mut frames = Vec::new();
        for byte in bytes {
            inbox.extend(&[*byte]);
            frames.extend(inbox.next_frame()?);
        }
        Ok(frames)
    }

    #[test]
    fn frames_arriving_byte_by_byte_are_what_was_sent() {
        let stream =
            [encode(Kind::Chunk, 7, 4096, b"piece"), encode(Kind::Ack, 8, 0, b"")].concat();
        let piece =
            Frame { kind: Kind::Chunk, number: 7, offset: 4096, payload: b"piece".to_vec() };
        let ack = Frame { kind: Kind::Ack, number: 8, offset: 0, payload: Vec::new() };
        assert_eq!(taken(&stream).unwrap(), [piece, ack]);
    }

    #[test]
    fn every_changed_bit_is_detected() {
        let frame = encode(Kind::Event, 3, 0, b"something was said");
        for bit in 0..frame.len() * 8 {
            let mut garbled = frame.clone();
            garbled[bit / 8] ^= 1 << (bit % 8);
            assert!(taken(&garbled).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn corrupted_length_is_an_error_before_the_payload_arrives() {
        let mut frame = encode(Kind::Event, 3, 0, b"said");
        frame[6] = 1;
        assert!(matches!(taken(&frame[..HEADER_LEN]), Err(FrameError::Header)));
    }

    #[test]
    fn foreign_protocol_is_an_error_at_once() {
        let error = taken(b"Wel").unwrap_err();
        assert!(matches!(error, FrameError::Foreign(_)), "{error}");
    }

    #[tokio::test]
    async fn limits_hold_before_anything_is_allocated() {
        let frame = encode(Kind::Knock, 0, 0, &[0; 100]);
        let read_within = async |limit| read(&mut &frame[..], limit).await;
        assert_eq!(read_within(100).await.unwrap().payload.len(), 100);
        assert!(matches!(read_within(99).await, Err(FrameError::TooLong { len: 100, limit: 99 })));
        assert!(matches!(read(&mut &frame[..90], 100).await, Err(FrameError::Ended)));
    }
}
