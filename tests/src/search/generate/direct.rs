//! Commands of direct state access (OpenGL 4.5) in place of commands that need a binding, which take the bound object.

use std::collections::BTreeMap;

use crate::search::program::{command_of, is_refused};

/// What the steps of a context have bound, by words such as `GL_ARRAY_BUFFER` and `b3`.
#[derive(Clone, Default)]
pub struct Bound {
    /// Buffers and framebuffers by target; textures by unit and target.
    objects: BTreeMap<String, String>,
    unit: String,
}

/// A command that takes a target, and the one that takes an object instead.
const FORMS: &[(&str, &str)] = &[
    ("glBufferData", "glNamedBufferData"),
    ("glBufferSubData", "glNamedBufferSubData"),
    ("glBufferStorageEXT", "glNamedBufferStorage"),
    ("glMapBufferRange", "glMapNamedBufferRange"),
    ("glFlushMappedBufferRange", "glFlushMappedNamedBufferRange"),
    ("glUnmapBuffer", "glUnmapNamedBuffer"),
    ("glGetBufferParameteriv", "glGetNamedBufferParameteriv"),
    ("glTexParameterf", "glTextureParameterf"),
    ("glTexParameterfv", "glTextureParameterfv"),
    ("glTexParameteri", "glTextureParameteri"),
    ("glTexParameteriv", "glTextureParameteriv"),
    ("glTexParameterIiv", "glTextureParameterIiv"),
    ("glTexParameterIuiv", "glTextureParameterIuiv"),
    ("glTexStorage2D", "glTextureStorage2D"),
    ("glTexStorage3D", "glTextureStorage3D"),
    ("glTexSubImage2D", "glTextureSubImage2D"),
    ("glTexSubImage3D", "glTextureSubImage3D"),
    ("glCopyTexSubImage2D", "glCopyTextureSubImage2D"),
    ("glCopyTexSubImage3D", "glCopyTextureSubImage3D"),
    ("glCompressedTexSubImage2D", "glCompressedTextureSubImage2D"),
    ("glGenerateMipmap", "glGenerateTextureMipmap"),
    ("glTexBuffer", "glTextureBuffer"),
    ("glTexBufferRange", "glTextureBufferRange"),
    ("glDrawBuffers", "glNamedFramebufferDrawBuffers"),
    ("glReadBuffer", "glNamedFramebufferReadBuffer"),
    ("glCheckFramebufferStatus", "glCheckNamedFramebufferStatus"),
    ("glFramebufferRenderbuffer", "glNamedFramebufferRenderbuffer"),
    ("glFramebufferTextureLayer", "glNamedFramebufferTextureLayer"),
    ("glFramebufferParameteri", "glNamedFramebufferParameteri"),
    ("glRenderbufferStorage", "glNamedRenderbufferStorage"),
    ("glRenderbufferStorageMultisample", "glNamedRenderbufferStorageMultisample"),
    ("glBindVertexBuffer", "glVertexArrayVertexBuffer"),
    ("glDisableVertexAttribArray", "glDisableVertexArrayAttrib"),
    ("glEnableVertexAttribArray", "glEnableVertexArrayAttrib"),
    ("glVertexAttribBinding", "glVertexArrayAttribBinding"),
    ("glVertexAttribFormat", "glVertexArrayAttribFormat"),
    ("glVertexAttribIFormat", "glVertexArrayAttribIFormat"),
    ("glVertexBindingDivisor", "glVertexArrayBindingDivisor"),
    ("glClearBufferfv", "glClearNamedFramebufferfv"),
    ("glClearBufferiv", "glClearNamedFramebufferiv"),
    ("glClearBufferuiv", "glClearNamedFramebufferuiv"),
    ("glClearBufferfi", "glClearNamedFramebufferfi"),
];

/// Commands that generate names, and those that make the objects as well.
const MAKERS: &[(&str, &str)] = &[
    ("glGenBuffers", "glCreateBuffers"),
    ("glGenFramebuffers", "glCreateFramebuffers"),
    ("glGenProgramPipelines", "glCreateProgramPipelines"),
    ("glGenRenderbuffers", "glCreateRenderbuffers"),
    ("glGenSamplers", "glCreateSamplers"),
    ("glGenTransformFeedbacks", "glCreateTransformFeedbacks"),
    ("glGenVertexArrays", "glCreateVertexArrays"),
];

/// The key of the vertex array.
const ARRAY: &str = "array";

