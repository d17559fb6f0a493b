//! Version and extensions of a driver's context.

/// Version and extensions of a context of this machine's driver.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Offer {
    /// Major and minor version.
    pub version: (u16, u16),
    /// Names of the extensions, separated by spaces.
    pub extensions: String,
}

/// Major and minor version from `GL_VERSION`: `OpenGL ES 3.2 …` or `OpenGL ES-CM 1.1 …`.
pub(crate) fn version_of(text: &str) -> Option<(u32, u32)> {
    let numbers = text.strip_prefix("OpenGL ES")?.split(' ').nth(1)?;
    let (major, minor) = numbers.split_once('.')?;
    let minor: String = minor.chars().take_while(char::is_ascii_digit).collect();
    Some((major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_is_read_from_the_drivers_text() {
        for (text, expected) in [
            ("OpenGL ES 3.2 Mesa 22.3.6", Some((3, 2))),
            ("OpenGL ES-CM 1.1 Mesa", Some((1, 1))),
            ("OpenGL ES 2.0", Some((2, 0))),
            ("4.6.0 NVIDIA", None),
            ("", None),
        ] {
            assert_eq!(version_of(text), expected, "{text}");
        }
    }
}
