//! Times of frames: how long each took on the CPU, and, by timestamps of `GL_EXT_disjoint_timer_query`, on the GPU.
//!
//! Reads back no pixels and waits for no result while frames are played, so that it disturbs little: results of
//! timestamps are read when the driver has them, at the latest when the program releases their context.

mod gpu;
mod timer;

use std::time::Instant;

use gapii_commands::CommandId;
use schemars::JsonSchema;
use serde::Serialize;

use crate::call::Call;
use crate::parts::Parts;
use gpu::GpuTimes;

/// Measures the frames of a replay.
#[derive(Debug, Default)]
pub struct Benchmark {
    is_on: bool,
    /// Whether only the last frame is reported.
    is_of_last: bool,
    round: u64,
    /// The last frame that is played: process and number.
    last: Option<(u32, u64)>,
    /// When the frame before ended, or the replay began.
    since: Option<Instant>,
    gpu: GpuTimes,
    frames: Vec<MeasuredFrame>,
}

/// How long a frame took.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct MeasuredFrame {
    /// Number of the round, from 0: how often the trace, or its last frame, had been played before.
    pub round: u64,
    /// Index of the process in the trace.
    pub process: u32,
    /// Number of the frame within its process, from 0.
    pub frame: u64,
    /// Time from the end of the frame before, of any process, to the end of this one.
    pub cpu_ns: u64,
    /// Time from when the GPU reached the frame's first command until it had finished the last one; null if the driver
    /// did not measure it.
    pub gpu_ns: Option<u64>,
}

impl Benchmark {
    /// Measures all frames, or only the last one.
    pub fn on(is_of_last: bool, round: u64) -> Self {
        Self { is_on: true, is_of_last, round, ..Self::default() }
    }

    /// Notes that the replay begins, and which frame is the last one that is played.
    pub(crate) fn begin(&mut self, now: Instant, last: Option<(u32, u64)>) {
        (self.since, self.last) = (Some(now), last);
    }

    /// Gives the frames from here on the number of the next round.
    pub(crate) fn next_round(&mut self) {
        self.round += 1;
    }

    /// Called before each command of OpenGL ES that is played in its context.
    #[inline]
    pub(crate) fn before_gl(&mut self, call: &mut Call<'_, '_>) {
        if self.is_on && self.gpu.is_between_frames() {
            self.gpu.begin_frame(call);
        }
    }

    /// Called before each other command that is not a swap.
    pub(crate) fn before_egl(&mut self, call: &mut Call<'_, '_>) {
        if !self.is_on {
            return;
        }
        match call.command.known() {
            Some(CommandId::EGL_MAKE_CURRENT) => {
                let releases = call.u64(3) == 0;
                self.gpu.read(call.parts, call.command.thread, releases);
            }
            Some(
                CommandId::EGL_DESTROY_CONTEXT
                | CommandId::EGL_RELEASE_THREAD
                | CommandId::EGL_TERMINATE,
            ) => self.gpu.read(call.parts, call.command.thread, true),
            _ => {}
        }
    }

    /// Called before a swap.
    pub(crate) fn before_swap(&mut self, call: &mut Call<'_, '_>) {
        if self.is_on && call.recorded_result() != Some(0) && call.command.ends_frame {
            self.gpu.end_frame(call);
        }
    }

    /// Called at a command that is not a swap and ends a frame.
    pub(crate) fn before_frame_end(&mut self, call: &mut Call<'_, '_>) {
        if self.is_on {
            self.gpu.end_frame(call);
        }
    }

    /// Called after the command that ended a frame.
    pub(crate) fn frame_ended(&mut self, process: u32, frame: u64) {
        if !self.is_on {
            return;
        }
        let now = Instant::now();
        let cpu = self.since.replace(now).map_or(0, |since| (now - since).as_nanos());
        let (round, cpu_ns) = (self.round, u64::try_from(cpu).unwrap_or(u64::MAX));
        self.frames.push(MeasuredFrame { round, process, frame, cpu_ns, gpu_ns: None });
        self.gpu.next_frame();
    }

    /// Called before a thread ends, on this thread: its context is released then.
    pub(crate) fn thread_ends(&mut self, parts: &Parts, thread: u32) {
        if self.is_on {
            self.gpu.read(parts, thread, true);
        }
    }

    /// The times of the frames, in the order in which they ended.
    pub(crate) fn finish(self) -> Vec<MeasuredFrame> {
        let Self { is_of_last, last, frames, gpu, .. } = self;
        let timed = frames.into_iter().zip(0..).map(|(frame, index)| {
            let gpu_ns = gpu.of_frame(index);
            MeasuredFrame { gpu_ns, ..frame }
        });
        timed.filter(|it| !is_of_last || last == Some((it.process, it.frame))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frame_takes_the_time_since_the_one_before() {
        let frames = |is_of_last| {
            let mut benchmark = Benchmark::on(is_of_last, 2);
            benchmark.begin(Instant::now(), Some((0, 1)));
            benchmark.frame_ended(0, 0);
            benchmark.frame_ended(1, 0);
            benchmark.frame_ended(0, 1);
            benchmark.finish()
        };
        let all = frames(false);
        let of = |it: &MeasuredFrame| (it.round, it.process, it.frame, it.gpu_ns);
        assert_eq!(
            all.iter().map(of).collect::<Vec<_>>(),
            [(2, 0, 0, None), (2, 1, 0, None), (2, 0, 1, None)]
        );
        assert!(all.iter().all(|it| it.cpu_ns > 0), "{all:?}");
        let last = frames(true);
        assert_eq!(last.iter().map(of).collect::<Vec<_>>(), [(2, 0, 1, None)]);
    }

    #[test]
    fn nothing_is_measured_that_was_not_asked_for() {
        let mut benchmark = Benchmark::default();
        benchmark.frame_ended(0, 0);
        assert!(benchmark.finish().is_empty());
    }
}
