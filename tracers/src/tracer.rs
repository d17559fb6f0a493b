//! Names of tracers, and why an operation on a tracer is refused.

/// Identifies a tracer; never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TracerId(usize);

impl TracerId {
    /// Wraps a number that [`TracerId::number`] returned. Operations on any other number report
    /// [`Refusal::Unknown`].
    pub fn new(number: usize) -> Self {
        Self(number)
    }

    /// Returns the number of the tracer; never 0.
    pub fn number(self) -> usize {
        self.0
    }
}

/// Why an operation on a tracer was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The tracer was destroyed or never existed.
    #[error("the tracer does not exist")]
    Unknown,
    /// The operation needs a disabled tracer.
    #[error("the tracer is enabled")]
    Enabled,
    /// Calls that began while the tracer was enabled have not ended.
    #[error("calls that began while the tracer was enabled have not ended")]
    Draining,
}
