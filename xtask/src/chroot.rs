//! `Chroot`: a folder with a release of Debian and packages of it, made once with debootstrap.
//!
//! Needs root, directly or through sudo. Everything that is mounted is mounted in a mount namespace of the process that uses it, so
//! nothing stays mounted, and removing the folder removes everything.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};

use crate::step;

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

/// Mounts, and then runs in the folder as it was made: `sh -c ALTER sh ROOT SEEN SCRIPT`. SEEN, a folder, is /seen there,
/// read-only, and so is SCRIPT, a file of it. What the script changes is in memory, and is gone when it ends.
const ALTER: &str = r#"
set -e
root=$1
mount -t tmpfs tmpfs "$root/mnt"
mkdir "$root/mnt/changed" "$root/mnt/work" "$root/mnt/whole"
mount -t overlay overlay "$root/mnt/whole" \
    -o "lowerdir=$root,upperdir=$root/mnt/changed,workdir=$root/mnt/work"
root=$root/mnt/whole
mount --rbind /dev "$root/dev"
mount -t proc proc "$root/proc"
mount -t tmpfs tmpfs "$root/tmp"
mkdir "$root/seen"
mount --bind "$2" "$root/seen"
mount -o remount,bind,ro "$root/seen"
cp /etc/resolv.conf "$root/etc/resolv.conf"
proxies=$(env | grep -E '^https?_proxy=' || true)
exec chroot "$root" /usr/bin/env -i $proxies HOME=/root \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin sh "/seen/$3"
"#;

/// Variables with which apt and debootstrap reach an archive.
const PROXIES: &[&str] = &["http_proxy", "https_proxy"];

/// A folder that contains a Debian.
pub struct Chroot {
    root: PathBuf,
}

/// What a folder contains.
pub struct Contents<'a> {
    /// Name of a release of Debian.
    pub suite: &'a str,
    /// Debian's name of the processor, such as `arm64`; `None` for that of this machine. Programs for another one must run
    /// while the folder is made.
    pub architecture: Option<&'a str>,
    /// Packages beside the essential ones.
    pub packages: &'a [&'a str],
}

impl Chroot {
    /// Opens the folder, which is made if there is none.
    pub fn open(root: PathBuf, contents: &Contents<'_>) -> anyhow::Result<Self> {
        if !root.exists() {
            make(&root, contents).with_context(|| format!("can't make {}", root.display()))?;
        }
        Ok(Self { root })
    }

    /// The folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A command that runs `script`, a shell script in the folder `seen`, as root of the chroot. Nothing that it changes
    /// stays.
    pub fn script(&self, seen: &Path, script: &str) -> anyhow::Result<Command> {
        let words = [ALONE, &["sh", "-c", ALTER, "sh"]].concat();
        let mut command = step::as_root(&words, PROXIES)?;
        command.arg(&self.root).arg(seen).arg(script);
        Ok(command)
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
fn make(root: &Path, contents: &Contents<'_>) -> anyhow::Result<()> {
    let Contents { suite, architecture, packages } = contents;
    let mirror = mirror()?;
    let draft = root.with_extension("part");
    eprintln!(
        "making {} with debootstrap: Debian {suite}, from this machine's mirror of Debian\n\
         downloads up to 150 MB and takes up to 600 MB of disk; remove it with `rm -r {0}`, as root,\n\
         and it is made again, with the newest packages of that day",
        root.display()
    );
    let folder = root.parent().context("the chroot lies in a folder")?;
    std::fs::create_dir_all(folder)?;
    let draft = draft.to_str().context("the build folder's name is no text")?;
    step::run(&mut step::as_root(&["rm", "-rf", draft], &[])?)?;
    let include = match packages {
        [] => String::new(),
        packages => format!("--include={}", packages.join(",")),
    };
    // Debootstrap mounts /proc in the folder: in a namespace, an interrupted run leaves nothing mounted.
    let arch = architecture.map_or(String::new(), |name| format!("--arch={name}"));
    let words = ["debootstrap", "--variant=minbase", &arch, &include, suite, draft, &mirror];
    let words: Vec<_> = words.into_iter().filter(|word| !word.is_empty()).collect();
    step::run_aside(&mut step::as_root(&[ALONE, &words].concat(), PROXIES)?)?;
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
