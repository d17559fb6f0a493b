//! Messages to the service manager: the daemon is ready, its state, that it ends, and, at half the watchdog's interval,
//! that it is alive. The watchdog is served only while the session's lock can be taken. Without a manager none are
//! sent; a message that cannot be sent is only logged at level debug.

use std::time::Duration;

use sd_notify::NotifyState;

use crate::session::Session;

/// Shortest interval between messages: 1 ms.
const TICK_MIN: Duration = Duration::from_millis(1);

/// The text that the manager shows for the service; sent when it changes.
#[derive(Debug, Default)]
pub struct StatusLine(String);

impl StatusLine {
    /// Sends the session's present numbers to the manager, if they have changed.
    pub fn update(&mut self, session: &Session) {
        let (apps, captures) = session.counts();
        let line = format!(
            "{} connected, {} under way",
            counted(apps, "application"),
            counted(captures, "capture")
        );
        if line != self.0 {
            notify(NotifyState::Status(&line));
            self.0 = line;
        }
    }
}

/// Tells the manager that the daemon is ready.
pub fn ready() {
    notify(NotifyState::Ready);
}

/// Tells the manager that the daemon ends.
pub fn stopping() {
    notify(NotifyState::Stopping);
}

/// Notifies the manager's watchdog as long as this is polled and the session answers.
pub async fn keep_watch(session: &Session) {
    let mut limit_us = 0;
    if !sd_notify::watchdog_enabled(false, &mut limit_us) {
        return std::future::pending().await;
    }
    let mut tick = tokio::time::interval(Duration::from_micros(limit_us / 2).max(TICK_MIN));
    loop {
        tick.tick().await;
        session.counts();
        notify(NotifyState::Watchdog);
    }
}

fn notify(state: NotifyState<'_>) {
    if let Err(error) = sd_notify::notify(false, &[state]) {
        tracing::debug!("the service manager cannot be notified: {error}");
    }
}

fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}
