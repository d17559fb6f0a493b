//! The files of pkg-config: what a compiler is told for the shim and its headers (`SHARED`), and for the shim's archive
//! (`STATIC`).

/// For tools, and for programs that link the shim.
pub const SHARED: &str = "gapii.pc";
/// For programs that contain the shim.
pub const STATIC: &str = "gapii-static.pc";

const SHARED_TEXT: &str = include_str!("../../tool/gapii.pc.in");
const STATIC_TEXT: &str = include_str!("../../tool/gapii-static.pc.in");

/// Where libraries and headers are, as the files name it: `${pcfiledir}` is the file's own folder.
pub struct Place {
    pub libraries: String,
    pub headers: String,
}

impl Place {
    /// The folder in which the products were built.
    pub fn of_build() -> Place {
        Place {
            libraries: "${pcfiledir}/..".to_owned(),
            headers: "${pcfiledir}/../include".to_owned(),
        }
    }

    /// Text of the file `name`, which is `SHARED` or `STATIC`.
    pub fn file(&self, name: &str) -> String {
        let text = if name == STATIC { STATIC_TEXT } else { SHARED_TEXT };
        text.replace("@VERSION@", env!("CARGO_PKG_VERSION"))
            .replace("@LIBRARIES@", &self.libraries)
            .replace("@HEADERS@", &self.headers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_to_fill_in() {
        for name in [SHARED, STATIC] {
            let text = Place::of_build().file(name);
            assert!(!text.contains('@') && text.contains("${pcfiledir}"), "{text}");
        }
    }
}
