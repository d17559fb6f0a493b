//! `Chroot`: a folder with Debian's newest release, `sid`, and the Mesa in it, made once with debootstrap.
//!
//! Needs root, directly or through sudo. Everything that is mounted is mounted in a mount namespace of the process that uses it, so
//! nothing stays mounted, and removing the folder removes everything.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};

use crate::{step, tree};

const SUITE: &str = "sid";

/// The folder's Mesa: EGL, OpenGL ES, the renderers, and Vulkan for zink.
const PACKAGES: &[&str] =
    &["libegl1", "libegl-mesa0", "libgles1", "libgles2", "libgl1-mesa-dri", "mesa-vulkan-drivers"];

/// Lists the addresses of Debian's archive that apt is set up with.
const MIRRORS: &[&str] = &[
    "indextargets",
    "--format",
    "$(REPO_URI)",
    "Created-By: Packages",
    "Origin: Debian",
    "Label: Debian",
];

/// Mounts, and then runs: `sh -c ENTER sh ROOT WRITABLE FOLDER… -- PROGRAM ARGUMENT…`. FOLDERs are seen inside ROOT, read-only;
/// WRITABLE can be written.
const ENTER: &str = r#"
set -e
root=$1
writable=$2
shift 2
mount --rbind /dev "$root/dev"
mount -t proc proc "$root/proc"
mount -t tmpfs tmpfs "$root/tmp"
while [ "$1" != -- ]; do
    mkdir -p "$root$1"
    mount --bind "$1" "$root$1"
    mount -o remount,bind,ro "$root$1"
    shift
done
shift
mount --bind "$writable" "$root$writable"
exec chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"
"#;

/// Runs a command with mounts and processes of its own; both end with the command.
const ALONE: &[&str] = &["unshare", "--mount", "--pid", "--fork", "--kill-child"];

/// A folder that contains a Debian.
pub struct Chroot {
    root: PathBuf,
}

impl Chroot {
    /// Makes the folder if there is none.
    pub fn open() -> anyhow::Result<Self> {
        let root = tree::target().join("drivers").join(SUITE);
        if !root.exists() {
            make(&root).with_context(|| format!("can't make {}", root.display()))?;
        }
        Ok(Self { root })
    }

    /// A command that runs `program` in the chroot, with `variables` as its environment, `folders` at their usual paths,
    /// read-only, and `writable`, a folder inside one of them.
    pub fn command(
        &self,
        folders: &[PathBuf],
        writable: &Path,
        variables: &[(&str, String)],
        program: &Path,
    ) -> anyhow::Result<Command> {
        let mut command = step::as_root(&[ALONE, &["sh", "-c", ENTER, "sh"]].concat(), &[])?;
        command.arg(&self.root).arg(writable).args(folders).arg("--");
        command.args(variables.iter().map(|(name, value)| format!("{name}={value}")));
        command.arg(program);
        Ok(command)
    }
}

/// Makes the chroot under another name first, so that a broken one is never used.
fn make(root: &Path) -> anyhow::Result<()> {
    let mirror = mirror()?;
    let draft = root.with_extension("part");
    eprintln!(
        "making {} with debootstrap: Debian {SUITE} with its Mesa, from this machine's mirror of Debian\n\
         downloads 150 MB and takes 600 MB of disk; remove it with `rm -r {0}`, as root,\n\
         and it is made again, with the newest Mesa of that day",
        root.display()
    );
    let folder = root.parent().context("the chroot lies in a folder")?;
    std::fs::create_dir_all(folder)?;
    let draft = draft.to_str().context("the build folder's name is no text")?;
    step::run(&mut step::as_root(&["rm", "-rf", draft], &[])?)?;
    let include = format!("--include={}", PACKAGES.join(","));
    // Debootstrap mounts /proc in the folder: in a namespace, an interrupted run leaves nothing mounted.
    let words = ["debootstrap", "--variant=minbase", &include, SUITE, draft, &mirror];
    step::run_aside(&mut step::as_root(
        &[ALONE, &words].concat(),
        &["http_proxy", "https_proxy"],
    )?)?;
    let archives = format!("{draft}/var/cache/apt/archives");
    step::run(&mut step::as_root(&["rm", "-rf", &archives], &[])?)?;
    let root = root.to_str().context("the build folder's name is no text")?;
    step::run(&mut step::as_root(&["mv", draft, root], &[])?)
}

/// The address of Debian's archive, as apt has it.
fn mirror() -> anyhow::Result<String> {
    let found = step::output(&mut step::command("apt-get", MIRRORS))?;
    match found.lines().next() {
        Some(mirror) => Ok(mirror.to_owned()),
        None => bail!("apt lists no archive of Debian; run `apt-get update`"),
    }
}
