//! First messages between an application and the daemon: one hello (512 bytes) and one reply (128 bytes), in fixed
//! layouts. The shim waits up to `HELLO_TIMEOUT_MS`, 2 s, for the reply, and the daemon as long for the hello. The
//! newest common version is spoken; without one, or with a wrong magic or an empty range of versions, the hello is
//! refused. A process whose daemon has died looks for another for `LOOK_MS`, 10 s; that daemon lets it wait `CLAIM_MS`,
//! 1 s, for a client.
//!
//! All numbers are little-endian. The shim links no decoder for them; this module allocates nothing and
//! reads only the bytes that it is given. The descriptors travel beside the reply, in the order of
//! [`DESCRIPTORS`]; a process that looks for another daemon during a capture sends them beside its hello.
//! After the reply neither side sends anything; each keeps the socket open to notice when the other side
//! ends.
//!
//! ```text
//! hello, 512 bytes                              reply, 128 bytes
//!   0  magic "GAPIIAPP"                           0  magic "GAPIIRPL"
//!   8  version_min u16, 10 version_max u16        8  version u16, 10 status u16
//!  12  flags u32                                 12  slot_count u32
//!  16  pid u32, 20 zero                          16  ring_bytes u64
//!  24  launch [u8; 16]                           24  segment_bytes u64
//!  40  exe [u8; 256], NUL padded                 32  session [u8; 16]
//! 296  name [u8; 16], NUL padded                 48  process u32
//! 312  apis u32                                  52  daemon_pid u32
//! 316  slot_count u32                            56  version_min u16, 58 version_max u16
//! 320  ring_bytes u64, 328 lost_ns u64           60  zero
//! 336  zero
//! ```
//!
//! Bytes drawn as zero are written as zero and ignored by the reader.

/// Oldest version of this protocol that this build speaks.
pub const APP_VERSION_MIN: u16 = 2;
/// Newest version of this protocol that this build speaks.
pub const APP_VERSION_MAX: u16 = 2;

/// Length of a hello, in bytes.
pub const HELLO_LEN: usize = 512;
/// Length of a reply, in bytes.
pub const REPLY_LEN: usize = 128;
/// Number of descriptors beside a reply whose status is [`reply_status::OK`]: counter page, mode page and
/// segment, in this order. Of the other replies, only [`reply_status::TAKEN_OVER`] has a descriptor.
pub const DESCRIPTORS: usize = 3;
/// Milliseconds that the shim waits for the reply at most, and the daemon for the whole hello.
pub const HELLO_TIMEOUT_MS: u64 = 2_000;

/// First bytes of a hello.
pub const HELLO_MAGIC: [u8; 8] = *b"GAPIIAPP";
/// First bytes of a reply.
pub const REPLY_MAGIC: [u8; 8] = *b"GAPIIRPL";

/// Flag of a hello: the application waits for a capture rather than run unrecorded (`GAPII_WAIT`).
pub const FLAG_WAIT: u32 = 1;
/// Flag of a hello: the application tracks no state while idle (`--no-monitor`).
pub const FLAG_NO_MONITOR: u32 = 2;
/// Flag of a hello: the application's daemon has gone during a capture. Beside the hello are the
/// descriptors that the application shared with that daemon, in the order of [`DESCRIPTORS`].
pub const FLAG_TAKE_OVER: u32 = 4;

/// Milliseconds for which an application looks for another daemon during a capture. The client that started the
/// capture looks equally long.
pub const LOOK_MS: u64 = 10_000;
/// Milliseconds for which a daemon keeps an application with [`FLAG_TAKE_OVER`] waiting for a client that wants
/// to continue the application's capture.
pub const CLAIM_MS: u64 = 1_000;

/// Seconds for which a process with `GAPII_WAIT` waits for a capture, unless `GAPII_WAIT_SECONDS` says otherwise.
pub const WAIT_SECONDS: u64 = 600;

/// Bit of [`AppHello::apis`]: EGL, and OpenGL with it.
pub const API_EGL: u32 = 1;
/// Bit of [`AppHello::apis`]: Level Zero.
pub const API_LEVEL_ZERO: u32 = 2;
/// Bit of [`AppHello::apis`]: GLX, and OpenGL with it.
pub const API_GLX: u32 = 4;

/// File name of the applications' socket in the socket folder.
pub const SOCKET_NAME: &str = "app.sock";
/// File name of the clients' socket in the same folder.
pub const CLIENT_SOCKET_NAME: &str = "ctl.sock";

/// Environment variable with the path of a file that the shim creates when a tool traces a command.
pub const TRACED_MARK_VARIABLE: &str = "GAPII_TRACED_MARK";

