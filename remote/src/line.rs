//! `Line`: the state of one end of a link, across its connections: frames that are not acknowledged yet, and the number
//! of frames that have arrived. Holds the agreed number of bytes and one frame more; then it has no room. A frame that
//! came before is passed over; a gap, or an acknowledgement of frames that were never sent, makes the connection
//! unusable. Performs no I/O.
//!
//! The sender checks [`Line::has_room`] before it adds a frame.

use std::collections::VecDeque;

use crate::frame::{self, Frame, HEADER_LEN, Kind};

/// One end of a link.
#[derive(Debug)]
pub struct Line {
    /// Encoded frames that are not acknowledged, oldest first.
    held: VecDeque<Vec<u8>>,
    held_bytes: usize,
    room_bytes: usize,
    /// Number of the first frame in `held`.
    first: u64,
    /// Number of frames in `held` that were sent over the current connection.
    gone: usize,
    /// Number of frames of the other end that have arrived.
    taken: u64,
    /// Number of frames of the other end that were processed.
    dealt: u64,
    /// The last acknowledged count that was sent to the other end.
    told: u64,
}

/// A violation of the protocol by the other end.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum LineError {
    #[error("frame {number} arrived, expected frame {expected}")]
    Gap { number: u64, expected: u64 },
    #[error("the peer acknowledged {claimed} frames, but only {sent} were sent")]
    Unsent { claimed: u64, sent: u64 },
    #[error("the peer requests frame {claimed} again, after it acknowledged {kept} frames")]
    Forgotten { claimed: u64, kept: u64 },
    #[error("a {0:?} frame is not allowed after the handshake")]
    OutOfTurn(Kind),
}

/// Result of [`Line::take`].
#[derive(Debug, PartialEq, Eq)]
pub enum Taken {
    /// A new frame, to be processed.
    New(Frame),
    /// An acknowledgement; there may be more room now.
    Released,
    /// A frame that has arrived before.
    Known,
}

impl Line {
    /// Creates a line that holds up to `room_bytes` of unacknowledged frames, plus one frame.
    pub fn new(room_bytes: usize) -> Self {
        Self {
            held: VecDeque::new(),
            held_bytes: 0,
            room_bytes,
            first: 0,
            gone: 0,
            taken: 0,
            dealt: 0,
            told: 0,
        }
    }

    /// Whether another frame may be sent.
    pub fn has_room(&self) -> bool {
        self.held_bytes < self.room_bytes
    }

    /// Encoded size in bytes of the frames that are not acknowledged.
    pub fn held_bytes(&self) -> usize {
        self.held_bytes
    }

    /// Whether the other end has acknowledged every frame.
    pub fn is_settled(&self) -> bool {
        self.held.is_empty()
    }

    /// Queues a frame of a numbered kind; it is held until it is acknowledged.
    pub fn say(&mut self, kind: Kind, offset: u64, payload: &[u8]) {
        debug_assert!(kind.is_numbered());
        let frame = frame::encode(kind, self.first + self.held.len() as u64, offset, payload);
        self.held_bytes += frame.len();
        self.held.push_back(frame);
    }

    /// Returns the number of frames of the other end that have arrived, over all connections.
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// Marks all frames that have arrived as processed, so that they are acknowledged.
    pub fn dealt_with(&mut self) {
        self.dealt = self.taken;
    }

    /// Continues over a new connection; the other end has received `arrived` of our frames.
    pub fn reconnected(&mut self, arrived: u64) -> Result<(), LineError> {
        if arrived < self.first {
            return Err(LineError::Forgotten { claimed: arrived, kept: self.first });
        }
        self.release(arrived)?;
        self.gone = 0;
        // The last acknowledgement may have been lost with the old connection.
        self.told = 0;
        Ok(())
    }

    /// Processes a frame that arrived.
    ///
    /// # Errors
    /// The frame violates the protocol; the connection is unusable.
    pub fn take(&mut self, frame: Frame) -> Result<Taken, LineError> {
        match frame.kind {
            Kind::Ack => {
                self.release(frame.number)?;
                Ok(Taken::Released)
            }
            Kind::Bye => Ok(Taken::New(frame)),
            kind if !kind.is_numbered() => Err(LineError::OutOfTurn(kind)),
            _ if frame.number < self.taken => Ok(Taken::Known),
            _ if frame.number > self.taken => {
                Err(LineError::Gap { number: frame.number, expected: self.taken })
            }
            _ => {
                self.taken += 1;
                Ok(Taken::New(frame))
            }
        }
    }

