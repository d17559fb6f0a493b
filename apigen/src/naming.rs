//! Names of generated items. A parameter whose name is a variable of the handlers (`TAKEN`) gets `_` behind it, one
//! that is a keyword of Rust `r#` before it. A vendor's suffix (`SUFFIXES`) is a word of its own in a constant's name.

/// Vendor suffixes, each of which becomes a separate word.
const SUFFIXES: &[&str] = &[
    "AMD", "ANDROID", "ANGLE", "APPLE", "ARB", "ARM", "EXT", "HI", "IMG", "INTEL", "KHR", "MESA",
    "NOK", "NV", "OES", "OVR", "QCOM", "WL",
];

/// Names that the generated handlers use for their own variables.
const TAKEN: &[&str] = &["call", "driver", "reads", "result", "scope", "writes"];

/// Rust's keywords that occur as parameter names.
const KEYWORDS: &[&str] = &["box", "in", "loop", "match", "move", "ref", "type", "use", "where"];

/// The class of parameters that hold a uniform location of a program (OpenGL ES 3.2, 7.6).
pub const UNIFORM_LOCATION: &str = "uniform_location";
/// The class of parameters that hold the index of a uniform block.
pub const UNIFORM_BLOCK: &str = "uniform_block";

/// The constant of a command's id: `glUniform4fv` is `GL_UNIFORM4FV`, `eglCreateSync64KHR` is
/// `EGL_CREATE_SYNC64_KHR`. A word begins at an upper-case letter behind a lower-case one, and at
/// the last of several upper-case letters if a lower-case one follows. `glX` is one word.
pub fn id_constant(command: &str) -> String {
    if let Some(rest) = command.strip_prefix("glX") {
        return id_constant(&format!("glx{rest}"));
    }
    let suffix = SUFFIXES.iter().find(|suffix| command.ends_with(**suffix)).copied();
    let stem = suffix.and_then(|suffix| command.strip_suffix(suffix)).unwrap_or(command);
    let chars: Vec<char> = stem.chars().collect();
    let mut name = String::new();
    for (at, c) in chars.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| chars.get(at));
        let after = chars.get(at + 1);
        let is_lower = |c: Option<&char>| c.is_some_and(char::is_ascii_lowercase);
        let is_upper = |c: Option<&char>| c.is_some_and(char::is_ascii_uppercase);
        if c.is_ascii_uppercase() && (is_lower(before) || is_upper(before) && is_lower(after)) {
            name.push('_');
        }
        name.push(c.to_ascii_uppercase());
    }
    if let Some(suffix) = suffix {
        name.push('_');
        name.push_str(suffix);
    }
    name
}

/// Whether a name is one of Rust's keywords.
pub fn is_keyword(name: &str) -> bool {
    KEYWORDS.contains(&name)
}

/// The Rust identifier of a parameter.
pub fn parameter(name: &str) -> String {
    if TAKEN.contains(&name) {
        format!("{name}_")
    } else if is_keyword(name) {
        format!("r#{name}")
    } else {
        name.to_owned()
    }
}

/// `VertexArray` is `vertex_array`.
pub fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for (at, c) in name.chars().enumerate() {
        if c.is_ascii_uppercase() && at > 0 {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}

/// `level_zero` is `LevelZero`.
pub fn camel_case(name: &str) -> String {
    let word = |word: &str| {
        let mut chars = word.chars();
        let first = chars.next().map(|first| first.to_ascii_uppercase());
        first.into_iter().chain(chars).collect::<String>()
    };
    name.split('_').map(word).collect()
}

/// The field that holds all objects of a kind: `vertex_arrays` for `VertexArray`.
pub fn table(kind: &str) -> String {
    let mut name = snake_case(kind);
    let ends_with = |ends: &[&str]| ends.iter().any(|end| name.ends_with(end));
    if ends_with(&["s", "x", "ch", "sh"]) {
        name + "es"
    } else if name.ends_with('y') && !ends_with(&["ay", "ey", "oy", "uy"]) {
        name.pop();
        name + "ies"
    } else {
        name + "s"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_name_becomes_upper_snake_case() {
        let check = |command: &str, expected: &str| assert_eq!(id_constant(command), expected);
        check("glClear", "GL_CLEAR");
        check("glUniform4fv", "GL_UNIFORM4FV");
        check("glUniformMatrix2x3fvNV", "GL_UNIFORM_MATRIX2X3FV_NV");
        check("glTexImage3DOES", "GL_TEX_IMAGE3D_OES");
        check("glGetIntegeri_v", "GL_GET_INTEGERI_V");
        check("glDebugMessageCallbackKHR", "GL_DEBUG_MESSAGE_CALLBACK_KHR");
        check("eglSwapBuffers", "EGL_SWAP_BUFFERS");
        check("eglWaitGL", "EGL_WAIT_GL");
        check("eglGetDRMImageName", "EGL_GET_DRM_IMAGE_NAME");
        check("eglCreateSync64KHR", "EGL_CREATE_SYNC64_KHR");
    }

    #[test]
    fn kind_of_object_becomes_its_plural() {
        let check = |kind: &str, expected: &str| assert_eq!(table(kind), expected);
        check("Buffer", "buffers");
        check("VertexArray", "vertex_arrays");
        check("Query", "queries");
        check("Display", "displays");
        check("Axis", "axises");
    }

    #[test]
    fn parameter_that_is_a_keyword_or_a_local_is_changed() {
        assert_eq!(parameter("type"), "r#type");
        assert_eq!(parameter("result"), "result_");
        assert_eq!(parameter("count"), "count");
    }
}
