//! `Via`: the address of a daemon on another machine, and the transport to it: `tls://HOST[:PORT]` (port 9820 by
//! default) or `ssh://[USER@]HOST[:PORT][/PATH]`. Hosts, users and paths with characters that a shell or a program
//! could misread are refused.

use std::fmt;
use std::str::FromStr;

use gapii_remote::PORT;

/// Default command on the other machine.
const PROGRAM: &str = "gapii-ctl";

/// The address of a remote daemon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Via {
    /// `tls://host:port`
    Tls { host: String, port: u16 },
    /// `ssh://[user@]host[:port][/path/of/gapii-ctl]`
    Ssh { destination: String, port: Option<u16>, program: String },
}

impl Via {
    /// Returns the command line that runs a command of `gapii-ctl` on the daemon's machine.
    pub fn there(&self, command: &str) -> String {
        match self {
            Via::Tls { host, .. } => format!("ssh {host} {PROGRAM} {command}"),
            Via::Ssh { destination, port, program } => {
                let port = port.map(|port| format!("-p {port} ")).unwrap_or_default();
                format!("ssh {port}{destination} {program} {command}")
            }
        }
    }
}

impl FromStr for Via {
    type Err = String;

    fn from_str(text: &str) -> Result<Via, String> {
        let wanted =
            "an address is tls://HOST[:PORT] or ssh://[USER@]HOST[:PORT][/PATH/OF/gapii-ctl]";
        if let Some(rest) = text.strip_prefix("tls://") {
            let (host, port) = host_and_port(rest.strip_suffix('/').unwrap_or(rest))?;
            return Ok(Via::Tls { host, port: port.unwrap_or(PORT) });
        }
        let rest = text.strip_prefix("ssh://").ok_or(wanted)?;
        let (place, path) = rest.split_once('/').map_or((rest, ""), |(place, path)| (place, path));
        let (user, place) =
            place.rsplit_once('@').map_or((None, place), |(user, rest)| (Some(user), rest));
        let (host, port) = host_and_port(place)?;
        if let Some(user) = user {
            check_word("user", user)?;
        }
        let destination = user.map_or(host.clone(), |user| format!("{user}@{host}"));
        let program = match path {
            "" => PROGRAM.to_owned(),
            // A shell on the other machine parses the path.
            path if path.bytes().all(is_plain_in_path) => format!("/{path}"),
            path => return Err(format!("/{path} is no path of letters, digits and ._+-/")),
        };
        Ok(Via::Ssh { destination, port, program })
    }
}

impl fmt::Display for Via {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bracketed = |host: &str| match host.contains(':') {
            true => format!("[{host}]"),
            false => host.to_owned(),
        };
        match self {
            Via::Tls { host, port } => write!(f, "tls://{}:{port}", bracketed(host)),
            Via::Ssh { destination, port, program } => {
                let (user, host) = destination
                    .rsplit_once('@')
                    .map_or((String::new(), &destination[..]), |(user, host)| {
                        (format!("{user}@"), host)
                    });
                write!(f, "ssh://{user}{}", bracketed(host))?;
                if let Some(port) = port {
                    write!(f, ":{port}")?;
                }
                if program != PROGRAM {
                    f.write_str(program)?;
                }
                Ok(())
            }
        }
    }
}

/// Parses `host`, `host:port`, `1.2.3.4:port` or `[::1]:port`.
fn host_and_port(text: &str) -> Result<(String, Option<u16>), String> {
    let (host, rest) = match text.strip_prefix('[') {
        Some(rest) => rest.split_once(']').ok_or_else(|| format!("{text} lacks a ]"))?,
        None => text.find(':').map_or((text, ""), |colon| text.split_at(colon)),
    };
    let port = match rest.strip_prefix(':') {
        Some(port) => {
            let port = port.parse().ok().filter(|port| *port > 0);
            Some(port.ok_or_else(|| format!("{rest} is no port"))?)
        }
        None if rest.is_empty() => None,
        None => return Err(format!("{rest} does not belong behind a host")),
    };
    check_word("host", host)?;
    Ok((host.to_owned(), port))
}

/// Rejects text that a program could take for an option or for a path.
fn check_word(what: &str, word: &str) -> Result<(), String> {
    let is_plain =
        |byte: u8| byte.is_ascii_alphanumeric() || b"._-:%".contains(&byte) || byte >= 0x80;
    let fits = !word.is_empty() && !word.starts_with(['-', '.']) && word.bytes().all(is_plain);
    if fits { Ok(()) } else { Err(format!("{word:?} is no {what}")) }
}

fn is_plain_in_path(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"._+-/".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_say_how_and_where() {
        let check = |text: &str, shown: &str| {
            assert_eq!(text.parse::<Via>().map(|via| via.to_string()), Ok(shown.to_owned()));
        };
        check("tls://render-7", "tls://render-7:9820");
        check("tls://render-7:1234/", "tls://render-7:1234");
        check("tls://10.0.0.7:1", "tls://10.0.0.7:1");
        check("tls://[fe80::1]:77", "tls://[fe80::1]:77");
        check("ssh://render-7", "ssh://render-7");
        check("ssh://me@render-7:22", "ssh://me@render-7:22");
        check("ssh://me@[::1]:22", "ssh://me@[::1]:22");
        check("ssh://h/opt/gapii/bin/gapii-ctl", "ssh://h/opt/gapii/bin/gapii-ctl");
    }

    #[test]
    fn command_line_for_the_other_machine_goes_by_the_same_way() {
        let there = |text: &str| text.parse::<Via>().map(|via| via.there("doctor"));
        assert_eq!(there("tls://h:1").as_deref(), Ok("ssh h gapii-ctl doctor"));
        assert_eq!(there("ssh://me@h:22/x/ctl").as_deref(), Ok("ssh -p 22 me@h /x/ctl doctor"));
    }

    #[test]
    fn what_a_shell_or_ssh_would_take_for_something_else_is_refused() {
        for text in [
            "",
            "host",
            "tcp://host:1",
            "tls://",
            "tls://:1",
            "tls://h:0",
            "tls://h:99999",
            "tls://h:x",
            "tls://[::1",
            "tls://../x",
            "tls://h/x",
            "ssh://",
            "ssh://-oProxyCommand=x",
            "ssh://-o@h",
            "ssh://h/bin/x;rm",
            "ssh://h/a b",
            "ssh://h/$(x)",
            "ssh://a b",
        ] {
            assert!(text.parse::<Via>().is_err(), "{text}");
        }
    }
}
