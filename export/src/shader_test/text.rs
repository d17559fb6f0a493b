//! The text of a `.shader_test` file: what a driver must have, and the source of each stage. It has no section `[test]`, so
//! that `shader_runner` compiles and links, and draws nothing.

use gapii_commands::constants::{
    GL_COMPUTE_SHADER, GL_FRAGMENT_SHADER, GL_GEOMETRY_SHADER, GL_TESS_CONTROL_SHADER,
    GL_TESS_EVALUATION_SHADER, GL_VERTEX_SHADER,
};

/// The stages of a program in the order of a file: type of the shader, and name of its section.
const STAGES: [(u32, &str); 6] = [
    (GL_VERTEX_SHADER, "vertex shader"),
    (GL_TESS_CONTROL_SHADER, "tessellation control shader"),
    (GL_TESS_EVALUATION_SHADER, "tessellation evaluation shader"),
    (GL_GEOMETRY_SHADER, "geometry shader"),
    (GL_FRAGMENT_SHADER, "fragment shader"),
    (GL_COMPUTE_SHADER, "compute shader"),
];

/// Versions of the language, in hundredths, and the version of OpenGL ES that has each.
const VERSIONS: [(u32, &str); 4] = [(100, "2.0"), (300, "3.0"), (310, "3.1"), (320, "3.2")];

/// Returns the text of a file for shaders, each with its type. `is_separable` is a program of one that is used with others.
pub fn text(shaders: &[(u32, &[u8])], is_separable: bool) -> Vec<u8> {
    let version = shaders.iter().map(|(_, source)| version(source)).max().unwrap_or(100);
    let fits = |(least, _): &&(u32, &str)| version <= *least;
    let (version, api) = VERSIONS.iter().find(fits).unwrap_or(&VERSIONS[3]);
    let mut file =
        format!("[require]\nGL ES >= {api}\nGLSL ES >= {}.{:02}\n", version / 100, version % 100)
            .into_bytes();
    let mut extensions: Vec<String> =
        shaders.iter().flat_map(|(_, source)| extensions(source)).collect();
    if is_separable {
        file.extend_from_slice(b"SSO ENABLED\n");
        // OpenGL ES 3.1 has separable programs.
        if *version < 310 {
            extensions.push("GL_EXT_separate_shader_objects".to_owned());
        }
    }
    extensions.sort_unstable();
    extensions.dedup();
    for extension in extensions {
        file.extend_from_slice(format!("{extension}\n").as_bytes());
    }
    for (stage, section) in STAGES {
        for (_, source) in shaders.iter().filter(|(of, _)| *of == stage) {
            file.extend_from_slice(format!("\n[{section}]\n").as_bytes());
            append(source, &mut file);
        }
    }
    file
}

/// Appends a source. A line that would begin a section begins with a space.
fn append(source: &[u8], file: &mut Vec<u8>) {
    let end = source.iter().rposition(|byte| !byte.is_ascii_whitespace() && *byte != 0);
    let source = source.get(..end.map_or(0, |end| end + 1)).unwrap_or_default();
    for line in source.split(|byte| *byte == b'\n') {
        if line.first() == Some(&b'[') {
            file.push(b' ');
        }
        file.extend_from_slice(line);
        file.push(b'\n');
    }
}

/// Version of the language in hundredths: 100 without `#version`.
fn version(source: &[u8]) -> u32 {
    directives(source, "version")
        .next()
        .and_then(|words| words.first()?.parse().ok())
        .unwrap_or(100)
}

/// Extensions that a source requires.
fn extensions(source: &[u8]) -> Vec<String> {
    let words = |words: Vec<String>| match words.as_slice() {
        [name, behaviour, ..] if behaviour == "require" => Some(name.clone()),
        _ => None,
    };
    directives(source, "extension").filter_map(words).collect()
}

/// The words behind each directive of this name.
fn directives<'a>(source: &'a [u8], name: &'a str) -> impl Iterator<Item = Vec<String>> + 'a {
    source.split(|byte| *byte == b'\n').filter_map(move |line| {
        let line = String::from_utf8_lossy(line);
        let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix(name)?;
        let words = rest.split(|letter: char| letter.is_whitespace() || letter == ':');
        Some(words.filter(|word| !word.is_empty()).map(str::to_owned).collect())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(shaders: &[(u32, &str)], is_separable: bool, expected: &str) {
        let shaders: Vec<_> = shaders.iter().map(|(of, text)| (*of, text.as_bytes())).collect();
        let text = text(&shaders, is_separable);
        assert_eq!(String::from_utf8(text).unwrap(), expected);
    }

    #[test]
    fn file_requires_the_version_of_its_sources() {
        let shaders =
            [(GL_FRAGMENT_SHADER, "void main() {}\n\n"), (GL_VERTEX_SHADER, "#version 100")];
        let expected = "[require]\nGL ES >= 2.0\nGLSL ES >= 1.00\n\n[vertex shader]\n#version 100\n\n\
                        [fragment shader]\nvoid main() {}\n";
        check(&shaders, false, expected);
        let shaders = [(GL_COMPUTE_SHADER, "  # version 310 es\nx\0")];
        let expected =
            "[require]\nGL ES >= 3.1\nGLSL ES >= 3.10\n\n[compute shader]\n  # version 310 es\nx\n";
        check(&shaders, false, expected);
    }

    #[test]
    fn file_requires_extensions_that_its_sources_require() {
        let source = "#version 300 es\n#extension GL_A : enable\n#extension GL_OES_b:require\n";
        let expected = "[require]\nGL ES >= 3.0\nGLSL ES >= 3.00\nSSO ENABLED\nGL_EXT_separate_shader_objects\n\
                        GL_OES_b\n\n[vertex shader]\n#version 300 es\n#extension GL_A : enable\n#extension GL_OES_b:require\n";
        check(&[(GL_VERTEX_SHADER, source)], true, expected);
    }

    #[test]
    fn line_of_a_source_begins_no_section() {
        let expected =
            "[require]\nGL ES >= 2.0\nGLSL ES >= 1.00\n\n[vertex shader]\nint a\n [2];\n";
        check(&[(GL_VERTEX_SHADER, "int a\n[2];")], false, expected);
    }
}
