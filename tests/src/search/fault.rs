//! How a program fails, and what a capture may lack.

use std::collections::BTreeSet;
use std::fmt::{self, Display};

use crate::search::generate::direct::with_binding;
use crate::search::program::{
    Program, command_of, is_beginning, is_refused, made_current, thread_of,
};

/// A difference between a program's native run and a captured one, or between a capture and its replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The captured program got another answer than natively.
    Disturbed { step: String, native: String, captured: String },
    /// The captured program ended too early.
    Crashed(String),
    /// The trace is damaged or incomplete.
    Trace(String),
    /// The replay gives another answer, or skips a command. The first word is the command.
    Replay(String),
    /// The snapshot lacks something for a reason that is not permitted.
    Missing(String),
}

impl Fault {
    /// Faults of the same kind have the same text.
    pub fn kind(&self) -> String {
        match self {
            Fault::Disturbed { step, native, captured } => {
                let [native, captured] = [native, captured].map(|answer| error_of(answer));
                format!("disturbed {} {native} {captured}", command_of(step))
            }
            Fault::Replay(what) => {
                let function = what.split(' ').next().unwrap_or_default();
                match function {
                    "glGetError" => {
                        format!("replay {}", what.split(",\"seq").next().unwrap_or(what))
                    }
                    _ => {
                        // The replay fills memory for answers with 0xa7: programs read outside of a framebuffer.
                        let ways = ["nothing was written", "not played", "a7 a7 a7 a7 a7 a7"];
                        let way = ways.iter().find(|way| what.contains(*way)).unwrap_or(&"");
                        format!("replay {function} {way}")
                    }
                }
            }
            Fault::Missing(what) => format!("missing {}", letters(what)),
            Fault::Crashed(_) => "crashed".to_owned(),
            Fault::Trace(_) => "trace".to_owned(),
        }
    }
}

/// The error of an answer like `12: 1282`; empty for other answers.
fn error_of(answer: &str) -> &str {
    let value = answer.split(": ").nth(1).unwrap_or_default();
    if value == "0" || (value.len() == 4 && value.starts_with("12")) { value } else { "" }
}

/// A sentence without the names of objects.
fn letters(text: &str) -> String {
    text.chars().filter(|letter| letter.is_ascii_alphabetic()).collect()
}

impl Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Disturbed { step, native, captured } => {
                write!(
                    f,
                    "the program was disturbed: {step}: natively {native}, captured {captured}"
                )
            }
            Fault::Crashed(how) => write!(f, "the program ended: {how}"),
            Fault::Trace(why) => write!(f, "the trace is not whole: {why}"),
            Fault::Replay(what) => write!(f, "the replay differs: {what}"),
            Fault::Missing(what) => write!(f, "missing for a reason that is not permitted: {what}"),
        }
    }
}

/// A sentence with which a snapshot may say that it lacks something.
struct Permitted {
    beginning: &'static str,
    /// Whether a program has what the sentence is about.
    is_of: fn(&[String]) -> bool,
    /// Whether draws of the program may show that it is missing, so that a replay has other answers.
    is_seen: fn(&[String]) -> bool,
}

impl Permitted {
    /// Draws do not show it.
    const fn unseen(beginning: &'static str, is_of: fn(&[String]) -> bool) -> Self {
        Self { beginning, is_of, is_seen: |_| false }
    }

    /// Draws show it.
    const fn seen(beginning: &'static str, is_of: fn(&[String]) -> bool) -> Self {
        Self { beginning, is_of, is_seen: |_| true }
    }
}

