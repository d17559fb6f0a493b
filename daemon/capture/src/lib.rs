//! The capture core of the daemon: from rings in shared memory to traces on an output.
//!
//! A [`drain`] reads the rings of some applications and merges their records into one order. Every capture has
//! a [`taker`](taker::Taker), which selects its records, assembles them into blocks and keeps its accounts. A
//! [`writer`] compresses the blocks and writes them to the capture's output.
//!
//! Opens no socket and reads no clock of its own: it uses the [`clock::Clock`] that it is given. So everything except
//! the threads runs in one thread, from a seed (`simulation`).
//!
//! A stream of one record, in one block:
//!
//! ```
//! use gapii_abi::atom::{self, Header};
//! use gapii_capture::stream::{RingKey, RingPlace, RingSite, Run, StreamBuilder};
//!
//! let thread = atom::Thread { tid: 7, flags: 0, name: [0; 16] }.encode();
//! let header = Header::new(atom::THREAD, 0, 8 + thread.len() as u32);
//! let record = [&header.0.to_le_bytes()[..], &thread].concat();
//!
//! let mut stream = StreamBuilder::new(1 << 20, false);
//! let process = stream.add_process(100, 0, b"program");
//! let ring = RingKey(0);
//! stream.set_ring(ring, process, RingSite::default(), RingPlace::default());
//! let end_index = record.len() as u64;
//! let run = Run { ring, records: &record, start: RingPlace::default(), end_index };
//! let mut blocks = Vec::new();
//! stream.append(run, 1_000, &mut |block| blocks.push(block))?;
//! stream.flush(&mut |block| blocks.push(block));
//! assert_eq!(blocks[0].records, [(0, 1)]);
//! # Ok::<(), gapii_capture::stream::Refusal>(())
//! ```

pub mod armed;
pub mod backlog;
pub mod capture;
pub mod clock;
pub mod drain;
pub mod end;
pub mod facts;
pub mod fault;
pub mod fill;
pub mod filtering;
pub mod finish;
mod host;
pub mod keeper;
pub mod kept_frames;
pub mod lane;
pub mod ledger;
pub mod member;
mod nameless;
pub mod order;
pub mod output;
mod output_threads;
pub mod plain;
pub mod plan;
mod priority;
pub mod process;
pub mod profile;
pub mod progress;
pub mod recover;
pub mod save;
pub mod selection;
#[cfg(test)]
mod simulation;
pub mod spill;
pub mod store;
pub mod stream;
pub mod survey;
pub mod takeover;
pub mod taker;
pub mod writer;
