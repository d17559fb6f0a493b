//! Which player plays a function of a trace: the player of this build's command of the same name, whatever its id. If a
//! function that this build can play has other parameters or another result in the trace, the replay does not begin. A
//! function without a player is skipped.

use gapii_commands::{Api, CommandId, Observed};
use gapii_trace::description::{Description, Function, Type};

use super::options::ReplayError;
use crate::call::{ARGS_MAX, Entry, Play};
use crate::generated::table::COMMANDS;
use crate::level_zero;

/// What the names of commands that change what is drawn to begin with.
const DRAWS: [&str; 5] = ["glDraw", "glMultiDraw", "glClear", "glBlit", "glDispatch"];

/// A function of the trace: its player, and the offsets of its arguments.
pub(super) struct Known {
    /// `None` if this build can't play it.
    pub play: Option<Play>,
    pub is_gl: bool,
    pub is_level_zero: bool,
    /// Whether the command shows a surface: a picture may be taken before it.
    pub is_swap: bool,
    /// Whether the command draws, clears or copies: a picture of a frame that it ends is taken after it.
    pub draws: bool,
    /// Bytes of the payload before observations.
    pub fixed_len: usize,
    /// Type and offset of each argument in the payload.
    pub args: Box<[(Type, usize)]>,
}

/// Players of a trace's functions, by their ids in the trace. The error names a function with other
/// parameters than this build knows.
pub(super) fn functions(description: &Description) -> Result<Vec<Option<Known>>, ReplayError> {
    let mut table = Vec::new();
    for of_trace in description.functions() {
        let id = usize::from(of_trace.id);
        if table.len() <= id {
            table.resize_with(id + 1, || None);
        }
        table[id] = Some(known(of_trace)?);
    }
    Ok(table)
}

fn known(of_trace: &Function) -> Result<Known, ReplayError> {
    let command = CommandId::named(&of_trace.name);
    let entry = command.and_then(find);
    let api = command.map(CommandId::api);
    let is_level_zero = api == Some(Api::LevelZero);
    let play = entry.map(|entry| entry.play).or(is_level_zero.then_some(level_zero::play));
    if play.is_some() {
        check_signature(of_trace)?;
    }
    let args = of_trace.params.iter().map(|param| (param.ty, param.offset as usize));
    Ok(Known {
        play,
        is_gl: api == Some(Api::Gl),
        is_level_zero,
        draws: DRAWS.iter().any(|prefix| of_trace.name.starts_with(prefix)),
        is_swap: entry.is_some_and(|entry| entry.is_swap),
        fixed_len: of_trace.fixed_len as usize,
        args: args.collect(),
    })
}

fn find(command: CommandId) -> Option<&'static Entry> {
    let at = COMMANDS.binary_search_by_key(&command, |entry| entry.command).ok()?;
    COMMANDS.get(at)
}

/// Checks that the trace's parameters and result are those that this build passes to the driver.
fn check_signature(of_trace: &Function) -> Result<(), ReplayError> {
    let built_in = Description::built_in().functions();
    let ours = built_in.binary_search_by_key(&&*of_trace.name, |ours| &ours.name).ok();
    let ours = ours.and_then(|at| built_in.get(at));
    let differs = |why: String| ReplayError::Signature { name: of_trace.name.clone(), why };
    let Some(ours) = ours else { return Err(differs("it is not described".to_owned())) };
    if ours.params.len() != of_trace.params.len() || ours.params.len() > ARGS_MAX {
        let (found, known) = (of_trace.params.len(), ours.params.len());
        return Err(differs(format!("{found} of them, not {known}")));
    }
    for (ours, theirs) in ours.params.iter().zip(&of_trace.params) {
        // An answer is found by its parameter, whether its size depended on arguments alone or on state, too.
        let is_answer = theirs.observed == Observed::Out && ours.observed == Observed::No;
        if ours.ty.repr != theirs.ty.repr || ours.observed != theirs.observed && !is_answer {
            return Err(differs(format!("{} is recorded in another way", theirs.name)));
        }
    }
    match ours.result.repr == of_trace.result.repr {
        true => Ok(()),
        false => Err(differs("its result is of another type".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_of_egl_and_gl_is_played_and_found_by_its_id() {
        let described = CommandId::all().filter(|command| command.api() != Api::LevelZero);
        assert!(described.eq(COMMANDS.iter().map(|entry| entry.command)));
        for Entry { command, .. } in &COMMANDS {
            assert_eq!(find(*command).map(|entry| entry.command), Some(*command));
        }
    }

    #[test]
    fn pictures_are_taken_before_commands_that_show_a_surface() {
        let swaps = COMMANDS.iter().filter(|entry| entry.is_swap);
        let swaps: Vec<&str> = swaps.map(|entry| entry.command.name()).collect();
        let expected = [
            "eglSwapBuffers",
            "eglSwapBuffersWithDamageEXT",
            "eglSwapBuffersWithDamageKHR",
            "glXSwapBuffers",
            "glXSwapBuffersMscOML",
        ];
        assert_eq!(swaps, expected);
    }

    #[test]
    fn every_function_of_this_build_has_the_parameters_that_it_plays() {
        assert!(functions(Description::built_in()).is_ok());
    }
}