/// What no snapshot can have, and why. Other sentences are faults, and so are these in programs without the cause. Commands of
/// direct state access stand in the steps as those that need a binding ([`with_binding`]).
const PERMITTED: &[Permitted] = &[
    // Nothing shows that an idle thread is outside the driver while nothing is recorded.
    Permitted::unseen("a command that thread", has_idle_thread),
    // No command sets the result of a query.
    Permitted::unseen("what queries had counted that have ended", |steps| {
        let before = before_attach(steps);
        // The driver takes any name.
        let mut counters = before.iter().filter(|step| command_of(step) == "glQueryCounterEXT");
        counters.next().is_some() || count(before, &["glEndQuery"]) > 0
    }),
    // No command sets the count of a query.
    Permitted::unseen("what has been counted so far by query", |steps| {
        let before = before_attach(steps);
        // In the compatibility profile any name will do.
        let begins = before.iter().filter(|step| command_of(step) == "glBeginQuery").count();
        begins > count(before, &["glEndQuery"])
    }),
    // A deleted program has a name while a context uses it, and a context uses it when it has been current.
    Permitted::unseen(
        "GL_DELETE_STATUS, until all contexts that use it have been current",
        |steps| has_two_contexts(steps) && count(steps, &["glDeleteProgram"]) > 0,
    ),
    // Mesa 22.3 gives levels, but no memory for them, to a texture that is bound to an EGL image.
    Permitted::seen(
        "the mipmaps, which drivers may not make for an EGL image, of texture",
        |steps| {
            let makes = |step: &String| {
                step.contains("GL_GENERATE_MIPMAP 1") || step.contains("glGenerateMipmap")
            };
            steps.iter().any(makes)
                && steps.iter().any(|step| step.contains("glEGLImageTargetTexture2D"))
        },
    ),
    // The driver answers about a sampler by its name only, and the state has no border colours of floats.
    Permitted::seen("the border colour of deleted sampler", |steps| {
        let sets = |step: &String| step.contains("glSamplerParameterfv");
        count(steps, &["glDeleteSamplers"]) > 0 && steps.iter().any(sets)
    }),
    // OpenGL ES 1 has no blits and no shaders to read them with.
    Permitted {
        beginning: "depth and stencil of a surface",
        is_of: |steps| {
            let is_es1 = |step: &String| step.contains("EGL_CONTEXT_MAJOR_VERSION,1,");
            steps.iter().any(is_es1) || has_destroyed(steps)
        },
        is_seen: |steps| {
            let tests = ["glEnable GL_DEPTH_TEST", "glEnable GL_STENCIL_TEST"];
            steps.iter().any(|step| tests.iter().any(|test| step.ends_with(test)))
        },
    },
    // Only the read surface can be read in the program's context.
    Permitted::seen(
        "what was drawn to a surface whose context reads from another one",
        reads_apart,
    ),
    Permitted::unseen(
        "what else a surface has to which its context does not draw: depth and stencil",
        reads_apart,
    ),
    // No context can be made that shares with one that is destroyed.
    Permitted::seen("all pixels: the driver makes no context to read them in", has_destroyed),
    Permitted::seen("an EGL image, since the process has no context", has_destroyed),
    Permitted::seen("the contents of buffer", has_destroyed),
    // They are read when the buffer is unmapped, and the context may be destroyed by then.
    Permitted::seen("the contents outside of the mapped part of buffer", |steps| {
        count(steps, &["eglDestroyContext"]) > 0
    }),
    Permitted::seen("the pixels of renderbuffer", has_destroyed),
    Permitted::seen("the samples of texture", has_destroyed),
    Permitted::seen("all of texture", has_destroyed),
    // The snapshot does not see the bindings of a context that is current on another thread.
    Permitted::seen(
        "whether a context of another thread uses it, too, of the deleted program",
        |steps| has_two_contexts(steps) && count(steps, &["glDeleteProgram"]) > 0,
    ),
    // No command binds an object whose name was deleted, so a context that is described later gets another one.
    Permitted {
        beginning: "whether other contexts or objects share the",
        is_of: |steps| has_two_contexts(steps) && deletions_in_capture(steps).next().is_some(),
        is_seen: |steps| deletions_in_capture(steps).any(|deletion| is_in_others(steps, deletion)),
    },
    // No command brings back an executable that another context has replaced.
    Permitted::seen(
        "the executable in use of the program that was linked again elsewhere",
        |steps| has_two_contexts(steps) && count(steps, LINKS) > 1,
    ),
    // No query answers for a program whose last link failed, and no command sets uniforms of an earlier executable that
    // is made by a link of its own.
    Permitted::seen(
        "uniforms of the executable in use of the program whose last link failed",
        |steps| count(steps, LINKS) > 1,
    ),
    // No framebuffer can have them attached, and no other context can read them.
    Permitted::seen("the images of textures with the name 0", |steps| {
        steps.iter().any(|step| command_of(step).starts_with("glTex"))
    }),
    // glWindowPos clamps colors, and glRasterPos sets others only together with a position.
    Permitted::seen("colors of the raster position outside of 0 to 1", |steps| {
        let before = before_described(steps).iter();
        let colors = ["glColor", "glSecondaryColor", "glMaterial", "glLight"];
        let mut sets = before
            .filter(|step| colors.iter().any(|command| command_of(step).starts_with(command)));
        sets.next().is_some()
            && steps.iter().any(|step| command_of(step).starts_with("glRasterPos"))
    }),
    // glWindowPos sets it to 1, and glRasterPos rounds a position.
    Permitted::seen("the fourth coordinate of the raster position", |steps| {
        steps.iter().any(|step| command_of(step).starts_with("glRasterPos"))
    }),
    // Only the compatibility profile has the parameter.
    Permitted::seen("how shaders sample the depth of texture", |steps| {
        let core = ["PROFILE_MASK,1", "FORWARD_COMPATIBLE,1"];
        // The core profile is the default from OpenGL 3.2 on.
        let is_core = |step: &String| {
            core.iter().any(|word| step.contains(word))
                || !step.contains("PROFILE_MASK,2") && has_profiles(step)
        };
        has_two_contexts(steps) && steps.iter().any(is_core)
    }),
    // No command sets where a feedback goes on. Until it has written something, that is where it begins.
    Permitted {
        beginning: "how far a transform feedback has got",
        is_of: |steps| {
            let (before, ends) = (before_attach(steps), ["glEndTransformFeedback"]);
            count(before, &["glBeginTransformFeedback"]) > count(before, &ends)
        },
        is_seen: |steps| {
            let begins = |step: &String| command_of(step) == "glBeginTransformFeedback";
            let mut since = before_attach(steps).iter().skip_while(|step| !begins(step));
            since.any(|step| command_of(step).contains("Draw"))
        },
    },
    // No command attaches a level behind the last one of immutable storage. It was attached before.
    Permitted::seen("an attached level that the storage lacks, of texture", |steps| {
        let before = before_attach(steps).iter();
        let attaches = |step: &&String| {
            command_of(step).starts_with("glFramebufferTexture") && !step.ends_with(" 0")
        };
        count(before_attach(steps), &["glTexStorage2D", "glTexStorage3D"]) > 0
            && before.filter(attaches).count() > 0
    }),
    // The driver moves levels that do not fit together when one of them is sampled, and nothing else reads some of them.
    Permitted::seen("the pixels on level", |steps| has_unfit_levels(steps) || has_destroyed(steps)),
    // Mesa does not look again whether a framebuffer is complete when another level of an attached texture is defined.
    Permitted::seen("whether a framebuffer is complete with a level that does not fit", |steps| {
        let attaches = |step: &String| command_of(step).starts_with("glFramebufferTexture");
        has_unfit_levels(steps) && before_described(steps).iter().any(attaches)
    }),
    // While it was mapped, nothing could read them. Later its name is gone, and no command writes them in a replay.
    Permitted::seen(
        "the contents outside of the mapped part of a deleted buffer",
        may_be_deleted_while_mapped,
    ),
    // An image becomes all of a texture; only of a texture that is made before the image is it one level among others.
    Permitted::seen("which EGL image a deleted texture shares its storage with", |steps| {
        let before = before_described(steps);
        let makes_levels = ["glGenerateMipmap", "glTexStorage2D"];
        count(before, &["glDeleteTextures"]) > 0
            && count(before, &["eglCreateImageKHR"]) > 0
            && count(before, &makes_levels) > 0
    }),
    // They are read by a draw, which a query would count, and which replaces the executable in use. No draw reads what only an
    // indexed binding point of shader storage leads to, or a buffer that is still mapped.
    Permitted::seen("the contents of a deleted buffer, once called", |steps| {
        may_not_draw(steps)
            || may_hold_by_index(steps)
            || may_be_deleted_while_mapped(steps)
            || may_be_in_shared_texture(steps)
            || has_destroyed(steps)
    }),
    Permitted::seen("the pixels of deleted texture", |steps| {
        may_not_draw(steps)
            || may_be_incomplete(steps)
            || has_unfit_levels(steps)
            || may_be_inner_view(steps)
            || may_be_in_image_unit(steps)
            || has_lines(steps)
            || may_lose_samples(steps)
            || may_lose_blocks(steps)
    }),
    Permitted::seen("the pixels of deleted renderbuffer", |steps| {
        may_be_incomplete(steps) || may_lose_samples(steps)
    }),
    // The driver has no query for a group's source, identifier and message.
    Permitted::unseen("what debug groups are called", |steps| {
        count(before_attach(steps), &["glPushDebugGroup"]) > 0
    }),
];

