//! Commands that the driver refuses.

use crate::headers;
use crate::search::program::{NO_ENUMERANT, NO_NAME, OUT_OF_RANGE, thread_of};
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

/// Commands that do something although one of their enumerants is none: with a null object or pointer they do not look at it.
const CARELESS: &[&str] = &["glFramebufferTexture", "glFramebufferRenderbuffer"];

/// One of the thread's latest commands again, with a number in place of an enumerant.
pub fn enumerant(world: &mut World) -> bool {
    let is_enumerant = |word: &str| word.starts_with("GL_") && !word.contains(['|', ',']);
    let places = |command: &str, words: &[String]| {
        let is_careful = !CARELESS.iter().any(|it| command.starts_with(it));
        let all = 0..words.len();
        all.filter(|at| is_careful && is_enumerant(&words[*at])).collect()
    };
    again(world, places, NO_ENUMERANT)
}

/// Parameters that must not be negative, and of which a great number is none.
const NOT_NEGATIVE: &[&str] = &[
    "attribindex",
    "bindingindex",
    "border",
    "bufSize",
    "count",
    "depth",
    "drawbuffer",
    "drawcount",
    "height",
    "index",
    "instancecount",
    "layer",
    "level",
    "levels",
    "location",
    "n",
    "num_groups_x",
    "offset",
    "param",
    "readOffset",
    "relativeoffset",
    "samples",
    "size",
    "stride",
    "unit",
    "width",
    "writeOffset",
    "xoffset",
    "yoffset",
    "zoffset",
];

/// One of the thread's latest commands again, with a number that is out of range.
pub fn number(world: &mut World) -> bool {
    let places = |command: &str, words: &[String]| {
        let is_careful = !CARELESS.iter().any(|it| command.starts_with(it));
        // Mesa 22.3 gives an array a negative stride, although it refuses the command.
        let is_taken = |name: &str| name == "stride" && command.contains("Pointer");
        let fits = |name: &str, word: &str| {
            let is_number = word.parse::<i64>().is_ok();
            is_careful && is_number && NOT_NEGATIVE.contains(&name) && !is_taken(name)
        };
        let all = headers::parameters(command).iter().zip(words).enumerate();
        all.filter(|(_, (name, word))| fits(name, word)).map(|(at, _)| at).collect()
    };
    again(world, places, OUT_OF_RANGE)
}

/// Commands that make an object of a name that has none, that ignore the name, or that Mesa 22.3 looks up without a check.
const NAMING: &[&str] = &[
    "glBindBuffer",
    "glBindTexture",
    "glBindFramebuffer",
    "glBindRenderbuffer",
    "glDelete",
    "glEGLImageTarget",
    "glNewList",
];

/// One of the thread's latest commands again, with a name that no object has.
pub fn name(world: &mut World) -> bool {
    let is_name = |word: &str| {
        let mut letters = word.chars();
        letters.next().is_some_and(|it| it.is_ascii_lowercase())
            && letters.as_str().parse::<usize>().is_ok()
    };
    let places = |command: &str, words: &[String]| {
        let is_careful = !NAMING.iter().any(|it| command.starts_with(it));
        let all = 0..words.len();
        all.filter(|at| is_careful && is_name(&words[*at])).collect()
    };
    again(world, places, NO_NAME)
}

/// One of the thread's latest commands again, with another word in place of an argument. `places` gives the arguments that may
/// be replaced, of a command and its arguments.
fn again(world: &mut World, places: impl Fn(&str, &[String]) -> Vec<usize>, other: &str) -> bool {
    // A command with an answer stands behind it. One that writes names would give objects other names.
    let is_command = |step: &&String| {
        thread_of(step) == Some(world.thread)
            && step.split(' ').nth(1).is_some_and(|word| word.starts_with("gl"))
            && !step.contains(" new:")
    };
    // A name of before another context was made current may be another object's.
    let moves =
        |step: &&String| thread_of(step) == Some(world.thread) && step.contains(" eglMakeCurrent ");
    let latest = world.steps.iter().rev().take_while(|step| !moves(step));
    let latest: Vec<&String> = latest.filter(is_command).take(30).collect();
    let Some(at) = world.random.below(latest.len() as u64 + 1).checked_sub(1) else { return false };
    let words = latest[at as usize].split(' ').skip(1).map(str::to_owned);
    let mut words: Vec<String> = words.collect();
    let Some(place) = world.some_of(&places(&words[0], &words[1..])) else { return false };
    words[place + 1] = other.to_owned();
    world.step(words.join(" "));
    true
}
