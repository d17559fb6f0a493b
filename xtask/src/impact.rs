//! Tests that a changed file needs: packages whose unit tests run, and whole-system tests by name. The first row of
//! `PARTS` that is the file or a folder around it decides; a file in no row needs no test of others. A changed module of
//! whole-system tests runs by itself.
//!
//! `check` runs the listed tests within 90 s; `test` runs everything. So a row lists the tests that most
//! likely fail first, not all that could.

/// A folder or a file of the repository, and what to test after a change of it.
pub struct Part {
    pub path: &'static str,
    /// Packages whose unit tests run besides those of the changed package.
    pub packages: &'static [&'static str],
    /// Whole-system tests whose names contain one of these run.
    pub system: &'static [&'static str],
}

/// The first row that is a file or a folder around it decides; a file in no row needs no test.
const PARTS: &[Part] = &[
    part("analysis/src/anonymise", &["gapii-ctl"], &["tools::anonymise"]),
    part("analysis/src/merge", &["gapii-ctl"], &["tools::merge"]),
    part("analysis", &["gapii-ctl"], &["tools::analysis", "tools::anonymise"]),
    part(
        "apis/level_zero",
        &["gapii-state", "gapii-ze-layer"],
        &[
            "level_zero::layer",
            "level_zero::recording",
            "level_zero::attach",
            "level_zero::gpu_times",
        ],
    ),
    part("apis", &["apigen", "gapii-state", "gapii-follow"], API),
    part("apigen", &["gapii-state", "gapii-follow"], API),
    part("ctl/src/checkpoints.rs", &[], &["tools::checkpoints"]),
    part("ctl/src/emptiness", &["gapii-ctl"], &["recording::empty_traces", "recording::reasons"]),
    part("ctl/src/commands/anonymise.rs", &[], &["tools::anonymise"]),
    part("ctl/src/commands/merge.rs", &[], &["tools::merge"]),
    part("ctl/src/commands/install.rs", &[], &["tools::installing"]),
    part("ctl/src/placed.rs", &[], &["tools::installing"]),
    part("ctl/src/commands/state.rs", &[], &["tools::checkpoints", "tools::analysis"]),
    part("ctl/src/check", &[], &["replay::machines"]),
    part("ctl/src/commands/check.rs", &[], &["replay::machines"]),
    part("ctl/src/commands/replay.rs", &[], &["replay::machines", "replay::images"]),
    part("ctl/src/playing.rs", &[], &["replay::limits", "replay::images"]),
    part("ctl/src/replay_guard.rs", &[], &["replay::limits"]),
    part(
        "ctl",
        &[],
        &[
            "tools::analysis",
            "tools::bad_input",
            "daemon::watch",
            "daemon::configuration",
            "recording::waiting",
            "recording::empty_traces",
            "recording::reasons",
        ],
    ),
    part("daemon/capture", &["gapiid"], &["daemon::captures", "recording::stored"]),
    part("daemon", &[], &["daemon::captures", "daemon::configuration", "recording::stored"]),
    part("export/src/shader_test", &[], &["replay::machines"]),
    part("export", &["gapii-import"], &["tools::export::", "tools::import::import_of"]),
    part("import", &["gapii-ctl"], &["tools::import::"]),
    part("level-zero", &[], &["level_zero::layer", "level_zero::calls"]),
    part("package", &["gapii-ctl"], &["tools::installing"]),
    part("loader", &["gapii-shim"], &["recording::loading"]),
    part(
        "protocol",
        &["gapii-ctl", "gapii-export"],
        &["tools::older_traces", "tools::checkpoints", "recording::trace_file"],
    ),
    part("remote", &["gapiid"], &["daemon::remote::"]),
    part("replay/src/imports", &["gapii-replay"], &["replay::imported"]),
    part("replay/src/benchmark", &[], &["replay::machines"]),
    part(
        "replay",
        &[],
        &[
            "tools::older_traces",
            "replay::desktop",
            "replay::glx",
            "replay::images",
            "replay::sources",
        ],
    ),
    part("report", &["gapii-ctl"], &["replay::images::report"]),
    part("ringbuf", &["gapii-shim"], &["recording::order", "recording::loading"]),
    part(
        "shim/src/gpu_timing",
        &["gapii-shim"],
        &["recording::gpu_timing", "level_zero::gpu_times"],
    ),
    part("shim/src/imports", &["gapii-shim"], &["replay::imported"]),
    part("shim/src/kept", &["gapii-shim"], &["level_zero::attach", "level_zero::recording"]),
    part("shim/src/snapshot", &[], SNAPSHOT),
    part(
        "shim/src/dial.rs",
        &[],
        &[
            "recording::secure",
            "recording::silent_daemon",
            "recording::confined",
            "recording::containers",
        ],
    ),
    part("shim/src/dlsym.rs", &[], &["recording::loading", "recording::exports"]),
    part("shim/edges/src/confinement.rs", &["gapii-edges"], &["recording::confined"]),
    part("shim/recorder/src/own_memory.rs", &["gapii-recorder"], &["recording::confined"]),
    part(
        "shim/recorder/src/program",
        &["gapii-recorder"],
        &["recording::confined", "recording::memory"],
    ),
    part("shim/src/environment.rs", &[], &["recording::secure", "recording::waiting"]),
    part("shim/src/first_command.rs", &[], &["recording::waiting"]),
    part("shim/src/wait.rs", &[], &["recording::waiting"]),
    part("shim", &[], API),
    // Written from `apis`, so it needs the tests of that row.
    part("state/src/generated", &["gapii-state", "gapii-follow"], API),
    part("state/src/egl/dma_buf.rs", &["gapii-state"], &["replay::imported"]),
    part("state", &["gapii-state", "gapii-follow", "gapii-replay"], API),
    part("tests/data/snapshots", &[], &["recording::snapshots"]),
    part(
        "tests/null-driver",
        &[],
        &["level_zero::recording", "level_zero::attach", "level_zero::gpu_times"],
    ),
    part("tests/operator", &[], &["recording::snapshots"]),
    part("tests/src/search", &[], &["recording::snapshots"]),
    part("tool", &[], &["tools::tracers"]),
    part("tracers", &["gapii-shim"], &["tools::tracers", "level_zero::calls"]),
];

