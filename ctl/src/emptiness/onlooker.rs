//! `Onlooker`: looks at the processes of a program from time to time while no command of it has come, and says why none came.
//! It looks after 10 ms, 20 ms and so on up to once a second, and when the capture ends. A program that ends before the
//! first look is judged by its file.
//!
//! It reads `/proc` and stops no process.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use gapii_abi::atom::EndReason;

use crate::crash_report;
use crate::elf::Elf;
use crate::emptiness::reason::{Emptiness, Reason};
use crate::emptiness::sighting::{ProgramFile, Sighting, shown};
use crate::family;
use crate::program;
use crate::set_up;

const FIRST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

pub struct Onlooker {
    root: u32,
    /// When the root process began, in ticks of the system's clock.
    began: Option<u64>,
    /// The program as it was typed; `None` for a program that ran already.
    typed: Option<ProgramFile>,
    /// The last sighting of each process.
    seen: BTreeMap<u32, Sighting>,
    /// The processes in the order in which they were seen first, parents first.
    order: Vec<u32>,
    pause: Duration,
    next: Instant,
    exit: Option<ExitStatus>,
}

impl Onlooker {
    /// Looks at the processes of a program that was started as process `root` under this name.
    pub fn of_program(root: u32, name: &OsStr) -> Onlooker {
        let path = program::find(name);
        let typed = path.map(|path| ProgramFile::of(&path, path.clone()));
        Onlooker { typed, ..Onlooker::of_process(root) }
    }

    /// Looks at a process that was not started by this one, and at its descendants.
    pub fn of_process(root: u32) -> Onlooker {
        Onlooker {
            root,
            began: family::began(root),
            typed: None,
            seen: BTreeMap::new(),
            order: Vec::new(),
            pause: FIRST_PAUSE,
            next: Instant::now() + FIRST_PAUSE,
            exit: None,
        }
    }

    /// When it looks next.
    pub fn next(&self) -> Instant {
        self.next
    }

    /// Looks if it is time.
    pub fn look_if_due(&mut self) {
        let now = Instant::now();
        if now >= self.next {
            self.look();
            self.pause = (self.pause * 2).min(LONGEST_PAUSE);
            self.next = now + self.pause;
        }
    }

    /// Looks at the processes that run.
    pub fn look(&mut self) {
        let pids = family::descendants(self.root).into_iter().map(|(pid, _)| pid);
        for pid in std::iter::once(self.root).chain(pids) {
            let Some(sighting) = Sighting::of(pid) else { continue };
            if !self.seen.contains_key(&pid) {
                self.order.push(pid);
            }
            self.seen.insert(pid, sighting);
        }
    }

    /// Notes how the root process ended.
    pub fn ended(&mut self, status: ExitStatus) {
        self.exit = Some(status);
    }

    /// Returns why the processes have not reached the daemon.
    pub fn why_unreached(&self) -> Emptiness {
        let typed = self.typed.as_ref();
        // The file of its process is that of the interpreter by which the kernel runs it, such as qemu.
        let foreign = typed.filter(|typed| matches!(typed.kind, Elf::Foreign { .. }));
        let of_file = || typed.filter(|_| self.seen.is_empty()).and_then(ProgramFile::obstacle);
        foreign
            .and_then(ProgramFile::obstacle)
            .or_else(|| self.culprit(obstacle))
            .or_else(of_file)
            .or_else(|| self.why_ended())
            .or_else(|| self.handed_over())
            .or_else(|| self.no_display())
            .unwrap_or_else(|| match self.seen.values().any(Sighting::has_graphics) {
                true => Reason::NoCommand.with(&[]),
                false => Reason::NoGraphics.with(&[("PROGRAM", &self.name())]),
            })
    }

    /// Returns why processes that have reached the daemon make no commands, if they use something else.
    pub fn why_no_command(&self) -> Option<Emptiness> {
        self.culprit(other_library)
    }

    /// Returns what is in the way of the process that most likely draws: one that has loaded a graphics library before others,
    /// and the last one that was started.
    fn culprit(&self, obstacle: impl Fn(&Sighting) -> Option<Emptiness>) -> Option<Emptiness> {
        let sightings = self.order.iter().filter_map(|pid| self.seen.get(pid));
        let judged = sightings.filter_map(|sighting| {
            let (is_blocked, emptiness) = match obstacle(sighting) {
                Some(emptiness) => (true, emptiness),
                None => (false, other_api(sighting)?),
            };
            Some(((sighting.has_graphics(), is_blocked), emptiness))
        });
        judged.max_by_key(|(rank, _)| *rank).map(|(_, emptiness)| emptiness)
    }

    /// Returns how the program ended, if it failed.
    fn why_ended(&self) -> Option<Emptiness> {
        let exit = self.exit?;
        let program = ("PROGRAM", &*self.name());
        if let Some(signal) = exit.signal() {
            let died = EndReason::of_signal(signal) == EndReason::Crash;
            let signal = crash_report::signal(signal);
            return died
                .then(|| Reason::CrashedBeforeCommand.with(&[program, ("SIGNAL", &signal)]));
        }
        let status = exit.code().filter(|status| *status != 0)?.to_string();
        Some(Reason::EndedBeforeCommand.with(&[program, ("STATUS", &status)]))
    }

    /// Finds a process of the same program that draws and did not begin after this one, if the program has ended. Two processes may
    /// begin in the same tick of the clock.
    fn handed_over(&self) -> Option<Emptiness> {
        self.exit.filter(ExitStatus::success)?;
        let is_earlier = |pid: &u32| {
            !self.seen.contains_key(pid)
                && family::began(*pid).is_some_and(|its| self.began.is_none_or(|own| its <= own))
        };
        let mut earlier = family::processes().filter(is_earlier).filter_map(Sighting::of);
        let same = earlier.find(|it| it.has_graphics() && self.is_same_program(it))?;
        let pid = same.pid.to_string();
        Some(Reason::HandedOver.with(&[("PROGRAM", &self.name()), ("PID", &pid)]))
    }

