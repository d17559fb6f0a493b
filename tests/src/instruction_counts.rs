//! Instructions of a call while nothing is captured, of calls that are recorded, of an upload, and of decoding a block,
//! counted by callgrind; and a comparison with counts of before. Instructions of calls on arm64 are counted by qemu-user.
//!
//! Counts do not depend on the load of the machine. They depend on the compilers, on the C library and on the processor
//! that valgrind or qemu shows to a program ([`Build`]), so counts of different builds are not compared. Prints nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::JoinHandle;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde::{Deserialize, Serialize};

use crate::artifacts::artifact;
use crate::bench::{Way, run_as};
use crate::gapii::{Session, Trace};
use crate::process::{LIMIT, Running, run};
use crate::programs::{Driver, fake_driver, program};

/// Change from which on a count is another one, as a part of the count.
const TOLERANCE: f64 = 0.03;
/// Commands that are counted while nothing is captured; the second is tracked.
const IDLE: &[&str] = &["glUniform4f", "glBindTexture", "glVertex3f"];
/// Commands that are counted in a capture: without memory, with a small array, with a result and so with a leave
/// record, an upload of 64 KiB of new memory, and a vertex of immediate mode.
const CAPTURED: &[&str] =
    &["glUniform4f", "glUniform4fv", "glGetError", "glBufferSubData", "glVertex3f"];

/// What counts the instructions of calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Counter {
    /// valgrind's tool.
    Callgrind,
    /// qemu-user, which runs this process and those that it starts. Its log has a line for each instruction.
    Qemu,
}

/// Instructions by what was counted, such as `captured glUniform4f`.
pub type Counts = BTreeMap<String, u64>;

/// What counts depend on besides the code.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Build {
    /// The compilers of the shim, of the reader of traces and of the program that calls, as the files name them.
    pub compilers: BTreeSet<String>,
    pub c_library: String,
    /// valgrind with its version, or qemu.
    pub counter: String,
    pub processor: String,
    /// Whether the processor has AVX2, by which libraries choose their code. Valgrind shows no newer extension.
    pub has_avx2: bool,
}

/// Counts and the build that they belong to.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Counted {
    pub build: Build,
    pub instructions: Counts,
}

impl Counted {
    /// Counts with the built product, on x86-64.
    ///
    /// # Panics
    /// If valgrind is missing, or a program fails under it.
    pub fn now() -> Self {
        let mut instructions = of_calls(Counter::Callgrind);
        instructions.extend(decoding());
        let files =
            [artifact("libgapii.so"), artifact("gapii-test-operator"), program("count_calls")];
        let valgrind = said(Command::new("valgrind").arg("--version"));
        Self { build: Build::of(&files, valgrind), instructions }
    }

    /// Counts calls with the built product, in a process that qemu runs.
    ///
    /// # Panics
    /// If qemu's log has no line for an instruction, as on a processor.
    pub fn of_calls_under_qemu() -> Self {
        let files = [artifact("libgapii.so"), program("count_calls")];
        let build = Build::of(&files, "qemu-user".to_owned());
        Self { build, instructions: of_calls(Counter::Qemu) }
    }

    /// Returns a sentence for every count that differs from the one in `before` by more than 3 %, or is missing in one
    /// of both. The builds are not compared.
    pub fn differences(&self, before: &Counted) -> Vec<String> {
        let names: BTreeSet<_> =
            self.instructions.keys().chain(before.instructions.keys()).collect();
        let difference = |name: &&String| {
            let [old, new] = [before, self].map(|of| of.instructions.get(*name).copied());
            match (old, new) {
                (Some(old), Some(new)) if new.abs_diff(old) as f64 <= TOLERANCE * old as f64 => {
                    None
                }
                (Some(old), Some(new)) => {
                    let percent = 100.0 * (new as f64 / old as f64 - 1.0);
                    Some(format!("{name}: {new} instructions, before {old} ({percent:+.1} %)"))
                }
                (old, _) => {
                    let missing =
                        if old.is_some() { "is not counted" } else { "has no count of before" };
                    Some(format!("{name} {missing}"))
                }
            }
        };
        names.iter().filter_map(difference).collect()
    }
}

