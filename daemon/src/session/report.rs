//! What the session says of itself: to clients, on the status page, as metrics.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use gapii_protocol::control::{self, CaptureInfo, Rejected, StatusInfo, Totals};
use gapii_protocol::status::StatusPage;

use crate::session::Session;
use crate::session::table::Table;
use crate::{clock, memory};
use gapii_capture::capture::Capture;
use gapii_capture::spill::SpillRoom;

/// What was turned away.
#[derive(Debug, Default)]
pub struct Counters {
    pub app_hellos: AtomicU64,
    pub app_versions: AtomicU64,
    pub app_timeouts: AtomicU64,
    pub ctl_messages: AtomicU64,
    pub ctl_peers: AtomicU64,
    pub ctl_timeouts: AtomicU64,
}

impl Session {
    pub fn status(&self) -> StatusInfo {
        let now_ns = clock::monotonic_ns();
        let table = self.lock();
        StatusInfo {
            daemon_version: env!("CARGO_PKG_VERSION").to_owned(),
            pid: std::process::id(),
            session: self.id_text(),
            uptime_ns: now_ns.saturating_sub(self.started_ns),
            apps: table.processes.values().map(|process| process.info()).collect(),
            captures: table
                .captures
                .values()
                .filter(|capture| capture.kept.is_none())
                .map(|capture| table.capture_info(capture, now_ns))
                .collect(),
            kept: table.keeps.iter().map(|keep| keep.info()).collect(),
            slot_count: self.layout.slot_count(),
            ring_bytes: self.layout.ring_bytes(),
            totals: table.totals(),
            rejected: Rejected { rings: table.refused_rings(), ..self.rejected.read() },
        }
    }

    /// The counters of the status page.
    pub fn page(&self) -> StatusPage {
        let table = self.lock();
        let totals = table.totals();
        StatusPage {
            apps: table.processes.len() as u32,
            captures: table.captures.len() as u32,
            frames: totals.frames,
            calls: totals.calls,
            records: totals.records,
            raw_bytes: totals.raw_bytes,
            blob_bytes: totals.blob_bytes,
            file_bytes: totals.file_bytes,
            waits: totals.waits,
            wait_ns: totals.wait_ns,
            lost_calls: totals.lost.calls,
            lost_bytes: totals.lost.bytes,
            ..StatusPage::default()
        }
    }

    /// How many captures have ended, by the reason.
    pub fn ended_by_reason(&self) -> BTreeMap<String, u64> {
        self.lock().ended_by_reason.clone()
    }

    /// Where captures put aside what their outputs do not take.
    pub fn spill_room(&self) -> &SpillRoom {
        &self.spill_room
    }

    /// Applications that may be connected.
    pub fn max_apps(&self) -> usize {
        self.max_apps
    }

    /// Clients that are connected, and those that may be.
    pub fn clients(&self) -> (u64, u64) {
        (self.lock().clients as u64, self.max_clients as u64)
    }

    /// Captures that may run.
    pub fn max_captures(&self) -> usize {
        self.max_captures
    }

    /// Slots that threads have, in the application where most do.
    pub fn slots_used(&self) -> usize {
        self.lock().processes.values().map(|process| process.slots_used()).max().unwrap_or(0)
    }

    /// Memory that is allocated, and that may be, in bytes.
    pub fn memory(&self) -> (u64, u64) {
        (memory::allocated_bytes(), self.memory_limit)
    }

    /// Bytes that the stores of all applications hold, and those that they may.
    pub fn stored(&self) -> (u64, u64) {
        let table = self.lock();
        let stores = table.processes.values().filter_map(|process| process.store());
        stores.fold((0, 0), |(held, limit), store| (held + store.held_bytes(), limit + store.limit))
    }
}

impl Table {
    pub(super) fn capture_info(&self, capture: &Capture, now_ns: u64) -> CaptureInfo {
        let id = capture.plan.id;
        let members = self.processes.values().filter(|process| capture.has(process.index));
        CaptureInfo {
            capture: id,
            name: capture.plan.name.clone(),
            client: capture.plan.client,
            pids: members.map(|process| process.pid).collect(),
            running_ns: now_ns.saturating_sub(capture.started_ns),
            progress: capture.progress.message(id),
        }
    }

    pub(super) fn refused_rings(&self) -> u64 {
        let running = self.captures.values().map(|capture| refused_rings(capture));
        self.ended_refused_rings + running.sum::<u64>()
    }

    pub(super) fn totals(&self) -> Totals {
        let running = self.captures.values().map(|capture| totals(capture));
        running.fold(self.ended.clone(), |sum_so_far, totals| sum(&sum_so_far, &totals))
    }
}

/// What a capture adds to the sums. What is kept is in no file, and may become less.
pub(super) fn totals(capture: &Capture) -> Totals {
    let totals = capture.progress.totals();
    let file_bytes = if capture.kept.is_some() { 0 } else { totals.file_bytes };
    Totals { file_bytes, ..totals }
}

pub(super) fn refused_rings(capture: &Capture) -> u64 {
    // Relaxed: a number for people.
    capture.progress.refused_rings.load(Ordering::Relaxed)
}

impl Counters {
    /// Counts one.
    pub fn count(&self, counter: impl Fn(&Self) -> &AtomicU64) {
        // Relaxed: a number for people.
        counter(self).fetch_add(1, Ordering::Relaxed);
    }

    fn read(&self) -> Rejected {
        // Relaxed: numbers for people.
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Rejected {
            app_hellos: read(&self.app_hellos),
            app_versions: read(&self.app_versions),
            app_timeouts: read(&self.app_timeouts),
            ctl_messages: read(&self.ctl_messages),
            ctl_peers: read(&self.ctl_peers),
            ctl_timeouts: read(&self.ctl_timeouts),
            ..Rejected::default()
        }
    }
}

/// Both. Some are what programs say of themselves: a sum that would be too large stays at the end of its
/// range.
pub(super) fn sum(a: &Totals, b: &Totals) -> Totals {
    let of = |counter: fn(&Totals) -> u64| counter(a).saturating_add(counter(b));
    Totals {
        captures: of(|it| it.captures),
        frames: of(|it| it.frames),
        calls: of(|it| it.calls),
        records: of(|it| it.records),
        raw_bytes: of(|it| it.raw_bytes),
        blob_bytes: of(|it| it.blob_bytes),
        stored_bytes: of(|it| it.stored_bytes),
        ring_bytes: of(|it| it.ring_bytes),
        file_bytes: of(|it| it.file_bytes),
        lost: control::Lost { calls: of(|it| it.lost.calls), bytes: of(|it| it.lost.bytes) },
        waits: of(|it| it.waits),
        wait_ns: of(|it| it.wait_ns),
    }
}
