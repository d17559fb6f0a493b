//! The thread that makes the session's reports, writes them into the status page and answers questions with them. It
//! makes one every 250 ms (`PERIOD`) while numbers change and every 1 s (`QUIET`) while none does, sleeps while nothing is
//! connected, and makes one at once after a change and for a question, but not within 20 ms (`SPACING`) after the one
//! before. Where reports cost much, they come less often, so that this thread uses at most a tenth of a processor for
//! questions (`SPACING_COSTS`), and a fortieth otherwise (`PERIOD_COSTS`). A daemon without a page makes reports for
//! questions only.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use gapii_control::StatusInfo;
use gapii_control::status::Moment;
use rustix::time::{ClockId, clock_gettime};

use crate::clock;
use crate::session::Session;
use crate::session::reports::Order;
use crate::status_page::Page;

/// Time between two reports while numbers change.
const PERIOD: Duration = Duration::from_millis(250);
/// Time between two reports while no number changes.
const QUIET: Duration = Duration::from_secs(1);
/// Shortest time between two reports.
const SPACING: Duration = Duration::from_millis(20);
/// Shortest time between two reports, in multiples of the processor time that the last one took.
const SPACING_COSTS: u32 = 10;
/// Time between two reports that nobody asked for, in multiples of the processor time that the last one took.
const PERIOD_COSTS: u32 = 40;

/// The running thread. It ends on drop, and its page with it.
#[derive(Debug)]
pub struct Reporter {
    session: Arc<Session>,
    thread: Option<JoinHandle<()>>,
}

impl Reporter {
    /// Starts the thread.
    pub fn start(session: &Arc<Session>, page: Option<Page>) -> std::io::Result<Self> {
        if let Some(page) = &page {
            session.reports.show_changes(page.changes());
        }
        let of_thread = Arc::clone(session);
        let report = move || make_reports(&of_thread, page);
        let thread = Builder::new().name("reports".to_owned()).spawn(report)?;
        Ok(Self { session: Arc::clone(session), thread: Some(thread) })
    }
}

impl Drop for Reporter {
    fn drop(&mut self) {
        self.session.reports.end();
        // A panic has been reported, and nothing waits for its result.
        self.thread.take().map(JoinHandle::join);
    }
}

fn make_reports(session: &Session, mut page: Option<Page>) {
    let mut before = StatusInfo::default();
    let mut earliest = Instant::now();
    let mut due = page.is_some().then_some(earliest);
    let mut cost = Duration::ZERO;
    while let Some(Order { answers, changes }) = session.reports.wait(earliest, due) {
        let (began, cost_began) = (Instant::now(), processor_time());
        let updated_ns = clock::monotonic_ns();
        let (info, use_of_apps) =
            made(|| session.report(), || (before.clone(), Default::default()));
        let period = period(&before, &info).map(|period| period.max(cost * PERIOD_COSTS));
        if let Some(page) = &mut page {
            let due_ns = period.map_or(u64::MAX, |period| updated_ns + period.as_nanos() as u64);
            if !page.show(Moment { updated_ns, due_ns, changes }, &info) {
                tracing::debug!("the status page has no room for a report");
            }
        }
        before.clone_from(&info);
        session.reports.publish(answers, info, use_of_apps);
        cost = processor_time().saturating_sub(cost_began);
        earliest = began + SPACING.max(cost * SPACING_COSTS);
        due = period.filter(|_| page.is_some()).map(|period| began + period);
    }
}

/// Makes a report. One that panics, which has been reported, is replaced: clients wait for answers, and the page must not
/// stand still.
fn made<T>(report: impl FnOnce() -> T, replacement: impl FnOnce() -> T) -> T {
    // The session's locks ignore that their holder has panicked.
    std::panic::catch_unwind(AssertUnwindSafe(report)).unwrap_or_else(|_| {
        tracing::error!("a report of the session could not be made; the one before is shown again");
        replacement()
    })
}

/// Returns the time until the next report; `None` if only a change can give it other numbers.
fn period(before: &StatusInfo, now: &StatusInfo) -> Option<Duration> {
    let is_alone = now.apps.is_empty() && now.captures.is_empty();
    let period = if is_same(before, now) { QUIET } else { PERIOD };
    (!is_alone).then_some(period)
}

/// Returns whether two reports differ at most in times.
fn is_same(before: &StatusInfo, now: &StatusInfo) -> bool {
    before.apps.len() == now.apps.len()
        && before.captures.len() == now.captures.len()
        && before.totals == now.totals
        && before.rejected == now.rejected
        && before.apps.iter().zip(&now.apps).all(|(before, now)| {
            (before.process, before.frames, before.contexts, &before.mode, before.counts)
                == (now.process, now.frames, now.contexts, &now.mode, now.counts)
        })
        && before
            .captures
            .iter()
            .zip(&now.captures)
            .all(|(before, now)| (before.capture, &before.progress) == (now.capture, &now.progress))
}

/// Returns the processor time of this thread.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[cfg(test)]
mod tests {
    use gapii_control::{AppInfo, CaptureInfo};

    use super::*;

    #[test]
    fn report_that_panics_is_replaced() {
        assert_eq!(made(|| 1, || 2), 1);
        assert_eq!(made(|| panic!("as this test wants it"), || 2), 2);
    }

    #[test]
    fn reports_come_less_often_while_nothing_happens() {
        let app = |frames, connected_ns| AppInfo { frames, connected_ns, ..AppInfo::default() };
        let of = |apps: Vec<AppInfo>| StatusInfo { apps, ..StatusInfo::default() };
        let check = |before: &StatusInfo, now: &StatusInfo, expected| {
            assert_eq!(period(before, now), expected, "{before:?}, then {now:?}");
        };
        let alone = of(Vec::new());
        check(&of(vec![app(5, 1)]), &alone, None);
        check(&alone, &of(vec![app(0, 1)]), Some(PERIOD));
        check(&of(vec![app(5, 1)]), &of(vec![app(5, 2)]), Some(QUIET));
        check(&of(vec![app(5, 1)]), &of(vec![app(6, 2)]), Some(PERIOD));
        let captures = vec![CaptureInfo::default()];
        check(&alone, &StatusInfo { captures, ..StatusInfo::default() }, Some(PERIOD));
    }
}