    /// Returns the next frame to send over this connection, encoded.
    pub(crate) fn next_to_go(&mut self) -> Option<&[u8]> {
        let frame = self.held.get(self.gone)?;
        self.gone += 1;
        Some(frame)
    }

    /// Returns an acknowledgement, if frames were processed since the last one.
    pub(crate) fn news(&mut self) -> Option<Vec<u8>> {
        (self.told < self.dealt).then(|| self.sign_of_life())
    }

    /// Returns an acknowledgement, which also serves as a sign of life.
    pub(crate) fn sign_of_life(&mut self) -> Vec<u8> {
        self.told = self.dealt;
        frame::encode(Kind::Ack, self.dealt, 0, b"")
    }

    fn release(&mut self, claimed: u64) -> Result<(), LineError> {
        let sent = self.first + self.held.len() as u64;
        if claimed > sent {
            return Err(LineError::Unsent { claimed, sent });
        }
        while self.first < claimed {
            let Some(frame) = self.held.pop_front() else { break };
            debug_assert!(frame.len() >= HEADER_LEN);
            self.held_bytes -= frame.len();
            self.first += 1;
            self.gone = self.gone.saturating_sub(1);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Inbox;

    fn carried(from: &mut Line) -> Vec<Frame> {
        let mut inbox = Inbox::default();
        while let Some(bytes) = from.next_to_go() {
            inbox.extend(bytes);
        }
        inbox.extend(&from.news().unwrap_or_default());
        std::iter::from_fn(|| inbox.next_frame().unwrap()).collect()
    }

    fn ack(number: u64) -> Frame {
        Frame { kind: Kind::Ack, number, offset: 0, payload: Vec::new() }
    }

    #[test]
    fn unacknowledged_frame_is_sent_again_and_delivered_once() {
        let (mut ours, mut theirs) = (Line::new(1 << 20), Line::new(1 << 20));
        for word in ["one", "two", "three"] {
            ours.say(Kind::Event, 0, word.as_bytes());
        }
        let first = carried(&mut ours);
        assert_eq!(first.len(), 3);
        // The third is lost with the connection.
        for frame in first.into_iter().take(2) {
            assert!(matches!(theirs.take(frame), Ok(Taken::New(_))));
        }
        theirs.dealt_with();
        ours.say(Kind::Event, 0, b"four");
        ours.reconnected(theirs.taken()).unwrap();
        let mut heard = Vec::new();
        for frame in carried(&mut ours) {
            if let Taken::New(frame) = theirs.take(frame).unwrap() {
                heard.push(frame.payload);
            }
        }
        assert_eq!(heard, [&b"three"[..], b"four"]);
        theirs.dealt_with();
        for frame in carried(&mut theirs) {
            assert_eq!(ours.take(frame), Ok(Taken::Released));
        }
        assert!(ours.is_settled());
        assert_eq!(ours.held_bytes(), 0);
    }

    #[test]
    fn repeated_frame_is_known() {
        let mut ours = Line::new(1 << 20);
        ours.say(Kind::Event, 0, b"said");
        let frame = carried(&mut ours).remove(0);
        let mut theirs = Line::new(1 << 20);
        assert!(matches!(theirs.take(frame.clone()), Ok(Taken::New(_))));
        assert_eq!(theirs.take(frame), Ok(Taken::Known));
    }

    #[test]
    fn lies_are_rejected() {
        let mut line = Line::new(1 << 20);
        line.say(Kind::Event, 0, b"said");
        assert_eq!(line.take(ack(2)), Err(LineError::Unsent { claimed: 2, sent: 1 }));
        assert_eq!(line.take(ack(1)), Ok(Taken::Released));
        assert_eq!(line.reconnected(0), Err(LineError::Forgotten { claimed: 0, kept: 1 }));
        let frame = Frame { kind: Kind::Request, number: 4, offset: 0, payload: Vec::new() };
        assert_eq!(line.take(frame), Err(LineError::Gap { number: 4, expected: 0 }));
        let frame = Frame { kind: Kind::Knock, number: 0, offset: 0, payload: Vec::new() };
        assert_eq!(line.take(frame), Err(LineError::OutOfTurn(Kind::Knock)));
    }

    #[test]
    fn room_depends_on_the_unacknowledged_bytes() {
        let mut line = Line::new(100);
        line.say(Kind::Chunk, 0, &[0; 52]);
        assert!(!line.has_room());
        line.take(ack(1)).unwrap();
        assert!(line.has_room());
    }
}
