//! Feeds arbitrary bytes to both sides of the handshake: to the daemon as the first message of a client, and to the
//! client as the daemon's answer. Each time raw, and as the payload of a frame with valid checksums.

#![no_main]

use std::io;
use std::pin::Pin;
use std::sync::OnceLock;
use std::task::{Context, Poll};

use gapii_remote::frame::{self, Kind};
use gapii_remote::knock::Knock;
use libfuzzer_sys::fuzz_target;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::runtime::{Builder, Runtime};

/// A peer that sends fixed bytes and ignores what it receives.
struct Answers<'a>(&'a [u8]);

fuzz_target!(|input: &[u8]| {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    let runtime = RUNTIME.get_or_init(|| Builder::new_current_thread().build().expect("memory"));
    let payload = &input[..input.len().min(frame::KNOCK_LEN_MAX)];
    runtime.block_on(async {
        for heard in [input.to_vec(), frame::encode(Kind::Knock, 0, 0, payload)] {
            if let Ok(knock) = Knock::hear(&mut &heard[..]).await {
                let _ = knock.version();
            }
        }
        for kind in [Kind::Welcome, Kind::Refused] {
            let answer = frame::encode(kind, 0, 0, payload);
            let _ = Knock::new("fuzz", None, None).ask(&mut Answers(&answer)).await;
        }
    });
});

impl AsyncRead for Answers<'_> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, into)
    }
}

impl AsyncWrite for Answers<'_> {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
