//! The handshake of a connection: the client identifies itself and the link to resume; the daemon admits or refuses.
//! Each message has at most 4 KiB. A client without a common version, or with a number of links above the limit, is
//! told so; the reason why a token or certificate was rejected is only in the daemon's log.

use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};

use crate::frame::{self, FrameError, KNOCK_LEN_MAX, Kind};
use crate::secret::Secret;

/// Oldest protocol version that this build supports.
pub const VERSION_MIN: u16 = 1;
/// Newest protocol version that this build supports.
pub const VERSION_MAX: u16 = 1;

/// Values of [`Refused::code`].
pub mod code {
    /// Client and daemon have no protocol version in common.
    pub const VERSION: &str = "version";
    /// The client presented no known certificate or token.
    pub const NOT_ADMITTED: &str = "not-admitted";
    /// The link to resume has ended or never existed.
    pub const NO_LINK: &str = "no-link";
    /// The daemon has reached its limit of links.
    pub const BUSY: &str = "busy";
    /// The relay found no daemon.
    pub const NO_DAEMON: &str = "no-daemon";
}

/// The client's first message.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Knock {
    /// Oldest protocol version that the client supports.
    pub version_min: u16,
    /// Newest protocol version that the client supports.
    pub version_max: u16,
    /// Name and version of the client, for the log.
    pub client: String,
    /// Token of a client without a certificate.
    pub token: Option<Secret>,
    /// The link to resume; `None` starts a new one.
    pub resume: Option<Resume>,
}

/// The link to resume, and the frame from which to resume it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Resume {
    /// Number of the link.
    pub link: u64,
    /// The link's secret, from [`Welcome`].
    pub secret: Secret,
    /// Number of frames of the daemon that have arrived; the daemon continues with this one.
    pub taken: u64,
}

/// The daemon's first message to an admitted client.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Welcome {
    /// Protocol version of the link.
    pub version: u16,
    /// Number of the link.
    pub link: u64,
    /// Secret with which the client can resume the link.
    pub secret: Secret,
    /// Number of frames of the client that have arrived.
    pub taken: u64,
    /// Time in ms that the daemon keeps the link after a connection was lost.
    pub grace_ms: u64,
}

/// The daemon's only message to a refused client.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Refused {
    /// One of the constants in [`code`].
    pub code: String,
    /// One sentence for people.
    pub message: String,
}

/// Why a handshake failed.
#[derive(Debug, thiserror::Error)]
pub enum KnockError {
    #[error("{}", .0.message)]
    Refused(Refused),
    #[error(transparent)]
    Frame(#[from] FrameError),
    #[error("the peer violates the handshake protocol: {0}")]
    Foreign(String),
}

impl Knock {
    /// Creates the first message with the versions that this build supports.
    pub fn new(client: impl Into<String>, token: Option<Secret>, resume: Option<Resume>) -> Self {
        let client = client.into();
        Self { version_min: VERSION_MIN, version_max: VERSION_MAX, client, token, resume }
    }

    /// Sends the message and waits for the answer.
    pub async fn ask(
        &self,
        stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    ) -> Result<Welcome, KnockError> {
        let said = stream.write_all(&frame(Kind::Knock, self)?).await;
        let said = if said.is_ok() { stream.flush().await } else { said };
        // The peer may have sent a refusal before it closed the connection.
        let frame = match (frame::read(stream, KNOCK_LEN_MAX).await, said) {
            (Err(FrameError::Ended), Err(error)) => Err(FrameError::Io(error))?,
            (read, _) => read?,
        };
        match frame.kind {
            Kind::Welcome => Ok(decode(&frame.payload)?),
            Kind::Refused => Err(KnockError::Refused(decode(&frame.payload)?)),
            kind => Err(KnockError::Foreign(format!("answered with a {kind:?} frame"))),
        }
    }

    /// Receives the client's first message.
    pub async fn hear(stream: &mut (impl AsyncRead + Unpin)) -> Result<Self, KnockError> {
        let frame = frame::read(stream, KNOCK_LEN_MAX).await?;
        match frame.kind {
            Kind::Knock => decode(&frame.payload),
            kind => Err(KnockError::Foreign(format!("began with a {kind:?} frame"))),
        }
    }

    /// Returns the newest version that both sides support.
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
    /// Returns the encoded frame.
    pub fn frame(&self) -> Result<Vec<u8>, KnockError> {
        frame(Kind::Welcome, self)
    }
}

impl Refused {
    /// Creates a refusal with a constant of [`code`] and a message for people.
    pub fn new(code: &str, message: impl Into<String>) -> Self {
        Self { code: code.to_owned(), message: message.into() }
    }

    /// Returns the encoded frame.
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
    async fn first_message_and_answers_arrive() {
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
    async fn long_first_message_is_not_read() {
        let long = frame::encode(Kind::Knock, 0, 0, &[0; KNOCK_LEN_MAX + 1]);
        let heard = Knock::hear(&mut &long[..]).await;
        assert!(matches!(heard, Err(KnockError::Frame(FrameError::TooLong { .. }))));
    }
}
