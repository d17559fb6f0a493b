//! The peer of a socket, by the kernel's credentials. Only processes of the daemon's own effective user, and of root,
//! may use the daemon; others are refused and counted, also a process in a pid namespace that the daemon cannot see.
//! Root's daemon so serves root's processes only. Root's programs and clients in their turn use no other user's daemon.

use std::io;

use rustix::process::{Pid, geteuid};
use tokio::net::UnixStream;

/// A peer that may use this daemon: a process of its own user, or of root.
#[derive(Clone, Copy, Debug)]
pub struct Peer {
    pub pid: Pid,
}

/// Why a peer may not use this daemon.
#[derive(Debug, thiserror::Error)]
pub enum PeerError {
    #[error("user {theirs} may not use the daemon of user {ours}")]
    OtherUser { theirs: u32, ours: u32 },
    #[error("the peer's process is in a pid namespace that the daemon cannot see")]
    NoPid,
    #[error("the peer's credentials cannot be read: {0}")]
    Unknown(#[from] io::Error),
}

impl Peer {
    /// Returns the peer of a connected socket, if it is allowed.
    pub fn of(socket: &UnixStream) -> Result<Self, PeerError> {
        let credentials = socket.peer_cred()?;
        let (theirs, ours) = (credentials.uid(), geteuid().as_raw());
        if !may_talk(theirs, ours) {
            return Err(PeerError::OtherUser { theirs, ours });
        }
        // A peer in a pid namespace that this one does not contain has no pid, or 0.
        let pid = credentials.pid().and_then(Pid::from_raw).ok_or(PeerError::NoPid)?;
        Ok(Self { pid })
    }
}

fn may_talk(theirs: u32, ours: u32) -> bool {
    theirs == ours || theirs == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_user_and_root_may_talk_and_others_may_not() {
        assert!(may_talk(1000, 1000));
        assert!(may_talk(0, 1000));
        assert!(!may_talk(1001, 1000));
        assert!(!may_talk(1000, 0));
    }

    #[tokio::test]
    async fn peer_of_a_socket_pair_is_this_process() {
        let (ours, _theirs) = UnixStream::pair().unwrap();
        let peer = Peer::of(&ours).unwrap();
        assert_eq!(peer.pid.as_raw_pid() as u32, std::process::id());
    }
}
