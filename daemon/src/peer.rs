//! Who is at the other end of a socket, by the kernel's word.

use std::os::fd::AsFd;

use rustix::net::sockopt::socket_peercred;
use rustix::process::{Pid, geteuid};

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
    #[error("the peer's process cannot be seen from here: {0}")]
    Unknown(#[from] rustix::io::Errno),
}

impl Peer {
    /// The peer of a connected socket, if it is allowed.
    pub fn of(socket: impl AsFd) -> Result<Self, PeerError> {
        let credentials = socket_peercred(socket)?;
        let (theirs, ours) = (credentials.uid.as_raw(), geteuid().as_raw());
        if !may_talk(theirs, ours) {
            return Err(PeerError::OtherUser { theirs, ours });
        }
        Ok(Self { pid: credentials.pid })
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

    #[test]
    fn peer_of_a_socket_pair_is_this_process() {
        let (ours, _theirs) = std::os::unix::net::UnixStream::pair().unwrap();
        let peer = Peer::of(&ours).unwrap();
        assert_eq!(peer.pid.as_raw_pid() as u32, std::process::id());
    }
}
