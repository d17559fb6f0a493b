//! Transports to a remote daemon: TLS over TCP, or the two pipes of ssh. TLS must answer within 10 s (`CONNECT_LIMIT`),
//! ssh, which may ask for a password, within 120 s. A refusal is final, except that of a busy daemon; other failures
//! may be tried again by the caller. Each failure is one sentence with advice.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::process::Stdio;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use gapii_remote::AnyStream;
use gapii_remote::credentials::Credentials;
use gapii_remote::frame::FrameError;
use gapii_remote::knock::{Knock, KnockError, Resume, Welcome, code};
use gapii_remote::place::{self, PlaceError};
use gapii_remote::tls;
use rustls::{AlertDescription, CertificateError};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, lookup_host};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use super::address::Via;
use crate::local_time;

/// Time limit for connecting over TLS.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);
/// Time limit for connecting over ssh, which may ask the user for a password.
const SSH_LIMIT: Duration = Duration::from_secs(120);
/// Time limit for ssh to report how it ended.
const SSH_END_LIMIT: Duration = Duration::from_secs(2);
const CLIENT: &str = concat!("gapii-ctl ", env!("CARGO_PKG_VERSION"));

/// A transport that can be used repeatedly.
#[derive(Clone, Debug)]
pub struct Way {
    pub via: Via,
    /// TLS configuration, and the file that the credentials came from.
    credentials: Option<Arc<(Credentials, PathBuf)>>,
}

/// Why a connection failed.
#[derive(Debug)]
pub enum NoWay {
    /// Trying again may help.
    Passing(String),
    /// The daemon refused the client.
    Final(String),
}

impl NoWay {
    pub fn sentence(self) -> String {
        match self {
            NoWay::Passing(sentence) | NoWay::Final(sentence) => sentence,
        }
    }
}

impl Way {
    /// Loads what the transport needs.
    pub fn find(via: &Via, named: Option<&Path>) -> Result<Way, String> {
        let Via::Tls { host, .. } = via else {
            return match named {
                Some(_) => {
                    Err("ssh has credentials of its own; leave --credentials out".to_owned())
                }
                None => Ok(Way { via: via.clone(), credentials: None }),
            };
        };
        let path = named.map(Path::to_owned).or_else(|| place::credentials_of(host));
        let path =
            path.ok_or("neither HOME nor XDG_CONFIG_HOME is set; name --credentials FILE")?;
        let credentials = Credentials::load(&path).map_err(|error| match error {
            PlaceError::Absent(path) => format!(
                "there are no credentials for {host}: on {host} run `gapii-ctl pair new NAME`, and put the \
                 file that it writes at {}, or name it with --credentials",
                path.display()
            ),
            error => error.to_string(),
        })?;
        Ok(Way { via: via.clone(), credentials: Some(Arc::new((credentials, path))) })
    }

    /// Connects and performs the handshake; resumes the link if there is one.
    pub async fn go(&self, resume: Option<Resume>) -> Result<(AnyStream, Welcome), NoWay> {
        match (&self.via, &self.credentials) {
            (Via::Tls { host, port }, Some(credentials)) => {
                let going = self.go_by_tls(host, *port, &credentials.0, &credentials.1, resume);
                timeout(CONNECT_LIMIT, going).await.unwrap_or_else(|_| {
                    let seconds = CONNECT_LIMIT.as_secs();
                    Err(NoWay::Passing(format!("{} has not answered for {seconds} s", self.via)))
                })
            }
            (Via::Ssh { destination, port, program }, _) => {
                self.go_by_ssh(destination, *port, program, resume).await
            }
            (Via::Tls { .. }, None) => Err(NoWay::Final("there are no credentials".to_owned())),
        }
    }

