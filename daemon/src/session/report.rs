//! The session's report: to clients, on the status page, as metrics. Captures into memory are not in the list of
//! captures, but in the list of kept applications and in the number of captures.

use std::collections::BTreeMap;

use gapii_control::status::StatusPage;
use gapii_control::{CaptureInfo, Rejected, StatusInfo, Totals};

use crate::session::Session;
use crate::session::table::Table;
use crate::session::totals::{refused_rings, sum, totals};
use crate::{clock, memory};
use gapii_capture::capture::Capture;
use gapii_capture::spill::SpillRoom;
use gapii_trace::Untrusted;

impl Session {
    /// Returns the status as clients see it.
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

    /// Returns the counters of the status page.
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

    /// Returns how many captures have ended, by end reason.
    pub fn ended_by_reason(&self) -> BTreeMap<String, u64> {
        self.lock().ended_by_reason.clone()
    }

    /// Returns the room of temporary files for slow outputs.
    pub fn spill_room(&self) -> &SpillRoom {
        &self.spill_room
    }

    /// Returns the largest number of connected applications.
    pub fn max_apps(&self) -> usize {
        self.max_apps
    }

    /// Returns the number of connected clients, and its limit.
    pub fn clients(&self) -> (u64, u64) {
        (self.lock().clients as u64, self.max_clients as u64)
    }

    /// Returns the largest number of running captures.
    pub fn max_captures(&self) -> usize {
        self.max_captures
    }

    /// Returns the number of used slots in the application that uses most.
    pub fn slots_used(&self) -> usize {
        self.lock().processes.values().map(|process| process.active_slots()).max().unwrap_or(0)
    }

    /// Returns the number of allocated bytes, and its limit.
    pub fn memory(&self) -> (u64, u64) {
        (memory::allocated_bytes(), self.memory_limit)
    }

    /// Returns the number of bytes in the stores of all applications, and its limit.
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
            name: capture.plan.name.clone().map(Untrusted::from),
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
