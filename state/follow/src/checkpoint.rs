//! A checkpoint: the state before a block of a trace, and what a reader knows there, as bytes. Who restores it goes on at
//! that block as if it had read everything before. Bytes that are no checkpoint are refused, or give a state that the trace
//! does not have; they never cause a panic. Only a program of the same build restores what it made.

use std::io::{Read, Seek};

use gapii_state::stored::{Reader, Stored, Writer};
use gapii_trace::Commands;

use crate::follow::Follower;

/// The state before a block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Checkpoint {
    /// Index of the block.
    pub block: usize,
    /// Every command with a lower number was followed, and no other one.
    pub end_seq: u64,
    /// The state, and what a reader knows.
    pub bytes: Vec<u8>,
}

impl Checkpoint {
    /// Returns the checkpoint of a follower that has followed all commands so far, the last one with a number having
    /// `end_seq - 1`. `None` unless [`Commands::advance_in_block`] has just said that the next command needs a block, or at
    /// the end of the trace.
    pub fn of<R: Read + Seek>(
        follower: &Follower,
        end_seq: u64,
        commands: &mut Commands<'_, R>,
    ) -> Option<Self> {
        let (block, reader) = commands.pause()?;
        let mut writer = Writer::default();
        reader.store(&mut writer);
        follower.store(&mut writer);
        Some(Self { block, end_seq, bytes: writer.into_bytes() })
    }

    /// Lets `commands`, of which none was read, go on at the checkpoint, and returns its state. `None` if this is no
    /// checkpoint of the trace; `commands` are then as before.
    pub fn restore<R: Read + Seek>(&self, commands: &mut Commands<'_, R>) -> Option<Follower> {
        let mut from = Reader::new(&self.bytes);
        let reader = Vec::<u8>::restore(&mut from)?;
        let follower = Follower::restore(&mut from)?;
        (from.is_at_end() && commands.resume(self.block, &reader)).then_some(follower)
    }
}