/// Whether a texture of one dimension or of a rectangle may have been deleted: the shim has no shader that shows it.
fn has_lines(steps: &[String]) -> bool {
    let targets = [" GL_TEXTURE_1D ", " GL_TEXTURE_1D_ARRAY ", " GL_TEXTURE_RECTANGLE "];
    let before = before_described(steps);
    count(before, &["glDeleteTextures"]) > 0
        && before.iter().any(|step| targets.iter().any(|target| step.contains(target)))
}

/// Whether an image with several samples may have been deleted. Without a name no other context can read it, and commands of
/// the program's context read it resolved only: OpenGL ES 3.2, 16.2.1.
fn may_lose_samples(steps: &[String]) -> bool {
    let before = before_described(steps);
    let makes = [
        "glRenderbufferStorageMultisample",
        "glTexStorage2DMultisample",
        "glTexStorage3DMultisample",
    ];
    count(before, &makes) > 0 && count(before, &["glDeleteRenderbuffers", "glDeleteTextures"]) > 0
}

/// Whether a compressed image may have been deleted. Draws read its pixels, not its blocks, and other blocks decode to other pixels.
fn may_lose_blocks(steps: &[String]) -> bool {
    let before = before_described(steps);
    let is_compressed = |step: &String| step.contains(" GL_COMPRESSED_");
    before.iter().any(is_compressed) && count(before, &["glDeleteTextures"]) > 0
}

