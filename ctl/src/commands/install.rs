//! `install`: puts gapii from a source build or an unpacked archive where a user or all users of the machine have it, and
//! with `--remove` takes it away again. The list of files is in the crate `gapii_package`, the record of what was put in
//! `ctl/src/placed.rs`.
//!
//! Overwrites and removes only what it has put itself and nobody has changed since. Starts and enables no unit.

use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use clap::{Args, Command, ValueHint};
use clap_complete::Shell as Completed;
use gapii_package::{
    CTL, CTL_SHORT, Content, DAEMON, File, LICENCES, Layout, Package, Shell, Written,
};

use super::{completions, man};
use crate::failure::Failure;
use crate::installation::linker_can_name;
use crate::placed::{self, LIST, Placed};
use crate::text::{self, counted};

/// Folders in which an enabled unit has a link.
const ENABLED: [&str; 2] = ["/etc/systemd/system", "/etc/systemd/user"];

const AFTER_HELP: &str = "\
Examples:
  gapii-ctl install                         for this user, in ~/.local
  gapii-ctl install --system                for all users, in /usr/local; as root
  gapii-ctl install --prefix /opt/gapii     in a folder of its own
  gapii-ctl install --remove                takes away what `gapii-ctl install` has put in ~/.local";

#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Install {
    /// Install for this user, in ~/.local; the default
    #[arg(long, conflicts_with = "system")]
    user: bool,

    /// Install for all users of this machine, in /usr/local, with units for the system's daemon
    #[arg(long)]
    system: bool,

    /// Folder to install in, instead of ~/.local or /usr/local
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    prefix: Option<PathBuf>,

    /// Take away what an earlier `install` has put in this folder
    #[arg(long)]
    remove: bool,

    /// Only print what would be done
    #[arg(long)]
    dry_run: bool,
}

pub fn run(args: &Install, command_line: &Command) -> Result<u8, Failure> {
    let place = Place::of(args)?;
    match args.remove {
        true => place.remove(args.dry_run)?,
        false => place.install(command_line, args.dry_run)?,
    }
    Ok(0)
}

/// Where an installation is, or will be.
struct Place {
    prefix: PathBuf,
    layout: Layout,
    /// Whether the prefix is the usual one of its layout, where shells and systemd look.
    is_usual: bool,
}

/// A file that will be put.
struct Piece {
    /// Path below the prefix.
    path: String,
    source: Source,
    digest: String,
    is_program: bool,
}

enum Source {
    Text(Vec<u8>),
    Copy(PathBuf),
    Link(PathBuf),
}

impl Place {
    fn of(args: &Install) -> Result<Place, Failure> {
        let (layout, usual) = match args.system {
            true => (Layout::Prefix, Some(PathBuf::from("/usr/local"))),
            false => {
                let home = std::env::var_os("HOME").filter(|home| !home.is_empty());
                (Layout::Home, home.map(|home| Path::new(&home).join(".local")))
            }
        };
        let wanted = args.prefix.as_ref().or(usual.as_ref()).ok_or_else(|| {
            Failure::usage(
                "HOME is not set, so there is no ~/.local; name a folder with `--prefix DIR`",
            )
        })?;
        let prefix = std::path::absolute(wanted)
            .map_err(|error| Failure::system(format!("{}: {error}", wanted.display())))?;
        // Also what a unit cannot name without quoting.
        let is_plain =
            !prefix.as_os_str().as_encoded_bytes().iter().any(|it| b"%\"'\\".contains(it));
        if !linker_can_name(&prefix) || !is_plain {
            return Err(Failure::usage(format!(
                "{} has a character that the dynamic linker or systemd would take for something else; choose \
                 another folder with `--prefix DIR`",
                prefix.display()
            )));
        }
        let is_usual = usual.is_some_and(|usual| usual == prefix);
        Ok(Place { prefix, layout, is_usual })
    }

