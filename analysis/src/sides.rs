//! The same quantity of two traces.

use schemars::JsonSchema;
use serde::Serialize;

/// The same quantity of both traces.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, JsonSchema)]
pub struct Sides<T> {
    /// Of the first trace.
    pub a: T,
    /// Of the second trace.
    pub b: T,
}

/// One of two traces.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// The first trace.
    A,
    /// The second trace.
    B,
}

impl<T> Sides<T> {
    /// Returns the quantity of one trace.
    pub fn of(&mut self, side: Side) -> &mut T {
        match side {
            Side::A => &mut self.a,
            Side::B => &mut self.b,
        }
    }
}
