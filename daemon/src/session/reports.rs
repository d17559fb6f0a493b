//! Reports of the session, which one thread makes (`daemon/src/reporter.rs`) for the status page, for clients that ask
//! and for the metrics. A question is answered with the first report that is begun after it, so the answer is new, and
//! many questions cost one look at the applications. No task of the runtime looks at an application for a question.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use gapii_control::{Event, StatusInfo};
use tokio::sync::watch;

use crate::status_page::Changes;

/// The newest report, and the questions that it does not answer.
#[derive(Debug)]
pub struct Reports {
    newest: watch::Sender<Arc<Report>>,
    wanted: Mutex<Wanted>,
    is_wanted: Condvar,
    /// Reports so far.
    pub made: AtomicU64,
    /// Questions of clients so far.
    pub questions: AtomicU64,
}

/// Reasons to make a report.
#[derive(Debug, Default)]
struct Wanted {
    /// Questions so far.
    asked: u64,
    /// Questions that the newest report answers, or the one that is being made.
    answered: u64,
    /// Changes so far.
    changes: u64,
    /// Changes that the newest report has, or the one that is being made.
    shown: u64,
    /// The number of changes on the status page, if the daemon has one.
    on_page: Option<Changes>,
    /// The session ends.
    is_over: bool,
}

/// A report that is to be made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Order {
    /// Questions that it answers, of those so far.
    pub answers: u64,
    /// Changes that it shows, of those so far.
    pub changes: u64,
}

/// A report of the session.
#[derive(Debug, Default)]
pub struct Report {
    /// Questions that it answers.
    answers: u64,
    pub info: StatusInfo,
    pub use_of_apps: UseOfApps,
    apps: OnceLock<Option<Arc<[u8]>>>,
    status: OnceLock<Option<Arc<[u8]>>>,
}

/// What the applications use, beside what [`StatusInfo`] has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct UseOfApps {
    /// Used slots of the application that uses most.
    pub slots: u64,
    /// Bytes in the stores of all applications.
    pub stored_bytes: u64,
    /// Largest number of these bytes.
    pub stored_bytes_limit: u64,
    /// Applications whose last frames are kept.
    pub kept: u64,
    /// Those of them that have ended.
    pub kept_ended: u64,
    /// Bytes of kept frames.
    pub kept_bytes: u64,
    /// Largest number of these bytes.
    pub kept_bytes_limit: u64,
}

impl Default for Reports {
    fn default() -> Self {
        Self {
            newest: watch::Sender::new(Arc::default()),
            wanted: Mutex::default(),
            is_wanted: Condvar::new(),
            made: AtomicU64::new(0),
            questions: AtomicU64::new(0),
        }
    }
}

impl Reports {
    /// Returns the first report that is begun from now on. Waits for it, usually less than 20 ms.
    pub async fn next(&self) -> Arc<Report> {
        let mut newest = self.newest.subscribe();
        let question = {
            let mut wanted = self.lock();
            wanted.asked += 1;
            wanted.asked
        };
        self.is_wanted.notify_one();
        // The sender is in `self`.
        let found = newest.wait_for(|report| report.answers >= question).await;
        found.map(|report| Arc::clone(&report)).unwrap_or_default()
    }

    /// Notes that a report would say something else now. The status page says so before this returns.
    pub fn note_change(&self) {
        let mut wanted = self.lock();
        wanted.changes += 1;
        if let Some(on_page) = &wanted.on_page {
            on_page.set(wanted.changes);
        }
        drop(wanted);
        self.is_wanted.notify_one();
    }

    /// Shows the number of changes on the status page from now on.
    pub fn show_changes(&self, on_page: Changes) {
        let mut wanted = self.lock();
        on_page.set(wanted.changes);
        wanted.on_page = Some(on_page);
    }

    /// Lets [`Self::wait`] return for the last time.
    pub fn end(&self) {
        let mut wanted = self.lock();
        wanted.is_over = true;
        wanted.on_page = None;
        drop(wanted);
        self.is_wanted.notify_one();
    }

