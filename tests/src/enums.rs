//! Values of EGL and GL names, from the headers that programs are compiled with.
//!
//! An authority outside the project: a name that a trace shows is right if the headers give it the
//! value that the other record has.

use std::collections::HashMap;
use std::path::Path;
use std::sync::OnceLock;

const HEADERS: &[&str] = &[
    "GL/gl.h",
    "GL/glext.h",
    "EGL/egl.h",
    "EGL/eglext.h",
    "GLES/gl.h",
    "GLES/glext.h",
    "GLES2/gl2.h",
    "GLES2/gl2ext.h",
    "GLES3/gl32.h",
];

pub struct Enums(HashMap<String, u64>);

impl Enums {
    /// Returns the values of the installed headers, which are read once.
    ///
    /// # Panics
    /// If the headers are not installed.
    pub fn from_headers() -> &'static Self {
        static ENUMS: OnceLock<Enums> = OnceLock::new();
        ENUMS.get_or_init(Self::read)
    }

    fn read() -> Self {
        let mut values = HashMap::new();
        for header in HEADERS {
            let path = Path::new("/usr/include").join(header);
            let text = std::fs::read_to_string(&path).unwrap_or_else(|error| {
                panic!(
                    "{}: {error}; install it: apt-get install libegl-dev libgl-dev libgles-dev",
                    path.display()
                )
            });
            values.extend(text.lines().filter_map(define));
        }
        Self(values)
    }

    /// The value of names joined by `|`.
    pub fn value(&self, names: &str) -> Option<u64> {
        names.split('|').try_fold(0, |bits, name| Some(bits | self.one(name.trim())?))
    }

    fn one(&self, name: &str) -> Option<u64> {
        self.0.get(name).copied().or_else(|| number(name))
    }
}

/// `#define GL_NAME 0x1234`
fn define(line: &str) -> Option<(String, u64)> {
    let mut words = line.strip_prefix("#define ")?.split_whitespace();
    let name = words.next().filter(|name| name.starts_with("GL_") || name.starts_with("EGL_"))?;
    Some((name.to_owned(), number(words.next()?)?))
}

fn number(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(['u', 'U', 'l', 'L']);
    match digits.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => digits.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_the_headers_values() {
        let enums = Enums::from_headers();
        let check = |names: &str, expected: Option<u64>| {
            assert_eq!(enums.value(names), expected, "{names}")
        };
        check("GL_TRIANGLES", Some(4));
        check("GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT", Some(0x4100));
        check("GL_STENCIL_BUFFER_BIT|0x1", Some(0x401));
        check("EGL_OPENGL_ES_API", Some(0x30A0));
        check("GL_NO_SUCH_THING", None);
    }
}