/// Values of [`HelloReply::status`].
pub mod reply_status {
    /// The descriptors are attached.
    pub const OK: u16 = 0;
    /// The application and the daemon have no version in common; the reply has the daemon's versions.
    pub const VERSION: u16 = 1;
    /// The application belongs to another user, or its first message is not a valid hello.
    pub const NOT_ALLOWED: u16 = 2;
    /// The daemon has reached its limit of applications, or has no descriptor or no memory left for one more.
    pub const TOO_MANY: u16 = 3;
    /// The capture continues: the new mode page is attached, and nothing else.
    pub const TAKEN_OVER: u16 = 4;
    /// The capture does not continue: no client wants it to, or the daemon can't use what was handed over.
    pub const NO_CAPTURE: u16 = 5;
}

/// Token that ties a process to the capture that waits for it; all zero means none.
pub type Launch = [u8; 16];

/// First message of an application.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AppHello {
    /// Oldest version that the application speaks.
    pub version_min: u16,
    /// Newest version that the application speaks.
    pub version_max: u16,
    /// [`FLAG_WAIT`], [`FLAG_NO_MONITOR`], [`FLAG_TAKE_OVER`]; unknown bits are ignored.
    pub flags: u32,
    /// Process id as the application sees it. The daemon uses the socket's credentials instead.
    pub pid: u32,
    /// Token of the launch that the process belongs to; all zero without one.
    pub launch: Launch,
    /// Path of the executable, NUL-padded, cut at 256 bytes.
    pub exe: [u8; 256],
    /// The kernel's name for the process (`comm`), NUL-padded.
    pub name: [u8; 16],
    /// Bits of the APIs that the process has called: [`API_EGL`], [`API_LEVEL_ZERO`], [`API_GLX`].
    pub apis: u32,
    /// With [`FLAG_TAKE_OVER`]: number of slots of the segment.
    pub slot_count: u32,
    /// With [`FLAG_TAKE_OVER`]: size of each ring of the segment, in bytes.
    pub ring_bytes: u64,
    /// With [`FLAG_TAKE_OVER`]: when the application first noticed that the daemon was gone, in nanoseconds
    /// of `CLOCK_MONOTONIC`.
    pub lost_ns: u64,
}

/// The daemon's answer to a hello.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HelloReply {
    /// The version that both sides speak; 0 unless the status is OK.
    pub version: u16,
    /// One of [`reply_status`].
    pub status: u16,
    /// Number of slots of the segment.
    pub slot_count: u32,
    /// Size of each ring, in bytes.
    pub ring_bytes: u64,
    /// Size of the segment, in bytes.
    pub segment_bytes: u64,
    /// The daemon's session.
    pub session: [u8; 16],
    /// Index of the process in the session.
    pub process: u32,
    /// The daemon's process id.
    pub daemon_pid: u32,
    /// Oldest version that the daemon speaks, whatever the status.
    pub version_min: u16,
    /// Newest version that the daemon speaks, whatever the status.
    pub version_max: u16,
}

/// Why bytes are not the expected message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BadMessage {
    /// The message begins with these eight bytes instead of its magic.
    Magic([u8; 8]),
    /// `version_min` is above `version_max`, or zero.
    VersionRange {
        /// Oldest version.
        min: u16,
        /// Newest version.
        max: u16,
    },
}

impl core::fmt::Display for BadMessage {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Magic(bytes) => write!(f, "message starts with {bytes:02x?}"),
            Self::VersionRange { min, max } => write!(f, "versions {min} to {max} are not a range"),
        }
    }
}

impl core::error::Error for BadMessage {}

/// Returns the newest version in both ranges (each `(min, max)`), or `None` if they have none in common.
pub const fn common_version(ours: (u16, u16), theirs: (u16, u16)) -> Option<u16> {
    let newest = if ours.1 < theirs.1 { ours.1 } else { theirs.1 };
    let oldest = if ours.0 > theirs.0 { ours.0 } else { theirs.0 };
    if oldest <= newest { Some(newest) } else { None }
}

/// Parses the 32 hexadecimal digits of a launch token (`GAPII_LAUNCH`). Returns `None` if they are not 32
/// hexadecimal digits.
pub fn launch_from_hex(digits: &[u8]) -> Option<Launch> {
    if digits.len() != 32 {
        return None;
    }
    let mut launch = [0; 16];
    for (byte, pair) in launch.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = hex_value(pair[0])? << 4 | hex_value(pair[1])?;
    }
    Some(launch)
}

/// Returns a launch token as 32 hexadecimal digits in ASCII.
pub fn launch_to_hex(launch: &Launch) -> [u8; 32] {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut digits = [0; 32];
    for (pair, byte) in digits.chunks_exact_mut(2).zip(launch) {
        pair[0] = DIGITS[usize::from(byte >> 4)];
        pair[1] = DIGITS[usize::from(byte & 15)];
    }
    digits
}