    fn install(&self, command_line: &Command, is_dry: bool) -> Result<(), Failure> {
        let pieces = self.pieces(command_line)?;
        let old = self.read_list()?.unwrap_or_default();
        self.refuse_foreign(&pieces, &old)?;
        let paths: BTreeSet<_> = pieces.iter().map(|piece| piece.path.as_str()).collect();
        let obsolete: Vec<_> = old.paths().into_iter().filter(|it| !paths.contains(it)).collect();
        if is_dry {
            return text::print(|out| {
                for path in &paths {
                    writeln!(out, "put {}", self.prefix.join(path).display())?;
                }
                obsolete.iter().try_for_each(|path| {
                    writeln!(out, "remove {}", self.prefix.join(path).display())
                })
            });
        }
        self.put_all(&pieces, &old, &obsolete).map_err(|error| self.refused(&error))?;
        self.say_installed(pieces.len())
    }

    /// Puts the files. If it is interrupted, the list has everything that may be there.
    fn put_all(&self, pieces: &[Piece], old: &Placed, obsolete: &[&str]) -> io::Result<()> {
        let mut new = Placed { folders: old.folders.clone(), ..Placed::default() };
        let paths = pieces.iter().map(|piece| piece.path.as_str());
        for folder in paths.chain([LIST]).flat_map(placed::folders_of) {
            let path = placed::folder_path(&self.prefix, &folder);
            if !path.is_dir() {
                fs::create_dir_all(path)?;
                new.folders.insert(folder);
            }
        }
        new.files = pieces.iter().map(|piece| (piece.path.clone(), piece.digest.clone())).collect();
        let mut both = new.clone();
        both.files.extend(old.files.iter().cloned());
        both.write(&self.prefix)?;
        for piece in pieces {
            piece.put(&self.prefix.join(&piece.path))?;
        }
        for path in obsolete {
            self.remove_unchanged(path, old)?;
        }
        new.write(&self.prefix)
    }

    /// Fails if a file that this command has not put is where one of `pieces` belongs.
    fn refuse_foreign(&self, pieces: &[Piece], old: &Placed) -> Result<(), Failure> {
        let mut foreign = Vec::new();
        for piece in pieces {
            let path = self.prefix.join(&piece.path);
            let found = placed::digest(&path).map_err(|error| self.refused(&error))?;
            if found.is_some_and(|digest| !old.has(&piece.path, &digest)) {
                foreign.push(path);
            }
        }
        let Some(first) = foreign.first() else { return Ok(()) };
        let first = first.display();
        let others = match foreign.len() - 1 {
            0 => String::new(),
            others => format!(", like {}", counted(others as u64, "other")),
        };
        Err(Failure::no(format!(
            "{first} was not put there by `gapii-ctl install`, or has been changed since{others}; move it away, with \
             `mv {first} {first}.old`, or choose another folder with `--prefix DIR`"
        )))
    }

    fn remove(&self, is_dry: bool) -> Result<(), Failure> {
        let Some(placed) = self.read_list()? else {
            return Err(Failure::no(format!(
                "nothing was installed in {}; `--system` or `--prefix DIR` names another folder",
                self.prefix.display()
            )));
        };
        if is_dry {
            return text::print(|out| {
                placed.paths().into_iter().try_for_each(|path| {
                    writeln!(out, "remove {}", self.prefix.join(path).display())
                })
            });
        }
        self.refuse_enabled(&placed)?;
        let mut changed = Vec::new();
        let mut removed = 0;
        for path in placed.paths() {
            match self.remove_unchanged(path, &placed).map_err(|error| self.refused(&error))? {
                true => removed += 1,
                false => changed.push(self.prefix.join(path)),
            }
        }
        fs::remove_file(self.prefix.join(LIST)).map_err(|error| self.refused(&error))?;
        placed::remove_empty(&self.prefix, &placed.folders);
        for path in changed {
            text::say(&format!("left {}, which has been changed since", path.display()));
        }
        let removed = counted(removed, "file");
        text::print(|out| writeln!(out, "removed {removed} from {}", self.prefix.display()))
    }

