//! `Launch`: the token that ties the processes of one program to the capture made for them.

use std::fs::File;
use std::io::{self, Read};

use gapii_abi::app;

use crate::failure::Failure;

pub struct Launch {
    pub token: app::Launch,
}

impl Launch {
    /// Creates a random token.
    pub fn create() -> Result<Launch, Failure> {
        let token = random()
            .map_err(|error| Failure::system(format!("can't read /dev/urandom: {error}")))?;
        Ok(Launch { token })
    }

    /// The token as the value of `GAPII_LAUNCH`.
    pub fn hex(&self) -> String {
        hex(&self.token)
    }
}

/// Returns 32 random hexadecimal digits.
pub fn random_hex() -> io::Result<String> {
    Ok(hex(&random()?))
}

/// Formats 16 bytes in hexadecimal.
pub fn hex(token: &app::Launch) -> String {
    app::launch_to_hex(token).iter().copied().map(char::from).collect()
}

/// Returns random bytes.
pub fn random<const LEN: usize>() -> io::Result<[u8; LEN]> {
    let mut bytes = [0; LEN];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}
