//! The configuration in effect, from layers, later ones overriding earlier ones: defaults, `/etc/gapii/gapiid.toml`,
//! the user's `gapii/gapiid.toml` in `$XDG_CONFIG_HOME` or `~/.config`, the environment, the command line. `--config`
//! replaces both files. A default file that does not exist, that this user may not reach, or that another user owns or
//! could replace (HOME after `su` or `sudo`), is passed over; any other file that cannot be read, and the file of
//! `--config`, is an error. So is a default file of this user that others can write.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::{fs, io};

use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory, FromArgMatches};
use gapii_control::{SafePath, UnsafePath};

use super::definition::Config;
use super::file::{self, Setting};
use super::mistake::Mistakes;

/// The machine's file.
const SYSTEM_FILE: &str = "/etc/gapii/gapiid.toml";
/// The user's file, in the folder of the user's configuration.
const USER_FILE: &str = "gapii/gapiid.toml";

/// A configuration, and where it comes from.
#[derive(Debug)]
pub struct Loaded {
    pub config: Config,
    pub(super) matches: ArgMatches,
    /// Settings from files that nothing overrides, by option.
    pub(super) settings: BTreeMap<String, Setting>,
    /// The files that were looked for.
    pub(super) files: Vec<(PathBuf, Found)>,
}

/// Result of looking for a configuration file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Found {
    Read,
    Absent,
    /// A file that was not read, because another user decides what is in it.
    Foreign(String),
}