    async fn go_by_tls(
        &self,
        host: &str,
        port: u16,
        credentials: &Credentials,
        origin: &Path,
        resume: Option<Resume>,
    ) -> Result<(AnyStream, Welcome), NoWay> {
        let wrong = |error: tls::TlsError| NoWay::Final(error.to_string());
        let config = tls::client_config(credentials, origin).map_err(wrong)?;
        let name = tls::daemon_name().map_err(wrong)?;
        // A name that is not known now may be known later, when a network is back.
        let addresses = lookup_host((host, port)).await.map_err(|error| {
            NoWay::Passing(format!(
                "{via} cannot be found: {error}; look for the name with `getent hosts {host}`",
                via = self.via
            ))
        })?;
        let addresses: Vec<SocketAddr> = addresses.collect();
        let stream = TcpStream::connect(&addresses[..])
            .await
            .map_err(|error| NoWay::Passing(self.unconnected(port, &error)))?;
        // Acknowledgements are small, and the peer waits for them.
        let _ = stream.set_nodelay(true);
        let failed = |error: &io::Error| NoWay::Passing(self.untrusted(error, credentials, origin));
        let connector = TlsConnector::from(Arc::new(config));
        let mut stream = connector.connect(name, stream).await.map_err(|error| failed(&error))?;
        let knock = Knock::new(CLIENT, credentials.token(), resume);
        match knock.ask(&mut stream).await {
            Ok(welcome) => Ok((Box::new(stream), welcome)),
            Err(KnockError::Frame(FrameError::Io(error))) => Err(failed(&error)),
            Err(KnockError::Frame(FrameError::Ended)) => {
                Err(failed(&io::ErrorKind::UnexpectedEof.into()))
            }
            Err(KnockError::Refused(refused)) if refused.code == code::NOT_ADMITTED => {
                let expired = self.expired(credentials);
                let file = origin.display();
                Err(NoWay::Final(format!("{}: {} ({file}{expired})", self.via, refused.message)))
            }
            Err(error) => Err(self.refused(error)),
        }
    }

