//! `Part`: what a thread records from its first command of an epoch on.

/// A thread's part of an epoch.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// Number of the capture and of its newest keyframe.
    pub epoch: u64,
    /// Generation of the daemon's order to record that the capture follows.
    pub order: u64,
    /// The epoch begins a capture, too: records that were lost before are in an earlier capture's account.
    pub is_new_capture: bool,
    /// The capture measures the driver's time.
    pub is_timed: bool,
    /// The capture measures the GPU's time, too. Only with `is_timed`.
    pub is_gpu_timed: bool,
}
