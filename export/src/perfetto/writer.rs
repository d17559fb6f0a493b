//! Writes packets: one field of the message `Trace` after the other, so that nothing but the present packet is held.

use std::io::{self, Write};

use prost::Message;

use super::packets::{TracePacket, clock};

/// Key of the field `packet` of `Trace`: number 1, length-delimited.
const PACKET_KEY: u8 = 1 << 3 | 2;
/// The one sequence of packets that an export has.
const SEQUENCE: u32 = 1;

/// Writes packets to `out`.
pub struct PacketWriter<W> {
    out: W,
    bytes: Vec<u8>,
}

impl<W: Write> PacketWriter<W> {
    /// Makes a writer.
    pub fn new(out: W) -> Self {
        Self { out, bytes: Vec::new() }
    }

    /// Writes a packet of the export's sequence.
    ///
    /// # Errors
    /// An error of the output.
    pub fn write(&mut self, packet: TracePacket) -> io::Result<()> {
        let packet = TracePacket { trusted_packet_sequence_id: Some(SEQUENCE), ..packet };
        self.bytes.clear();
        self.bytes.push(PACKET_KEY);
        packet.encode_length_delimited(&mut self.bytes).map_err(io::Error::other)?;
        self.out.write_all(&self.bytes)
    }

    /// Writes a packet with a time of `CLOCK_MONOTONIC`.
    ///
    /// # Errors
    /// An error of the output.
    pub fn write_at(&mut self, at_ns: u64, packet: TracePacket) -> io::Result<()> {
        let timestamp_clock_id = Some(clock::MONOTONIC);
        self.write(TracePacket { timestamp: Some(at_ns), timestamp_clock_id, ..packet })
    }

    /// Returns the output.
    pub fn into_inner(self) -> W {
        self.out
    }
}
