//! The list of all metrics: the session's counters and limits, and the daemon's own use of the machine. A new metric
//! goes here. All are measured anew for each request; a number that `/proc` does not give is left out.

use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};

use gapii_abi::atom::EndReason;
use gapii_control::{Rejected, Totals};
use rustix::process::{Resource, getrlimit};
use rustix::time::{ClockId, clock_gettime};

use super::exposition::{Exposition, Kind};
use crate::door::WAITING_MAX;
use crate::log_limit;
use crate::remote::links::Links;
use crate::session::reports::Report;
use crate::session::{READERS_MAX, SAVES_MAX, Session};

/// Returns all metrics as they are now.
pub async fn text(session: &Session) -> String {
    let mut out = Exposition::default();
    let report = session.reports.next().await;
    let status = &report.info;
    connected(session, &report, &mut out);
    held(session, &report, &mut out);
    allocated(session, &mut out);
    captured(&status.totals, &mut out);
    refused(&status.rejected, &mut out);
    remote(&session.links, &mut out);
    process(&mut out);
    out.into_text()
}

/// Applications, clients and captures, with their limits.
fn connected(session: &Session, report: &Report, out: &mut Exposition) {
    let (status, (apps, captures)) = (&report.info, session.counts());
    let mut gauge = |name: &str, help: &str, value: u64| {
        out.sample(Kind::Gauge, name, help, value);
    };
    gauge("gapiid_applications", "Connected applications.", apps as u64);
    gauge(
        "gapiid_applications_limit",
        "Largest number of connected applications.",
        session.max_apps() as u64,
    );
    gauge(
        "gapiid_slots_used",
        "Slots used by threads, in the application that uses most.",
        report.use_of_apps.slots,
    );
    gauge("gapiid_slots_limit", "Slots of each application.", status.slot_count.into());
    gauge("gapiid_ring_bytes", "Size of each ring in bytes.", status.ring_bytes);
    let (clients, clients_limit) = session.clients();
    gauge("gapiid_clients", "Connected clients.", clients);
    gauge("gapiid_clients_limit", "Largest number of connected clients.", clients_limit);
    gauge("gapiid_captures", "Running captures.", captures as u64);
    gauge(
        "gapiid_captures_limit",
        "Largest number of running captures.",
        session.max_captures() as u64,
    );
    gauge(
        "gapiid_saves",
        "Saves of kept frames in progress.",
        (SAVES_MAX - session.saves.available_permits()) as u64,
    );
    gauge("gapiid_saves_limit", "Largest number of saves in progress.", SAVES_MAX as u64);
    let readers = (READERS_MAX - session.readers.available_permits()) as u64;
    gauge("gapiid_metrics_readers", "Readers of metrics.", readers);
    gauge("gapiid_metrics_readers_limit", "Largest number of readers.", READERS_MAX as u64);
    out.labelled(
        (Kind::Gauge, "gapiid_waiting", "Connections whose peer has not sent a hello."),
        "of",
        [
            ("applications", session.doors.apps.waiting() as u64),
            ("clients", session.doors.clients.waiting() as u64),
        ],
    );
    let waiting_limit = "Largest number of these connections for each socket.";
    out.sample(Kind::Gauge, "gapiid_waiting_limit", waiting_limit, WAITING_MAX as u64);
    reported(session, report, out);
    let ended = session.ended_by_reason();
    let of_reason = |reason| (reason, ended.get(reason).copied().unwrap_or(0));
    out.labelled(
        (Kind::Counter, "gapiid_captures_ended_total", "Captures that have ended."),
        "reason",
        EndReason::ALL.iter().map(|reason| of_reason(reason.name())),
    );
    let build = (Kind::Gauge, "gapiid_build_info", "The running version.");
    out.labelled(build, "version", [(env!("CARGO_PKG_VERSION"), 1)]);
}

