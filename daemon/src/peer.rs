//! Who is at the other end of a socket, by the kernel's word.

use std::io;

use rustix::process::{Pid, geteuid};
use tokio::net::UnixStream;

/// A peer that may talk to this daemon: of this user, or root.
#[derive(Clone, Copy, Debug)]
pub struct Peer {
    pub pid: Pid,
}

/// Why a peer may not talk to this daemon.
#[derive(Debug, thiserror::Error)]
pub enum PeerError {
    #[error("user {theirs} may not talk to the daemon of user {ours}")]
    OtherUser { theirs: u32, ours: u32 },
    #[error("the peer's process cannot be seen from here")]
    NoPid,
    #[error("the peer's credentials cannot be read: {0}")]
    Unknown(#[from] io::Error),
}

impl Peer {
    /// The peer of a connected socket, if it is allowed.
    pub fn of(socket: &UnixStream) -> Result<Self, PeerError> {
        let credentials = socket.peer_cred()?;
        let (theirs, ours) = (credentials.uid(), geteuid().as_raw());
        if !may_talk(theirs, ours) {
            return Err(PeerError::OtherUser { theirs, ours });
        }
        // In another pid namespace than ours it has no pid, or 0.
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
