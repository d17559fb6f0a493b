//! Commands that the driver refuses.

use crate::search::world::World;

pub fn refuse(world: &mut World) -> bool {
    let text = world.one_of(&[
        "glBindBuffer GL_TEXTURE_2D 0",
        "glBufferData GL_ARRAY_BUFFER -1 0 GL_STATIC_DRAW",
        "glEnable GL_TEXTURE_2D",
        "glUseProgram 12345",
        "glAttachShader 12345 12346",
        "glVertexAttribPointer 99 4 GL_FLOAT 0 0 0",
        "glDrawArrays GL_TRIANGLES 0 -3",
        "glBindFramebuffer GL_RENDERBUFFER 0",
        "glTexParameteri GL_TEXTURE_2D GL_TEXTURE_MIN_FILTER 7",
        "glGetIntegerv GL_TEXTURE_2D out:4",
    ]);
    world.step(text);
    true
}