/// Questions of clients, and the reports that answer them and go to the status page.
fn reported(session: &Session, report: &Report, out: &mut Exposition) {
    let mut counter = |name: &str, help: &str, value: &AtomicU64| {
        // Relaxed: a number for people.
        out.sample(Kind::Counter, name, help, value.load(Ordering::Relaxed));
    };
    let questions = "Questions of clients for the applications or the status.";
    counter("gapiid_questions_total", questions, &session.reports.questions);
    let made = "Reports made for the status page, for clients and for metrics.";
    counter("gapiid_reports_total", made, &session.reports.made);
    let (written, not_logged) = log_limit::counts();
    out.sample(Kind::Counter, "gapiid_log_lines_total", "Lines of the log.", written);
    let help = "Lines that the log lacks because too many came from one place in the code.";
    out.sample(Kind::Counter, "gapiid_log_left_out_total", help, not_logged);
    let left_out = report.info.left_out;
    out.labelled(
        (
            Kind::Gauge,
            "gapiid_report_left_out",
            "Entries that reports and the status page have no room for.",
        ),
        "what",
        [
            ("applications", left_out.apps),
            ("captures", left_out.captures),
            ("kept_applications", left_out.kept),
        ],
    );
}

/// Kept frames and stores, with their limits.
fn held(session: &Session, report: &Report, out: &mut Exposition) {
    let of_apps = report.use_of_apps;
    let mut gauge = |name: &str, help: &str, value: u64| {
        out.sample(Kind::Gauge, name, help, value);
    };
    gauge("gapiid_kept_applications", "Applications whose last frames are kept.", of_apps.kept);
    gauge(
        "gapiid_kept_ended_applications",
        "Ended applications whose last frames are kept.",
        of_apps.kept_ended,
    );
    gauge(
        "gapiid_kept_ended_applications_limit",
        "Largest number of ended applications whose last frames are kept.",
        session.retention().count as u64,
    );
    gauge("gapiid_kept_bytes", "Bytes of kept frames.", of_apps.kept_bytes);
    let kept_limit = "Largest number of bytes of kept frames.";
    gauge("gapiid_kept_bytes_limit", kept_limit, of_apps.kept_bytes_limit);
    let contents = "Bytes in the stores of all applications.";
    gauge("gapiid_contents_bytes", contents, of_apps.stored_bytes);
    gauge(
        "gapiid_contents_bytes_limit",
        "Largest number of bytes in the stores of all applications.",
        of_apps.stored_bytes_limit,
    );
}

/// Memory and temporary files, with their limits.
fn allocated(session: &Session, out: &mut Exposition) {
    let mut gauge = |name: &str, help: &str, value: u64| {
        out.sample(Kind::Gauge, name, help, value);
    };
    let (memory, memory_limit) = session.memory();
    gauge("gapiid_memory_bytes", "Bytes that the daemon has allocated.", memory);
    gauge(
        "gapiid_memory_bytes_limit",
        "Largest number of bytes that the daemon may allocate.",
        memory_limit,
    );
    let room = session.spill_room();
    let (aside, ever_aside) = room.bytes();
    gauge("gapiid_spilled_bytes", "Bytes in temporary files for slow outputs.", aside);
    gauge("gapiid_spilled_bytes_limit", "Largest number of bytes in temporary files.", room.limit);
    gauge(
        "gapiid_spilled_capture_bytes_limit",
        "Largest number of bytes in the temporary file of one capture.",
        room.limit_each,
    );
    out.sample(
        Kind::Counter,
        "gapiid_spilled_bytes_total",
        "Bytes ever written to temporary files for slow outputs.",
        ever_aside,
    );
}

