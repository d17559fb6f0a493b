//! `Emulation`: has the kernel run programs for arm64 with qemu, as if they were this machine's own.
//!
//! Where systemd has done this already, it changes nothing. Otherwise it needs root, and it ends with the value; after a
//! kill `echo -1 > /proc/sys/fs/binfmt_misc/qemu-aarch64` ends it.

use crate::step;

/// Mounts the kernel's list of interpreters and adds the rule that Debian's package has, where they are missing. Prints
/// what was done.
const BEGIN: &str = "
set -e
folder=/proc/sys/fs/binfmt_misc
if [ ! -e $folder/register ]; then
    mount -t binfmt_misc binfmt_misc $folder
    echo mounted
fi
if [ ! -e $folder/qemu-aarch64 ]; then
    cat /usr/lib/binfmt.d/qemu-aarch64.conf > $folder/register
    echo registered
fi
";

const END: &str = "echo -1 > /proc/sys/fs/binfmt_misc/qemu-aarch64";
const UNMOUNT: &str = "umount /proc/sys/fs/binfmt_misc";

/// Programs for arm64 run while the value lives.
pub struct Emulation {
    /// Commands that undo what was done.
    undo: Vec<&'static str>,
}

impl Emulation {
    pub fn begin() -> anyhow::Result<Self> {
        let done = step::output(&mut step::as_root(&["sh", "-c", BEGIN], &[])?)?;
        let undo = [("registered", END), ("mounted", UNMOUNT)];
        let undo = undo.into_iter().filter(|(what, _)| done.lines().any(|line| line == *what));
        Ok(Self { undo: undo.map(|(_, command)| command).collect() })
    }
}

impl Drop for Emulation {
    fn drop(&mut self) {
        for script in &self.undo {
            let ended =
                step::as_root(&["sh", "-c", script], &[]).and_then(|mut end| step::run(&mut end));
            if let Err(error) = ended {
                eprintln!("{error:#}");
            }
        }
    }
}