/// Commands whose object is that of a target which is not among their arguments.
fn implied(command: &str) -> Option<&'static str> {
    match command {
        "glDrawBuffers" => Some("GL_DRAW_FRAMEBUFFER"),
        "glReadBuffer" => Some("GL_READ_FRAMEBUFFER"),
        "glBindVertexBuffer" | "glDisableVertexAttribArray" | "glEnableVertexAttribArray" => {
            Some(ARRAY)
        }
        it if it.starts_with("glVertex") => Some(ARRAY),
        it if it.starts_with("glClearBuffer") => Some("GL_DRAW_FRAMEBUFFER"),
        _ => None,
    }
}

/// The form of a step that names its object, if it has one.
pub fn direct(bound: &Bound, step: &str) -> Option<String> {
    let words: Vec<&str> = step.split(' ').collect();
    let at = words.iter().position(|word| word.starts_with("gl"))?;
    if let Some((names, maker)) = MAKERS.iter().find(|(names, _)| *names == words[at]) {
        return Some(step.replacen(names, maker, 1));
    }
    let (_, form) = FORMS.iter().find(|(bound, _)| *bound == words[at])?;
    let (target, rest) = match implied(words[at]) {
        Some(target) => (target, &words[at + 1..]),
        None => (*words.get(at + 1)?, &words[at + 2..]),
    };
    let target = if target == "GL_FRAMEBUFFER" { "GL_DRAW_FRAMEBUFFER" } else { target };
    // The target of a buffer and that of a texture may have one name.
    let object = match form.contains("Texture") && !form.contains("Framebuffer") {
        true => bound.objects.get(&bound.of_unit(target))?,
        false => bound.objects.get(target)?,
    };
    let rest = match words[at] {
        // The target stays in this one.
        "glCheckFramebufferStatus" => vec![words[at + 1]],
        _ => rest.to_vec(),
    };
    let all = words[..at].iter().copied().chain([*form, object]).chain(rest);
    Some(all.collect::<Vec<_>>().join(" "))
}

/// The step with a command that needs a binding in place of one that names its object: the arguments stay.
pub fn with_binding(step: &str) -> String {
    let words = step.split(' ');
    let bound = words.map(|word| {
        let form = FORMS.iter().chain(MAKERS).find(|(_, direct)| *direct == word);
        form.map_or(word, |(bound, _)| bound)
    });
    bound.collect::<Vec<_>>().join(" ")
}

impl Bound {
    /// Key of a texture target of the active unit.
    fn of_unit(&self, target: &str) -> String {
        format!("{} {target}", self.unit)
    }

    /// Forgets an object whose name is deleted.
    pub fn forget(&mut self, object: &str) {
        self.objects.retain(|_, bound| bound != object);
    }

    fn bind(&mut self, key: String, object: &str) {
        // An object of a name that the driver chose, which is a kind and a number.
        match object.starts_with(|letter: char| letter.is_ascii_lowercase()) {
            true => _ = self.objects.insert(key, object.to_owned()),
            false => _ = self.objects.remove(&key),
        }
    }
}

/// The object whose name a step deletes.
pub fn deleted(step: &str) -> Option<&str> {
    let deletes = command_of(step).starts_with("glDelete") && !is_refused(step);
    let last = step.rsplit(' ').next().filter(|_| deletes)?;
    Some(last.strip_prefix("ints:").unwrap_or(last))
}

/// Notes what a step binds.
pub fn note(bound: &mut Bound, step: &str) {
    let words: Vec<&str> = step.split(' ').collect();
    let Some(at) = words.iter().position(|word| word.starts_with("gl")) else { return };
    if is_refused(step) {
        return;
    }
    let word = |number: usize| words.get(at + number).copied().unwrap_or_default().to_owned();
    match command_of(step) {
        "glActiveTexture" => bound.unit = word(1),
        "glBindBuffer" | "glBindRenderbuffer" => bound.bind(word(1), &word(2)),
        "glBindBufferBase" | "glBindBufferRange" => bound.bind(word(1), &word(3)),
        "glBindTexture" => bound.bind(bound.of_unit(&word(1)), &word(2)),
        "glBindFramebuffer" => {
            for target in ["GL_DRAW_FRAMEBUFFER", "GL_READ_FRAMEBUFFER"] {
                if word(1) == target || word(1) == "GL_FRAMEBUFFER" {
                    bound.bind(target.to_owned(), &word(2));
                }
            }
        }
        // It has a binding of elements of its own.
        "glBindVertexArray" => {
            bound.objects.remove("GL_ELEMENT_ARRAY_BUFFER");
            bound.bind(ARRAY.to_owned(), &word(1));
        }
        _ => {}
    }
}
