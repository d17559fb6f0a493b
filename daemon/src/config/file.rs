//! A configuration file: keys that are names of options, and values as the options take them. Knows no option itself:
//! it uses the command line's definition. Reports all mistakes, not only the first: an unknown key (with the nearest
//! name if it is similar enough, `LIKENESS`, 0.75), an option of one invocation such as `private`, a value of the wrong
//! type, and a value that the option refuses. Flags take true or false.

use std::error::Error as _;
use std::ops::Range;
use std::path::{Path, PathBuf};

use clap::{Arg, Command};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::definition::INVOCATION;
use super::mistake::{Mistake, Mistakes};

/// Similarity below which a key is not taken for a misspelt option.
const LIKENESS: f64 = 0.75;

/// A setting in a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Setting {
    pub key: String,
    /// The option as on a command line. `None`: the flag is left out.
    pub word: Option<String>,
    /// Where the file has the setting.
    pub path: PathBuf,
    pub line: usize,
}

/// Returns whether a file may set this option.
pub fn is_configurable(option: &Arg) -> bool {
    option.get_long().is_some_and(|name| name != "help" && name != "version")
        && option.get_help_heading() != Some(INVOCATION)
}

/// Parses the text of a file. `options` is the command line's definition.
pub fn parse(path: &Path, text: &str, options: &Command) -> Result<Vec<Setting>, Mistakes> {
    let (table, errors) = DeTable::parse_recoverable(text);
    let mut mistakes: Vec<_> = errors
        .iter()
        .map(|error| Mistake {
            message: error.message().to_owned(),
            span: error.span().unwrap_or(0..0),
            help: String::new(),
        })
        .collect();
    let mut settings = Vec::new();
    for (key, value) in table.get_ref() {
        match option(key, options).and_then(|option| word(option, value, options)) {
            Ok(word) => settings.push(Setting {
                key: key.get_ref().to_string(),
                word,
                path: path.to_owned(),
                line: 1 + text[..key.span().start].matches('\n').count(),
            }),
            // A syntax error at this place is in the list already.
            Err(mistake)
                if errors.iter().any(|error| error.span() == Some(mistake.span.clone())) => {}
            Err(mistake) => mistakes.push(mistake),
        }
    }
    if mistakes.is_empty() {
        return Ok(settings);
    }
    mistakes.sort_by_key(|mistake| mistake.span.start);
    Err(Mistakes { path: path.to_owned(), text: text.to_owned(), all: mistakes })
}

fn option<'o>(key: &Spanned<impl AsRef<str>>, options: &'o Command) -> Result<&'o Arg, Mistake> {
    let name = key.get_ref().as_ref();
    let found = options.get_arguments().find(|option| option.get_long() == Some(name));
    match found {
        Some(option) if is_configurable(option) => Ok(option),
        Some(_) => Err(Mistake {
            message: format!("{name} is not for a configuration file"),
            span: key.span(),
            help: format!("it is an option of one invocation: use --{name}"),
        }),
        None => Err(Mistake {
            message: format!("there is no option {name}"),
            span: key.span(),
            help: nearest(name, options),
        }),
    }
}

fn nearest(name: &str, options: &Command) -> String {
    let names = || {
        options.get_arguments().filter(|option| is_configurable(option)).filter_map(Arg::get_long)
    };
    let best = names()
        .map(|known| (strsim::jaro_winkler(known, name), known))
        .max_by(|(a, _), (b, _)| a.total_cmp(b));
    match best {
        Some((likeness, known)) if likeness >= LIKENESS => format!("is {known} meant?"),
        _ => format!("options are {}", names().collect::<Vec<_>>().join(", ")),
    }
}

