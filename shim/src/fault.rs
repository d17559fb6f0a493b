//! Faults that the simulation's tests inject to check that they are found. The shim itself has none.

/// A fault.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// The wait for an answer has no limit.
    AnswerWithoutLimit,
    /// Sockets block.
    BlockingSocket,
    /// The shim looks for a daemon at every safe point.
    NoPause,
    /// The shim looks for a daemon every second, however many have died young.
    NoGrowingPause,
    /// The shim waits again for an answer that is late.
    WaitsAgain,
    /// The shim looks for another daemon for ever.
    LooksForEver,
    /// A hello that has no answer is never thought of again.
    LateAnswerLost,
    /// An answer of any length counts.
    AnyLength,
}

/// Returns whether the fault is injected in this thread.
#[inline]
pub fn is_put_in(fault: Fault) -> bool {
    #[cfg(test)]
    return crate::simulation::fault() == Some(fault);
    #[cfg(not(test))]
    {
        let _ = fault;
        false
    }
}