/// Why there is no configuration.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A mistake on the command line, or a request for help.
    #[error(transparent)]
    CommandLine(#[from] clap::Error),
    #[error(transparent)]
    File(#[from] Mistakes),
    #[error("cannot read {path}: {error}")]
    Unreadable { path: PathBuf, error: io::Error },
    /// Users other than its owner could write a default file.
    #[error("{path} is not read: {why}")]
    Open { path: PathBuf, why: UnsafePath },
}

impl Loaded {
    /// Returns this process' configuration.
    pub fn of_process() -> Result<Self, LoadError> {
        let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
        Self::new(std::env::args_os().collect(), &default_files(variable))
    }

    /// Returns the files that exist. Later ones override earlier ones.
    pub fn files_read(&self) -> impl Iterator<Item = &Path> {
        let read = self.files.iter().filter(|(_, found)| *found == Found::Read);
        read.map(|(path, _)| path.as_path())
    }

    /// Returns the files of other users that were passed over, with the reasons.
    pub fn files_passed_over(&self) -> impl Iterator<Item = (&Path, &str)> {
        self.files.iter().filter_map(|(path, found)| match found {
            Found::Foreign(why) => Some((path.as_path(), why.as_str())),
            Found::Read | Found::Absent => None,
        })
    }

    /// Makes the configuration from the words of a command line and from files. Later files override earlier ones.
    fn new(words: Vec<OsString>, default_files: &[PathBuf]) -> Result<Self, LoadError> {
        let options = Config::command();
        let said = options.clone().try_get_matches_from(&words)?;
        let (mut settings, mut files) = (BTreeMap::new(), Vec::new());
        let named = said.get_one::<PathBuf>("config");
        for path in named.map_or(default_files, std::slice::from_ref) {
            let (found, text) = read(path, named.is_some())?;
            files.push((path.clone(), found));
            for setting in file::parse(path, &text, &options)? {
                settings.insert(setting.key.clone(), setting);
            }
        }
        for option in options.get_arguments() {
            let source = said.value_source(option.get_id().as_str());
            if matches!(source, Some(ValueSource::CommandLine | ValueSource::EnvVariable)) {
                settings.remove(option.get_long().unwrap_or_default());
            }
        }
        let (program, rest) = words.split_at(words.len().min(1));
        let from_files = settings.values().filter_map(|setting| setting.word.clone());
        let all = program.iter().cloned().chain(from_files.map(OsString::from));
        let matches = options.try_get_matches_from(all.chain(rest.iter().cloned()))?;
        let config = Config::from_arg_matches(&matches)?;
        Ok(Self { config, matches, settings, files })
    }
}

/// Returns what is in a file's place, and the text of a file that is read. A default file need not exist, and this user
/// need not be able to reach it: a folder that this user may not enter belongs to another user, for example if a process
/// has changed its user and kept HOME. Neither is a file read of which another user decides what is in it.
fn read(path: &Path, is_named: bool) -> Result<(Found, String), LoadError> {
    let absent = [ErrorKind::NotFound, ErrorKind::PermissionDenied];
    if !is_named && fs::metadata(path).is_err_and(|error| absent.contains(&error.kind())) {
        return Ok((Found::Absent, String::new()));
    }
    if !is_named && let Err(why) = SafePath::of(path, rustix::process::geteuid().as_raw()) {
        return match why.is_foreign() {
            true => Ok((Found::Foreign(why.to_string()), String::new())),
            false => Err(LoadError::Open { path: path.to_owned(), why }),
        };
    }
    let unreadable = |error| LoadError::Unreadable { path: path.to_owned(), error };
    Ok((Found::Read, fs::read_to_string(path).map_err(unreadable)?))
}

fn default_files(variable: impl Fn(&str) -> Option<PathBuf>) -> Vec<PathBuf> {
    let absolute = |name| variable(name).filter(|path| path.is_absolute());
    let user = absolute("XDG_CONFIG_HOME").or_else(|| Some(absolute("HOME")?.join(".config")));
    let user = user.map(|folder| folder.join(USER_FILE));
    [PathBuf::from(SYSTEM_FILE)].into_iter().chain(user).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    struct Files(tempfile::TempDir);

    impl Files {
        fn with(texts: &[&str]) -> (Self, Vec<PathBuf>) {
            let files = Self(tempfile::tempdir().unwrap());
            let paths: Vec<_> =
                (0..texts.len()).map(|index| files.0.path().join(index.to_string())).collect();
            for (path, text) in paths.iter().zip(texts) {
                fs::write(path, text).unwrap();
            }
            (files, paths)
        }
    }

    fn loaded(words: &[&str], files: &[PathBuf]) -> Result<Loaded, LoadError> {
        Loaded::new(["gapiid"].iter().chain(words).map(OsString::from).collect(), files)
    }

    #[test]
    fn later_layers_are_over_earlier_ones() {
        let machine = "slots = 10\nmax-apps = 10\nlevel = 10\n";
        let (_folder, files) = Files::with(&[machine, "slots = 11\nmax-apps = 11\n"]);
        let Loaded { config, .. } = loaded(&["--slots", "12"], &files).unwrap();
        assert_eq!((config.slots, config.max_apps, config.level), (12, 11, 10));
        assert_eq!(config.ring_size, 4 << 20);
    }

    #[test]
    fn named_file_is_the_only_file_read_and_must_exist() {
        let (_folder, files) = Files::with(&["slots = 10", "max-apps = 11"]);
        let named = files[1].to_str().unwrap();
        let Loaded { config, .. } = loaded(&["--config", named], &files[..1]).unwrap();
        assert_eq!((config.slots, config.max_apps), (4096, 11));
        let missing = format!("{named}-not");
        let error = loaded(&["--config", &missing], &files).unwrap_err();
        assert!(error.to_string().contains(&missing), "{error}");
    }

    #[test]
    fn default_file_may_be_missing_and_not_be_unreadable() {
        let (folder, _) = Files::with(&[]);
        let missing = folder.0.path().join("not-there");
        let Loaded { files, .. } = loaded(&[], std::slice::from_ref(&missing)).unwrap();
        assert_eq!(files, [(missing, Found::Absent)]);
        let error = loaded(&[], &[folder.0.path().to_owned()]).unwrap_err();
        assert!(matches!(error, LoadError::Unreadable { .. }), "{error}");
    }

    #[test]
    fn default_file_that_others_could_write_is_no_configuration() {
        let (folder, files) = Files::with(&["slots = 10"]);
        let set_mode = |path: &Path, mode| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        };
        set_mode(folder.0.path(), 0o755);
        set_mode(&files[0], 0o666);
        let error = loaded(&[], &files).unwrap_err();
        assert!(error.to_string().contains("chmod go-w"), "{error}");
        let named = files[0].to_str().unwrap();
        assert_eq!(loaded(&["--config", named], &[]).unwrap().config.slots, 10);
        set_mode(&files[0], 0o644);
        assert_eq!(loaded(&[], &files).unwrap().config.slots, 10);
        // Only root can give files away.
        if std::os::unix::fs::chown(folder.0.path(), Some(65534), None).is_ok() {
            let loaded = loaded(&[], &files).unwrap();
            assert_eq!(loaded.config.slots, 4096);
            let passed_over: Vec<_> = loaded.files_passed_over().collect();
            let why = format!("{} belongs to user 65534", folder.0.path().display());
            assert_eq!(passed_over, [(files[0].as_path(), why.as_str())]);
        }
    }

    #[test]
    fn user_file_is_where_the_user_has_configuration() {
        let check = |set: &[(&str, &str)], expected: &[&str]| {
            let find = |name: &str| {
                set.iter().find(|(key, _)| *key == name).map(|(_, value)| PathBuf::from(value))
            };
            let expected: Vec<_> =
                [SYSTEM_FILE].iter().chain(expected).map(PathBuf::from).collect();
            assert_eq!(default_files(find), expected, "{set:?}");
        };
        let home = ("HOME", "/home/u");
        check(&[home], &["/home/u/.config/gapii/gapiid.toml"]);
        check(&[("XDG_CONFIG_HOME", "/c"), home], &["/c/gapii/gapiid.toml"]);
        check(&[("XDG_CONFIG_HOME", "c"), home], &["/home/u/.config/gapii/gapiid.toml"]);
        check(&[("HOME", "")], &[]);
    }
}
