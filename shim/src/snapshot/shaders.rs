//! Shaders of a snapshot.

use gapii_recorder::observe;

use super::emit::Emitter;
use crate::generated::ids::*;

/// A shader with its source, not compiled yet.
pub fn make_shader(emitter: &mut Emitter, name: u32, kind: u32, source: &str) {
    emitter.command(GL_CREATE_SHADER).arg(kind).returns(name, []);
    let (text, len) = ([source.as_ptr()], [source.len() as i32]);
    if !source.is_empty() {
        emitter
            .command(GL_SHADER_SOURCE)
            .arg(name)
            .arg(1_i32)
            .arg(text.as_ptr())
            .arg(len.as_ptr())
            .reads(observe::strings(1, text.as_ptr(), len.as_ptr()))
            .reads(observe::array(len.as_ptr(), 1, 4))
            .done();
    }
}
