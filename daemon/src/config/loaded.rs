//! The configuration in effect, from layers, later ones overriding earlier ones: defaults, `/etc/gapii/gapiid.toml`,
//! the user's `gapii/gapiid.toml` in `$XDG_CONFIG_HOME` or `~/.config`, the environment, the command line. `--config`
//! replaces both files. A default file that does not exist, or that this user may not reach, is passed over; any other
//! file that cannot be read, and the file of `--config`, is an error.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::{fs, io};

use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory, FromArgMatches};

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
    /// The files that were looked for, and whether they exist.
    pub(super) files: Vec<(PathBuf, bool)>,
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
}

impl Loaded {
    /// Returns this process' configuration.
    pub fn of_process() -> Result<Self, LoadError> {
        let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
        Self::new(std::env::args_os().collect(), &default_files(variable))
    }

    /// Returns the files that exist. Later ones override earlier ones.
    pub fn files_read(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().filter(|(_, is_there)| *is_there).map(|(path, _)| path.as_path())
    }

    /// Makes the configuration from the words of a command line and from files. Later files override earlier ones.
    fn new(words: Vec<OsString>, default_files: &[PathBuf]) -> Result<Self, LoadError> {
        let options = Config::command();
        let said = options.clone().try_get_matches_from(&words)?;
        let (mut settings, mut files) = (BTreeMap::new(), Vec::new());
        let named = said.get_one::<PathBuf>("config");
        for path in named.map_or(default_files, std::slice::from_ref) {
            let text = read(path, named.is_some())?;
            files.push((path.clone(), text.is_some()));
            for setting in file::parse(path, text.as_deref().unwrap_or_default(), &options)? {
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

/// Returns the text of a file, or `None` if it does not exist and need not. A folder that this user may not enter
/// belongs to another user, for example if a process has changed its user and kept HOME.
fn read(path: &Path, must_be: bool) -> Result<Option<String>, LoadError> {
    let absent = [ErrorKind::NotFound, ErrorKind::PermissionDenied];
    if !must_be && fs::metadata(path).is_err_and(|error| absent.contains(&error.kind())) {
        return Ok(None);
    }
    let unreadable = |error| LoadError::Unreadable { path: path.to_owned(), error };
    fs::read_to_string(path).map(Some).map_err(unreadable)
}

fn default_files(variable: impl Fn(&str) -> Option<PathBuf>) -> Vec<PathBuf> {
    let absolute = |name| variable(name).filter(|path| path.is_absolute());
    let user = absolute("XDG_CONFIG_HOME").or_else(|| Some(absolute("HOME")?.join(".config")));
    let user = user.map(|folder| folder.join(USER_FILE));
    [PathBuf::from(SYSTEM_FILE)].into_iter().chain(user).collect()
}

#[cfg(test)]
mod tests {
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
        assert_eq!(files, [(missing, false)]);
        let error = loaded(&[], &[folder.0.path().to_owned()]).unwrap_err();
        assert!(matches!(error, LoadError::Unreadable { .. }), "{error}");
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