/// Returns the text of a NUL-padded field.
pub fn until_nul(field: &[u8]) -> &[u8] {
    let end = field.iter().position(|&byte| byte == 0).unwrap_or(field.len());
    &field[..end]
}

impl AppHello {
    /// Makes a hello with the versions of this build and zero everywhere else.
    pub const fn new(pid: u32) -> Self {
        Self {
            version_min: APP_VERSION_MIN,
            version_max: APP_VERSION_MAX,
            flags: 0,
            pid,
            launch: [0; 16],
            exe: [0; 256],
            name: [0; 16],
            apis: 0,
            slot_count: 0,
            ring_bytes: 0,
            lost_ns: 0,
        }
    }

    /// Returns the hello as it goes over the socket.
    pub fn to_bytes(&self) -> [u8; HELLO_LEN] {
        let mut bytes = [0; HELLO_LEN];
        bytes[0..8].copy_from_slice(&HELLO_MAGIC);
        bytes[8..10].copy_from_slice(&self.version_min.to_le_bytes());
        bytes[10..12].copy_from_slice(&self.version_max.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.flags.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.pid.to_le_bytes());
        bytes[24..40].copy_from_slice(&self.launch);
        bytes[40..296].copy_from_slice(&self.exe);
        bytes[296..312].copy_from_slice(&self.name);
        bytes[312..316].copy_from_slice(&self.apis.to_le_bytes());
        bytes[316..320].copy_from_slice(&self.slot_count.to_le_bytes());
        bytes[320..328].copy_from_slice(&self.ring_bytes.to_le_bytes());
        bytes[328..336].copy_from_slice(&self.lost_ns.to_le_bytes());
        bytes
    }

    /// Reads a hello. Its versions may be ones that this build does not speak.
    ///
    /// # Errors
    /// [`BadMessage`].
    pub fn from_bytes(bytes: &[u8; HELLO_LEN]) -> Result<Self, BadMessage> {
        let magic = field(bytes, 0);
        if magic != HELLO_MAGIC {
            return Err(BadMessage::Magic(magic));
        }
        let hello = Self {
            version_min: u16::from_le_bytes(field(bytes, 8)),
            version_max: u16::from_le_bytes(field(bytes, 10)),
            flags: u32::from_le_bytes(field(bytes, 12)),
            pid: u32::from_le_bytes(field(bytes, 16)),
            launch: field(bytes, 24),
            exe: field(bytes, 40),
            name: field(bytes, 296),
            apis: u32::from_le_bytes(field(bytes, 312)),
            slot_count: u32::from_le_bytes(field(bytes, 316)),
            ring_bytes: u64::from_le_bytes(field(bytes, 320)),
            lost_ns: u64::from_le_bytes(field(bytes, 328)),
        };
        check_range(hello.version_min, hello.version_max)?;
        Ok(hello)
    }
}

impl HelloReply {
    /// Makes a reply that rejects the application, with this status.
    pub const fn refusal(status: u16, daemon_pid: u32) -> Self {
        Self {
            version: 0,
            status,
            slot_count: 0,
            ring_bytes: 0,
            segment_bytes: 0,
            session: [0; 16],
            process: 0,
            daemon_pid,
            version_min: APP_VERSION_MIN,
            version_max: APP_VERSION_MAX,
        }
    }

    /// Returns the reply as it goes over the socket.
    pub fn to_bytes(&self) -> [u8; REPLY_LEN] {
        let mut bytes = [0; REPLY_LEN];
        bytes[0..8].copy_from_slice(&REPLY_MAGIC);
        bytes[8..10].copy_from_slice(&self.version.to_le_bytes());
        bytes[10..12].copy_from_slice(&self.status.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.slot_count.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.ring_bytes.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.segment_bytes.to_le_bytes());
        bytes[32..48].copy_from_slice(&self.session);
        bytes[48..52].copy_from_slice(&self.process.to_le_bytes());
        bytes[52..56].copy_from_slice(&self.daemon_pid.to_le_bytes());
        bytes[56..58].copy_from_slice(&self.version_min.to_le_bytes());
        bytes[58..60].copy_from_slice(&self.version_max.to_le_bytes());
        bytes
    }

    /// Reads a reply. The sizes are the sender's claims: check the mapped descriptors against them.
    ///
    /// # Errors
    /// [`BadMessage`].
    pub fn from_bytes(bytes: &[u8; REPLY_LEN]) -> Result<Self, BadMessage> {
        let magic = field(bytes, 0);
        if magic != REPLY_MAGIC {
            return Err(BadMessage::Magic(magic));
        }
        let reply = Self {
            version: u16::from_le_bytes(field(bytes, 8)),
            status: u16::from_le_bytes(field(bytes, 10)),
            slot_count: u32::from_le_bytes(field(bytes, 12)),
            ring_bytes: u64::from_le_bytes(field(bytes, 16)),
            segment_bytes: u64::from_le_bytes(field(bytes, 24)),
            session: field(bytes, 32),
            process: u32::from_le_bytes(field(bytes, 48)),
            daemon_pid: u32::from_le_bytes(field(bytes, 52)),
            version_min: u16::from_le_bytes(field(bytes, 56)),
            version_max: u16::from_le_bytes(field(bytes, 58)),
        };
        check_range(reply.version_min, reply.version_max)?;
        Ok(reply)
    }
}

