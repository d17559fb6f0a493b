//! `pair`: creates, lists, renews and revokes credentials for remote clients of this machine's daemon. Credentials last
//! 365 days by default, 1 s to 20 years. An existing file is never overwritten. Revoking refuses new connections;
//! captures that have begun continue. Renewing the daemon's certificate leaves clients' files valid.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use gapii_remote::clients::{Client, Clients, DaemonFolder, Kind};
use gapii_remote::{PORT, place};
use schemars::JsonSchema;
use serde::Serialize;
use time::Duration;

use crate::args::Json;
use crate::failure::Failure;
use crate::local_time::day;
use crate::pairing::{Pairing, PairingError};
use crate::{table, text};

/// Longest lifetime of credentials.
const LIFETIME_MAX: Duration = Duration::days(20 * 365);

#[derive(Args, Debug)]
pub struct Pair {
    /// Folder of the daemon's credentials [default: /etc/gapii/remote for root, otherwise gapii/remote in
    /// $XDG_CONFIG_HOME or ~/.config]
    #[arg(long, value_name = "DIR", global = true)]
    folder: Option<PathBuf>,

    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand, Debug)]
enum Action {
    /// Admit a client and write its credentials file
    New(New),
    /// List the admitted clients
    List(Json),
    /// Renew the credentials of a client, or the daemon's certificate
    Renew(Renew),
    /// Revoke a client's credentials
    Revoke(Revoke),
}

#[derive(Args, Debug)]
struct New {
    /// Name of the client in the daemon's log and in lists
    name: String,

    /// Create a token instead of a certificate
    #[arg(long)]
    token: bool,

    #[command(flatten)]
    file: File,
}

#[derive(Args, Debug)]
struct Renew {
    /// Client to renew; without a name, renews the daemon's own certificate (clients need no new files)
    name: Option<String>,

    #[command(flatten)]
    file: File,
}

#[derive(Args, Debug)]
struct File {
    /// Lifetime: a number with s, m, h or d
    #[arg(long = "for", value_name = "TIME", default_value = "365d", value_parser = lifetime)]
    lifetime: Duration,

    /// File to write; must not exist yet [default: NAME.gapii.json]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    json: Json,
}

#[derive(Args, Debug)]
struct Revoke {
    /// Client to revoke
    name: String,

    #[command(flatten)]
    json: Json,
}

/// Credentials that were made.
#[derive(Serialize, JsonSchema)]
pub struct Made<'a> {
    /// Name of the client.
    name: &'a str,
    /// Kind of the credentials.
    kind: Kind,
    /// Last day of the credentials, as YYYY-MM-DD.
    expires: String,
    /// Path of the client's credentials file.
    file: &'a Path,
    /// Path of the daemon's folder of credentials.
    folder: &'a Path,
}

/// One client in the list.
#[derive(Serialize, JsonSchema)]
pub struct Listed<'a> {
    /// Name of the client.
    name: &'a str,
    /// Kind of its credentials.
    kind: Kind,
    /// Day on which the credentials were made, as YYYY-MM-DD.
    made: String,
    /// Last day of the credentials, as YYYY-MM-DD.
    expires: String,
    /// True if the credentials have expired.
    has_expired: bool,
}

/// The admitted clients.
#[derive(Serialize, JsonSchema)]
pub struct List<'a> {
    /// Path of the daemon's folder of credentials.
    folder: &'a Path,
    /// Last day of the daemon's certificate, as YYYY-MM-DD; null if the daemon has none yet.
    daemon_expires: Option<String>,
    /// The clients.
    clients: Vec<Listed<'a>>,
}

/// The client's new credentials; all clients, as `pair list` answers, if the daemon's certificate was renewed.
// Only a schema.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "the variants are printed as they are")]
pub enum Renewed<'a> {
    /// The client's new credentials.
    Client(Made<'a>),
    /// All clients.
    Daemon(List<'a>),
}

/// A client that was revoked.
#[derive(Serialize, JsonSchema)]
pub struct Revoked<'a> {
    /// Name of the client.
    name: &'a str,
}

pub fn run(args: &Pair) -> Result<u8, Failure> {
    let folder = args.folder.clone().or_else(place::daemon_folder).ok_or_else(|| {
        Failure::usage("neither HOME nor XDG_CONFIG_HOME is set; name a folder with `--folder DIR`")
    })?;
    match &args.action {
        Action::New(new) => {
            let file = free_file(&new.file, &new.name)?;
            let kind = if new.token { Kind::Token } else { Kind::Certificate };
            let mut pairing = Pairing::open(&folder).map_err(failed)?;
            let client =
                pairing.admit(&new.name, kind, new.file.lifetime, &file).map_err(failed)?;
            tell(client, &file, &folder, new.file.json.json)?;
        }
        Action::Renew(Renew { name: Some(name), file: options }) => {
            let file = free_file(options, name)?;
            let mut pairing = Pairing::open(&folder).map_err(failed)?;
            let client = pairing.renew(name, options.lifetime, &file).map_err(failed)?;
            tell(client, &file, &folder, options.json.json)?;
        }
        Action::Renew(Renew { name: None, file: options }) => {
            let mut pairing = Pairing::open(&folder).map_err(failed)?;
            pairing.renew_daemon(options.lifetime).map_err(failed)?;
            show(&pairing.clients, &folder, options.json.json)?;
        }
        Action::List(Json { json }) => {
            let clients = Clients::load(&DaemonFolder(folder.clone()).clients());
            show(&clients.map_err(|error| failed(error.into()))?, &folder, *json)?;
        }
        Action::Revoke(Revoke { name, json }) => {
            Pairing::open(&folder).map_err(failed)?.revoke(name).map_err(failed)?;
            if json.json {
                text::print_json(&Revoked { name })?;
                return Ok(0);
            }
            text::print(|out| {
                writeln!(out, "{name} is no longer admitted; captures that it has begun continue")
            })?;
        }
    }
    Ok(0)
}