/// The file with the expected counts for this processor.
pub fn expected_file() -> PathBuf {
    let name = match std::env::consts::ARCH {
        "aarch64" => "data/instructions-arm64.json",
        _ => "data/instructions.json",
    };
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Reads the expected counts.
///
/// # Panics
/// If the file is missing or is not what `GAPII_UPDATE_EXPECTED` writes.
pub fn expected() -> Counted {
    let text = std::fs::read_to_string(expected_file()).expect("the counts are there");
    serde_json::from_str(&text).expect("the counts are JSON")
}

impl Build {
    fn of(files: &[PathBuf], counter: String) -> Self {
        Self {
            compilers: files.iter().flat_map(|file| compilers_of(file)).collect(),
            c_library: said(Command::new("getconf").arg("GNU_LIBC_VERSION")),
            counter,
            processor: std::env::consts::ARCH.to_owned(),
            has_avx2: std::fs::read_to_string("/proc/cpuinfo")
                .is_ok_and(|text| text.split_whitespace().any(|flag| flag == "avx2")),
        }
    }
}

fn said(command: &mut Command) -> String {
    run(command).ok().stdout.trim().to_owned()
}

/// The compilers that left their names in the section `.comment` of a file.
fn compilers_of(file: &Path) -> BTreeSet<String> {
    let section = run(Command::new("readelf").args(["--string-dump", ".comment"]).arg(file)).ok();
    //   [    12]  GCC: (Debian 12.2.0-14) 12.2.0
    let names =
        section.stdout.lines().filter_map(|line| Some(line.split_once("]  ")?.1.to_owned()));
    names.filter(|name| name.starts_with("GCC") || name.starts_with("rustc")).collect()
}

/// Instructions of calls, by the state of the program and the command.
fn of_calls(counter: Counter) -> Counts {
    let mut instructions = Counts::new();
    for (way, commands) in [(Way::Idle, IDLE), (Way::Captured, CAPTURED)] {
        for (command, count) in calls(counter, way, commands) {
            instructions.insert(format!("{} {command}", way.name()), count);
        }
    }
    instructions
}

/// Instructions of a call, by command.
fn calls(counter: Counter, way: Way, commands: &[&str]) -> Counts {
    let session = Session::new();
    let (file, counting) = (session.path("counts"), program("count_calls"));
    let (mut process, profiles_later) = match counter {
        Counter::Callgrind => (under_callgrind(&file, &counting), None),
        Counter::Qemu => {
            let (process, profiles) = logged_by_qemu(&file, &counting);
            (process, Some(profiles))
        }
    };
    process.args(commands).env("LD_LIBRARY_PATH", fake_driver(Driver::Bare));
    let trace = session.path("trace");
    let finished = run_as(way, &session, &trace, process).ok();
    let profiles = match profiles_later {
        None => profiles(&file),
        Some(reader) => reader.join().expect("a log can be read"),
    };
    if way == Way::Captured {
        // The counted calls were recorded.
        assert_eq!(Trace::new(trace).info()["lost"]["commands"], 0);
    }
    let mut counts = Counts::new();
    for line in finished.stdout.lines() {
        // glUniform4f 400
        let parsed =
            line.split_once(' ').and_then(|(name, calls)| Some((name, calls.parse().ok()?)));
        let (name, calls): (_, u64) = parsed.unwrap_or_else(|| panic!("count_calls says {line}"));
        counts.insert(name.to_owned(), (more_of_last(&profiles, name) + calls / 2) / calls);
    }
    assert_eq!(counts.len(), commands.len(), "{finished}");
    counts
}

/// Instructions of decompressing the first block of a trace, and of making commands and values of its records.
fn decoding() -> Counts {
    const TRACE: &str = "data/traces/threads.gapii";
    let session = Session::new();
    let file = session.path("counts");
    let mut operator =
        Running::start(&mut under_callgrind(&file, &artifact("gapii-test-operator")));
    let trace = Path::new(env!("CARGO_MANIFEST_DIR")).join(TRACE);
    operator.say(&format!("decode {}\n", trace.display()));
    let finished = operator.finish(LIMIT).ok();
    assert!(finished.stdout.contains("commands"), "{finished}");
    let profiles = profiles(&file);
    let count = |function: &str| more_of_last(&profiles, function);
    Counts::from([
        ("decompression of a block".to_owned(), count("decompression")),
        ("commands of a block".to_owned(), count("commands")),
    ])
}

/// `program` under callgrind, which writes a profile of each thread into a file beside `file` whenever a function
/// returns whose name begins with `counted_`.
fn under_callgrind(file: &Path, program: &Path) -> Command {
    let mut command = Command::new("valgrind");
    command.args(["--quiet", "--tool=callgrind", "--separate-threads=yes"]);
    command.arg("--dump-after=*counted_*");
    command.arg(format!("--callgrind-out-file={}", file.display())).arg(program);
    command
}

/// `program`, run by qemu one instruction at a time, and a thread that returns its profiles. qemu writes a line for each
/// instruction into the pipe `file`: a log of all lines would take a gigabyte.
fn logged_by_qemu(file: &Path, program: &Path) -> (Command, JoinHandle<Vec<(String, u64)>>) {
    let mode = Mode::RUSR | Mode::WUSR;
    mknodat(CWD, file, FileType::Fifo, mode, 0).expect("the session's folder is writable");
    let log = file.to_owned();
    let reader = std::thread::spawn(move || {
        let log = File::open(log).expect("the pipe is there");
        profiles_of_log(BufReader::new(log))
    });
    // By `env`, so that the tools that start it are not logged.
    let mut command = Command::new("env");
    command.args(["QEMU_SINGLESTEP=1", "QEMU_LOG=exec,nochain"]);
    command.arg(format!("QEMU_LOG_FILENAME={}", file.display())).arg(program);
    (command, reader)
}

/// Returns the functions of a program that `main` calls and whose names begin with `counted_`, without these letters, and
/// how many instructions qemu's log has from their beginning to their return, in order. Functions of libraries have no
/// names there.
fn profiles_of_log(log: impl BufRead) -> Vec<(String, u64)> {
    let mut profiles = Vec::new();
    let mut current: Option<(String, u64)> = None;
    for line in log.split(b'\n') {
        let line = line.expect("a log can be read");
        // Trace 0: 0x7f3a80000100 [0000000000000000/0000005500000a5c/00000000/ff000201] counted_glGetError
        let Some(end) = line.iter().rposition(|byte| *byte == b']') else { continue };
        let function = line[end + 1..].trim_ascii();
        let counted = function.strip_prefix(b"counted_");
        match (&mut current, counted) {
            (Some(_), None) if function == b"main" => profiles.extend(current.take()),
            (Some((_, count)), _) => *count += 1,
            (None, Some(name)) => current = Some((String::from_utf8_lossy(name).into_owned(), 1)),
            (None, None) => {}
        }
    }
    profiles
}

/// Returns the functions after which the first thread's profiles were written, without `counted_`, and the instructions
/// since the profile before, in order.
fn profiles(file: &Path) -> Vec<(String, u64)> {
    let mut profiles = Vec::new();
    for number in 1.. {
        let path = format!("{}.{number}-01", file.display());
        let Ok(text) = std::fs::read_to_string(path) else { break };
        let after = |word: &str| text.lines().find_map(|line| line.strip_prefix(word));
        let function = after("desc: Trigger: --dump-after=").expect("a profile names its function");
        let name = function.split("::").find_map(|part| part.strip_prefix("counted_"));
        let total = after("totals: ").and_then(|total| total.trim().parse().ok());
        profiles.push((
            name.unwrap_or(function).to_owned(),
            total.expect("a profile ends with its total"),
        ));
    }
    profiles
}

/// How many instructions more than the last call but one of the function `counted_NAME` the last one took.
#[track_caller]
fn more_of_last(profiles: &[(String, u64)], name: &str) -> u64 {
    let own: Vec<_> = profiles.iter().filter(|(function, _)| function == name).collect();
    let [_, (_, once), (_, twice)] = own[..] else {
        panic!("three profiles of {name}: {profiles:?}")
    };
    twice - once
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(counts: &[(&str, u64)]) -> Counted {
        let build = Build {
            compilers: BTreeSet::new(),
            c_library: String::new(),
            counter: String::new(),
            processor: String::new(),
            has_avx2: false,
        };
        let counts = counts.iter().map(|(name, count)| ((*name).to_owned(), *count));
        Counted { build, instructions: counts.collect() }
    }

    #[test]
    fn change_above_three_percent_in_either_direction_is_a_difference() {
        let before = counted(&[("idle x", 1000)]);
        let check = |now: u64, expected: &[&str]| {
            assert_eq!(counted(&[("idle x", now)]).differences(&before), expected, "{now}");
        };
        check(970, &[]);
        check(1030, &[]);
        check(1031, &["idle x: 1031 instructions, before 1000 (+3.1 %)"]);
        check(969, &["idle x: 969 instructions, before 1000 (-3.1 %)"]);
    }

    #[test]
    fn count_that_only_one_side_has_is_a_difference() {
        let differences = counted(&[("a", 1)]).differences(&counted(&[("b", 1)]));
        assert_eq!(differences, ["a has no count of before", "b is not counted"]);
    }

    #[test]
    fn instructions_of_calls_are_those_that_twice_as_many_take_more() {
        let profiles: Vec<_> = [("x", 9000), ("x", 150), ("xv", 7), ("x", 250)]
            .map(|(name, count)| (name.to_owned(), count))
            .into();
        assert_eq!(more_of_last(&profiles, "x"), 100);
    }

    #[test]
    fn instructions_of_a_log_are_those_from_a_function_to_its_return() {
        let line = |name: &str| format!("Trace 0: 0x7f00 [0/5500000a5c/0/ff] {name}\n");
        let functions =
            ["main", "counted_x", "", "memcpy", "counted_x", "main", "counted_xv", "main"];
        let log: String = functions.into_iter().map(line).collect();
        let expected = [("x".to_owned(), 4), ("xv".to_owned(), 1)];
        assert_eq!(profiles_of_log(log.as_bytes()), expected);
    }
}
