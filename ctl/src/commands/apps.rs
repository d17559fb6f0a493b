//! `apps`: lists the applications that are connected to the daemon, by its status page.

use clap::Args;
use gapii_control::StatusInfo;

use crate::args::{Connect, Json};
use crate::failure::Failure;
use crate::observer::{Observer, Status};
use crate::table;
use crate::text;

/// Error if a command needs a connected application and there is none.
pub const NO_APP: &str =
    "no application is connected; start one with `gapii-ctl run --idle -- CMD`";

#[derive(Args, Debug)]
pub struct Apps {
    #[command(flatten)]
    json: Json,
}

pub fn run(args: &Apps, connect: &Connect) -> Result<u8, Failure> {
    let Status { info, outdated, .. } = Observer::open(connect)?.look()?;
    outdated.iter().for_each(text::say);
    if args.json.json {
        text::print_json(&info.apps)?;
    } else {
        text::print(|out| write!(out, "{}", rows(&info)))?;
    }
    Ok(0)
}

/// Formats the applications as a table.
pub fn rows(StatusInfo { apps, left_out, .. }: &StatusInfo) -> String {
    if apps.is_empty() {
        return format!("{NO_APP}\n");
    }
    let head = ["PID", "NAME", "APIS", "CONTEXTS", "FRAMES", "MODE"].map(str::to_owned);
    let rows = apps.iter().map(|app| {
        [
            app.pid.to_string(),
            app.name.to_string(),
            app.apis.join(","),
            app.contexts.to_string(),
            app.frames.to_string(),
            app.mode.clone(),
        ]
    });
    table::aligned(std::iter::once(head).chain(rows)) + &table::and_more(left_out.apps)
}