/// Commands that link programs.
const LINKS: &[&str] = &["glLinkProgram", "glCreateShaderProgramv"];

/// Whether a buffer may be deleted that is mapped when the capture begins or before the last context is described, or was
/// mapped then.
fn may_be_deleted_while_mapped(steps: &[String]) -> bool {
    let unmaps = ["glUnmapBuffer"];
    let maps = ["glMapBufferRange", "glMapBufferOES"];
    let is_mapped = |before: &[String]| count(before, &maps) > count(before, &unmaps);
    count(steps, &["glDeleteBuffers"]) > 0
        && (is_mapped(before_attach(steps)) || is_mapped(before_described(steps)))
}

/// Whether a texture may have levels that are no mipmaps of each other when the capture begins, or before the last context is
/// described.
fn has_unfit_levels(steps: &[String]) -> bool {
    let before = before_described(steps);
    let images: Vec<[&str; 4]> = before
        .iter()
        .filter(|step| !is_refused(step))
        .filter_map(|step| {
            // The thread, the command, the target, the level, the format, of a copy its place, width and height.
            let words: Vec<&str> = step.split(' ').collect();
            let size = match command_of(step) {
                "glCopyTexImage2D" => 7,
                it if it.starts_with("glTexImage") || it.starts_with("glCompressedTexImage") => 5,
                _ => return None,
            };
            Some([*words.get(3)?, *words.get(4)?, *words.get(size)?, *words.get(size + 1)?])
        })
        .collect();
    let fits = |[level, format, width, height]: &[&str; 4]| {
        let side = |side: &str| {
            let (side, level) = (side.parse::<u32>().unwrap_or(0), level.parse().unwrap_or(0));
            side.checked_shl(level).unwrap_or(0)
        };
        (format.to_string(), side(width), side(height))
    };
    let has_others =
        images.iter().any(|[level, ..]| *level != "0") || count(before, &["glGenerateMipmap"]) > 0;
    has_others && images.iter().any(|image| fits(image) != fits(&images[0]))
}

/// Whether the shim may find a context in which it must not draw.
fn may_not_draw(steps: &[String]) -> bool {
    let counts = |step: &String| {
        let targets = ["GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN", "GL_PRIMITIVES_GENERATED"];
        let begins = command_of(step).starts_with("glBeginQuery");
        begins && targets.iter().any(|target| step.contains(target))
    };
    // No command binds a buffer without a name to the binding point again, to which the draw has another one bound.
    let feeds_back = |step: &String| step.contains(" GL_TRANSFORM_FEEDBACK_BUFFER ");
    let may_lose_buffer = count(steps, &["glDeleteBuffers"]) > 0 && steps.iter().any(feeds_back);
    // Mesa keeps a deleted pipeline bound while a program is current, and binds it by its name when none is any more.
    let may_lose_pipeline = count(steps, &["glDeleteProgramPipelines"]) > 0
        && steps.iter().any(|step| step.ends_with(" glUseProgram 0"));
    steps.iter().any(counts)
        || count(steps, &["glLinkProgram"]) > count(steps, &["glCreateProgram"])
        || may_lose_buffer
        || may_lose_pipeline
}

