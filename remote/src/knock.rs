//! The first words of a connection: who the client is and which link it means, and whether it may.
//!
//! A refusal says nothing that helps to guess: what exactly is wrong with a token stands in the daemon's
//! log alone.

use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};

use crate::frame::{self, FrameError, KNOCK_LEN_MAX, Kind};
use crate::secret::Secret;

/// Oldest version of links that this build speaks.
pub const VERSION_MIN: u16 = 1;
/// Newest version of links that this build speaks.
pub const VERSION_MAX: u16 = 1;

/// Values of [`Refused::code`].
pub mod code {
    /// No version in common.
    pub const VERSION: &str = "version";
    /// Neither a certificate nor a token that is known.
    pub const NOT_ADMITTED: &str = "not-admitted";
    /// The link is over, or was never there.
    pub const NO_LINK: &str = "no-link";
    /// There are as many links as there may be.
    pub const BUSY: &str = "busy";
    /// There is no daemon behind what answers.
    pub const NO_DAEMON: &str = "no-daemon";
}

/// The client's first words.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Knock {
    pub version_min: u16,
    pub version_max: u16,
    /// Name and version of the client, for the log.
    pub client: String,
    /// For a client without a certificate.
    pub token: Option<Secret>,
    /// The link that goes on; a new one if none.
    pub resume: Option<Resume>,
}

/// Which link goes on, and from where.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Resume {
    pub link: u64,
    pub secret: Secret,
    /// Frames of the daemon that have arrived: it goes on with this one.
    pub taken: u64,
}

/// The daemon's first words to who may come in.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Welcome {
    pub version: u16,
    pub link: u64,
    /// With which the link can be resumed.
    pub secret: Secret,
    /// Frames of the client that have arrived.
    pub taken: u64,
    /// How long the link waits for another connection when this one is lost, in milliseconds.
    pub grace_ms: u64,
}

/// The daemon's only words to who may not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Refused {
    /// One of [`code`].
    pub code: String,
    /// One sentence, for people.
    pub message: String,
}

/// Why nobody came in.
#[derive(Debug, thiserror::Error)]
pub enum KnockError {
    #[error("{}", .0.message)]
    Refused(Refused),
    #[error(transparent)]
    Frame(#[from] FrameError),
    #[error("the answer can't be understood: {0}")]
    Foreign(String),
}

impl Knock {
    /// First words of this build.
    pub fn new(client: impl Into<String>, token: Option<Secret>, resume: Option<Resume>) -> Self {
        let client = client.into();
        Self { version_min: VERSION_MIN, version_max: VERSION_MAX, client, token, resume }
    }

    /// Says it, and hears the answer.
    pub async fn ask(
        &self,
        stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    ) -> Result<Welcome, KnockError> {
        let said = stream.write_all(&frame(Kind::Knock, self)?).await;
        let said = if said.is_ok() { stream.flush().await } else { said };
        // A refusal may stand before the error.
        let frame = match (frame::read(stream, KNOCK_LEN_MAX).await, said) {
            (Err(FrameError::Ended), Err(error)) => Err(FrameError::Io(error))?,
            (read, _) => read?,
        };
        match frame.kind {
            Kind::Welcome => Ok(decode(&frame.payload)?),
            Kind::Refused => Err(KnockError::Refused(decode(&frame.payload)?)),
            kind => Err(KnockError::Foreign(format!("a {kind:?} is none"))),
        }
    }

    /// Hears it.
    pub async fn hear(stream: &mut (impl AsyncRead + Unpin)) -> Result<Self, KnockError> {
        let frame = frame::read(stream, KNOCK_LEN_MAX).await?;
        match frame.kind {
            Kind::Knock => decode(&frame.payload),
            kind => Err(KnockError::Foreign(format!("a {kind:?} is no knock"))),
        }
    }

    /// The version that both speak.
    pub fn version(&self) -> Result<u16, Refused> {
        let theirs = (self.version_min, self.version_max);
        gapii_abi::app::common_version((VERSION_MIN, VERSION_MAX), theirs).ok_or_else(|| {
            let message = format!(
                "the client speaks versions {} to {} of links, the daemon {VERSION_MIN} to {VERSION_MAX}",
                theirs.0, theirs.1
            );
            Refused::new(code::VERSION, message)
        })
    }
}

impl Welcome {
    /// As it goes over the connection.
    pub fn frame(&self) -> Result<Vec<u8>, KnockError> {
        frame(Kind::Welcome, self)
    }
}

impl Refused {
    pub fn new(code: &str, message: impl Into<String>) -> Self {
        Self { code: code.to_owned(), message: message.into() }
    }

    /// As it goes over the connection.
    pub fn frame(&self) -> Result<Vec<u8>, KnockError> {
        frame(Kind::Refused, self)
    }
}

fn frame(kind: Kind, words: &impl Serialize) -> Result<Vec<u8>, KnockError> {
    let payload = rmp_serde::to_vec_named(words).map_err(|e| KnockError::Foreign(e.to_string()))?;
    match payload.len() {
        0..=KNOCK_LEN_MAX => Ok(frame::encode(kind, 0, 0, &payload)),
        len => Err(FrameError::TooLong { len, limit: KNOCK_LEN_MAX }.into()),
    }
}

fn decode<'a, T: Deserialize<'a>>(payload: &'a [u8]) -> Result<T, KnockError> {
    rmp_serde::from_slice(payload).map_err(|error| KnockError::Foreign(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::duplex;

    #[tokio::test]
    async fn first_words_and_answers_arrive() {
        let (mut client, mut daemon) = duplex(1 << 10);
        let secret = Secret::random().unwrap();
        let hash = secret.hash();
        let resume = Resume { link: 7, secret: secret.clone(), taken: 9 };
        let knock = Knock::new("test", Some(secret.clone()), Some(resume));
        let answering = async {
            let heard = Knock::hear(&mut daemon).await.unwrap();
            assert!(heard.token.unwrap().has_hash(&hash));
            assert_eq!(heard.resume.unwrap().taken, 9);
            let welcome = Welcome { version: 1, link: 7, secret, taken: 3, grace_ms: 5 };
            daemon.write_all(&welcome.frame().unwrap()).await.unwrap();
            Knock::hear(&mut daemon).await.unwrap();
            let refused = Refused::new(code::BUSY, "not now");
            daemon.write_all(&refused.frame().unwrap()).await.unwrap();
        };
        let asking = async {
            assert_eq!(knock.ask(&mut client).await.unwrap().taken, 3);
            let refused = knock.ask(&mut client).await.unwrap_err();
            assert_eq!(refused.to_string(), "not now");
        };
        tokio::join!(answering, asking);
    }

    #[test]
    fn version_is_the_newest_common_one() {
        assert_eq!(Knock::new("", None, None).version(), Ok(VERSION_MAX));
        let later = Knock { version_min: 900, version_max: 901, ..Knock::default() };
        assert!(later.version().unwrap_err().message.contains("900 to 901"));
    }

    #[tokio::test]
    async fn long_first_words_are_not_read() {
        let long = frame::encode(Kind::Knock, 0, 0, &[0; KNOCK_LEN_MAX + 1]);
        let heard = Knock::hear(&mut &long[..]).await;
        assert!(matches!(heard, Err(KnockError::Frame(FrameError::TooLong { .. }))));
    }
}
