//! Pictures of what is played.

use crate::call::Call;

/// What is to be made pictures of.
#[derive(Default)]
pub struct Images {}

/// The back buffer is whole: the driver's swap comes next. The surface is the one that is current
/// for drawing.
pub fn before_swap(_call: &mut Call<'_, '_>) {}

/// A command has been played.
pub fn after(_call: &mut Call<'_, '_>) {}