    /// Removes what was put at `path`; returns false if something else is there.
    fn remove_unchanged(&self, path: &str, placed: &Placed) -> io::Result<bool> {
        let file = self.prefix.join(path);
        match placed::digest(&file)? {
            None => Ok(true),
            Some(digest) if placed.has(path, &digest) => fs::remove_file(file).map(|()| true),
            Some(_) => Ok(false),
        }
    }

    /// Fails if a unit is enabled, whose link would then lead nowhere.
    fn refuse_enabled(&self, placed: &Placed) -> Result<(), Failure> {
        let own = std::env::var_os("XDG_CONFIG_HOME")
            .map(PathBuf::from)
            .or_else(|| Some(Path::new(&std::env::var_os("HOME")?).join(".config")));
        let folders = ENABLED.iter().map(PathBuf::from);
        for folder in folders.chain(own.map(|own| own.join("systemd/user"))) {
            for wants in fs::read_dir(&folder).into_iter().flatten().flatten() {
                for link in fs::read_dir(wants.path()).into_iter().flatten().flatten() {
                    let Ok(target) = fs::read_link(link.path()) else { continue };
                    let Ok(target) = target.strip_prefix(&self.prefix) else { continue };
                    if placed.paths().contains(target.to_string_lossy().as_ref()) {
                        let unit = link.file_name();
                        let user = match folder.ends_with("system") {
                            true => "",
                            false if folder.starts_with("/etc") => "--global ",
                            false => "--user ",
                        };
                        return Err(Failure::no(format!(
                            "{0} is enabled; type `systemctl {user}disable --now {0}` first",
                            unit.display()
                        )));
                    }
                }
            }
        }
        Ok(())
    }

    fn read_list(&self) -> Result<Option<Placed>, Failure> {
        Placed::read(&self.prefix).map_err(|error| self.refused(&error))
    }

    /// The system's refusal, with the way for the system's folders.
    fn refused(&self, error: &io::Error) -> Failure {
        let prefix = self.prefix.display();
        let needs_root =
            error.kind() == io::ErrorKind::PermissionDenied && self.layout == Layout::Prefix;
        let Some(program) = std::env::current_exe().ok().filter(|_| needs_root) else {
            return Failure::system(format!("can't change {prefix}: {error}"));
        };
        Failure::unreachable(format!(
            "can't change {prefix}: {error}; as root, with `sudo {} install --system`",
            program.display()
        ))
    }

    /// All files with their sources. Those of the build are beside this program, or where this layout has them.
    fn pieces(&self, command_line: &Command) -> Result<Vec<Piece>, Failure> {
        let written = written(command_line)?;
        let files = gapii_package::files(&self.layout, &written);
        let pieces = files.into_iter().filter_map(|file| self.piece(file).transpose());
        pieces.chain(self.licences().transpose()).collect()
    }

    /// The licences that an archive has.
    fn licences(&self) -> Result<Option<Piece>, Failure> {
        let path = format!("{}/{LICENCES}", self.layout.documents(Package::Tools));
        let Some(source) = found(&[&format!("../{path}")]) else { return Ok(None) };
        Piece::of(path, Source::Copy(source), false).map(Some)
    }

    fn piece(&self, file: File) -> Result<Option<Piece>, Failure> {
        let source = match file.content {
            Content::Text(text) if is_unit(&file.path) => Source::Text(self.unit(&text)),
            Content::Text(text) => Source::Text(text),
            Content::Link(target) => Source::Link(target.into()),
            Content::Built(name) => match found(&[&name, &format!("../{}", file.path)]) {
                Some(path) => Source::Copy(path),
                // A build for tests does not have it.
                None if matches!(file.package, Package::Agents | Package::Fleet) => {
                    return Ok(None);
                }
                None => {
                    return Err(Failure::unreachable(format!(
                        "{name} is not beside this gapii-ctl; build all of gapii with `cargo xtask build`"
                    )));
                }
            },
            // A source build has them in the repository.
            Content::Document(_) => match found(&[&format!("../{}", file.path)]) {
                Some(path) => Source::Copy(path),
                None => return Ok(None),
            },
        };
        Piece::of(file.path, source, file.is_program).map(Some)
    }

