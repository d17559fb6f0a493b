//! Commands that the driver refuses.

use crate::search::program::thread_of;
use crate::search::world::World;

/// A number that no header gives an enumerant.
pub const NO_ENUMERANT: &str = "0x1234";

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

/// Commands that do something although one of their enumerants is none: with a null object or pointer they do not look at it.
const CARELESS: &[&str] = &["glFramebufferTexture", "glFramebufferRenderbuffer"];

/// One of the thread's latest commands again, with a number in place of an enumerant.
pub fn enumerant(world: &mut World) -> bool {
    let fits = |step: &&String| {
        // A command with an answer stands behind it.
        let command = step.split(' ').nth(1).filter(|word| word.starts_with("gl"));
        let is_careful = |command: &str| !CARELESS.iter().any(|it| command.starts_with(it));
        thread_of(step) == Some(world.thread) && command.is_some_and(is_careful)
    };
    let latest: Vec<&String> = world.steps.iter().rev().filter(fits).take(30).collect();
    let at = match latest.len() {
        0 => return false,
        count => world.random.below(count as u64) as usize,
    };
    let words: Vec<String> = latest[at].split(' ').map(str::to_owned).collect();
    let is_enumerant = |word: &&str| word.starts_with("GL_") && !word.contains(['|', ',']);
    let places: Vec<usize> =
        (2..words.len()).filter(|at| is_enumerant(&words[*at].as_str())).collect();
    let Some(place) = world.some_of(&places) else { return false };
    let changed = words.iter().enumerate().skip(1).map(|(at, word)| match at == place {
        true => NO_ENUMERANT,
        false => word,
    });
    world.step(changed.collect::<Vec<_>>().join(" "));
    true
}
