//! Pairs the commands of two sequences: a shortest list of insertions and removals between equal commands, found by
//! Myers' algorithm with the heuristics of `imara-diff`, and inside of what was replaced the same functions. Does not
//! compare the objects that commands use.

use std::ops::Range;

use imara_diff::{Algorithm, Diff, InternedInput};

use crate::identity::Shape;

/// What became of one command of the first sequence, one of the second, or one of each. The numbers are positions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// Equal commands, apart from objects.
    Equal(usize, usize),
    /// The same function, with something else.
    Changed(usize, usize),
    /// A command of the first sequence alone.
    OnlyA(usize),
    /// A command of the second sequence alone.
    OnlyB(usize),
}

/// A part of one sequence that takes the place of a part of the other. One of them may be empty.
struct Gap {
    a: Range<usize>,
    b: Range<usize>,
}

/// Returns the steps from the first to the second sequence, in order.
pub fn steps(a: &[&Shape], b: &[&Shape]) -> Vec<Step> {
    let mut steps = Vec::with_capacity(a.len().max(b.len()));
    let (mut at, mut at_b) = (0, 0);
    for gap in gaps(a, b, |shape| shape.key) {
        steps.extend((at..gap.a.start).zip(at_b..).map(|(a, b)| Step::Equal(a, b)));
        replaced(a, b, &gap, &mut steps);
        (at, at_b) = (gap.a.end, gap.b.end);
    }
    steps.extend((at..a.len()).zip(at_b..).map(|(a, b)| Step::Equal(a, b)));
    steps
}

/// Pairs the same functions of a gap.
fn replaced(a: &[&Shape], b: &[&Shape], gap: &Gap, steps: &mut Vec<Step>) {
    let (mut at, mut at_b) = (gap.a.start, gap.b.start);
    let inner = gaps(&a[gap.a.clone()], &b[gap.b.clone()], |shape| shape.function);
    for inner in inner {
        let (until, until_b) = (gap.a.start + inner.a.start, gap.b.start + inner.b.start);
        steps.extend((at..until).zip(at_b..until_b).map(|(a, b)| Step::Changed(a, b)));
        (at, at_b) = (gap.a.start + inner.a.end, gap.b.start + inner.b.end);
        steps.extend((until..at).map(Step::OnlyA));
        steps.extend((until_b..at_b).map(Step::OnlyB));
    }
    steps.extend((at..gap.a.end).zip(at_b..gap.b.end).map(|(a, b)| Step::Changed(a, b)));
}

/// Returns where the sequences differ by `key`, in order.
fn gaps(a: &[&Shape], b: &[&Shape], key: fn(&Shape) -> u64) -> Vec<Gap> {
    let keys = |shapes: &[&Shape]| shapes.iter().map(|shape| key(shape)).collect::<Vec<_>>();
    let (a, b) = (keys(a), keys(b));
    if a == b {
        return Vec::new();
    }
    let mut input = InternedInput::default();
    input.update_before(a.into_iter());
    input.update_after(b.into_iter());
    let range = |range: Range<u32>| range.start as usize..range.end as usize;
    let diff = Diff::compute(Algorithm::Myers, &input);
    diff.hunks().map(|hunk| Gap { a: range(hunk.before), b: range(hunk.after) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shapes from pairs of a letter, the function, and a digit.
    fn shapes(text: &str) -> Vec<Shape> {
        let shape = |word: &str| {
            let bytes = word.as_bytes();
            let (function, key) =
                (u64::from(bytes[0]), u64::from(bytes[0]) << 8 | u64::from(bytes[1]));
            let (inputs, outputs, objects) = Default::default();
            Shape { key, function, inputs, outputs, objects }
        };
        text.split_whitespace().map(shape).collect()
    }

    fn check(a: &str, b: &str, expected: &str) {
        let (a, b) = (shapes(a), shapes(b));
        let steps = steps(&a.iter().collect::<Vec<_>>(), &b.iter().collect::<Vec<_>>());
        let words = steps.iter().map(|step| match step {
            Step::Equal(a, b) => format!("={a},{b}"),
            Step::Changed(a, b) => format!("~{a},{b}"),
            Step::OnlyA(a) => format!("-{a}"),
            Step::OnlyB(b) => format!("+{b}"),
        });
        assert_eq!(words.collect::<Vec<_>>().join(" "), expected);
    }

    #[test]
    fn equal_sequences_have_equal_steps() {
        check("u1 d1", "u1 d1", "=0,0 =1,1");
        check("", "", "");
    }

    #[test]
    fn same_function_with_something_else_is_changed() {
        check("u1 d1 u2 d1", "u1 d1 u7 d1", "=0,0 =1,1 ~2,2 =3,3");
        check("u1 v1", "u2 v2", "~0,0 ~1,1");
    }

    #[test]
    fn command_more_is_found_and_the_rest_is_equal() {
        check("u1 d1 s1", "u1 f1 d1 s1", "=0,0 +1 =1,2 =2,3");
        check("u1 f1 d1 s1", "u1 d1 s1", "=0,0 -1 =2,1 =3,2");
        check("u1 u2 u3", "u9 u1 u2 u3", "+0 =0,1 =1,2 =2,3");
        check("x1", "", "-0");
    }

    #[test]
    fn what_is_replaced_is_paired_by_function() {
        check("a1 u1 z1", "a1 f1 u2 z1", "=0,0 +1 ~1,2 =2,3");
    }
}
