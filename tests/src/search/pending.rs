//! The GL errors that are pending when a capture begins: commands before it have raised them, and the program has not asked
//! for them yet. They are found by a native run in which every context is asked at its first step of the capture.

use std::collections::{BTreeMap, BTreeSet};

use crate::search::program::{Program, is_beginning, made_current, thread_of};

/// Steps that ask for a pending error.
const ASK: &str = "? glGetError";

/// A program with questions for pending errors.
pub struct Asking {
    pub program: Program,
    /// Numbers of the steps that ask, one for each context.
    asked: Vec<usize>,
}

impl Asking {
    /// Adds a question for each context that the program uses in the capture. `native` are the program's native answers.
    pub fn of(program: &Program, native: &[String]) -> Asking {
        let answers = by_number(native);
        let (mut steps, mut asked) = (Vec::new(), Vec::new());
        let (mut has_begun, mut asked_contexts) = (false, BTreeSet::new());
        // The context of each thread.
        let mut current: BTreeMap<usize, &str> = BTreeMap::new();
        // The steps before, without that at which the capture begins.
        let mut number = 0;
        for step in &program.steps {
            let mut ask = |thread: usize, context: &str, steps: &mut Vec<String>| {
                if context != "0" && asked_contexts.insert(context.to_owned()) {
                    asked.push(steps.len());
                    steps.push(format!("{thread} {ASK}"));
                }
            };
            if is_beginning(step) {
                has_begun = true;
                current.iter().for_each(|(&thread, context)| ask(thread, context, &mut steps));
                continue;
            }
            steps.push(step.clone());
            let is_made = answers.get(&number) == Some(&"1");
            number += 1;
            if let (Some(thread), Some(context), true) =
                (thread_of(step), made_current(step), is_made)
            {
                current.insert(thread, context);
                if has_begun {
                    ask(thread, context, &mut steps);
                }
            }
        }
        Asking { program: Program { steps }, asked }
    }

    /// Returns the errors that were pending, from the native answers of [`Asking::program`].
    pub fn pending(&self, answers: &[String]) -> Vec<String> {
        let answers = by_number(answers);
        let errors = self.asked.iter().filter_map(|number| answers.get(number));
        errors.filter(|error| **error != "0").map(|error| (*error).to_owned()).collect()
    }
}

/// The answers by the numbers of their steps.
fn by_number(answers: &[String]) -> BTreeMap<usize, &str> {
    let parsed = answers.iter().filter_map(|line| line.split_once(": "));
    parsed.filter_map(|(number, answer)| Some((number.parse().ok()?, answer))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_context_is_asked_at_its_first_step_of_the_capture() {
        let lines = [
            "0 ?8 eglMakeCurrent display s1 s1 c1",
            "1 ?8 eglMakeCurrent display s1 s1 c1",
            "@attach",
            "0 glFinish",
            "1 ?8 eglMakeCurrent display s2 s2 c2",
            "0 ?8 eglMakeCurrent display 0 0 0",
            "0 ?8 eglMakeCurrent display s1 s1 c1",
        ];
        let program: Program = lines.join("\n").parse().expect("steps");
        // The second step is refused, since the context is current on another thread.
        let native = ["0: 1", "1: 0", "3: 1", "4: 1", "5: 1"].map(str::to_owned);
        let asking = Asking::of(&program, &native);
        let expected = [
            lines[0],
            lines[1],
            "0 ? glGetError",
            lines[3],
            lines[4],
            "1 ? glGetError",
            lines[5],
            lines[6],
        ];
        assert_eq!(asking.program.steps, expected);
        let answers =
            ["0: 1", "1: 0", "2: 1282", "4: 1", "5: 0", "6: 1", "7: 1"].map(str::to_owned);
        assert_eq!(asking.pending(&answers), ["1282"]);
    }
}
