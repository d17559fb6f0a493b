//! The APIs, and the one spelling of each one's name.

use std::fmt;
use std::str::FromStr;

/// An API whose commands are recorded.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Api {
    Egl,
    /// OpenGL ES 1.1 and 2.0 to 3.2.
    Gles,
    LevelZero,
}

impl Api {
    /// Every API, in the order of their commands' ids.
    pub const ALL: [Self; 3] = [Self::Egl, Self::Gles, Self::LevelZero];

    /// The name in traces, filters and messages: `egl`, `gles`, `level_zero`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Egl => "egl",
            Self::Gles => "gles",
            Self::LevelZero => "level_zero",
        }
    }

    /// The API of this name. `-` and `_` are equal: `level-zero` and `level_zero` are both accepted.
    pub fn named(name: &str) -> Option<Self> {
        let is_same = |api: &Self| {
            api.name().bytes().eq(name.bytes().map(|byte| if byte == b'-' { b'_' } else { byte }))
        };
        Self::ALL.into_iter().find(is_same)
    }
}

impl fmt::Display for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Api {
    type Err = UnknownApi;

    fn from_str(name: &str) -> Result<Self, UnknownApi> {
        Self::named(name).ok_or_else(|| UnknownApi(name.to_owned()))
    }
}

/// No API has this name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownApi(pub String);

impl fmt::Display for UnknownApi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no API is named {:?}; the APIs are ", self.0)?;
        f.write_str(&Api::ALL.map(Api::name).join(", "))
    }
}

impl std::error::Error for UnknownApi {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_is_read_with_either_separator() {
        for api in Api::ALL {
            assert_eq!(api.name().parse(), Ok(api));
            assert_eq!(api.name().replace('_', "-").parse(), Ok(api));
        }
    }

    #[test]
    fn unknown_name_is_refused_with_the_known_ones() {
        let refused = "vulkan".parse::<Api>().unwrap_err();
        assert_eq!(
            refused.to_string(),
            "no API is named \"vulkan\"; the APIs are egl, gles, level_zero"
        );
    }
}