fn check_range(min: u16, max: u16) -> Result<(), BadMessage> {
    if min == 0 || min > max { Err(BadMessage::VersionRange { min, max }) } else { Ok(()) }
}

/// Returns the `N` bytes at `at`. All callers stay inside the message by its layout.
#[inline]
fn field<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(&bytes[at..at + N]);
    out
}

fn hex_value(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hello() -> AppHello {
        let mut hello = AppHello::new(4711);
        hello.flags = FLAG_WAIT;
        hello.launch = *b"0123456789abcdef";
        hello.exe[..8].copy_from_slice(b"/bin/cat");
        hello.name[..3].copy_from_slice(b"cat");
        hello.apis = API_EGL;
        hello
    }

    fn reply() -> HelloReply {
        HelloReply {
            version: 1,
            slot_count: 256,
            ring_bytes: 4 << 20,
            segment_bytes: (1 << 30) + 0x11000,
            session: [7; 16],
            process: 3,
            ..HelloReply::refusal(reply_status::OK, 99)
        }
    }

    #[test]
    fn messages_written_and_read_are_the_same() {
        assert_eq!(AppHello::from_bytes(&hello().to_bytes()), Ok(hello()));
        assert_eq!(HelloReply::from_bytes(&reply().to_bytes()), Ok(reply()));
    }

    #[test]
    fn layout_is_the_one_drawn() {
        let bytes = hello().to_bytes();
        assert_eq!(bytes[8..12], [2, 0, 2, 0]);
        assert_eq!(bytes[16..18], 4711u16.to_le_bytes());
        assert_eq!(&bytes[24..28], b"0123");
        assert_eq!(&bytes[40..48], b"/bin/cat");
        assert_eq!(&bytes[296..299], b"cat");
        assert_eq!(bytes[312], 1);
        assert!(bytes[316..].iter().all(|&byte| byte == 0));

        let bytes = reply().to_bytes();
        assert_eq!(bytes[12..14], [0, 1]);
        assert_eq!(bytes[16..24], (4u64 << 20).to_le_bytes());
        assert_eq!(bytes[32..48], [7; 16]);
        assert_eq!((bytes[48], bytes[52]), (3, 99));
        assert!(bytes[60..].iter().all(|&byte| byte == 0));
    }

    #[test]
    fn foreign_bytes_are_rejected() {
        assert_eq!(AppHello::from_bytes(&[b'x'; HELLO_LEN]), Err(BadMessage::Magic([b'x'; 8])));
        assert_eq!(HelloReply::from_bytes(&[0; REPLY_LEN]), Err(BadMessage::Magic([0; 8])));
        for (min, max) in [(0, 1), (2, 1)] {
            let mut bytes = hello().to_bytes();
            bytes[8] = min;
            bytes[10] = max;
            let expected = BadMessage::VersionRange { min: min.into(), max: max.into() };
            assert_eq!(AppHello::from_bytes(&bytes), Err(expected));
        }
    }

    #[test]
    fn bytes_of_a_later_version_are_ignored() {
        let mut bytes = hello().to_bytes();
        bytes[400] = 1;
        assert_eq!(AppHello::from_bytes(&bytes), Ok(hello()));
    }

    #[test]
    fn common_version_is_the_newest_of_both() {
        let check = |ours, theirs, expected| {
            assert_eq!(common_version(ours, theirs), expected, "{ours:?} {theirs:?}");
            assert_eq!(common_version(theirs, ours), expected, "{theirs:?} {ours:?}");
        };
        check((1, 1), (1, 1), Some(1));
        check((1, 3), (2, 5), Some(3));
        check((1, 5), (2, 3), Some(3));
        check((1, 1), (2, 2), None);
    }

    #[test]
    fn launch_token_survives_its_digits() {
        let launch = *b"\x00\x01\xfe\xff0123456789ab";
        let digits = launch_to_hex(&launch);
        assert_eq!(&digits[..8], b"0001feff");
        assert_eq!(launch_from_hex(&digits), Some(launch));
        assert_eq!(launch_from_hex(&digits[1..]), None);
        assert_eq!(launch_from_hex(&[b'g'; 32]), None);
    }

    #[test]
    fn padded_text_ends_at_the_first_nul() {
        assert_eq!(until_nul(b"cat\0\0dog"), b"cat");
        assert_eq!(until_nul(b"cat"), b"cat");
    }
}
