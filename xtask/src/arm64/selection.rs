//! Which tests run as programs for arm64, and why the others do not.
//!
//! Names are those of a module or a test, as `recording::order`; of two that fit, the longer one decides. A new
//! whole-system test in a module that is not listed needs a line here.

/// The targets with whole-system tests that run.
pub const TARGETS: &[&str] = &["recording", "replay", "tools"];

/// Modules and tests that run: rings, the shim with its entry points, attaching, tracers, and replay.
const RUN: &[&str] = &[
    "recording::attach::attachment_that_was_deleted_is_played",
    "recording::attach::program_that_is_not_monitored_is_recorded_without_what_was_before",
    "recording::attach::two_threads_are_attached_to_at_random_moments",
    "recording::children::child_of_vfork_that_execs_is_recorded",
    "recording::exports",
    "recording::guest::crash_in_the_driver_leaves_the_call_in_the_trace",
    "recording::guest::errno_and_floating_point_state_come_out_as_they_went_in",
    "recording::guest::signal_handler_that_calls_is_safe",
    "recording::loading",
    "recording::memory::blob_larger_than_a_ring_comes_in_pieces",
    "recording::memory::memory_that_is_not_there_is_said_not_to_be",
    "recording::order",
    "replay::pixels::last_value_is_that_of_the_picture",
    "replay::sources",
    "replay::trim::part_from_the_first_frame_on_has_no_snapshot",
    "tools::tracers",
];

/// Modules and tests that do not run, and why.
const LEFT_OUT: &[(&str, &str)] = &[
    ("recording::attach", SAME),
    ("recording::attach_copies", SAME),
    ("recording::attach_objects", SAME),
    ("recording::attach_progress", SAME),
    ("recording::children", KEEPS),
    ("recording::clock", TIMES),
    ("recording::confined", "qemu has no seccomp"),
    ("recording::containers", "needs bubblewrap"),
    ("recording::driver_calls", SAME),
    ("recording::empty_traces", SAME),
    ("recording::filters", SAME),
    ("recording::frame_ends", SAME),
    ("recording::frames", SAME),
    ("recording::gpu_timing", TIMES),
    ("recording::guest", SAME),
    ("recording::headless", TIMES),
    ("recording::instruction_counts", "valgrind does not run under qemu"),
    ("recording::kill", "many runs, each of which takes qemu minutes"),
    ("recording::loading::program_that_opens_libraries_of_glx_is_recorded_and_played", DISPLAY),
    (
        "recording::loading::program_that_has_the_archive_linked_in_is_recorded",
        "qemu's linker takes more than two minutes for the archive",
    ),
    ("recording::locked", "qemu locks memory of its own"),
    ("recording::many_threads", "thousands of threads, each of which qemu starts by itself"),
    ("recording::memory", SAME),
    (
        "recording::order::token_handed_against_the_order_of_rings_is_recorded_in_hand_over_order",
        SPINS,
    ),
    ("recording::order::token_of_four_threads_is_recorded_in_hand_over_order", SPINS),
    ("recording::order::token_of_two_processes_is_recorded_in_hand_over_order", SPINS),
    ("recording::real_programs", DISPLAY),
    ("recording::reasons", PROC),
    ("recording::secure", "qemu is no set-uid program"),
    ("recording::silent_daemon", TIMES),
    ("recording::snapshots", "hundreds of programs"),
    ("recording::stored", SAME),
    ("recording::timing", TIMES),
    ("recording::trace_file", SAME),
    ("recording::transparency", "hundreds of programs"),
    ("recording::waiting", PROC),
    ("recording::waking", TIMES),
    ("recording::when", SAME),
    ("replay::apps", "hundreds of replays"),
    ("replay::desktop", SAME),
    ("replay::glx", DISPLAY),
    ("replay::images", SAME),
    ("replay::imported", SAME),
    ("replay::limits", "qemu takes no limit on memory and addresses"),
    ("replay::machines", SAME),
    ("replay::pixels", SAME),
    ("replay::replay_programs", DISPLAY),
    ("replay::sandbox", "qemu has neither seccomp nor Landlock"),
    ("replay::trim", SAME),
    ("tools", "readers of traces, which are tested on this machine"),
    ("tools::tracers::example_in_rust_does_the_same", RUST_TOOL),
    ("tools::tracers::headers_compile_by_themselves_as_c99_and_as_cpp", "needs a C++ compiler"),
    ("tools::tracers::pkg_config_says_where_headers_and_library_are", "needs pkg-config"),
    ("tools::tracers::tool_in_rust_says_where_it_should_be_loaded", RUST_TOOL),
    ("tools::tracers::tracer_of_a_set_uid_program_stays_disabled", "qemu is no set-uid program"),
];

