//! The texts of a bundle: what a bug report about this machine needs, one subject per file. A text that cannot be had says
//! why.
//!
//! It changes nothing, and reads no trace.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::discretion::Discretion;
use crate::args::Connect;
use crate::installation;
use crate::json::document;
use crate::observer::{Observer, Status};
use crate::scratch;

/// Variables whose values are told: these names, and those with one of these beginnings.
const VARIABLES: [&str; 5] =
    ["LD_PRELOAD", "LD_LIBRARY_PATH", "DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR"];
const VARIABLE_BEGINNINGS: [&str; 4] = ["GAPII", "EGL_", "MESA_", "LIBGL_"];

/// Most bytes of a log that are told; its end.
const LOG_BYTES_MAX: u64 = 256 << 10;
/// Lines of the journal that are told.
const JOURNAL_LINES: &str = "2000";

/// Names and texts of the files, without what `discretion` leaves out. `checks` are those of `doctor`.
pub fn files(
    connect: &Connect,
    checks: Value,
    discretion: &Discretion,
) -> Vec<(&'static str, String)> {
    let json = |mut value: Value| {
        discretion.apply_to_json(&mut value);
        format!("{value:#}\n")
    };
    let plain = |text: String| discretion.apply(&text);
    vec![
        ("doctor.json", json(checks)),
        ("versions.txt", plain(versions())),
        ("configuration.txt", plain(output(installation::find_daemon(), &["--check-config"]))),
        ("environment.txt", environment(discretion)),
        ("driver.txt", plain(driver())),
        ("system.txt", plain(system())),
        ("units.txt", plain(units())),
        ("daemon-log.txt", plain(logs())),
        ("status.json", json(status(connect))),
    ]
}

/// Runs a program, and returns its output and its messages.
fn output<P: AsRef<OsStr>, E: std::fmt::Display>(
    program: Result<P, E>,
    arguments: &[&str],
) -> String {
    let program = match program {
        Ok(program) => program,
        Err(error) => return format!("{error}\n"),
    };
    let name = Path::new(program.as_ref()).file_name().unwrap_or_default().display().to_string();
    let mut text = format!("$ {name} {}\n", arguments.join(" "));
    let run = Command::new(program).args(arguments).stdin(Stdio::null()).output();
    match run {
        Err(error) => text += &format!("it does not start: {error}\n"),
        Ok(run) => {
            text += &String::from_utf8_lossy(&run.stdout);
            text += &String::from_utf8_lossy(&run.stderr);
            if !run.status.success() {
                text += &format!("({})\n", run.status);
            }
        }
    }
    text
}

/// The content of a small file.
fn file(path: &str) -> String {
    let content = fs::read_to_string(path).unwrap_or_else(|error| format!("{error}\n"));
    format!("# {path}\n{content}\n")
}

/// The products: their versions, and digests of their files.
fn versions() -> String {
    let digest = |path: &Path| match fs::read(path) {
        Ok(bytes) => format!("blake3 {}…", &blake3::hash(&bytes).to_hex()[..16]),
        Err(error) => error.to_string(),
    };
    let mut text = format!("gapii-ctl {}\n", env!("CARGO_PKG_VERSION"));
    let own = std::env::current_exe().map_err(|error| error.to_string());
    let found = [
        ("gapii-ctl", own),
        ("shim", installation::find_shim().map_err(|failure| failure.sentence)),
        ("gapiid", installation::find_daemon().map_err(|failure| failure.sentence)),
    ];
    for (name, path) in found {
        let line =
            path.map_or_else(|why| why, |path| format!("{} {}", path.display(), digest(&path)));
        // Writing to a string does not fail.
        let _ = writeln!(text, "{name}: {line}");
    }
    text + &output(installation::find_daemon(), &["--version"])
}

