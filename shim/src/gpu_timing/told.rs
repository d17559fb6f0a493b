//! Payloads of GPU_TIMES.

use gapii_abi::atom::{GpuTime, GpuTimes, GpuTimesKind};

/// Most times in a record.
const TOLD_AT_ONCE: usize = 64;

/// Returns the record that says for a context or a command list why `count` commands have no times.
pub fn without(context: u64, kind: GpuTimesKind, count: u32) -> GpuTimes {
    GpuTimes { context, kind, count, from_ns: 0, to_ns: 0 }
}

/// Tells times of commands of a context; or of a command list, which was submitted at `submitted_ns`.
pub fn tell_times(context: u64, submitted_ns: u64, times: &[GpuTime], tell: &mut dyn FnMut(&[u8])) {
    for times in times.chunks(TOLD_AT_ONCE) {
        let record = without(context, GpuTimesKind::Times, times.len() as u32);
        let mut payload = GpuTimes { from_ns: submitted_ns, ..record }.encode().to_vec();
        payload.extend(times.iter().flat_map(GpuTime::encode));
        tell(&payload);
    }
}