/// Checks that the file does not exist, so that no credentials are overwritten.
fn free_file(File { output, .. }: &File, name: &str) -> Result<PathBuf, Failure> {
    let file = output.clone().unwrap_or_else(|| PathBuf::from(format!("{name}.gapii.json")));
    match file.symlink_metadata() {
        Ok(_) => {
            let file = file.display();
            Err(Failure::usage(format!(
                "{file} exists already; remove it, or name another file with `-o FILE`"
            )))
        }
        Err(_) => Ok(file),
    }
}

fn tell(client: &Client, file: &Path, folder: &Path, json: bool) -> Result<(), Failure> {
    let Client { name, kind, expires_unix, .. } = client;
    let expires = day(*expires_unix);
    if json {
        return text::print_json(&Made { name, kind: *kind, expires, file, folder });
    }
    let (what, file) = (kind_name(*kind), file.display());
    // The daemon, also as a service, looks into its usual folder by itself.
    let (named, service) = match place::daemon_folder().is_some_and(|usual| usual == folder) {
        true => {
            let service = "\nor, as a service, `systemctl enable --now gapiid-remote.socket`.\n";
            (String::new(), service)
        }
        false => {
            let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
            (format!(" --remote-credentials {}", folder.display()), "")
        }
    };
    let folder = folder.display();
    text::print(|out| {
        write!(
            out,
            "{name} is admitted with a {what} until {expires}\n\n\
             On the client's machine {file} belongs at ~/.config/gapii/hosts/HOST.json, where HOST is what\n\
             this machine is called there; its mode is 600. Whoever has it is {name}: copy it over ssh, and\n\
             delete it here. Then, there:\n\n\
             \x20   gapii-ctl --via tls://HOST apps\n\n\
             The daemon of this machine, with the credentials in {folder}:\n\n\
             \x20   gapiid --remote 0.0.0.0:{PORT}{named}\n{service}"
        )
    })
}

fn show(clients: &Clients, folder: &Path, json: bool) -> Result<(), Failure> {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let now = now.map_or(0, |now| now.as_secs());
    let list = List {
        folder,
        daemon_expires: (clients.daemon_expires_unix > 0).then(|| day(clients.daemon_expires_unix)),
        clients: clients
            .clients
            .iter()
            .map(|client| Listed {
                name: &client.name,
                kind: client.kind,
                made: day(client.made_unix),
                expires: day(client.expires_unix),
                has_expired: client.expires_unix < now,
            })
            .collect(),
    };
    if json {
        return text::print_json(&list);
    }
    text::print(|out| {
        match &list.daemon_expires {
            Some(expires) => writeln!(out, "the daemon's certificate expires on {expires}")?,
            None => {
                writeln!(out, "the daemon has no certificate; `gapii-ctl pair new NAME` makes one")?
            }
        }
        if list.clients.is_empty() {
            return writeln!(out, "no client is admitted");
        }
        let head = ["NAME", "WITH", "SINCE", "UNTIL"].map(str::to_owned);
        let rows = list.clients.iter().map(|client| {
            let until = match client.has_expired {
                true => format!("{} (expired)", client.expires),
                false => client.expires.clone(),
            };
            [client.name.to_owned(), kind_name(client.kind).to_owned(), client.made.clone(), until]
        });
        write!(out, "{}", table::aligned(std::iter::once(head).chain(rows)))
    })
}

fn lifetime(text: &str) -> Result<Duration, String> {
    let (number, unit) = match text.char_indices().last() {
        Some((at, 's')) => (&text[..at], 1),
        Some((at, 'm')) => (&text[..at], 60),
        Some((at, 'h')) => (&text[..at], 60 * 60),
        Some((at, 'd')) => (&text[..at], 24 * 60 * 60),
        _ => return Err("a time is a number followed by s, m, h or d".to_owned()),
    };
    let number: u32 = number.parse().map_err(|_| format!("{number:?} is no number"))?;
    let lifetime = Duration::seconds(i64::from(number) * unit);
    match lifetime.is_zero() || lifetime > LIFETIME_MAX {
        true => Err(format!("it is from 1s to {}d", LIFETIME_MAX.whole_days())),
        false => Ok(lifetime),
    }
}

fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Certificate => "certificate",
        Kind::Token => "token",
    }
}

fn failed(error: PairingError) -> Failure {
    match error {
        PairingError::Name(_) | PairingError::Taken(_) => Failure::usage(error.to_string()),
        PairingError::Unknown(..) => Failure::no(error.to_string()),
        error => Failure::system(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lifetime_is_a_number_with_a_unit() {
        let check = |text: &str, seconds: Option<i64>| {
            assert_eq!(lifetime(text).ok(), seconds.map(Duration::seconds), "{text}");
        };
        check("1s", Some(1));
        check("90m", Some(90 * 60));
        check("12h", Some(12 * 60 * 60));
        check("365d", Some(365 * 24 * 60 * 60));
        for text in ["", "d", "0s", "-1d", "1", "1y", "7301d", "99999999999d", "1.5h"] {
            check(text, None);
        }
    }
}
