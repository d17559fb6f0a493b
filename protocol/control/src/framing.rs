//! Messages as bytes on a stream: a length, then MessagePack. A message has at most `MESSAGE_LEN_MAX`, 1 MiB; a longer
//! one is refused before memory is allocated for it, and ends the connection, because the beginning of the next message
//! is unknown. Knows no message.

use std::io::{self, Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Longest message, in bytes, without its length word.
pub const MESSAGE_LEN_MAX: u32 = 1 << 20;
/// Length of the word before a message, in bytes.
pub const PREFIX_LEN: usize = 4;

/// Why a message could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The message has this many bytes, more than [`MESSAGE_LEN_MAX`].
    #[error("message of {0} bytes exceeds the limit of {MESSAGE_LEN_MAX}")]
    TooLong(usize),
    /// A value of the message can't be written as MessagePack.
    #[error("message cannot be written: {0}")]
    Encode(#[from] rmp_serde::encode::Error),
    /// The bytes are not a message of the expected type.
    #[error("message cannot be understood: {0}")]
    Decode(#[from] rmp_serde::decode::Error),
    /// The stream failed, or ended inside of a message.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Returns the bytes of a message: its length in [`PREFIX_LEN`] bytes, then its body.
///
/// # Errors
/// [`FrameError::TooLong`] or [`FrameError::Encode`].
pub fn encode<T: Serialize>(message: &T) -> Result<Vec<u8>, FrameError> {
    let mut frame = vec![0; PREFIX_LEN];
    rmp_serde::encode::write_named(&mut frame, message)?;
    let len = frame.len() - PREFIX_LEN;
    let prefix = message_len(len).ok_or(FrameError::TooLong(len))?;
    frame[..PREFIX_LEN].copy_from_slice(&prefix.to_le_bytes());
    Ok(frame)
}

/// Returns the message whose body is `body`.
///
/// # Errors
/// [`FrameError::Decode`].
pub fn decode<T: DeserializeOwned>(body: &[u8]) -> Result<T, FrameError> {
    Ok(rmp_serde::from_slice(body)?)
}

/// Writes a message to a blocking stream.
///
/// # Errors
/// Those of [`encode`], and [`FrameError::Io`].
pub fn write_message<T: Serialize>(to: &mut impl Write, message: &T) -> Result<(), FrameError> {
    Ok(to.write_all(&encode(message)?)?)
}

/// Reads a message from a blocking stream. Returns `None` if the stream ends between two messages.
///
/// # Errors
/// [`FrameError::Io`], also if the stream ends inside of a message; [`FrameError::TooLong`], before the body
/// is allocated; [`FrameError::Decode`].
pub fn read_message<T: DeserializeOwned>(from: &mut impl Read) -> Result<Option<T>, FrameError> {
    let mut prefix = [0; PREFIX_LEN];
    let mut filled = 0;
    while filled < PREFIX_LEN {
        match from.read(&mut prefix[filled..]) {
            Ok(0) if filled == 0 => return Ok(None),
            Ok(0) => return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
    let len = checked_len(prefix)?;
    let mut body = vec![0; len];
    from.read_exact(&mut body)?;
    decode(&body).map(Some)
}

/// Splits a stream of bytes, as they arrive, into the bodies of messages.
#[derive(Debug, Default)]
pub struct FrameBuffer {
    bytes: Vec<u8>,
}

impl FrameBuffer {
    /// Appends bytes that have arrived.
    pub fn extend(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Takes out the body of the next message. Returns `None` while the message is incomplete.
    ///
    /// # Errors
    /// [`FrameError::TooLong`]. It is permanent, because the beginning of the message after it is unknown.
    pub fn next_body(&mut self) -> Result<Option<Vec<u8>>, FrameError> {
        let Some(prefix) = self.bytes.first_chunk::<PREFIX_LEN>() else { return Ok(None) };
        let end = PREFIX_LEN + checked_len(*prefix)?;
        if self.bytes.len() < end {
            return Ok(None);
        }
        let body = self.bytes[PREFIX_LEN..end].to_vec();
        self.bytes.drain(..end);
        Ok(Some(body))
    }

    /// Returns true if nothing of a next message has arrived.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
}

fn message_len(len: usize) -> Option<u32> {
    u32::try_from(len).ok().filter(|&len| len <= MESSAGE_LEN_MAX)
}

fn checked_len(prefix: [u8; PREFIX_LEN]) -> Result<usize, FrameError> {
    let len_untrusted = u32::from_le_bytes(prefix) as usize;
    match message_len(len_untrusted) {
        Some(_) => Ok(len_untrusted),
        None => Err(FrameError::TooLong(len_untrusted)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        ClientHello, ControlError, Event, ExitedRequest, KeepRequest, Overflow, Request,
        SaveRequest, StartRequest, StopRequest, TakeUpRequest, Target, code,
    };

    fn start() -> Request {
        Request::Start(StartRequest {
            target: Target::Launch([9; 16]),
            frames: Some(100),
            seconds: Some(1.5),
            overflow: Overflow::Drop,
            keep: Some(KeepRequest::default()),
            command: vec!["prog".into(), "--flag".into()],
            ..StartRequest::default()
        })
    }

    #[test]
    fn messages_written_and_read_are_the_same() {
        let mut stream = Vec::new();
        let requests = [
            Request::Hello(ClientHello::new("test")),
            Request::Apps,
            start(),
            Request::TakeUp(TakeUpRequest { capture: 7, ..TakeUpRequest::default() }),
            Request::Stop(StopRequest { capture: Some(3), ..StopRequest::default() }),
            Request::Save(SaveRequest { target: Target::App("cat".into()), last: Some(100) }),
            Request::Exited(ExitedRequest { capture: 1, pid: Some(7), signal: Some(11) }),
            Request::Link,
        ];
        for request in &requests {
            write_message(&mut stream, request).unwrap();
        }
        let mut from = stream.as_slice();
        for request in requests {
            assert_eq!(read_message::<Request>(&mut from).unwrap(), Some(request));
        }
        assert_eq!(read_message::<Request>(&mut from).unwrap(), None);
    }

    #[test]
    fn frames_arriving_byte_by_byte_are_cut_right() {
        let event = Event::Error(ControlError::new(
            code::NO_APP,
            "no application is connected",
            "`gapii-ctl apps` lists them",
        ));
        let stream = [encode(&event).unwrap(), encode(&Event::Apps(Vec::new())).unwrap()].concat();
        let mut buffer = FrameBuffer::default();
        let mut events = Vec::new();
        for byte in stream {
            buffer.extend(&[byte]);
            while let Some(body) = buffer.next_body().unwrap() {
                events.push(decode::<Event>(&body).unwrap());
            }
        }
        assert!(buffer.is_empty());
        assert_eq!(events, [event, Event::Apps(Vec::new())]);
    }

    #[test]
    fn length_past_the_limit_is_rejected_before_it_is_allocated() {
        let frame = (MESSAGE_LEN_MAX + 1).to_le_bytes();
        let mut buffer = FrameBuffer::default();
        buffer.extend(&frame);
        assert!(matches!(buffer.next_body(), Err(FrameError::TooLong(_))));
        let read = read_message::<Request>(&mut frame.as_slice());
        assert!(matches!(read, Err(FrameError::TooLong(_))));
        let target = Target::App("x".repeat(1 << 20));
        let long = Request::Stop(StopRequest { target, ..StopRequest::default() });
        assert!(matches!(encode(&long), Err(FrameError::TooLong(_))));
    }

    #[test]
    fn stream_cut_inside_a_frame_is_an_error() {
        let frame = encode(&Request::Apps).unwrap();
        for end in 1..frame.len() {
            let read = read_message::<Request>(&mut &frame[..end]);
            assert!(matches!(read, Err(FrameError::Io(_))), "cut at {end}");
        }
    }

    #[test]
    fn unknown_fields_are_ignored_and_missing_ones_default() {
        #[derive(Serialize)]
        enum Later {
            Start { frames: u64, colour: &'static str, nested: Vec<[u8; 2]> },
        }
        let later = Later::Start { frames: 3, colour: "red", nested: vec![[1, 2]] };
        let body = rmp_serde::to_vec_named(&later).unwrap();
        let expected = StartRequest { frames: Some(3), ..StartRequest::default() };
        assert_eq!(decode::<Request>(&body).unwrap(), Request::Start(expected));
    }

    #[test]
    fn foreign_bytes_are_rejected() {
        for body in [&b""[..], b"GET / HTTP/1.1", &[0xdc, 0xff, 0xff], &[0x91; 64]] {
            assert!(matches!(decode::<Request>(body), Err(FrameError::Decode(_))), "{body:?}");
        }
        let unknown = rmp_serde::to_vec_named("Dance").unwrap();
        assert!(matches!(decode::<Request>(&unknown), Err(FrameError::Decode(_))));
    }
}