    /// Whether another process runs a program of these processes. The interpreter of a script must run the same script.
    fn is_same_program(&self, other: &Sighting) -> bool {
        let typed = self.typed.as_ref();
        let script = typed.filter(|typed| typed.kind == Elf::Other).map(|typed| &typed.path);
        let typed = typed.and_then(|typed| typed.path.canonicalize().ok());
        let files = self.seen.iter().map(|(pid, its)| (Some(*pid), its.program.path.clone()));
        let mut files = files.chain(typed.map(|typed| (None, typed)));
        files.any(|(pid, file)| {
            let is_interpreter = pid == Some(self.root) && script.is_some();
            file == other.program.path
                && (!is_interpreter || script.is_some_and(|script| runs(other.pid, script)))
        })
    }

    fn no_display(&self) -> Option<Emptiness> {
        // These platforms of EGL need none.
        let platform = std::env::var("EGL_PLATFORM").unwrap_or_default();
        if matches!(&*platform, "surfaceless" | "device" | "gbm" | "drm") {
            return None;
        }
        let display = set_up::display();
        (display.state != set_up::State::Ok).then(|| {
            Reason::NoDisplay.with(&[("PROGRAM", &self.name()), ("DISPLAYS", &display.found)])
        })
    }

    /// Name of the program, for people.
    pub fn name(&self) -> String {
        let typed = self.typed.as_ref().map(|typed| &typed.path);
        let seen = self.seen.get(&self.root).map(|sighting| &sighting.program.path);
        typed.or(seen).map_or_else(|| "the program".to_owned(), |path| shown(path))
    }
}

/// Whether a process has `script` among its words.
fn runs(pid: u32, script: &Path) -> bool {
    let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    words.split(|byte| *byte == 0).any(|word| word == script.as_os_str().as_encoded_bytes())
}

/// Returns what keeps the shim out of a process, or its commands from the shim.
fn obstacle(seen: &Sighting) -> Option<Emptiness> {
    if let Some(of_file) = seen.program.obstacle() {
        return Some(of_file);
    }
    if seen.is_prepared() == Some(false) {
        let reason = match seen.is_elsewhere {
            true => Reason::SandboxEnvironment,
            false => Reason::ClearedEnvironment,
        };
        return Some(of_process(reason, seen, &[]));
    }
    let hidden = |reason: Reason, name: &str, path: &Path| {
        let folder = shown(path.parent().unwrap_or(path));
        of_process(reason, seen, &[(name, &shown(path)), ("FOLDER", &folder)])
    };
    match (&seen.hidden_shim, &seen.hidden_socket) {
        (Some(shim), _) if !seen.libraries.has_shim => {
            Some(hidden(Reason::SandboxShim, "SHIM", shim))
        }
        (_, Some(socket)) => Some(hidden(Reason::SandboxSocket, "SOCKET", socket)),
        (_, None) => other_library(seen),
    }
}

/// Returns that a process has a driver library of its own.
fn other_library(seen: &Sighting) -> Option<Emptiness> {
    let library = shown(seen.libraries.own_driver.as_ref()?);
    Some(of_process(Reason::OtherLibrary, seen, &[("LIBRARY", &library)]))
}

/// Puts a process and `values` into the sentence of a reason.
fn of_process(reason: Reason, seen: &Sighting, values: &[(&str, &str)]) -> Emptiness {
    let (program, pid) = (shown(&seen.program.path), seen.pid.to_string());
    reason.with(&[&[("PROGRAM", &*program), ("PID", &*pid)], values].concat())
}

/// Returns that a process uses Vulkan, which is not recorded.
fn other_api(seen: &Sighting) -> Option<Emptiness> {
    let vulkan = seen.libraries.vulkan.as_ref()?;
    Some(of_process(Reason::Vulkan, seen, &[("LIBRARY", &shown(vulkan))]))
}

/// Returns why a process that was not started for a capture has not reached the daemon.
pub fn why_not_connected(pid: u32) -> Option<Emptiness> {
    let seen = Sighting::of(pid)?;
    let found = match (obstacle(&seen), seen.is_prepared()) {
        (Some(Emptiness { reason: Reason::ClearedEnvironment, .. }), _) | (None, None) => {
            of_process(Reason::NotStartedByRun, &seen, &[])
        }
        (Some(obstacle), _) => obstacle,
        (None, Some(_)) => other_api(&seen).unwrap_or_else(|| match seen.has_graphics() {
            true => Reason::NoCommand.with(&[]),
            false => of_process(Reason::NoGraphics, &seen, &[]),
        }),
    };
    Some(found)
}

/// The processes of this user that `wanted` names, by process id, name or the name of the program's file.
pub fn processes_named(wanted: &str) -> Vec<u32> {
    let own = std::process::id();
    let is_named = |pid: &u32| {
        let of = |name: &str| PathBuf::from(format!("/proc/{pid}/{name}"));
        let name = fs::read_to_string(of("comm")).unwrap_or_default();
        let exe = fs::read_link(of("exe")).unwrap_or_default();
        pid.to_string() == wanted
            || name.trim_end() == wanted
            || (exe.file_name().is_some() && exe.file_name() == Path::new(wanted).file_name())
    };
    family::processes().filter(|pid| *pid != own).filter(is_named).collect()
}
