//! `verify`: checks a trace for damage and for unaccounted records. Exit status 0 without a problem, otherwise 1;
//! problems and warnings are listed on standard output, and warnings alone do not change the status.

use clap::Args;
use gapii_trace::Verification;
use gapii_trace::verify::Checked;

use crate::args::{Json, Trace};
use crate::failure::Failure;
use crate::reading_progress::ReadingProgress;
use crate::text::{self, counted};
use crate::trace_file::{self, unreadable};

#[derive(Args, Debug)]
pub struct Verify {
    #[command(flatten)]
    trace: Trace,

    #[command(flatten)]
    json: Json,
}

pub fn run(args: &Verify) -> Result<u8, Failure> {
    let path = &args.trace.trace;
    let mut reader = trace_file::open(path)?;
    let mut progress = ReadingProgress::of_blocks(reader.blocks().len() as u64);
    let found = gapii_trace::verify_with(&mut reader, |block| progress.set(block));
    progress.clear();
    let found = found.map_err(|error| unreadable(path, &error))?;
    if args.json.json {
        text::print_json(&found)?;
    } else {
        text::print(|out| write!(out, "{}", describe(&found)))?;
    }
    if found.ok {
        return Ok(0);
    }
    let problems = counted(found.problem_count, "problem");
    Err(Failure::answer(format!("{} has {problems}", path.display())))
}

fn describe(found: &Verification) -> String {
    let mut text = String::new();
    for problem in &found.problems {
        let block = problem.block.map(|block| format!("block {block}: ")).unwrap_or_default();
        text.push_str(&format!("{block}{}\n", problem.message));
    }
    let unlisted = found.problem_count - found.problems.len() as u64;
    if unlisted > 0 {
        text.push_str(&format!("and {} more\n", counted(unlisted, "problem")));
    }
    for warning in &found.warnings {
        text.push_str(&format!("warning: {warning}\n"));
    }
    let checked = &found.checked;
    let seams = match checked.seams {
        0 => String::new(),
        seams => format!(", {}", counted(seams, "seam")),
    };
    text.push_str(&format!(
        "checked {}, {}, {}, {} of {}, {}{}; {}\n",
        counted(checked.blocks, "block"),
        counted(checked.frames, "frame"),
        counted(checked.calls, "command"),
        counted(checked.records, "record"),
        counted(checked.threads, "thread"),
        counted(checked.memory.blobs, "blob"),
        seams,
        losses(checked),
    ));
    text
}

/// Without a footer, the numbers of the applications are not in the trace.
fn losses(checked: &Checked) -> String {
    let [produced, lost] = [checked.produced, checked.lost].map(|count| counted(count, "record"));
    match checked.lost_is_known {
        true => format!("{produced} produced, {lost} lost"),
        false => "what was produced and lost is not known".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use gapii_trace::verify::{Problem, ProblemKind};

    use super::*;

    #[test]
    fn problems_are_listed_before_what_was_checked() {
        let problem = Problem {
            kind: ProblemKind::Checksum,
            block: Some(3),
            message: "the bytes changed".into(),
        };
        let found =
            Verification { problems: vec![problem], problem_count: 3, ..Verification::default() };
        let text = describe(&found);
        assert!(text.starts_with("block 3: the bytes changed\nand 2 problems"), "{text}");
    }
}
