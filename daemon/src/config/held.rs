//! `--check-config`: writes the configuration in effect as a configuration file, with the source of each value: command
//! line, environment variable, file and line, or default. Names the files that were looked for, and whether each was
//! read. `gapii-ctl doctor` reads it.

use std::fmt;

use clap::parser::ValueSource;
use clap::{Arg, CommandFactory};

use super::definition::Config;
use super::file::is_configurable;
use super::loaded::{Found, Loaded};

/// Displays the configuration in effect, as a file that would set the same values. `gapii-ctl doctor` reads it.
pub struct Held<'a>(pub &'a Loaded);

impl fmt::Display for Held<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (path, found) in &self.0.files {
            let path = path.display();
            match found {
                Found::Read => writeln!(f, "# {path}: read")?,
                Found::Absent => writeln!(f, "# {path}: not there")?,
                Found::Foreign(why) => writeln!(f, "# {path}: not read: {why}")?,
            }
        }
        let options = Config::command();
        for option in options.get_arguments().filter(|option| is_configurable(option)) {
            let name = option.get_long().unwrap_or_default();
            match self.value(option) {
                Some(value) => writeln!(f, "{name} = {value}  # {}", self.origin(option))?,
                None => writeln!(f, "# {name} is not set")?,
            }
        }
        Ok(())
    }
}

impl Held<'_> {
    /// Returns the value as TOML, if the option has one.
    fn value(&self, option: &Arg) -> Option<String> {
        let id = option.get_id().as_str();
        let Loaded { config, matches, .. } = self.0;
        if !option.get_action().takes_values() {
            return Some(matches.get_flag(id).to_string());
        }
        let said = matches.get_raw(id).and_then(Iterator::last).map(|text| text.to_string_lossy());
        let said = said.map(String::from).or_else(|| {
            let folder = (id == "socket_dir").then(|| config.socket_folder().ok()).flatten()?;
            Some(folder.to_string_lossy().into_owned())
        })?;
        let number = said.parse::<i64>().ok().filter(|number| number.to_string() == said);
        Some(number.map_or_else(|| toml::Value::from(said), toml::Value::from).to_string())
    }

    fn origin(&self, option: &Arg) -> String {
        let Loaded { matches, settings, .. } = self.0;
        if let Some(setting) = settings.get(option.get_long().unwrap_or_default()) {
            return format!("{}:{}", setting.path.display(), setting.line);
        }
        match (matches.value_source(option.get_id().as_str()), option.get_env()) {
            (Some(ValueSource::CommandLine), _) => "command line".to_owned(),
            (Some(ValueSource::EnvVariable), Some(name)) => name.to_string_lossy().into_owned(),
            _ => "default".to_owned(),
        }
    }
}