/// Whether something without a name may keep a framebuffer incomplete: it could not be attached again if it were taken off for
/// a read. That is a second deleted object, or the same one at another attachment point.
fn may_be_incomplete(steps: &[String]) -> bool {
    let before = before_described(steps);
    let is_deletion =
        |step: &&String| ["glDeleteTextures", "glDeleteRenderbuffers"].contains(&command_of(step));
    let mut deleted = before.iter().filter(is_deletion);
    let last = deleted.next_back();
    deleted.next().is_some() || last.is_some_and(|deletion| is_attached_twice(before, deletion))
}

/// Steps of the capture that delete objects which others can hold.
fn deletions_in_capture(steps: &[String]) -> impl Iterator<Item = &String> {
    let kinds =
        ["glDeleteBuffers", "glDeleteTextures", "glDeleteRenderbuffers", "glDeleteSamplers"];
    let of_capture = steps.iter().skip(before_attach(steps).len());
    of_capture.filter(move |step| kinds.contains(&command_of(step)))
}

/// Whether the object that this step deletes is attached to a framebuffer, or shares its storage.
fn is_in_others(steps: &[String], deletion: &str) -> bool {
    let object = deletion.rsplit(':').next().unwrap_or_default();
    let shares = ["glFramebuffer", "glTextureView", "glTexBuffer", "eglCreateImageKHR"];
    steps.iter().any(|step| {
        let is_it = shares.iter().any(|command| command_of(step).starts_with(command));
        is_it && step.split(' ').any(|word| word == object)
    })
}

/// Whether the object that this step deletes is attached at more than one point.
fn is_attached_twice(steps: &[String], deletion: &str) -> bool {
    let object = deletion.rsplit(':').next().unwrap_or_default();
    let attaches = |step: &&String| {
        let is_attachment = command_of(step).starts_with("glFramebuffer");
        is_attachment && step.split(' ').any(|word| word == object)
    };
    let point = |step: &String| step.split(' ').nth(3).map(str::to_owned);
    let points: BTreeSet<String> = steps.iter().filter(attaches).filter_map(point).collect();
    points.len() > 1 || points.contains("GL_DEPTH_STENCIL_ATTACHMENT")
}

/// Whether an indexed binding point of shader storage may hold a buffer that another context has deleted.
fn may_hold_by_index(steps: &[String]) -> bool {
    let is_indexed = |step: &String| {
        let words = [
            "glBindBufferBase GL_SHADER_STORAGE_BUFFER",
            "glBindBufferRange GL_SHADER_STORAGE_BUFFER",
        ];
        words.iter().any(|words| step.contains(words))
    };
    has_two_contexts(steps)
        && count(steps, &["glDeleteBuffers"]) > 0
        && steps.iter().any(is_indexed)
}

/// Whether a deleted buffer texture may be in units of two contexts. The shim must not draw with it: Mesa keeps what a context
/// samples of it longer than the context.
fn may_be_in_shared_texture(steps: &[String]) -> bool {
    has_two_contexts(steps)
        && count(steps, &["glTexBuffer", "glTexBufferRange"]) > 0
        && count(steps, &["glDeleteBuffers"]) > 0
        && count(steps, &["glDeleteTextures"]) > 0
}

/// Whether an image unit may hold a texture that another context has deleted: nothing reads what no texture unit and no
/// framebuffer shows.
fn may_be_in_image_unit(steps: &[String]) -> bool {
    has_two_contexts(steps)
        && count(steps, &["glBindImageTexture"]) > 0
        && count(steps, &["glDeleteTextures"]) > 0
}

/// Whether a view may be deleted that does not begin with the first level and layer: Mesa blits others from a framebuffer.
fn may_be_inner_view(steps: &[String]) -> bool {
    let is_inner = |step: &String| {
        // The thread, the command, the view, the target, the texture, the format, and first and number of levels and layers.
        let words: Vec<&str> = step.split(' ').collect();
        let is_first = |at: usize| words.get(at) == Some(&"0");
        command_of(step).starts_with("glTextureView") && !(is_first(6) && is_first(8))
    };
    count(steps, &["glDeleteTextures"]) > 0 && steps.iter().any(is_inner)
}

