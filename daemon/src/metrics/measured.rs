//! What is measured: the session's counters and bounds, and the process' own use of the machine.

use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};

use gapii_abi::atom::EndReason;
use gapii_control::{Rejected, StatusInfo, Totals};
use rustix::process::{Resource, getrlimit};
use rustix::time::{ClockId, clock_gettime};

use super::exposition::{Exposition, Kind};
use crate::remote::links::Links;
use crate::session::Session;

/// All metrics as they are now.
pub fn text(session: &Session) -> String {
    let mut out = Exposition::default();
    let status = session.status();
    connected(session, &status, &mut out);
    captured(&status.totals, &mut out);
    refused(&status.rejected, &mut out);
    remote(&session.links, &mut out);
    process(&mut out);
    out.into_text()
}

/// Who is there, beside the bounds on them.
fn connected(session: &Session, status: &StatusInfo, out: &mut Exposition) {
    let mut gauge = |name: &str, help: &str, value: u64| {
        out.sample(Kind::Gauge, name, help, value);
    };
    gauge("gapiid_applications", "Applications that are connected.", status.apps.len() as u64);
    gauge("gapiid_applications_limit", "Applications that may be.", session.max_apps() as u64);
    gauge(
        "gapiid_slots_used",
        "Slots taken by threads, in the application with most.",
        session.slots_used() as u64,
    );
    gauge("gapiid_slots_limit", "Slots that each application has.", status.slot_count.into());
    gauge("gapiid_ring_bytes", "Size of the ring of each slot.", status.ring_bytes);
    let (clients, clients_limit) = session.clients();
    gauge("gapiid_clients", "Clients that are connected.", clients);
    gauge("gapiid_clients_limit", "Clients that may be.", clients_limit);
    gauge("gapiid_captures", "Captures that run.", status.captures.len() as u64);
    gauge("gapiid_captures_limit", "Captures that may run.", session.max_captures() as u64);
    gauge(
        "gapiid_kept_applications",
        "Applications whose last frames are kept.",
        status.kept.len() as u64,
    );
    let kept_ended = status.kept.iter().filter(|kept| !kept.is_running).count() as u64;
    gauge("gapiid_kept_ended_applications", "Those of them that have ended.", kept_ended);
    let kept_ended_limit = session.retention().count as u64;
    gauge("gapiid_kept_ended_applications_limit", "Those that may stay.", kept_ended_limit);
    let kept_bytes = status.kept.iter().map(|kept| kept.bytes).sum();
    gauge("gapiid_kept_bytes", "Memory that kept frames take.", kept_bytes);
    let kept_limit = status.kept.iter().map(|kept| kept.limits.bytes).sum();
    gauge("gapiid_kept_bytes_limit", "Memory that they may take.", kept_limit);
    let (contents, contents_limit) = session.stored();
    gauge("gapiid_contents_bytes", "Contents kept for later snapshots.", contents);
    gauge("gapiid_contents_bytes_limit", "Contents that may be.", contents_limit);
    let (memory, memory_limit) = session.memory();
    gauge("gapiid_memory_bytes", "Memory that the daemon has allocated.", memory);
    gauge("gapiid_memory_bytes_limit", "Memory that it may allocate.", memory_limit);
    let room = session.spill_room();
    let (aside, ever_aside) = room.bytes();
    gauge("gapiid_spilled_bytes", "What slow outputs have not taken yet.", aside);
    gauge("gapiid_spilled_bytes_limit", "What may be put aside for them.", room.limit);
    gauge("gapiid_spilled_capture_bytes_limit", "The same for each.", room.limit_each);
    out.sample(
        Kind::Counter,
        "gapiid_spilled_bytes_total",
        "What was ever put aside for slow outputs.",
        ever_aside,
    );

    let ended = session.ended_by_reason();
    let of_reason = |reason| (reason, ended.get(reason).copied().unwrap_or(0));
    out.labelled(
        (Kind::Counter, "gapiid_captures_ended_total", "Captures that have ended."),
        "reason",
        EndReason::ALL.iter().map(|reason| of_reason(reason.name())),
    );
    let build = (Kind::Gauge, "gapiid_build_info", "The version that runs.");
    out.labelled(build, "version", [(env!("CARGO_PKG_VERSION"), 1)]);
}