    /// Waits until a report is to be made: at `due`, after a change if the daemon has a status page, and for a question; but
    /// not before `earliest`, except at the end. Returns what the report answers and shows; `None` at the end.
    pub fn wait(&self, earliest: Instant, due: Option<Instant>) -> Option<Order> {
        let mut wanted = self.lock();
        loop {
            if wanted.is_over {
                return None;
            }
            let is_asked = wanted.asked > wanted.answered
                || wanted.changes > wanted.shown && wanted.on_page.is_some();
            let at = if is_asked { Some(earliest) } else { due.map(|due| due.max(earliest)) };
            let now = Instant::now();
            wanted = match at {
                Some(at) if at <= now => break,
                Some(at) => {
                    let waited = self.is_wanted.wait_timeout(wanted, at - now);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.is_wanted.wait(wanted).unwrap_or_else(PoisonError::into_inner),
            };
        }
        wanted.answered = wanted.asked;
        wanted.shown = wanted.changes;
        Some(Order { answers: wanted.answered, changes: wanted.shown })
    }

    /// Answers these questions with a report.
    pub fn publish(&self, answers: u64, info: StatusInfo, use_of_apps: UseOfApps) {
        // Relaxed: a number for people.
        self.made.fetch_add(1, Ordering::Relaxed);
        let report = Report { answers, info, use_of_apps, ..Report::default() };
        self.newest.send_replace(Arc::new(report));
    }

    fn lock(&self) -> MutexGuard<'_, Wanted> {
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Report {
    /// Returns [`Event::Apps`] as it is sent, encoded once; `None` if it is too long.
    pub fn apps(&self) -> Option<Arc<[u8]>> {
        let encoded = || encode(&Event::Apps(self.info.apps.clone()));
        self.apps.get_or_init(encoded).clone()
    }

    /// Returns [`Event::Status`] as it is sent, encoded once; `None` if it is too long.
    pub fn status(&self) -> Option<Arc<[u8]>> {
        let encoded = || encode(&Event::Status(self.info.clone()));
        self.status.get_or_init(encoded).clone()
    }
}

fn encode(event: &Event) -> Option<Arc<[u8]>> {
    gapii_control::encode(event).ok().map(Arc::from)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::status_page::Page;

    fn publish(reports: &Reports, answers: u64, pid: u32) {
        let info = StatusInfo { pid, ..StatusInfo::default() };
        reports.publish(answers, info, UseOfApps::default());
    }

    fn order(answers: u64, changes: u64) -> Option<Order> {
        Some(Order { answers, changes })
    }

    #[tokio::test]
    async fn questions_get_the_first_report_that_is_begun_after_them() {
        let reports = Arc::new(Reports::default());
        let ask = || {
            let reports = Arc::clone(&reports);
            tokio::spawn(async move { reports.next().await.info.pid })
        };
        let now = Instant::now();
        let first = [ask(), ask()];
        tokio::task::yield_now().await;
        assert_eq!(reports.wait(now, None), order(2, 0));
        // It comes while the report is being made.
        let late = ask();
        tokio::task::yield_now().await;
        publish(&reports, 2, 7);
        for question in first {
            assert_eq!(question.await.unwrap(), 7);
        }
        assert!(!late.is_finished());
        assert_eq!(reports.wait(now, None), order(3, 0));
        publish(&reports, 3, 8);
        assert_eq!(late.await.unwrap(), 8);
    }

    #[test]
    fn report_is_made_when_it_is_due_or_something_changed_and_not_too_early() {
        let reports = Reports::default();
        let page = Page::create((u64::MAX, u64::from(std::process::id()))).unwrap();
        reports.show_changes(page.changes());
        let now = Instant::now();
        assert_eq!(reports.wait(now, Some(now)), order(0, 0));
        let soon = now + Duration::from_millis(30);
        reports.note_change();
        assert_eq!(reports.wait(soon, None), order(0, 1));
        assert!(Instant::now() >= soon);
        reports.end();
        assert_eq!(reports.wait(now, Some(now)), None);
    }
}