fn before_attach(steps: &[String]) -> &[String] {
    steps.split(|step| is_beginning(step)).next().unwrap_or_default()
}

/// The steps before the last of the contexts is described. A context that is not current when the capture begins is described
/// when it becomes current, and one on an idle thread with the thread's next step.
fn before_described(steps: &[String]) -> &[String] {
    let count = before_attach(steps).len();
    let (mut current, mut waiting) = ([""; 4], BTreeSet::new());
    for (at, step) in steps.iter().enumerate() {
        if at < count && command_of(step) == "eglCreateContext" {
            waiting.extend(step.split(' ').nth(1).map(|word| word.trim_end_matches('=')));
        }
        let Some(context) = thread_of(step).and_then(|at| current.get_mut(at)) else { continue };
        let left = *context;
        *context = made_current(step).unwrap_or(left);
        if at > count {
            [left, *context].iter().for_each(|described| _ = waiting.remove(described));
            if waiting.is_empty() {
                return &steps[..at];
            }
        }
    }
    steps
}

/// Whether a context may be current that is destroyed.
fn has_destroyed(steps: &[String]) -> bool {
    count(before_described(steps), &["eglDestroyContext"]) > 0
}

/// Whether a context reads from another surface than the one to which it draws.
fn reads_apart(steps: &[String]) -> bool {
    steps.iter().any(|step| {
        let surfaces = step.split_once("eglMakeCurrent display ").map(|(_, rest)| rest);
        let mut words = surfaces.into_iter().flat_map(|rest| rest.split(' '));
        words.next() != words.next()
    })
}

/// Whether a step makes a context of a version of OpenGL that has profiles.
fn has_profiles(step: &str) -> bool {
    let number = |name: &str| {
        let (_, rest) = step.split_once(&format!("EGL_CONTEXT_{name}_VERSION,"))?;
        rest.split(',').next()?.parse::<u32>().ok()
    };
    number("MAJOR").zip(number("MINOR")) >= Some((3, 2))
}

fn has_two_contexts(steps: &[String]) -> bool {
    count(steps, &["eglCreateContext"]) > 1
}

fn count(steps: &[String], commands: &[&str]) -> usize {
    // A command that the driver refuses counts for nothing.
    let is_one = |step: &&String| commands.contains(&command_of(step)) && !is_refused(step);
    steps.iter().filter(is_one).count()
}

/// Whether a thread of the program has a context, which makes it a thread that may be in the driver.
fn has_idle_thread(steps: &[String]) -> bool {
    let mut with_context = [false; 4];
    for step in before_attach(steps) {
        let thread = thread_of(step).and_then(|at| with_context.get_mut(at));
        if let (Some(thread), Some(context)) = (thread, made_current(step)) {
            *thread = context != "0";
        }
    }
    with_context.contains(&true)
}

/// Whether a replay shows that a snapshot of this program lacks this; `None` if the snapshot must not lack it.
pub fn is_seen_if_missing(sentence: &str, program: &Program) -> Option<bool> {
    let permitted = PERMITTED.iter().find(|permitted| sentence.starts_with(permitted.beginning))?;
    let steps: Vec<String> = program.steps.iter().map(|step| with_binding(step)).collect();
    (permitted.is_of)(&steps).then(|| (permitted.is_seen)(&steps))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contexts_are_described_at_their_first_steps_of_the_capture() {
        let check = |steps: &[&str], expected: usize| {
            let steps: Vec<String> = steps.iter().map(|step| (*step).to_owned()).collect();
            assert_eq!(before_described(&steps).len(), expected, "{steps:?}");
        };
        let made = ["0 c1= eglCreateContext d", "0 c2= eglCreateContext d c1"];
        let current = "0 ?8 eglMakeCurrent d s1 s1 c1";
        let begin = |after: &[&'static str]| [&made[..], &[current, "@attach"], after].concat();
        check(&begin(&["0 glFinish", "1 ?8 eglMakeCurrent d s2 s2 c2", "1 glFinish"]), 5);
        check(&begin(&["0 ?8 eglMakeCurrent d s2 s2 c2", "0 glFinish"]), 4);
        check(&[made[0], current, "@attach", "0 glFinish"], 3);
    }
}
