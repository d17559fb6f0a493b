//! Shortens a program that fails, by delta debugging: ever smaller pieces are taken out while it fails in the same way.

use std::time::Instant;

use crate::search::fault::Fault;
use crate::search::lab::Lab;
use crate::search::program::{Program, is_beginning};

/// Returns a program of few steps that fails like this one, and how it fails. At `deadline` that is the shortest one so far.
pub fn reduce(
    lab: &mut Lab,
    program: &Program,
    fault: &Fault,
    deadline: Instant,
) -> (Program, Fault) {
    let (mut best, mut known) = (program.clone(), fault.clone());
    if let Some(shorter) = up_to_difference(&best, &known)
        && let Some(fault) = fails(lab, &shorter, &known)
    {
        (best, known) = (shorter, fault);
    }
    cut_end(lab, &mut best, &mut known);
    let mut piece = best.steps.len() / 2;
    while piece > 0 {
        let mut at = 0;
        let mut has_shrunk = false;
        while at < best.steps.len() {
            if Instant::now() >= deadline {
                return (best, known);
            }
            let end = (at + piece).min(best.steps.len());
            let mut shorter = best.clone();
            let cut = shorter.steps.drain(at..end).find(|step| is_beginning(step));
            if let Some(beginning) = cut {
                shorter.steps.insert(at, beginning);
            }
            let tried = (shorter.steps.len() < best.steps.len())
                .then(|| fails(lab, &shorter, &known))
                .flatten();
            match tried {
                Some(fault) => (best, known, has_shrunk) = (shorter, fault, true),
                None => at += piece,
            }
        }
        if !has_shrunk || piece > 1 {
            piece /= 2;
        }
    }
    (best, known)
}

/// Takes out as many of the last steps as possible: most of them ask about what is not at fault.
fn cut_end(lab: &mut Lab, best: &mut Program, known: &mut Fault) {
    let attach = best.steps.iter().position(|step| is_beginning(step)).unwrap_or_default();
    // The program fails with the first `longest` steps, and perhaps not with the first `shortest`.
    let (mut shortest, mut longest) = (attach, best.steps.len());
    while shortest + 1 < longest {
        let middle = shortest.midpoint(longest);
        let shorter = Program { steps: best.steps[..middle].to_vec() };
        match fails(lab, &shorter, known) {
            Some(fault) => {
                (*best, *known) = (shorter, fault);
                longest = middle;
            }
            None => shortest = middle,
        }
    }
}

/// The program up to the step that had another answer.
fn up_to_difference(program: &Program, fault: &Fault) -> Option<Program> {
    let Fault::Disturbed { native, .. } = fault else { return None };
    let number: usize = native.split(':').next()?.parse().ok()?;
    // The attach is a step more than the runner counts.
    Some(Program { steps: program.steps.get(..number + 2)?.to_vec() })
}

/// The fault of a program that fails like `wanted`.
fn fails(lab: &mut Lab, program: &Program, wanted: &Fault) -> Option<Fault> {
    let native = lab.native(program).ok()?;
    let fault = lab.check(program, &native).err().filter(|fault| fault.kind() == wanted.kind())?;
    // Without the command that sets some memory, the program asks for what the memory held before.
    let is_defined = || lab.native_elsewhere(program).is_ok_and(|again| again == native);
    (!matches!(fault, Fault::Disturbed { .. }) || is_defined()).then_some(fault)
}
