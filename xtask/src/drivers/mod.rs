//! `drivers`: the programs of `tests/apps/` on every driver that this machine can have, and a table of the results.
//!
//! Runs one process of the test crate for each driver. Differences that are known and accepted are in
//! `tests/data/drivers.txt`; any other difference makes the command fail.

mod driver;
mod report;
mod tolerated;

use std::io::ErrorKind;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, bail};
use clap::Args;
use serde_json::json;

use driver::{DRIVERS, Driver, Home};
use report::{Report, Row};
use tolerated::Tolerated;

use crate::build::{self, Tests};
use crate::chroot::{Chroot, Contents};
use crate::tree::Profile;
use crate::{packages, step, tree};

/// The program of the test crate that checks one driver.
const PROGRAM: &str = "drivers";

/// Folder in the build folder for the traces of recordings that differ, with a folder for each driver.
const KEPT: &str = "drivers/different";

/// Debian's release with the newest Mesa.
const NEWEST: &str = "sid";

/// Its Mesa: EGL, OpenGL ES, the renderers, and Vulkan for zink.
const MESA: &[&str] =
    &["libegl1", "libegl-mesa0", "libgles1", "libgles2", "libgl1-mesa-dri", "mesa-vulkan-drivers"];

#[derive(Args)]
pub struct Drivers {
    /// Print the results as JSON
    #[arg(long)]
    json: bool,

    /// Only this driver; may be given several times [default: all]
    #[arg(long = "driver", value_name = "NAME", value_parser = driver::names())]
    drivers: Vec<String>,

    /// Only the programs whose names contain one of these
    programs: Vec<String>,
}

pub fn run(args: &Drivers) -> anyhow::Result<()> {
    let tolerated = Tolerated::read(&tree::root().join(tolerated::FILE))?;
    packages::install(&[packages::DEMO, packages::TEST, packages::DRIVERS])?;
    build::dev(Tests::None)?;
    step::run_aside(here().arg("--compile").args(&args.programs))?;
    let is_wanted =
        |driver: &&Driver| args.drivers.is_empty() || args.drivers.iter().any(|n| n == driver.name);
    let mut report = Report::default();
    for driver in DRIVERS.iter().filter(is_wanted) {
        eprintln!("{}: {}", driver.name, driver.description);
        report.rows.push(check(driver, &args.programs, &tolerated));
    }
    match args.json {
        true => println!("{:#}", report.json()),
        false => print!("{report}"),
    }
    match report.failed() {
        failed if failed.is_empty() => Ok(()),
        failed => bail!("not as it should be: {}", failed.join(", ")),
    }
}

/// Runs the programs on one driver.
fn check(driver: &'static Driver, programs: &[String], tolerated: &Tolerated) -> Row {
    if driver.home == Home::Gpu && !driver::has_nvidia_gpu() {
        return Row::absent(driver, "no GPU");
    }
    let said = command(driver, programs).and_then(|mut command| {
        let output = step::output(&mut command)?;
        serde_json::from_str(&output).with_context(|| format!("no JSON: {output:?}"))
    });
    let said = said.unwrap_or_else(|error| json!({ "unusable": format!("{error:#}") }));
    Row::of(driver, &said, tolerated)
}

/// The test crate's program with the driver's environment.
fn command(driver: &Driver, programs: &[String]) -> anyhow::Result<Command> {
    let environment = driver.environment()?;
    let kept = kept_traces(driver)?;
    let mut command = match driver.home {
        Home::System | Home::Gpu => {
            let mut command = here();
            driver::clear_environment(&mut command);
            command.envs(environment);
            command
        }
        Home::Newest => {
            let program = program();
            let folders = [tree::root().to_path_buf(), tree::target()];
            chroot()?.command(&folders, &kept, &environment, &program)?
        }
    };
    command.arg("--keep").arg(&kept).args(programs);
    Ok(command)
}

/// Debian's newest release, with its Mesa.
fn chroot() -> anyhow::Result<Chroot> {
    let contents = Contents { suite: NEWEST, architecture: None, packages: MESA };
    Chroot::open(tree::target().join("drivers").join(NEWEST), &contents)
}

/// An empty folder for the driver's traces.
fn kept_traces(driver: &Driver) -> anyhow::Result<PathBuf> {
    let folder = tree::target().join(KEPT).join(driver.name);
    let emptied = match std::fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => std::fs::create_dir_all(&folder),
    };
    emptied.with_context(|| format!("can't empty {}", folder.display()))?;
    Ok(folder)
}

fn here() -> Command {
    step::command(&program().to_string_lossy(), &[])
}

fn program() -> PathBuf {
    tree::artifacts(Profile::Dev).join(PROGRAM)
}
