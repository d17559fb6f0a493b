//! `tidy`: rules about the form of the project that no compiler checks.

pub fn run() -> anyhow::Result<()> {
    Ok(())
}
