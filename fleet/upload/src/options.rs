//! The command line. Each option can be set by a variable of the environment, too, for the unit's file.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// The service's words.
#[derive(Parser, Debug)]
#[command(
    name = "gapii-upload",
    version,
    about = "Upload finished traces and tables from a folder, and delete them once the store has them",
    after_help = AFTER_HELP,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true
)]
pub struct Options {
    #[command(subcommand)]
    pub command: Option<Command>,

    /// Folder with traces and tables
    #[arg(long, value_name = "DIR", env = "GAPII_UPLOAD_SPOOL", required = true)]
    pub spool: Option<PathBuf>,

    /// Where to upload: s3://BUCKET/FOLDER, gs://BUCKET/FOLDER, az://CONTAINER/FOLDER, file:///FOLDER, or a path
    #[arg(long, value_name = "URL", env = "GAPII_UPLOAD_TO", required = true)]
    pub to: Option<String>,

    /// Bytes in the spool from which on it counts as full, with K, M, G or T
    #[arg(long, value_name = "SIZE", env = "GAPII_UPLOAD_SPOOL_LIMIT", default_value = "20G", value_parser = size)]
    pub spool_limit: u64,

    /// Delete the oldest finished files of a full spool, although the store does not have them; each is logged and counted
    #[arg(long, env = "GAPII_UPLOAD_DROP_OLDEST")]
    pub drop_oldest: bool,

    /// Read each file back, and compare it, before it is deleted
    #[arg(long, env = "GAPII_UPLOAD_READ_BACK")]
    pub read_back: bool,

    /// Name of this machine in uploaded names; the system's by default
    #[arg(long, value_name = "NAME", env = "GAPII_UPLOAD_HOST")]
    pub host: Option<String>,

    /// Files that are uploaded side by side; each takes the memory of one part, 8 MiB for files up to 70 GiB
    #[arg(long, value_name = "N", env = "GAPII_UPLOAD_SIDE_BY_SIDE", default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=64))]
    pub side_by_side: u8,

    /// Seconds between two looks into the spool
    #[arg(long, value_name = "S", env = "GAPII_UPLOAD_EVERY", default_value_t = 2.0, value_parser = seconds)]
    pub every: f64,

    /// Upload what is finished now, and end: with 0 if all of it is uploaded, with 1 if not
    #[arg(long)]
    pub once: bool,
}

/// Another thing to do than to upload.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Print what the service of a spool does; ends with 1 if the spool is full
    Status(Asked),
}

/// The words of `status`.
#[derive(Args, Debug)]
pub struct Asked {
    /// Folder with traces and tables
    #[arg(long, value_name = "DIR", env = "GAPII_UPLOAD_SPOOL")]
    pub spool: PathBuf,

    /// Print it as JSON
    #[arg(long)]
    pub json: bool,
}

const AFTER_HELP: &str = "\
Credentials and the server's address come from the environment (AWS_ACCESS_KEY_ID, AWS_ENDPOINT, GOOGLE_SERVICE_ACCOUNT,
AZURE_STORAGE_ACCOUNT_NAME, …). docs/upload.md has the names under which files are stored, and how to run this as a service.

Examples:
  gapii-upload --spool /var/spool/gapii --to s3://captures          upload for ever
  gapii-upload --spool . --to s3://captures --once                  upload what is finished, and end
  gapii-upload status --spool /var/spool/gapii                      say what the service does";

/// Returns a number of bytes.
fn size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|it: char| it.is_ascii_alphabetic());
    let shift = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" => 0,
        "K" => 10,
        "M" => 20,
        "G" => 30,
        "T" => 40,
        other => return Err(format!("`{other}` is no unit; write K, M, G or T")),
    };
    let number: u64 = digits.parse().map_err(|_| format!("`{digits}` is no number"))?;
    number.checked_mul(1 << shift).ok_or_else(|| "it is too large".to_owned())
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().map_err(|_| format!("`{text}` is no number"))?;
    match (0.01..=3600.0).contains(&seconds) {
        true => Ok(seconds),
        false => Err("it is from 0.01 to 3600".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!(size("20G"), Ok(20 << 30));
        assert_eq!(size("7"), Ok(7));
        assert!(size("1X").is_err() && size("").is_err() && size("99999999999T").is_err());
    }
}