const KEEPS: &str = "qemu answers MADV_WIPEONFORK with success, and wipes nothing";
const SPINS: &str = "threads spin until it is their turn, which takes qemu many minutes";
const RUST_TOOL: &str = "the example in Rust is not built for arm64";
const SAME: &str = "a matter of OpenGL and of the protocol, not of the processor";
const TIMES: &str = "compares times, which are qemu's";
const DISPLAY: &str = "needs an X server and programs of Debian";
const PROC: &str = "/proc names qemu as the program of each process";

/// Unit tests that do not run: package, part of the test's name, and why.
pub const UNITS_LEFT_OUT: &[(&str, &str, &str)] = &[
    ("gapii-replay", "only_drafts_of_this_process_are_removed", "the test is process 1 there"),
    (
        "gapii-replay",
        "fuzz_inputs_are_played_or_refused",
        "hundreds of replays, and qemu keeps tables for all addresses that each of them reserves",
    ),
    (
        "gapii-ringbuf",
        "mapped_segment_is_left_out_of_core_dumps",
        "qemu shows no flags of mappings",
    ),
    ("gapii-ringbuf", "token_passed", SPINS),
    ("gapii-ringbuf", "child_of_a_fork_is_detached_when_its_producer_is_wiped", KEEPS),
    (
        "gapii-ringbuf",
        "memory_of_a_ring_is_returned_when_its_owners_have_written_much",
        "qemu answers MADV_REMOVE with success, and returns nothing",
    ),
];

/// Whether a whole-system test runs, by its name `TARGET::MODULE::TEST`; `None` for a name that no list has.
pub fn choice(name: &str) -> Option<bool> {
    let longest = |names: &mut dyn Iterator<Item = &'static str>| {
        names.filter(|listed| fits(name, listed)).map(str::len).max()
    };
    let runs = longest(&mut RUN.iter().copied());
    let left_out = longest(&mut LEFT_OUT.iter().map(|(listed, _)| *listed));
    (runs.is_some() || left_out.is_some()).then_some(runs > left_out)
}

/// Whether `listed` is the test `name` or a module above it.
fn fits(name: &str, listed: &str) -> bool {
    name.strip_prefix(listed).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

/// Prints the tests that do not run, with the reasons.
pub fn print_left_out() {
    println!("targets daemon and level_zero: {SAME}; Debian has no Level Zero for arm64");
    LEFT_OUT.iter().for_each(|(name, why)| println!("{name}, but for what ran: {why}"));
    UNITS_LEFT_OUT.iter().for_each(|(package, test, why)| println!("{package} {test}: {why}"));
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// The whole-system tests that the sources have, by their names.
    fn all() -> Vec<String> {
        let folder = crate::tree::root().join("tests/tests");
        let mut names = Vec::new();
        for target in TARGETS {
            for file in fs::read_dir(folder.join(target)).unwrap().flatten() {
                let text = fs::read_to_string(file.path()).unwrap();
                let name = file.file_name().into_string().unwrap();
                let module = name.trim_end_matches(".rs");
                let tests = text.split("#[test]\n").skip(1);
                let functions = tests.filter_map(|test| test.split_once("fn ")?.1.split_once("()"));
                names.extend(functions.map(|(test, _)| format!("{target}::{module}::{test}")));
            }
        }
        names
    }

    #[test]
    fn every_test_is_listed_and_every_line_has_a_test() {
        let all = all();
        assert!(all.len() > 200, "{all:?}");
        for name in all.iter().filter(|name| !name.contains("::processors::")) {
            assert!(choice(name).is_some(), "{name} is in no list of xtask/src/arm64/selection.rs");
        }
        for listed in RUN.iter().chain(LEFT_OUT.iter().map(|(listed, _)| listed)) {
            assert!(all.iter().any(|name| fits(name, listed)), "{listed} is no test");
        }
    }

    #[test]
    fn longer_name_decides() {
        assert_eq!(choice("recording::order::x"), Some(true));
        assert_eq!(choice("recording::attach::x"), Some(false));
        assert_eq!(choice(RUN[0]), Some(true));
        assert_eq!(choice("tools::tracers::x"), Some(true));
        assert_eq!(choice("recording::orders::x"), None);
    }
}
