//! Running a program as a step: its output is the user's, its failure an error that names it.

use std::process::{Command, Stdio};

use anyhow::{Context, bail};

use crate::tree;

/// A command that runs in the repository's root, without input.
pub fn command(program: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(tree::root()).stdin(Stdio::null());
    command
}

/// A command that runs as root: as it is, or through sudo, which keeps `variables` of the environment.
pub fn as_root(words: &[&str], variables: &[&str]) -> anyhow::Result<Command> {
    if rustix::process::geteuid().is_root() {
        return Ok(command(words[0], &words[1..]));
    }
    if Command::new("sudo").arg("--version").output().is_err() {
        bail!("neither root nor sudo is here to run `{}`", words.join(" "));
    }
    let mut sudo = command("sudo", &[]);
    if !variables.is_empty() {
        sudo.arg(format!("--preserve-env={}", variables.join(",")));
    }
    sudo.args(words);
    Ok(sudo)
}

/// Another command of this program. Its file may be gone: the build of the tests replaces it.
pub fn own(arguments: &[&str]) -> Command {
    command("/proc/self/exe", arguments)
}

/// The cargo that runs this program.
///
/// Does not see the variables that cargo has set for this program, or it would build some dependencies again whenever a
/// command of this program follows one that was typed.
pub fn cargo(arguments: &[&str]) -> Command {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let mut command = command(&cargo, arguments);
    let variables = std::env::vars_os().map(|(name, _)| name);
    let of_package = variables.filter(|name| {
        name.to_str()
            .is_some_and(|it| it.starts_with("CARGO_PKG_") || it.starts_with("CARGO_MANIFEST_"))
    });
    of_package.for_each(|name| _ = command.env_remove(name));
    command
}

/// Runs to the end.
pub fn run(command: &mut Command) -> anyhow::Result<()> {
    let status = command.status().with_context(|| format!("can't start `{}`", line(command)))?;
    if !status.success() {
        bail!("`{}` failed ({status})", line(command));
    }
    Ok(())
}

/// Runs to the end, with standard output on standard error: the answer alone belongs on standard output.
pub fn run_aside(command: &mut Command) -> anyhow::Result<()> {
    run(command.stdout(std::io::stderr()))
}

/// Runs the command to its end, and returns its standard output.
pub fn output(command: &mut Command) -> anyhow::Result<String> {
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("can't start `{}`", line(command)))?;
    if !output.status.success() {
        bail!("`{}` failed ({})", line(command), output.status);
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The command as one would type it.
pub fn line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}
