//! Commands of OpenGL ES, from the headers that programs are compiled with, and those of the extensions that Mesa has.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::OnceLock;

/// The line with which a header begins the commands of an extension, before the rest of the extension's name.
const EXTENSION: &str = "#ifndef GL_";

/// Extensions that Mesa's llvmpipe has, one a line.
const EXPOSED: &str = include_str!("../../apis/mesa-extensions.txt");

/// A command that a header declares.
struct Declared {
    name: String,
    /// Names of its parameters.
    parameters: Vec<String>,
    /// The extension that has it, such as `GL_EXT_debug_label`.
    extension: Option<String>,
}

/// Returns the commands of OpenGL ES 1.1.
///
/// # Panics
/// If the headers are not installed.
pub fn es1() -> &'static BTreeSet<String> {
    static ES1: OnceLock<BTreeSet<String>> = OnceLock::new();
    ES1.get_or_init(|| declared("GLES/gl.h").into_iter().map(|it| it.name).collect())
}

/// Returns the commands of OpenGL ES 3.2.
///
/// # Panics
/// If the headers are not installed.
pub fn core() -> &'static BTreeSet<String> {
    static CORE: OnceLock<BTreeSet<String>> = OnceLock::new();
    CORE.get_or_init(|| declared("GLES3/gl32.h").into_iter().map(|it| it.name).collect())
}

/// Returns the commands of the versions of OpenGL up to 4.5: all of the core profile, and those of 1.1.
///
/// # Panics
/// If the headers are not installed.
pub fn desktop() -> &'static BTreeSet<String> {
    static DESKTOP: OnceLock<BTreeSet<String>> = OnceLock::new();
    DESKTOP.get_or_init(|| {
        let read = |header: &str| {
            std::fs::read_to_string(Path::new("/usr/include/GL").join(header))
                .expect("libgl-dev is installed")
        };
        let (core, first) = (read("glcorearb.h"), read("gl.h"));
        let end = core.find("#ifndef GL_VERSION_4_6").expect("the header has OpenGL 4.6");
        let lines = core[..end].lines().chain(first.lines());
        let name = |line: &str| {
            let (_, rest) = line.strip_prefix("GLAPI ")?.split_once("APIENTRY ")?;
            Some(rest.split('(').next()?.trim().to_owned())
        };
        lines.filter_map(name).collect()
    })
}

/// Returns the commands of the extensions of OpenGL ES 2 and later that Mesa's llvmpipe has.
///
/// # Panics
/// If the headers are not installed.
pub fn exposed() -> &'static BTreeSet<String> {
    static OF_EXTENSIONS: OnceLock<BTreeSet<String>> = OnceLock::new();
    OF_EXTENSIONS.get_or_init(|| {
        let exposed: BTreeSet<&str> = EXPOSED.lines().collect();
        let is_exposed = |it: &Declared| {
            it.extension.as_deref().is_some_and(|extension| exposed.contains(extension))
        };
        let all = declared("GLES2/gl2ext.h").into_iter();
        all.filter(is_exposed).map(|it| it.name).collect()
    })
}

/// Returns the names of a command's parameters; none for a command that no header has.
///
/// # Panics
/// If the headers are not installed.
pub fn parameters(command: &str) -> &'static [String] {
    static PARAMETERS: OnceLock<BTreeMap<String, Vec<String>>> = OnceLock::new();
    let all = PARAMETERS.get_or_init(|| {
        let headers = ["GLES/gl.h", "GLES2/gl2ext.h", "GLES3/gl32.h"];
        headers.into_iter().flat_map(declared).map(|it| (it.name, it.parameters)).collect()
    });
    all.get(command).map_or(&[], Vec::as_slice)
}

/// Returns the name without the suffix of an extension if OpenGL ES has a command of that name.
pub fn core_name(command: &str) -> Option<&str> {
    let suffix = ["EXT", "OES", "KHR", "NV"].into_iter().find(|it| command.ends_with(it))?;
    command.strip_suffix(suffix).filter(|name| core().contains(*name))
}

/// Returns the commands that a header declares.
fn declared(header: &str) -> Vec<Declared> {
    let path = Path::new("/usr/include").join(header);
    let text = std::fs::read_to_string(&path).expect("libgles-dev is installed");
    let mut extension = None;
    let mut all = Vec::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix(EXTENSION) {
            extension = Some(format!("GL_{name}"));
        }
        let declaration = line.strip_prefix("GL_API").and_then(|it| it.split_once("GL_APIENTRY "));
        if let Some((name, rest)) = declaration.and_then(|(_, rest)| rest.split_once(" (")) {
            let parameters = rest.trim_end_matches(");").split(',');
            let last_word = |it: &str| it.rsplit([' ', '*']).next().unwrap_or(it).to_owned();
            let parameters = parameters.map(last_word).filter(|it| it != "void").collect();
            let extension = extension.clone();
            all.push(Declared { name: name.to_owned(), parameters, extension });
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_of_an_extension_that_mesa_has_are_exposed() {
        assert!(core().contains("glTexStorage2D") && !core().contains("glFogf"));
        assert!(es1().contains("glFogf") && !es1().contains("glTexStorage2D"));
        assert!(exposed().contains("glLabelObjectEXT"));
        assert!(!exposed().contains("glTexPageCommitmentEXT"), "GL_EXT_sparse_texture");
    }

    #[test]
    fn parameters_have_their_names() {
        assert_eq!(parameters("glBufferSubData"), ["target", "offset", "size", "data"]);
        assert_eq!(parameters("glShaderSource"), ["shader", "count", "string", "length"]);
        assert_eq!(parameters("glFlush"), [""; 0]);
    }

    #[test]
    fn suffix_is_taken_from_commands_that_opengl_es_has() {
        assert_eq!(core_name("glCopyImageSubDataOES"), Some("glCopyImageSubData"));
        assert_eq!(core_name("glBufferStorageEXT"), None);
        assert_eq!(core_name("glFlush"), None);
    }
}
