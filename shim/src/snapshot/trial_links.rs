//! Links of a program, tried again, the newest first, in a context of the shim's own to find out which one succeeded:
//! no query returns the status of a link before the last one. A program binary cannot be tried, and is taken to have
//! succeeded. A trial also shows whether a link validates the program.

use std::ffi::CString;
use std::sync::OnceLock;

use gapii_commands::constants::{
    GL_FRAGMENT_SHADER, GL_PROGRAM_SEPARABLE, GL_VALIDATE_STATUS, GL_VERTEX_SHADER,
};
use gapii_state::{Context, Link, Process};

use super::sibling::Sibling;
use super::{gl, glsl};

const VERTICES: &str = "void main() { gl_Position = vec4(0.0); }";
const FRAGMENTS: &str = "void main() {}";

/// Returns the last one of the links that succeeds. `None` if none does, or if the driver makes no context to try them in.
pub fn last_that_succeeds<'l>(
    process: &Process,
    context: &Context,
    links: &'l [Link],
) -> Option<&'l Link> {
    let sibling = Sibling::begin(process, context.handle)?;
    links.iter().rev().find(|link| {
        let link = (*link).clone();
        // A binary can't be tried, and is taken to have succeeded.
        link.is_binary || sibling.ask(move |_| Some(succeeds(&link))).unwrap_or(false)
    })
}

/// Whether a link that succeeds sets GL_VALIDATE_STATUS, as NVIDIA's driver seems to do. OpenGL ES 3.2, 11.1.3.11, has only
/// glValidateProgram set it, and Mesa's link resets it. Asked once in a process.
pub fn validate(process: &Process, context: &Context) -> bool {
    static ASKED: OnceLock<bool> = OnceLock::new();
    let ask = || {
        let sibling = Sibling::begin(process, context.handle)?;
        sibling.ask(|_| {
            let program = gl::create_program();
            for (kind, source) in [(GL_VERTEX_SHADER, VERTICES), (GL_FRAGMENT_SHADER, FRAGMENTS)] {
                let source = format!("{}\n{source}\n", glsl::version(100));
                gl::attach_new_shader(program, kind, &source, true);
            }
            let is_linked = gl::is_linked_now(program);
            let is_validated = gl::program_integer(program, GL_VALIDATE_STATUS) != 0;
            gl::delete_program(program);
            Some(is_linked && is_validated)
        })
    };
    *ASKED.get_or_init(|| ask().unwrap_or(false))
}

/// Links a program of the current context, which is the shim's own, and deletes it.
fn succeeds(link: &Link) -> bool {
    let program = gl::create_program();
    for stage in &link.stages {
        gl::attach_new_shader(program, stage.kind, &stage.source, stage.is_compiled);
    }
    for (name, location) in &link.parameters.attrib_locations {
        let Ok(name) = CString::new(name.as_str()) else { continue };
        // SAFETY: a NUL-terminated string.
        unsafe { gl::bind_attrib_location(program, *location, name.as_ptr()) };
    }
    let varyings = link.parameters.feedback_varyings.iter();
    let varyings: Vec<_> = varyings.filter_map(|it| CString::new(it.as_str()).ok()).collect();
    let names: Vec<_> = varyings.iter().map(|name| name.as_ptr()).collect();
    let (count, mode) = (names.len() as i32, link.parameters.feedback_mode);
    // SAFETY: `count` NUL-terminated strings.
    unsafe { gl::transform_feedback_varyings(program, count, names.as_ptr(), mode) };
    if link.parameters.separable {
        // A driver without separable programs of OpenGL ES 3.1 may have the extension's.
        gl::program_parameter(program, GL_PROGRAM_SEPARABLE, 1);
        gl::program_parameter_ext(program, GL_PROGRAM_SEPARABLE, 1);
    }
    let is_linked = gl::is_linked_now(program);
    gl::delete_program(program);
    is_linked
}