    async fn go_by_ssh(
        &self,
        destination: &str,
        port: Option<u16>,
        program: &str,
        resume: Option<Resume>,
    ) -> Result<(AnyStream, Welcome), NoWay> {
        let mut command = Command::new("ssh");
        command.arg("-T");
        if let Some(port) = port {
            command.arg("-p").arg(port.to_string());
        }
        command.args(["--", destination, program, "relay"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().map_err(|error| {
            let hint = match error.kind() {
                io::ErrorKind::NotFound => "; install it: apt-get install openssh-client",
                _ => "",
            };
            NoWay::Final(format!("can't start ssh: {error}{hint}"))
        })?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(NoWay::Final("can't talk to ssh".to_owned()));
        };
        let mut stream = Pipes { output, input: Some(input), child };
        match timeout(SSH_LIMIT, Knock::new(CLIENT, None, resume).ask(&mut stream)).await {
            Ok(Ok(welcome)) => Ok((Box::new(stream), welcome)),
            Ok(Err(KnockError::Frame(FrameError::Ended | FrameError::Io(_)))) => {
                Err(NoWay::Passing(self.ssh_ended(stream, program).await))
            }
            Ok(Err(KnockError::Frame(FrameError::Foreign(text)))) => {
                let line = text.lines().next().unwrap_or_default().escape_debug().to_string();
                Err(NoWay::Final(format!(
                    "{}: something there prints {line:?} before {program} can speak; what a shell prints at \
                     log-in belongs behind a test for a terminal",
                    self.via
                )))
            }
            Ok(Err(error)) => Err(self.refused(error)),
            Err(_) => {
                Err(NoWay::Passing(format!("{} has not answered for {SSH_LIMIT:?}", self.via)))
            }
        }
    }

    /// ssh has printed the reason itself.
    async fn ssh_ended(&self, mut stream: Pipes, program: &str) -> String {
        let status = timeout(SSH_END_LIMIT, stream.child.wait()).await;
        let via = &self.via;
        match status.ok().and_then(Result::ok).and_then(|status| status.code()) {
            Some(127) => format!(
                "{via}: there is no {program} there; name it as in ssh://HOST/usr/local/bin/gapii-ctl"
            ),
            Some(2) => format!("{via}: {program} there is older and does not know `relay`"),
            Some(status) => {
                format!("{via}: ssh ended with status {status} before the daemon answered")
            }
            None => format!("{via}: ssh broke before the daemon answered"),
        }
    }

    fn refused(&self, error: KnockError) -> NoWay {
        let sentence = format!("{}: {error}", self.via);
        match error {
            KnockError::Refused(refused) if refused.code == code::BUSY => NoWay::Passing(sentence),
            KnockError::Refused(_) => NoWay::Final(sentence),
            _ => NoWay::Passing(sentence),
        }
    }

    fn unconnected(&self, port: u16, error: &io::Error) -> String {
        let via = &self.via;
        match error.kind() {
            io::ErrorKind::ConnectionRefused => {
                format!("nobody listens on {via}; start gapiid there with --remote 0.0.0.0:{port}")
            }
            _ => format!(
                "can't get to {via}: {error}; see whether that machine is on and lets connections to port {port} through"
            ),
        }
    }

    /// Explains a TLS error of either side.
    fn untrusted(&self, error: &io::Error, credentials: &Credentials, origin: &Path) -> String {
        let (via, name, file) = (&self.via, &credentials.name, origin.display());
        let tls = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
        match tls {
            Some(rustls::Error::InvalidCertificate(
                CertificateError::Expired | CertificateError::ExpiredContext { .. },
            )) => format!(
                "the certificate of {via} has expired; on its machine run `gapii-ctl pair renew`"
            ),
            Some(rustls::Error::InvalidCertificate(_)) => format!(
                "{via} is not the daemon that made the credentials in {file}; if it was set up anew, pair \
                 with it again: `gapii-ctl pair new NAME` on its machine"
            ),
            Some(rustls::Error::AlertReceived(AlertDescription::CertificateExpired)) => format!(
                "{via} refuses the certificate in {file}: it has expired; on its machine run `gapii-ctl \
                 pair renew {name}`"
            ),
            Some(rustls::Error::AlertReceived(
                AlertDescription::UnknownCA
                | AlertDescription::BadCertificate
                | AlertDescription::CertificateUnknown
                | AlertDescription::DecryptError,
            )) => format!(
                "{via} refuses the certificate in {file}: it is of another daemon; on the right machine run \
                 `gapii-ctl pair new NAME`"
            ),
            Some(rustls::Error::InvalidMessage(_)) => {
                format!("what listens on {via} does not speak TLS, or the connection garbles it")
            }
            Some(error) => format!("TLS with {via} failed: {error}"),
            None => match error.kind() {
                io::ErrorKind::UnexpectedEof
                | io::ErrorKind::ConnectionReset
                | io::ErrorKind::BrokenPipe => {
                    format!("{via} closed the connection before it was secure; its log may say why")
                }
                _ => format!("the connection to {via} broke: {error}"),
            },
        }
    }

    fn expired(&self, credentials: &Credentials) -> String {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        match now.is_ok_and(|now| now.as_secs() > credentials.expires_unix) {
            true => format!(", which expired on {}", local_time::day(credentials.expires_unix)),
            false => String::new(),
        }
    }
}

/// The standard streams of a child process, which ends when they are closed.
struct Pipes {
    output: ChildStdout,
    /// `None` after the write half was closed.
    input: Option<ChildStdin>,
    child: Child,
}

impl AsyncRead for Pipes {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.output).poll_read(context, bytes)
    }
}

impl AsyncWrite for Pipes {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match &mut self.input {
            Some(input) => Pin::new(input).poll_write(context, bytes),
            None => Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.input {
            Some(input) => Pin::new(input).poll_flush(context),
            None => Poll::Ready(Ok(())),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.input = None;
        Poll::Ready(Ok(()))
    }
}
