//! Traces in the formats of other tools.
//!
//! Reads by the trace's own description, writes as it reads and holds no more than a command and
//! what later ones refer to. Opens no file and knows no command line.

pub mod apitrace;
