//! The threads between a capture's drain and its output: `write-N`, `compress-N`, and `spill-N` unless `--if-slow
//! wait`. A capture into memory has a keeper in place of the writer, and no spill. A writer that panics still reports
//! the capture's end, as `lost` with an error. Only a capture into a regular file can be continued by another daemon.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::Sender;
use std::{io, thread};

use gapii_abi::atom::EndReason;
use gapii_control::{IfSlow, Summary};
use gapii_ringbuf::CounterMap;
use gapii_trace::{BlockEncoder, TraceHeader};

use crate::backlog::{Ahead, Backlog, Done};
use crate::clock::Clock;
use crate::keeper::Keeper;
use crate::kept_frames::KeptFrames;
use crate::output::Output;
use crate::plan::Plan;
use crate::priority::yield_to_programs;
use crate::progress::Progress;
use crate::recover::Recovered;
use crate::spill::{Spill, SpillRoom};
use crate::writer::{Writer, Written};

/// Shared parts of the threads between a capture's drain and its output.
pub(crate) struct OutputThreads<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) backlog: Backlog,
    /// Sender of the reports of written blocks to the drain.
    pub(crate) done: Sender<Done>,
    /// The counter page whose doorbell wakes the drain.
    pub(crate) counter: Arc<CounterMap>,
    pub(crate) progress: Arc<Progress>,
    /// Set when no caller waits any more for a slow reader of the output.
    pub(crate) hurry: Arc<AtomicBool>,
    pub(crate) spill_room: &'a Arc<SpillRoom>,
    pub(crate) clock: Clock,
}

/// Reports the end of a capture once, even if the thread that owns it panics.
struct EndNotice {
    ended: Option<Box<dyn FnOnce(Summary) + Send>>,
}

impl OutputThreads<'_> {
    /// Starts the threads that write into `output`, behind the part that another daemon wrote, if one did.
    /// Returns whether another daemon could continue the capture. `ended` is called once the trace is written.
    pub(crate) fn write_file(
        self,
        output: OwnedFd,
        header: TraceHeader,
        recovered: Option<&Recovered>,
        ended: impl FnOnce(Summary) + Send + 'static,
    ) -> io::Result<bool> {
        let hurry = Arc::clone(&self.hurry);
        let output = match recovered {
            Some(recovered) => Output::go_on(output, hurry, recovered.end)?,
            None => Output::new(output, hurry)?,
        };
        let is_stream = output.is_stream();
        let level = self.plan.level;
        let begun = recovered.and_then(|recovered| recovered.header.as_ref());
        self.start_spiller(is_stream, begun.unwrap_or(&header).version)?;
        let mut writer = Writer::new(output, level, self.clock).map_err(io::Error::other)?;
        if let Some(recovered) = recovered
            && let Some(begun) = &recovered.header
        {
            writer.go_on(begun, recovered)?;
        }
        let Self { plan, backlog, done, counter, progress, .. } = self;
        thread::Builder::new().name(format!("write-{}", plan.id)).spawn(move || {
            // Made in the thread: without a thread there is no end to report.
            let notice = EndNotice::new(ended);
            notice.send(&writer.run(&header, &backlog, &done, (&progress, &counter)));
        })?;
        Ok(!is_stream)
    }

    /// Starts the thread that keeps blocks in memory. `held` is called with the number of frames so far and a duration in
    /// microseconds whenever a thread was held for a keyframe, and `ended` once the capture has ended.
    pub(crate) fn keep(
        self,
        kept: Arc<KeptFrames>,
        held: Box<dyn Fn(u64, u64) + Send>,
        ended: impl FnOnce(Summary) + Send + 'static,
    ) -> io::Result<()> {
        let Self { plan, backlog, done, counter, progress, .. } = self;
        let keeper = Keeper::new(kept, plan.level, progress, counter, held);
        let keeper = keeper.map_err(io::Error::other)?;
        thread::Builder::new().name(format!("write-{}", plan.id)).spawn(move || {
            let notice = EndNotice::new(ended);
            notice.send(&keeper.run(&backlog, &done));
        })?;
        Ok(())
    }

    /// Starts the thread that puts blocks aside, unless programs are to wait for a slow output.
    fn start_spiller(&self, is_stream: bool, version: u32) -> io::Result<()> {
        let spill = match self.plan.if_slow {
            IfSlow::Wait => return Ok(()),
            IfSlow::Drop => Spill::none(),
            IfSlow::Spill => Spill::new(Arc::clone(self.spill_room)),
        };
        let spiller = self.backlog.spiller(spill, is_stream);
        let (done, counter) = (self.done.clone(), Arc::clone(&self.counter));
        let level = self.plan.level;
        thread::Builder::new()
            .name(format!("spill-{}", self.plan.id))
            .spawn(move || spiller.run((level, version), &done, &counter))?;
        Ok(())
    }
}

/// Starts the thread of low priority that compresses blocks of the capture with this number in advance.
pub(crate) fn start_compressing(
    capture: u64,
    ahead: Ahead,
    mut encoder: BlockEncoder,
) -> io::Result<()> {
    thread::Builder::new().name(format!("compress-{capture}")).spawn(move || {
        yield_to_programs();
        ahead.run(&mut encoder);
    })?;
    Ok(())
}

impl EndNotice {
    fn new(ended: impl FnOnce(Summary) + Send + 'static) -> Self {
        Self { ended: Some(Box::new(ended)) }
    }

    fn send(mut self, written: &Written) {
        if let Some(ended) = self.ended.take() {
            ended(written.summary());
        }
    }
}

impl Drop for EndNotice {
    fn drop(&mut self) {
        if let Some(ended) = self.ended.take() {
            ended(Summary {
                reason: EndReason::Lost.name().to_owned(),
                error: Some("the writer of the capture failed".into()),
                ..Summary::default()
            });
        }
    }
}
