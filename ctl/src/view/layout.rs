//! Heights of the parts of the view. What a low terminal has no room for is left out, in this order: graphs, captures,
//! messages, programs beyond half of the rows. Title and last line always stay.

/// Rows that each part would fill.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Lines of the sentence about the age of the figures.
    pub outdated: u16,
    /// Lines of the table of programs, with its head.
    pub programs: u16,
    /// Lines about the selected program.
    pub facts: u16,
    /// Lines of the list of captures, with its head.
    pub captures: u16,
    pub messages: u16,
}

/// Rows of each part, from top to bottom. The title above and the line of keys below have one each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Heights {
    pub outdated: u16,
    pub programs: u16,
    pub facts: u16,
    /// Rows of each of the two graphs.
    pub graph: u16,
    pub captures: u16,
    pub messages: u16,
}

/// Largest height of a graph.
const GRAPH_MAX: u16 = 4;
/// Rows of title and keys.
const FRAME: u16 = 2;

impl Heights {
    /// Divides `rows` among the parts.
    pub fn of(wanted: Wanted, rows: u16) -> Heights {
        let mut left = rows.saturating_sub(FRAME);
        let mut take = |wanted: u16, most: u16| {
            let taken = wanted.min(most).min(left);
            left -= taken;
            taken
        };
        let outdated = take(wanted.outdated, rows / 3);
        let programs = take(wanted.programs, (rows / 2).max(2));
        let messages = take(wanted.messages.min(1), 1);
        let captures = take(wanted.captures, (rows / 3).max(2));
        let facts = take(wanted.facts, 2);
        let mut graph = 0;
        while wanted.facts > 0 && graph < GRAPH_MAX && take(2, 2) == 2 {
            graph += 1;
        }
        let programs = programs + take(wanted.programs - programs, u16::MAX);
        let captures = captures + take(wanted.captures - captures, u16::MAX);
        let messages = messages + take(wanted.messages - messages, u16::MAX);
        // A list of captures is its head and at least one of them.
        let captures = if captures < 2 { 0 } else { captures };
        Heights { outdated, programs, facts, graph, captures, messages }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WANTED: Wanted = Wanted { outdated: 0, programs: 2, facts: 1, captures: 2, messages: 1 };

    fn rows(heights: &Heights) -> u16 {
        let Heights { outdated, programs, facts, graph, captures, messages } = heights;
        FRAME + outdated + programs + facts + 2 * graph + captures + messages
    }

    #[test]
    fn parts_never_take_more_rows_than_there_are() {
        let many = Wanted { outdated: 3, programs: 200, facts: 2, captures: 50, messages: 20 };
        for wanted in [WANTED, many, Wanted::default()] {
            for height in 0..200 {
                let heights = Heights::of(wanted, height);
                assert!(rows(&heights) <= height.max(FRAME), "{wanted:?} in {height}: {heights:?}");
                assert_ne!(heights.captures, 1, "a head alone: {wanted:?} in {height}");
                assert!(height < 5 || wanted.programs < 2 || heights.programs >= 2, "{height}");
            }
        }
    }

    #[test]
    fn low_terminal_has_what_matters_most() {
        let check = |height, expected| assert_eq!(Heights::of(WANTED, height), expected);
        let all =
            Heights { outdated: 0, programs: 2, facts: 1, graph: 4, captures: 2, messages: 1 };
        check(24, all);
        check(10, Heights { graph: 1, ..all });
        check(8, Heights { graph: 0, ..all });
        check(5, Heights { graph: 0, captures: 0, facts: 0, ..all });
    }
}
