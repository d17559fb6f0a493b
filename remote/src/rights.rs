//! Sends and receives bytes with file descriptors (SCM_RIGHTS) over a tokio Unix socket. At most 4 descriptors with a
//! message; the kernel closes further ones. Received descriptors are close-on-exec; unwanted ones are closed.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use tokio::io::Interest;
use tokio::net::UnixStream;

/// Largest number of descriptors received with one message; the kernel closes further ones.
const RECEIVED_MAX: usize = 4;
/// Largest number of descriptors sent with one message.
const SENT_MAX: usize = 4;

/// Sends all of `bytes`; the descriptors accompany the first byte.
pub async fn send(socket: &UnixStream, bytes: &[u8], fds: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut sent = 0;
    while sent < bytes.len() {
        let beside = if sent == 0 { fds } else { &[] };
        sent += send_part(socket, &bytes[sent..], beside).await?;
    }
    Ok(())
}

/// Sends a prefix of `bytes` with the descriptors, and returns the prefix's length.
///
/// Cancellation-safe: if the future is dropped before it completes, nothing was sent.
pub async fn send_part(
    socket: &UnixStream,
    bytes: &[u8],
    fds: &[BorrowedFd<'_>],
) -> io::Result<usize> {
    loop {
        socket.writable().await?;
        match socket.try_io(Interest::WRITABLE, || send_some(socket, bytes, fds)) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            sent => return sent,
        }
    }
}

/// Receives bytes, appends accompanying descriptors, and returns the number of bytes; 0 means end of stream.
pub async fn receive(
    socket: &UnixStream,
    bytes: &mut [u8],
    fds: &mut Vec<OwnedFd>,
) -> io::Result<usize> {
    loop {
        socket.readable().await?;
        match socket.try_io(Interest::READABLE, || receive_some(socket, bytes, fds)) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            received => return received,
        }
    }
}

fn send_some(socket: &UnixStream, bytes: &[u8], fds: &[BorrowedFd<'_>]) -> io::Result<usize> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(SENT_MAX))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !fds.is_empty() && !control.push(SendAncillaryMessage::ScmRights(fds)) {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    }
    let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
    Ok(sendmsg(socket, &[IoSlice::new(bytes)], &mut control, flags)?)
}

fn receive_some(
    socket: &UnixStream,
    bytes: &mut [u8],
    fds: &mut Vec<OwnedFd>,
) -> io::Result<usize> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(RECEIVED_MAX))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT;
    let received = recvmsg(socket, &mut [IoSliceMut::new(bytes)], &mut control, flags)?;
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(arrived) = message {
            fds.extend(arrived);
        }
    }
    Ok(received.bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::fd::AsFd;

    #[tokio::test]
    async fn descriptor_arrives_beside_the_bytes() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let (mut reader, writer) = std::io::pipe().unwrap();
        send(&ours, b"hello", &[writer.as_fd()]).await.unwrap();
        drop(writer);

        let (mut bytes, mut fds) = ([0; 16], Vec::new());
        assert_eq!(receive(&theirs, &mut bytes, &mut fds).await.unwrap(), 5);
        assert_eq!((&bytes[..5], fds.len()), (&b"hello"[..], 1));
        std::fs::File::from(fds.remove(0)).write_all(b"through").unwrap();
        let mut text = String::new();
        std::io::Read::read_to_string(&mut reader, &mut text).unwrap();
        assert_eq!(text, "through");
    }

    #[tokio::test]
    async fn end_of_the_stream_is_zero_bytes() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        drop(theirs);
        assert_eq!(receive(&ours, &mut [0; 16], &mut Vec::new()).await.unwrap(), 0);
    }
}
