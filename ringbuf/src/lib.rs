//! Lock-free rings of stamped records in shared memory, one per producing thread, and the merge of
//! many rings into one order.
//!
//! Knows nothing of what a record says. Never trusts memory that another process can write: see
//! docs/threat-model.md and docs/memory-model.md.

pub mod record;