/// Folders that recording and replaying of OpenGL ES commands depends on.
const API: &[&str] = &[
    "recording::clock",
    "recording::driver_calls",
    "recording::exports",
    "recording::frame_ends",
    "recording::gpu_timing",
    "recording::guest",
    "recording::loading",
    "recording::memory",
    "replay::desktop",
    "replay::glx",
    "tools::older_traces",
];

/// [`API`], and the programs that the search for faults of snapshots has found.
const SNAPSHOT: &[&str] = &[
    "recording::clock",
    "recording::driver_calls",
    "recording::exports",
    "recording::frame_ends",
    "recording::guest",
    "recording::loading",
    "recording::memory",
    "replay::desktop",
    "replay::glx",
    "recording::snapshots",
    "tools::older_traces",
];

const fn part(
    path: &'static str,
    packages: &'static [&'static str],
    system: &'static [&'static str],
) -> Part {
    Part { path, packages, system }
}

/// The row for a file, given by its path from the repository's root.
pub fn part_of(file: &str) -> Option<&'static Part> {
    let holds = |part: &&Part| {
        let rest = file.strip_prefix(part.path);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    PARTS.iter().find(holds)
}

/// The module of whole-system tests that a file of `tests/tests/` is, `TARGET::MODULE`.
pub fn module_of(file: &str) -> Option<String> {
    let (target, module) =
        file.strip_prefix("tests/tests/")?.strip_suffix(".rs")?.split_once('/')?;
    (module != "main").then(|| format!("{target}::{module}::"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_row_that_holds_a_file_decides() {
        let path = |file| part_of(file).map(|part| part.path);
        assert_eq!(path("apis/level_zero/memory.api"), Some("apis/level_zero"));
        assert_eq!(path("apis/gles/draw.api"), Some("apis"));
        assert_eq!(path("shim/src/dial.rs"), Some("shim/src/dial.rs"));
        assert_eq!(path("toolkit/src/lib.rs"), None);
        assert_eq!(path("docs/style.md"), None);
    }

    #[test]
    fn file_of_system_tests_is_its_module() {
        assert_eq!(module_of("tests/tests/daemon/keep.rs").as_deref(), Some("daemon::keep::"));
        assert_eq!(module_of("tests/tests/daemon/main.rs"), None);
        assert_eq!(module_of("tests/src/gapii.rs"), None);
    }

    /// A row that stands after one for a wider folder would decide nothing.
    #[test]
    fn every_row_decides_for_its_files() {
        for part in PARTS {
            let place = crate::tree::root().join(part.path);
            let file = if place.is_dir() { format!("{}/x", part.path) } else { part.path.into() };
            assert_eq!(part_of(&file).map(|part| part.path), Some(part.path));
        }
    }

    /// A row for a deleted folder, or for renamed tests, would test nothing.
    #[test]
    fn every_row_names_files_and_modules_that_exist() {
        let root = crate::tree::root();
        for part in PARTS {
            assert!(root.join(part.path).exists(), "{}", part.path);
            for name in part.system {
                let mut names = name.split("::");
                let (target, module) = (names.next().unwrap(), names.next().unwrap());
                let file = root.join(format!("tests/tests/{target}/{module}.rs"));
                assert!(file.is_file(), "{name}: no {}", file.display());
            }
        }
    }
}
