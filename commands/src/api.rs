//! The APIs and their names. A name may have `-` in place of `_`; an unknown name is an error that lists the known
//! ones.

use std::fmt;
use std::str::FromStr;

use crate::generated::ids::every_command;

/// Defines [`Api`] from the list of APIs.
macro_rules! define {
    ($($api:ident $name:literal $about:literal { $($command:tt)* })*) => {
        /// An API whose commands are recorded.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Api {
            $(#[doc = $about] $api,)*
        }

        impl Api {
            /// Every API, in the order of their commands' ids.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$api),*];

            /// The name in traces, filters and messages: `egl`, `gl`, `glx`, `level_zero`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$api => $name,)*
                }
            }

            /// The name with `-` in place of `_`: `level-zero`.
            pub const fn hyphenated(self) -> &'static str {
                match self {
                    $(Self::$api => {
                        const NAME: [u8; $name.len()] = hyphenated($name);
                        match str::from_utf8(&NAME) {
                            Ok(name) => name,
                            Err(_) => $name,
                        }
                    })*
                }
            }
        }
    };
}

const fn hyphenated<const LEN: usize>(name: &str) -> [u8; LEN] {
    let mut bytes = [0; LEN];
    let mut at = 0;
    while at < LEN {
        let byte = name.as_bytes()[at];
        bytes[at] = if byte == b'_' { b'-' } else { byte };
        at += 1;
    }
    bytes
}

every_command!(define);

impl Api {
    /// The API of this name. `-` and `_` are equal: `level-zero` and `level_zero` are both accepted. `gles`, as traces have
    /// that were recorded before desktop OpenGL was an API, is `gl`.
    pub fn named(name: &str) -> Option<Self> {
        let name = if name == "gles" { "gl" } else { name };
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
            assert_eq!(api.name().replace('_', "-"), api.hyphenated());
            assert_eq!(api.hyphenated().parse(), Ok(api));
        }
    }

    #[test]
    fn unknown_name_is_refused_with_the_known_ones() {
        let refused = "vulkan".parse::<Api>().unwrap_err();
        assert_eq!(
            refused.to_string(),
            "no API is named \"vulkan\"; the APIs are egl, gl, glx, level_zero"
        );
    }
}
