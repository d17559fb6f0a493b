//! Checks the programs of `tests/apps/` on the driver that the environment selects, and prints the results as JSON.
//!
//! `cargo xtask drivers` runs it once for each driver. A difference is a result, so the exit status is 0.

use std::path::PathBuf;

use clap::Parser;
use gapii_tests::driver_check::{Checked, check_all, compile, driver};
use gapii_tests::programs::names_in;
use serde_json::json;

/// Check the test programs on the driver of this environment
#[derive(Parser)]
#[command(name = "drivers")]
struct Options {
    /// Only compile the programs
    #[arg(long)]
    compile: bool,

    /// Folder for the traces of recordings that differ
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,

    /// Only programs whose names contain one of these
    only: Vec<String>,
}

fn main() {
    let options = Options::parse();
    let mut names = names_in("apps");
    names.retain(|name| {
        options.only.is_empty() || options.only.iter().any(|part| name.contains(part.as_str()))
    });
    compile(&names);
    if options.compile {
        return;
    }
    // A panic is the reason of a difference, and is printed as one.
    std::panic::set_hook(Box::new(|_| {}));
    let report = match driver() {
        Ok(driver) => {
            json!({ "driver": driver, "programs": check_all(&names, options.keep.as_deref(), say) })
        }
        Err(why) => json!({ "unusable": why }),
    };
    println!("{report:#}");
}

/// Tells a person who waits which program is not as it should be.
fn say(checked: &Checked) {
    let Checked { program, native, start, attach } = checked;
    for (way, why) in [("native", native), ("start", start), ("attach", attach)] {
        if let Some(why) = why {
            eprintln!("  {program}, {way}: {}", why.lines().next().unwrap_or_default());
        }
    }
}