/// Sums over all captures, including running ones.
fn captured(totals: &Totals, out: &mut Exposition) {
    let mut counter = |name: &str, help: &str, value: u64| {
        out.sample(Kind::Counter, name, help, value);
    };
    counter("gapiid_frames_total", "Frames recorded.", totals.frames);
    counter("gapiid_calls_total", "Commands recorded.", totals.calls);
    counter("gapiid_records_total", "Records read from rings.", totals.records);
    counter("gapiid_raw_bytes_total", "Bytes recorded, before compression.", totals.raw_bytes);
    counter("gapiid_blob_bytes_total", "Bytes of blobs recorded.", totals.blob_bytes);
    counter(
        "gapiid_stored_bytes_total",
        "Bytes of blobs that came from stores and were not sent again.",
        totals.stored_bytes,
    );
    counter("gapiid_file_bytes_total", "Bytes written to traces.", totals.file_bytes);
    counter(
        "gapiid_lost_calls_total",
        "Commands that programs produced and that are in no trace.",
        totals.lost.calls,
    );
    counter(
        "gapiid_lost_bytes_total",
        "Bytes that programs produced and that are in no trace.",
        totals.lost.bytes,
    );
    counter(
        "gapiid_waits_total",
        "Number of times that threads waited for ring space.",
        totals.waits,
    );
    out.sample(
        Kind::Counter,
        "gapiid_wait_seconds_total",
        "Time that threads waited for ring space.",
        totals.wait_ns as f64 / 1e9,
    );
}

fn refused(refused: &Rejected, out: &mut Exposition) {
    out.labelled(
        (Kind::Counter, "gapiid_refused_total", "Refused input."),
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

/// Remote clients, with their limits.
fn remote(links: &Links, out: &mut Exposition) {
    let (options, counters) = (&links.options, &links.counters);
    let mut gauge = |name: &str, help: &str, value: u64| {
        out.sample(Kind::Gauge, name, help, value);
    };
    let count = links.count() as u64;
    gauge(
        "gapiid_remote_clients",
        "Remote clients, including those that have lost their connection.",
        count,
    );
    gauge(
        "gapiid_remote_clients_limit",
        "Largest number of remote clients.",
        options.remote_clients.into(),
    );
    let held = "Bytes held for remote clients until they are acknowledged.";
    gauge("gapiid_remote_tail_bytes", held, counters.held_bytes());
    gauge(
        "gapiid_remote_tail_bytes_limit",
        "Largest number of bytes held for each remote client.",
        options.remote_tail,
    );
    let mut counter = |name: &str, help: &str, value: &AtomicU64| {
        // Relaxed: a number for people.
        out.sample(Kind::Counter, name, help, value.load(Ordering::Relaxed));
    };
    let admitted = "Admitted connections of remote clients.";
    counter("gapiid_remote_connections_total", admitted, &counters.connections);
    let resumed = "Connections of remote clients that resumed a link.";
    counter("gapiid_remote_resumed_total", resumed, &counters.resumed);
    counter("gapiid_remote_lost_total", "Lost connections of remote clients.", &counters.lost);
    let given_up = "Remote clients that did not come back in time.";
    counter("gapiid_remote_given_up_total", given_up, &counters.given_up);
    let bytes = "Bytes of traces for remote clients.";
    counter("gapiid_remote_output_bytes_total", bytes, &counters.output_bytes);
    out.labelled(
        (Kind::Counter, "gapiid_remote_refused_total", "Refused connections of remote clients."),
        "why",
        counters.refused(),
    );
}

/// The daemon's own use of the machine, under Prometheus' usual names.
fn process(out: &mut Exposition) {
    let cpu = clock_gettime(ClockId::ProcessCPUTime);
    let cpu_seconds = cpu.tv_sec as f64 + cpu.tv_nsec as f64 / 1e9;
    out.sample(Kind::Counter, "process_cpu_seconds_total", "Processor time.", cpu_seconds);
    if let Ok(threads) = fs::read_dir("/proc/self/task") {
        let help = "Threads of the daemon.";
        out.sample(Kind::Gauge, "gapiid_threads", help, threads.count());
    }
    if let Some(bytes) = resident_bytes() {
        out.sample(
            Kind::Gauge,
            "process_resident_memory_bytes",
            "Resident memory in bytes.",
            bytes,
        );
    }
    if let Ok(entries) = fs::read_dir("/proc/self/fd") {
        // One of them reads the folder.
        let open = entries.count().saturating_sub(1);
        out.sample(Kind::Gauge, "process_open_fds", "Open descriptors.", open);
    }
    if let Some(most) = getrlimit(Resource::Nofile).current {
        out.sample(Kind::Gauge, "process_max_fds", "Largest number of open descriptors.", most);
    }
}

fn resident_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    Some(kib << 10)
}