/// Returns the value as a word of a command line, after the option has accepted it.
fn word(
    option: &Arg,
    value: &Spanned<DeValue<'_>>,
    options: &Command,
) -> Result<Option<String>, Mistake> {
    let name = option.get_long().unwrap_or_default();
    let takes_value = option.get_action().takes_values();
    let word = match value.get_ref() {
        DeValue::String(text) if takes_value => format!("--{name}={text}"),
        DeValue::Integer(number) if takes_value && number.radix() == 10 => {
            format!("--{name}={}", number.as_str())
        }
        DeValue::Boolean(true) if !takes_value => format!("--{name}"),
        DeValue::Boolean(false) if !takes_value => return Ok(None),
        other => {
            let wanted = if takes_value { "a number or a text" } else { "true or false" };
            let message = format!("a value of type {} does not fit {name}", other.type_str());
            return Err(mistake(message, value.span(), &format!("{wanted}: "), option));
        }
    };
    match options.clone().try_get_matches_from([options.get_name(), &word]) {
        Ok(_) => Ok(Some(word)),
        Err(error) => {
            let why =
                error.source().map_or_else(|| error.kind().to_string(), |why| why.to_string());
            Err(mistake(format!("{name}: {why}"), value.span(), "", option))
        }
    }
}

fn mistake(message: String, span: Range<usize>, wanted: &str, option: &Arg) -> Mistake {
    let help = option.get_help().map(ToString::to_string).unwrap_or_default();
    Mistake { message, span, help: format!("{wanted}{help}") }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::config::Config;

    fn parsed(text: &str) -> Result<Vec<Setting>, Mistakes> {
        parse(Path::new("f.toml"), text, &Config::command())
    }

    #[test]
    fn keys_are_options_and_values_are_theirs() {
        let settings = parsed("# of mine\nslots = 16\n\nring-size = '1M'\nlevel = -3\n").unwrap();
        let said: Vec<_> =
            settings.iter().map(|s| (s.word.as_deref().unwrap_or_default(), s.line)).collect();
        assert_eq!(said, [("--level=-3", 5), ("--ring-size=1M", 4), ("--slots=16", 2)]);
        assert_eq!(parsed("").unwrap(), []);
    }

    #[test]
    fn mistake_is_shown_at_its_place_with_a_correction() {
        let check = |text: &str, at: &str, message: &str, help: &str| {
            let mistakes = parsed(text).unwrap_err();
            let [mistake] = &mistakes.all[..] else { panic!("one mistake: {mistakes:?}") };
            assert_eq!(&text[mistake.span.clone()], at, "{mistakes}");
            assert!(mistake.message.contains(message), "{message:?} is not in\n{mistakes}");
            assert!(mistake.help.contains(help), "{help:?} is not in\n{mistakes}");
            let shown = mistakes.to_string();
            assert!(shown.contains("f.toml:") && shown.contains(help), "{shown}");
        };
        check("ring_size = '4M'", "ring_size", "there is no option ring_size", "is ring-size");
        check("slot = 4", "slot", "no option slot", "is slots meant?");
        check("colour = 4", "colour", "no option colour", "options are");
        check("[slots]\na = 1", "[slots]", "type table", "a number or a text");
        check("ring-size = '3M'", "'3M'", "3145728 is not a power of two", "with K or M");
        check("slots = 0", "0", "0 is not in 1..=16384", "Threads that can record");
        check("slots = true", "true", "type boolean", "Threads that can record");
        check("slots = 1.5", "1.5", "type float", "a number or a text");
        check("level = 'fast'", "'fast'", "invalid digit", "zstd compression level");
        check("private = true", "private", "not for a configuration file", "--private");
        check("config = 'x'", "config", "not for a configuration file", "--config");
        check("help = true", "help", "", "");
        check("log = 'loud'", "'loud'", "loud", "error, warn");
        check("metrics = 'here'", "'here'", "here", "IP:PORT");
    }

    #[test]
    fn every_mistake_is_reported_in_the_order_of_the_file() {
        let mistakes = parsed("slots = 0\nslots = 2\n= 3\nlevl = 1\nlevel = 99\n").unwrap_err();
        let starts: Vec<_> = mistakes.all.iter().map(|mistake| mistake.span.start).collect();
        assert!(starts.len() >= 4 && starts.is_sorted(), "{mistakes}");
    }
}
