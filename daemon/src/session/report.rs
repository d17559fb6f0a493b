//! The session's report: to clients, on the status page, as metrics. A capture into memory is in the list of captures,
//! and its application in the list of kept applications.

use std::collections::BTreeMap;
use std::sync::Arc;

use gapii_control::{CaptureInfo, KeptInfo, Rejected, StatusInfo, Totals};

use crate::session::Session;
use crate::session::reports::UseOfApps;
use crate::session::table::Table;
use crate::session::totals::{refused_rings, sum, totals};
use crate::{clock, memory};
use gapii_capture::capture::Capture;
use gapii_capture::process::Process;
use gapii_capture::spill::SpillRoom;
use gapii_trace::Untrusted;

impl Session {
    /// Returns the status as clients see it, and what the applications use. Takes long where there are many
    /// applications; holds the table's lock only to copy its lists.
    pub fn report(&self) -> (StatusInfo, UseOfApps) {
        let now_ns = clock::monotonic_ns();
        let table = self.lock();
        let processes: Vec<_> = table.processes.values().cloned().collect();
        let captures: Vec<_> = table.captures.values().cloned().collect();
        let keeps = table.keeps.clone();
        let totals = table.totals();
        let rings = table.refused_rings();
        drop(table);
        let mut info = StatusInfo {
            daemon_version: env!("CARGO_PKG_VERSION").to_owned(),
            pid: std::process::id(),
            session: self.id_text(),
            uptime_ns: now_ns.saturating_sub(self.started_ns),
            apps: processes.iter().map(|process| process.info()).collect(),
            captures: captures.iter().map(|it| capture_info(it, &processes, now_ns)).collect(),
            kept: keeps.iter().map(|keep| keep.info()).collect(),
            slot_count: self.layout.slot_count(),
            ring_bytes: self.layout.ring_bytes(),
            totals,
            rejected: Rejected { rings, ..self.rejected.read() },
            ..StatusInfo::default()
        };
        let use_of_apps = use_of(&processes, &info.kept);
        info.shorten();
        (info, use_of_apps)
    }

    /// Returns the numbers of connected applications and running captures.
    pub fn counts(&self) -> (usize, usize) {
        let table = self.lock();
        (table.processes.len(), table.captures.len())
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

    /// Returns the number of allocated bytes, and its limit.
    pub fn memory(&self) -> (u64, u64) {
        (memory::allocated_bytes(), self.memory_limit)
    }
}

fn use_of(processes: &[Arc<Process>], kept: &[KeptInfo]) -> UseOfApps {
    let slots = processes.iter().map(|process| process.active_slots() as u64).max().unwrap_or(0);
    let stores = processes.iter().filter_map(|process| process.store());
    let first = UseOfApps {
        slots,
        kept: kept.len() as u64,
        kept_ended: kept.iter().filter(|kept| !kept.is_running).count() as u64,
        kept_bytes: kept.iter().map(|kept| kept.bytes).sum(),
        kept_bytes_limit: kept.iter().map(|kept| kept.limits.bytes).sum(),
        ..UseOfApps::default()
    };
    stores.fold(first, |sum, store| UseOfApps {
        stored_bytes: sum.stored_bytes + store.held_bytes(),
        stored_bytes_limit: sum.stored_bytes_limit + store.limit,
        ..sum
    })
}

fn capture_info(capture: &Capture, processes: &[Arc<Process>], now_ns: u64) -> CaptureInfo {
    let id = capture.plan.id;
    let members = processes.iter().filter(|process| capture.has(process.index));
    CaptureInfo {
        capture: id,
        name: capture.plan.name.clone().map(Untrusted::from),
        client: capture.plan.client,
        keeps: capture.kept.is_some(),
        pids: members.map(|process| process.pid).collect(),
        running_ns: now_ns.saturating_sub(capture.started.monotonic_ns),
        progress: capture.progress.message(id),
        ..CaptureInfo::default()
    }
}

impl Table {
    pub(super) fn refused_rings(&self) -> u64 {
        let running = self.captures.values().map(|capture| refused_rings(capture));
        self.ended_refused_rings + running.sum::<u64>()
    }

    pub(super) fn totals(&self) -> Totals {
        let running = self.captures.values().map(|capture| totals(capture));
        running.fold(self.ended.clone(), |sum_so_far, totals| sum(&sum_so_far, &totals))
    }
}
