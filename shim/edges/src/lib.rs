//! The synchronisation between the threads of a recorded program: protocols over a few atomic words.
//!
//! | edge | type | orders |
//! |---|---|---|
//! | BEGIN | [`Epoch`] | what a thread did before it began a capture or a keyframe, before any command recorded in it |
//! | OUTSIDE | [`Gate`] | a command, before another thread describes state because it saw the thread outside |
//! | KNOWN | [`blob_table`] | the records of a blob, before any record that refers to the blob by name |
//! | KEEPER | [`AtWork`] | a command that is kept while nothing is recorded, before a snapshot that does not wait for its thread |
//! | HANDLE | [`HandleMap`] | the making of an object, before its use by a thread that finds it |
//! | TAKEN | [`TryCell`] | the uses of a value, one after the other |
//! | VERSION | [`Version`] | a change of words, before a reading of them that counts |
//! | SETTLE | [`settle()`] | changes of inputs, before the word that follows from them is left alone |
//!
//! docs/memory-model.md has the arguments. The loom models in `tests/` check this very code; the shim runs
//! it. Knows nothing of rings, drivers or commands.
//!
//! ```
//! use gapii_edges::{Epoch, Gate};
//!
//! static EPOCH: Epoch = Epoch::none();
//! let gate = Gate::closed();
//!
//! // Nothing is recorded: no thread has an epoch to follow.
//! assert_eq!(EPOCH.follow(), None);
//!
//! // A safe point begins a capture. A thread follows it at its first command, on the slow path.
//! EPOCH.begin(17, 2);
//! let epoch = EPOCH.follow().ok_or("a capture runs")?;
//! gate.leave(epoch);
//!
//! // From then on its commands take the fast path: inside between `enter` and `leave`.
//! assert!(gate.enter(&EPOCH));
//! assert!(!gate.is_outside());
//! gate.leave(epoch);
//!
//! // The next epoch sends the thread to the slow path again.
//! EPOCH.begin(18, 2);
//! assert!(!gate.enter(&EPOCH));
//! # Ok::<(), &str>(())
//! ```

mod at_work;
pub mod blob_table;
#[cfg(not(loom))]
mod confinement;
mod epoch;
mod gate;
mod handle_map;
mod membarrier;
mod settle;
mod sync;
mod try_cell;
mod version;

pub use at_work::AtWork;
#[cfg(not(loom))]
pub use confinement::is_confined;
pub use epoch::{Epoch, NOT_CAPTURING};
pub use gate::Gate;
pub use handle_map::{HandleMap, Handled};
pub use membarrier::{barrier_in_all_threads, register_barrier};
pub use settle::{Settled, settle};
pub use try_cell::TryCell;
pub use version::Version;
