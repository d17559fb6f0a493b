//! A capture's filter, by the ids of functions. Commands that no filter leaves out (`Filter::is_wanted_of_all`, such as
//! swaps, and those that `--frame-end` names) are taken of all threads; other commands only if their function and their thread are wanted. A
//! function without an entry is left out.

use gapii_abi::app::until_nul;
use gapii_abi::atom::Thread;
use gapii_trace::Description;
use gapii_trace::filter::Filter;
use gapii_trace::frame_rule::FrameRule;

/// Selects the records that a capture's client wants.
#[derive(Debug)]
pub struct Filtering {
    filter: Filter,
    /// Whether the filter wants a function, by the function's id.
    functions: Vec<WantedOf>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum WantedOf {
    Nobody,
    WantedThreads,
    All,
}

impl Filtering {
    /// Returns `None` if the filter wants everything. Commands that `rule` needs are taken, too.
    pub fn of(filter: &Filter, rule: &FrameRule, description: &Description) -> Option<Self> {
        if filter.is_empty() {
            return None;
        }
        let functions = description.table(WantedOf::Nobody, |function| {
            if Filter::is_wanted_of_all(function) || rule.needs(function) {
                WantedOf::All
            } else if filter.wants_function(function) {
                WantedOf::WantedThreads
            } else {
                WantedOf::Nobody
            }
        });
        Some(Self { filter: filter.clone(), functions })
    }

    /// Returns whether the filter wants the commands of this thread.
    pub fn wants_thread(&self, thread: &Thread) -> bool {
        self.filter.wants_thread(thread.tid, &String::from_utf8_lossy(until_nul(&thread.name)))
    }

    /// Returns whether the filter wants the records of this command. `is_wanted_thread` says whether it wants the
    /// command's thread.
    #[inline]
    pub fn wants(&self, id: u16, is_wanted_thread: bool) -> bool {
        match self.functions.get(usize::from(id)) {
            Some(WantedOf::All) => true,
            Some(WantedOf::WantedThreads) => is_wanted_thread,
            Some(WantedOf::Nobody) | None => false,
        }
    }
}
