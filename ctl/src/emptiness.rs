//! Explains a trace without a command or without a frame: the program did not reach the daemon, the event of `--when` did
//! not happen, the filter fits nothing but ends of frames, or the program presents nothing. Why a trace has no frame is read from its
//! beginning.
//!
//! It prints nothing.

use std::ffi::OsStr;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use gapii_analysis::presentation::Presentation;
use gapii_control::{StartRequest, Summary, Target};

use crate::elf::Elf;
use crate::failure::Failure;
use crate::output_file::Place;
use crate::program;
use crate::text::counted;
use crate::trace_file;

/// Says why a capture has no command. `request` began the capture.
pub fn why_no_command(summary: &Summary, request: &StartRequest) -> String {
    if let Some(when) = &request.when {
        return match summary.when_happened {
            true => format!(
                "{when} happened, and the program ended before a recording could begin behind it"
            ),
            false => format!("{when} did not happen"),
        };
    }
    if summary.foreign > 0 {
        return format!(
            "{} came while a context of another API was current, or none: desktop OpenGL passes through unrecorded",
            counted(summary.foreign, "command")
        );
    }
    if summary.processes == 0 && is_run(request) {
        let program = request.command.first().map(|word| word.raw());
        return why_unreached(OsStr::new(program.unwrap_or_default()));
    }
    if let [inside, ..] = &summary.in_flight[..] {
        return format!(
            "the program's first command, {}, had not returned when the capture ended",
            inside.name.raw()
        );
    }
    if !request.filter.is_empty() {
        return format!(
            "no command that the program made fits the filter ({}), and no frame ended",
            request.filter
        );
    }
    "the program made no command of EGL, OpenGL ES or Level Zero meanwhile, or the end of a frame that the capture was to \
     begin with did not come"
        .to_owned()
}

/// Says why a program that was started did not reach the daemon.
fn why_unreached(program: &OsStr) -> String {
    let cause = program::find(program).and_then(|path| why_not_loaded(&path));
    let cause = cause.unwrap_or_else(|| {
        format!(
            "it made no command of EGL, OpenGL ES or Level Zero{}, or it runs in a sandbox or container that the shim is \
             not in",
            no_display()
        )
    });
    format!(
        "the program never reached the daemon: {cause}; `gapii-ctl doctor` checks the installation"
    )
}

/// Says why the program may have found no display, as one more possibility. Empty if it may need none.
fn no_display() -> String {
    let value = |name: &str| Some(format!("{name}={}", std::env::var(name).ok()?));
    let named: Vec<_> = ["DISPLAY", "WAYLAND_DISPLAY"].into_iter().filter_map(value).collect();
    let platform = std::env::var("EGL_PLATFORM").unwrap_or_default();
    match &named[..] {
        [] if matches!(&*platform, "surfaceless" | "device" | "gbm" | "drm") => String::new(),
        [] => ", or found no display: neither DISPLAY nor WAYLAND_DISPLAY is set".to_owned(),
        named => format!(", or {} names a display that does not answer", named.join(" or ")),
    }
}

/// Says why the dynamic linker loads no shim into a program; `None` if it does, or if that is not known.
fn why_not_loaded(path: &Path) -> Option<String> {
    let name = path.display();
    let is_privileged = path.metadata().is_ok_and(|it| it.permissions().mode() & 0o6000 != 0);
    if is_privileged {
        return Some(format!(
            "{name} is a set-uid or set-gid program, into which the system loads no other library"
        ));
    }
    match Elf::of(path).ok()? {
        Elf::Static => {
            Some(format!("{name} is linked statically, so the shim cannot be loaded into it"))
        }
        Elf::Foreign { is_64: false } => {
            Some(format!("{name} is a 32-bit program, for which this shim is not built"))
        }
        Elf::Foreign { is_64: true } => Some(format!(
            "{name} is a program for another processor, for which this shim is not built"
        )),
        Elf::Other | Elf::Program | Elf::Library => None,
    }
}

/// Says why a trace with commands has no frame; `None` if it has frames. `request` began the capture.
pub fn why_no_frame(summary: &Summary, request: &StartRequest, place: &Place) -> Option<String> {
    if summary.frames > 0 || summary.calls == 0 {
        return None;
    }
    // Of a program that was attached to without a snapshot, the trace does not have the surfaces.
    let has_beginning = summary.snapshot || is_run(request);
    // A pipe must not be opened.
    let path = place.path().filter(|path| path.is_file() && has_beginning);
    let presented = path.and_then(|path| presentation(path).ok());
    let why = presented.and_then(|presentation| presentation.why_no_frame());
    let why = match (why, summary.foreign) {
        // Frames of GLX are presented by commands that are not recorded.
        (_, foreign @ 1..) => format!(
            "{} of another API, such as OpenGL with GLX, are not recorded",
            counted(foreign, "command")
        ),
        (Some(why), 0) => format!("the program ended none: {why}"),
        (None, 0) => "the program ended none meanwhile".to_owned(),
    };
    Some(format!("the trace has no frame; {why}"))
}

/// Says that a filter let nothing through but ends of frames, which are always recorded; `None` if it let more through.
pub fn why_only_frames(summary: &Summary, request: &StartRequest) -> Option<String> {
    let is_so = !request.filter.is_empty() && summary.frames > 0 && summary.calls == summary.frames;
    is_so.then(|| {
        format!(
            "the trace has only the ends of frames: no other command that the program made fits the filter ({})",
            request.filter
        )
    })
}

/// What the program did to present frames, as far as the beginning of the trace tells.
fn presentation(path: &Path) -> io::Result<Presentation> {
    let failed = |failure: Failure| io::Error::other(failure.sentence);
    let mut reader = trace_file::open(path).map_err(failed)?;
    let mut presentation = Presentation::default();
    // A filtered trace may lack the commands that matter.
    if reader.header().filter.is_empty() {
        trace_file::look_at_beginning(&mut reader, |command| presentation.look(command))?;
    }
    Ok(presentation)
}

fn is_run(request: &StartRequest) -> bool {
    matches!(request.target, Target::Launch(_))
}
