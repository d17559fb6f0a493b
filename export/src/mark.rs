//! `Mark`: a command with which a program says what it does. Decides nothing about which commands do.

/// A command with which a program marks a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mark<'a> {
    /// A moment, with the program's text.
    Moment(&'a str),
    /// The begin of a group of commands, with its name.
    Begin(&'a str),
    /// The end of the group that began last.
    End,
}
