//! `Tolerated`: the differences that are known and accepted, read from `tests/data/drivers.txt`.
//!
//! A line is `DRIVER PROGRAM WAY REASON`. DRIVER may be `*`. WAY is `start` or `attach`. `#` begins a comment.

use std::path::Path;

use anyhow::{Context, bail};

use super::driver;

/// The file, from the repository's root.
pub const FILE: &str = "tests/data/drivers.txt";

const EVERY: &str = "*";

/// How a program is recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// From the program's start.
    Start,
    /// From its second frame on.
    Attach,
}

impl Way {
    pub const ALL: [Self; 2] = [Self::Start, Self::Attach];

    /// As in the file and in the results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Attach => "attach",
        }
    }
}

/// Lines of the file.
#[derive(Default)]
pub struct Tolerated {
    lines: Vec<Line>,
}

struct Line {
    driver: String,
    program: String,
    way: Way,
    reason: String,
}

impl Tolerated {
    /// Reads the file; a line that is not understood is an error.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("can't read {}", path.display()))?;
        Self::parse(&text).with_context(|| path.display().to_string())
    }

    /// Parses the file's text.
    pub fn parse(text: &str) -> anyhow::Result<Self> {
        let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        Ok(Self { lines: lines.map(parse).collect::<anyhow::Result<_>>()? })
    }

    /// Returns why a difference is tolerated, if it is.
    pub fn reason(&self, driver: &str, program: &str, way: Way) -> Option<&str> {
        let holds = |line: &&Line| {
            (line.driver == EVERY || line.driver == driver)
                && line.program == program
                && line.way == way
        };
        self.lines.iter().find(holds).map(|line| line.reason.as_str())
    }
}

fn parse(line: &str) -> anyhow::Result<Line> {
    let words: Vec<_> = line.splitn(4, ' ').collect();
    let [driver, program, way, reason] = words[..] else {
        bail!("`{line}` is not `DRIVER PROGRAM WAY REASON`");
    };
    if driver != EVERY && !driver::names().contains(&driver) {
        bail!("`{line}` names no driver; known are {}", driver::names().join(", "));
    }
    let way = Way::ALL.into_iter().find(|known| known.name() == way);
    let way = way.with_context(|| format!("`{line}` says neither start nor attach"))?;
    Ok(Line { driver: driver.to_owned(), program: program.to_owned(), way, reason: reason.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_holds_for_its_driver_program_and_way() {
        let text = "# comment\n\nzink app attach the reason\n* all start every driver\n";
        let tolerated = Tolerated::parse(text).unwrap();
        assert_eq!(tolerated.reason("zink", "app", Way::Attach), Some("the reason"));
        assert_eq!(tolerated.reason("zink", "app", Way::Start), None);
        assert_eq!(tolerated.reason("softpipe", "app", Way::Attach), None);
        assert_eq!(tolerated.reason("softpipe", "all", Way::Start), Some("every driver"));
    }

    #[test]
    fn line_that_is_not_understood_is_rejected() {
        for line in ["zink app attach", "glide app attach reason", "zink app often reason"] {
            let error = Tolerated::parse(line).err().unwrap();
            assert!(error.to_string().contains(line), "{error}");
        }
    }

    /// A line for a deleted program would tolerate nothing.
    #[test]
    fn every_line_of_the_file_names_a_program() {
        let root = crate::tree::root();
        for line in Tolerated::read(&root.join(FILE)).unwrap().lines {
            let source = root.join(format!("tests/apps/{}.c", line.program));
            assert!(source.is_file(), "{}", source.display());
        }
    }
}
