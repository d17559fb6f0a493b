//! `Discretion`: takes out of a text what a stranger need not read: the user's home folder and name, and what looks like a
//! secret.
//!
//! It guesses: a secret that looks like a word stays.

use std::path::Path;

use serde_json::Value;

/// Words beside which a value is a secret.
const SECRET_WORDS: [&str; 9] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "credential",
    "cookie",
    "authorization",
    "private",
];
/// In names of variables these, too.
const SECRET_NAMES: [&str; 4] = ["KEY", "LAUNCH", "AUTH", "PASS"];
/// Length from which a word of letters and digits is taken for a key.
const KEY_LEN: usize = 32;

/// Stands in the place of a secret.
pub const LEFT_OUT: &str = "(left out)";

pub struct Discretion {
    /// Folders that become `~`; the longest first.
    homes: Vec<String>,
    /// Names that become `USER`.
    names: Vec<String>,
}

impl Discretion {
    /// Knows the user of this process, and who became this user by `su` or `sudo`.
    pub fn of_this_user() -> Discretion {
        let variable = |name: &str| std::env::var(name).ok();
        let user = rustix::process::getuid().as_raw().to_string();
        let accounts = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
        let accounts: Vec<Vec<&str>> =
            accounts.lines().map(|line| line.split(':').collect()).collect();
        // Of the account that has `text` in field `of`, field `at`.
        let field = |of: usize, text: &str, at: usize| {
            let account = accounts.iter().find(|fields| fields.get(of) == Some(&text))?;
            Some((*account.get(at)?).to_owned())
        };
        let before = variable("SUDO_USER");
        let home_before = before.as_ref().and_then(|name| field(0, name, 5));
        let names = [field(2, &user, 0), variable("USER"), variable("LOGNAME"), before];
        let homes = [field(2, &user, 5), variable("HOME"), home_before];
        Discretion::of(names.into_iter().flatten(), homes.into_iter().flatten())
    }

    fn of(names: impl Iterator<Item = String>, homes: impl Iterator<Item = String>) -> Discretion {
        let mut homes: Vec<_> = homes
            .flat_map(|home| {
                let real = Path::new(&home).canonicalize().ok();
                [Some(home), real.and_then(|real| real.into_os_string().into_string().ok())]
            })
            .flatten()
            .map(|home| home.trim_end_matches('/').to_owned())
            .filter(|home| home.starts_with('/'))
            .collect();
        homes.sort_by_key(|home| std::cmp::Reverse(home.len()));
        // Every machine has a root.
        let names = names.filter(|name| !name.is_empty() && name != "root").collect();
        Discretion { homes, names }
    }

    /// Returns a text without them.
    pub fn apply(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for home in &self.homes {
            text = replaced(&text, home, "~");
        }
        for name in &self.names {
            text = replaced(&text, name, "USER");
        }
        let lines: Vec<_> = text.split('\n').map(without_secrets).collect();
        lines.join("\n")
    }

