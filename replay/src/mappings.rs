//! Mapped buffers: what the program wrote into mapped memory is written into the driver's mapping.

use crate::call::Call;

/// Copies what a command observed of mapped memory to where the driver has it mapped now.
pub fn update(_call: &mut Call<'_, '_>) {}
