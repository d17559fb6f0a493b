//! Which commands of a trace are read: by frame, by number, by function and by thread. A selection chooses as
//! `gapii-ctl dump` does.

use std::ops::Range;

use gapii_trace::Command;
use gapii_trace::filter::Filter;
use gapii_trace::parallel::Choice;
use gapii_trace::tracker::Tracker;

/// Commands that fit every part that is given.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Frames of each process.
    pub frames: Option<Range<u64>>,
    /// Numbers of commands.
    pub numbers: Option<Range<u64>>,
    /// Functions and threads.
    pub filter: Filter,
}

impl Selection {
    /// Makes a selection of the words that Python passes.
    pub fn new(
        frames: Option<(u64, u64)>,
        numbers: Option<(u64, u64)>,
        functions: Vec<String>,
        threads: Vec<String>,
    ) -> Self {
        let range = |(start, end)| Range { start, end };
        let filter = Filter { functions, threads, ..Filter::default() };
        Self { frames: frames.map(range), numbers: numbers.map(range), filter }
    }

    /// Whether a range of the selection is empty, so that no command fits.
    pub fn has_empty_range(&self) -> bool {
        [&self.frames, &self.numbers].into_iter().flatten().any(Range::is_empty)
    }

    /// Whether a trace is read from its first command on, so that words for its objects are known.
    pub fn is_from_the_beginning(&self) -> bool {
        [&self.frames, &self.numbers].into_iter().flatten().all(|range| range.start == 0)
    }

    /// Says what becomes of a command that was read.
    pub fn choose(&self, command: &Command<'_>, tracker: &Tracker) -> Choice {
        if let (Some(wanted), Some(seq)) = (&self.numbers, command.seq)
            && seq >= wanted.end
        {
            return Choice::Stop;
        }
        // A command that took no effect has no number.
        let has_number = |wanted: &Range<u64>| command.seq.is_some_and(|it| wanted.contains(&it));
        match self.numbers.as_ref().is_none_or(has_number) && command.fits(&self.filter, tracker) {
            true => Choice::Take,
            false => Choice::Leave,
        }
    }
}