/// What all captures together hold, those that run included.
fn captured(totals: &Totals, out: &mut Exposition) {
    let mut counter = |name: &str, help: &str, value: u64| {
        out.sample(Kind::Counter, name, help, value);
    };
    counter("gapiid_frames_total", "Frames recorded.", totals.frames);
    counter("gapiid_calls_total", "Commands recorded.", totals.calls);
    counter("gapiid_records_total", "Records read from rings.", totals.records);
    counter("gapiid_raw_bytes_total", "Bytes recorded, before compression.", totals.raw_bytes);
    counter("gapiid_blob_bytes_total", "Bytes of blobs among them.", totals.blob_bytes);
    counter(
        "gapiid_stored_bytes_total",
        "Bytes of blobs that were kept, and not sent again.",
        totals.stored_bytes,
    );
    counter("gapiid_file_bytes_total", "Bytes written to traces.", totals.file_bytes);
    counter("gapiid_lost_calls_total", "Commands that are not in traces.", totals.lost.calls);
    counter("gapiid_lost_bytes_total", "Bytes that are not in traces.", totals.lost.bytes);
    counter("gapiid_waits_total", "Times that a thread waited for ring space.", totals.waits);
    out.sample(
        Kind::Counter,
        "gapiid_wait_seconds_total",
        "Time that threads waited for ring space.",
        totals.wait_ns as f64 / 1e9,
    );
}

fn refused(refused: &Rejected, out: &mut Exposition) {
    out.labelled(
        (Kind::Counter, "gapiid_refused_total", "Input that was turned away."),
        "what",
        [
            ("application_hello", refused.app_hellos),
            ("application_timeout", refused.app_timeouts),
            ("application_version", refused.app_versions),
            ("client_message", refused.ctl_messages),
            ("client_peer", refused.ctl_peers),
            ("client_timeout", refused.ctl_timeouts),
            ("ring", refused.rings),
        ],
    );
}

/// Remote clients, beside the bounds on them.
fn remote(links: &Links, out: &mut Exposition) {
    let (options, counters) = (&links.options, &links.counters);
    let mut gauge = |name: &str, help: &str, value: u64| {
        out.sample(Kind::Gauge, name, help, value);
    };
    let count = links.count() as u64;
    gauge(
        "gapiid_remote_clients",
        "Remote clients, those that have lost their connection too.",
        count,
    );
    gauge(
        "gapiid_remote_clients_limit",
        "Remote clients that may be.",
        options.remote_clients.into(),
    );
    let held = "Bytes held for remote clients until they are acknowledged.";
    gauge("gapiid_remote_tail_bytes", held, counters.held_bytes());
    gauge("gapiid_remote_tail_bytes_limit", "Bytes that may be, for each.", options.remote_tail);
    let mut counter = |name: &str, help: &str, value: &AtomicU64| {
        // Relaxed: a number for people.
        out.sample(Kind::Counter, name, help, value.load(Ordering::Relaxed));
    };
    let admitted = "Connections that were admitted.";
    counter("gapiid_remote_connections_total", admitted, &counters.connections);
    let resumed = "Connections with which a client went on.";
    counter("gapiid_remote_resumed_total", resumed, &counters.resumed);
    counter("gapiid_remote_lost_total", "Connections that were lost.", &counters.lost);
    let given_up = "Remote clients that did not come back in time.";
    counter("gapiid_remote_given_up_total", given_up, &counters.given_up);
    let bytes = "Bytes of traces that were taken for remote clients.";
    counter("gapiid_remote_output_bytes_total", bytes, &counters.output_bytes);
    out.labelled(
        (Kind::Counter, "gapiid_remote_refused_total", "Connections that were turned away."),
        "why",
        counters.refused(),
    );
}

/// The daemon's own use of the machine, by Prometheus' usual names.
fn process(out: &mut Exposition) {
    let cpu = clock_gettime(ClockId::ProcessCPUTime);
    let cpu_seconds = cpu.tv_sec as f64 + cpu.tv_nsec as f64 / 1e9;
    out.sample(Kind::Counter, "process_cpu_seconds_total", "Processor time.", cpu_seconds);
    if let Some(bytes) = resident_bytes() {
        out.sample(Kind::Gauge, "process_resident_memory_bytes", "Memory in use.", bytes);
    }
    if let Ok(entries) = fs::read_dir("/proc/self/fd") {
        // The one that reads the folder is among them.
        let open = entries.count().saturating_sub(1);
        out.sample(Kind::Gauge, "process_open_fds", "Open descriptors.", open);
    }
    if let Some(most) = getrlimit(Resource::Nofile).current {
        out.sample(Kind::Gauge, "process_max_fds", "Descriptors that may be open.", most);
    }
}

fn resident_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    Some(kib << 10)
}