    fn unit(&self, text: &[u8]) -> Vec<u8> {
        let daemon = self.prefix.join("bin").join(DAEMON);
        gapii_package::for_daemon(&String::from_utf8_lossy(text), &daemon).into_bytes()
    }

    fn say_installed(&self, files: usize) -> Result<(), Failure> {
        let programs = self.prefix.join("bin");
        let path = std::env::var_os("PATH").unwrap_or_default();
        let is_on_path = std::env::split_paths(&path).any(|folder| folder == programs);
        let prefix = self.prefix.display();
        let (system, user) = (self.layout == Layout::Prefix, "--user ");
        text::print(|out| {
            writeln!(out, "put {} in {prefix}", counted(files as u64, "file"))?;
            if !is_on_path {
                writeln!(out, "to find the programs: export PATH={}:$PATH", programs.display())?;
            }
            if !self.is_usual
                && let Some(units) = self.layout.user_units()
            {
                let units = self.prefix.join(units);
                writeln!(
                    out,
                    "to let systemd know the units: systemctl {user}link {}/*",
                    units.display()
                )?;
            }
            writeln!(out, "to keep a daemon ready: systemctl {user}enable --now gapiid.socket")?;
            let mut options = if system { " --system".to_owned() } else { String::new() };
            if !self.is_usual {
                options.push_str(&format!(" --prefix {prefix}"));
            }
            writeln!(out, "to take it away again: gapii-ctl install{options} --remove")
        })
    }
}

impl Source {
    fn digest(&self) -> io::Result<String> {
        Ok(match self {
            Source::Text(text) => placed::digest_of(text),
            Source::Copy(path) => placed::digest_of(&fs::read(path)?),
            Source::Link(target) => placed::digest_of_link(target),
        })
    }
}

impl Piece {
    fn of(path: String, source: Source, is_program: bool) -> Result<Piece, Failure> {
        match source.digest() {
            Ok(digest) => Ok(Piece { path, source, digest, is_program }),
            Err(error) => {
                Err(Failure::system(format!("can't read what belongs to {path}: {error}")))
            }
        }
    }

    /// Puts the file under another name first: a program that runs keeps the old one.
    fn put(&self, path: &Path) -> io::Result<()> {
        let folder = path.parent().unwrap_or(path);
        let draft = tempfile::Builder::new().prefix(".gapii-").tempdir_in(folder)?;
        let file = draft.path().join("file");
        match &self.source {
            Source::Link(target) => symlink(target, &file)?,
            Source::Text(text) => fs::write(&file, text)?,
            Source::Copy(source) => _ = fs::copy(source, &file)?,
        }
        if !matches!(self.source, Source::Link(_)) {
            let mode = if self.is_program { 0o755 } else { 0o644 };
            fs::set_permissions(&file, Permissions::from_mode(mode))?;
        }
        fs::rename(file, path)
    }
}

/// Returns the first of `paths`, below the folder of this program, that is a file.
fn found(paths: &[&str]) -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    let folder = program.parent()?;
    paths.iter().map(|path| folder.join(path)).find(|path| path.is_file())
}

fn is_unit(path: &str) -> bool {
    path.ends_with(".service") || path.ends_with(".socket")
}

/// Man pages and completions.
fn written(command_line: &Command) -> Result<Written, Failure> {
    let mut written = Written { manual: man::pages(command_line.clone())?, ..Written::default() };
    for shell in Shell::ALL {
        let completed = match shell {
            Shell::Bash => Completed::Bash,
            Shell::Fish => Completed::Fish,
            Shell::Zsh => Completed::Zsh,
        };
        for program in [CTL, CTL_SHORT] {
            let script = completions::script(completed, command_line.clone(), program);
            written.completions.push((shell, program, script));
        }
    }
    Ok(written)
}