    /// Takes them out of all strings of a document.
    pub fn apply_to_json(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.apply(text),
            Value::Array(values) => values.iter_mut().for_each(|value| self.apply_to_json(value)),
            Value::Object(fields) => fields.values_mut().for_each(|it| self.apply_to_json(it)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Returns the value of a variable without them; [`LEFT_OUT`] if the name says that it is a secret.
    pub fn value(&self, name: &str, value: &str) -> String {
        let upper = name.to_uppercase();
        let mut words = SECRET_WORDS.iter().map(|word| word.to_uppercase());
        let is_secret = words.any(|word| upper.contains(&word))
            || SECRET_NAMES.iter().any(|word| upper.contains(word));
        match is_secret {
            true => LEFT_OUT.to_owned(),
            false => self.apply(value),
        }
    }
}

/// Replaces `word` where it is not a part of a longer word.
fn replaced(text: &str, word: &str, by: &str) -> String {
    let is_of_word = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let mut done = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(word) {
        let (before, from) = rest.split_at(at);
        let behind = &from[word.len()..];
        let is_whole = !behind.starts_with(is_of_word)
            && (word.starts_with('/')
                || !(before.ends_with(is_of_word)
                    || (before.is_empty() && done.ends_with(is_of_word))));
        done = done + before + if is_whole { by } else { word };
        rest = behind;
    }
    done + rest
}

/// Takes secrets out of a line: the value behind a word that says so, the user in an address, and words that look like keys.
fn without_secrets(line: &str) -> String {
    let lower = line.to_lowercase();
    let named = SECRET_WORDS.iter().filter_map(|word| Some(lower.find(word)? + word.len())).min();
    // The two have the same length, unless the line has letters that change theirs.
    let value = named.filter(|_| lower.len() == line.len()).and_then(|behind| {
        let sign = line.get(behind..)?.find(['=', ':'])?;
        Some(behind + sign + 1)
    });
    let line = match value {
        Some(at) => format!("{} {LEFT_OUT}", &line[..at]),
        None => line.to_owned(),
    };
    without_keys(&without_users(&line))
}

/// Replaces the user and the password in addresses such as `ssh://me:word@host`.
fn without_users(line: &str) -> String {
    let mut done = String::new();
    let mut rest = line;
    while let Some((before, address)) = rest.split_once("://") {
        let end = address.find(|c: char| c == '/' || c.is_whitespace()).unwrap_or(address.len());
        let user = address[..end].rfind('@');
        done = done + before + "://" + user.map_or("", |_| LEFT_OUT);
        rest = &address[user.unwrap_or(0)..];
    }
    done + rest
}

/// Replaces long words of letters and digits.
fn without_keys(line: &str) -> String {
    let is_of_key = |c: char| c.is_ascii_alphanumeric() || c == '+' || c == '=';
    let mut done = String::new();
    let mut rest = line;
    while let Some(begin) = rest.find(is_of_key) {
        let (before, from) = rest.split_at(begin);
        let (word, behind) = from.split_at(from.find(|c| !is_of_key(c)).unwrap_or(from.len()));
        let has = |is: fn(&u8) -> bool| word.bytes().any(|byte| is(&byte));
        let is_key =
            word.len() >= KEY_LEN && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic);
        done = done + before + if is_key { LEFT_OUT } else { word };
        rest = behind;
    }
    done + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn discretion() -> Discretion {
        Discretion::of(
            ["al".to_owned(), "root".to_owned()].into_iter(),
            ["/home/al/".to_owned(), "/".to_owned(), "/srv/home/al".to_owned()].into_iter(),
        )
    }

    #[test]
    fn home_and_name_are_replaced_as_whole_words() {
        let check = |text, expected: &str| assert_eq!(discretion().apply(text), expected, "{text}");
        check("/home/al/game:/home/al", "~/game:~");
        check("/srv/home/al/x and /home/alice", "~/x and /home/alice");
        check(
            "al runs gal, al_2, al-x and all of (al)\n",
            "USER runs gal, al_2, al-x and all of (USER)\n",
        );
        check("root has /root", "root has /root");
    }

    #[test]
    fn what_looks_like_a_secret_is_left_out() {
        let check = |text, expected: &str| assert_eq!(discretion().apply(text), expected, "{text}");
        check("password=hunter2 x", "password= (left out)");
        check("API-Token: abc", "API-Token: (left out)");
        check("session 0123456789abcdef0123456789abcdef began", "session (left out) began");
        check(
            "via ssh://al:pw@host/x and tls://host:1",
            "via ssh://(left out)@host/x and tls://host:1",
        );
        check("a word 0123456789abcdef, 8 slots", "a word 0123456789abcdef, 8 slots");
        check("ring-size = \"8M\"  # default", "ring-size = \"8M\"  # default");
        check("# remote-credentials is not set", "# remote-credentials is not set");
        let mut document = serde_json::json!({ "found": ["token: x", "/home/al/x"], "count": 1 });
        discretion().apply_to_json(&mut document);
        let expected = serde_json::json!({ "found": ["token: (left out)", "~/x"], "count": 1 });
        assert_eq!(document, expected);
        let value = |name, value| discretion().value(name, value);
        assert_eq!(value("GAPII_LAUNCH", "ab"), LEFT_OUT);
        assert_eq!(value("GAPII_ACCESS_KEY", "ab"), LEFT_OUT);
        assert_eq!(value("GAPII_SOCKET", "/home/al/s"), "~/s");
    }
}