/// The variables that matter to gapii and to drivers. No other variable is read.
fn environment(discretion: &Discretion) -> String {
    let is_told = |name: &str| {
        VARIABLES.contains(&name)
            || VARIABLE_BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
    };
    let mut variables: Vec<_> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
        .filter(|(name, _)| is_told(name))
        .map(|(name, value)| {
            let value = discretion.value(&name, &value.to_string_lossy());
            format!("{name}={value}\n")
        })
        .collect();
    variables.sort_unstable();
    match variables.is_empty() {
        true => "none of the variables is set\n".to_owned(),
        false => variables.concat(),
    }
}

/// The driver's texts about itself, asked for in a child process, because a driver can crash.
fn driver() -> String {
    output(std::env::current_exe(), &["doctor", "--driver-texts"])
}

fn system() -> String {
    let mut text = String::new();
    for path in
        ["/proc/version", "/etc/os-release", "/proc/self/limits", "/proc/sys/kernel/core_pattern"]
    {
        text += &file(path);
    }
    let processors = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = processors.lines().find(|line| line.starts_with("model name"));
    let count = std::thread::available_parallelism().map_or(0, usize::from);
    let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let memory: Vec<_> = memory.lines().take(3).collect();
    let devices = fs::read_dir("/dev/dri").into_iter().flatten().flatten();
    let mut devices: Vec<_> =
        devices.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    devices.sort_unstable();
    text + &format!(
        "{count} processors, {}\n{}\n/dev/dri: {}\n",
        model.unwrap_or("of an unknown model"),
        memory.join("\n"),
        if devices.is_empty() { "none".to_owned() } else { devices.join(", ") }
    )
}

/// The state of the daemon's units, and their texts.
fn units() -> String {
    let mut text = String::new();
    for scope in ["--user", "--system"] {
        let units = ["gapiid.service", "gapiid.socket"];
        for verb in [
            &["is-enabled"][..],
            &["show", "--property=ActiveState,Result,ExecMainStatus"],
            &["cat"],
        ] {
            let arguments = [&[scope], verb, &units].concat();
            text += &output(Ok::<_, io::Error>("systemctl"), &arguments);
        }
    }
    text
}

/// The end of the daemon's log: from the journal, and of the daemons of this user's runs.
fn logs() -> String {
    let mut text = String::new();
    for unit in ["--user-unit=gapiid", "--unit=gapiid"] {
        let options =
            ["--no-pager", "--no-hostname", "--lines", JOURNAL_LINES, "--output=short-iso", unit];
        text += &output(Ok::<_, io::Error>("journalctl"), &options);
    }
    for folder in scratch::folders_of_runs() {
        let log = folder.join("gapiid.log");
        let end = end_of(&log).unwrap_or_else(|error| error.to_string());
        text += &format!("# {}\n{end}\n", log.display());
    }
    text
}

/// The last bytes of a file of this user, from the beginning of a line on.
fn end_of(path: &Path) -> io::Result<String> {
    use std::os::unix::fs::MetadataExt;
    let metadata = fs::symlink_metadata(path)?;
    if !metadata.is_file() || metadata.uid() != rustix::process::geteuid().as_raw() {
        return Ok("not a file of this user\n".to_owned());
    }
    let mut file = File::open(path)?;
    let skipped = metadata.len().saturating_sub(LOG_BYTES_MAX);
    file.seek(SeekFrom::Start(skipped))?;
    let mut bytes = Vec::new();
    file.take(LOG_BYTES_MAX).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Ok(match skipped {
        0 => text,
        _ => text.split_once('\n').map_or(String::new(), |(_, rest)| rest.to_owned()),
    })
}

/// The daemon's report: its applications, its captures with their counts, its totals.
fn status(connect: &Connect) -> Value {
    let looked = Observer::open(connect).and_then(|mut observer| observer.look());
    match looked {
        Ok(Status { info, .. }) => {
            document(&info).unwrap_or_else(|error| json!({ "error": error.to_string() }))
        }
        Err(failure) => json!({ "error": failure.sentence }),
    }
}
