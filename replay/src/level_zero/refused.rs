//! Commands and structures that no replay can play: a look-up in the table of `refuse` items
//! (`apis/level_zero/replay.api`). They are skipped with the reason given there.

use gapii_commands::CommandId;
use gapii_trace::description::{Description, Layout};

use crate::generated::facts::{REFUSED, REFUSED_LAYOUTS};
use crate::skip::{Outcome, Skip};

/// Refuses a command that no replay can play, with the reason.
pub fn function(command: CommandId) -> Outcome {
    match REFUSED.iter().find(|(refused, _)| *refused == command) {
        Some((_, why)) => Err(Skip::from(*why)),
        None => Ok(()),
    }
}

/// Refuses a struct of the built-in descriptions that no replay can pass to a driver, with the reason.
pub fn structure(layout: &'static Layout) -> Outcome {
    let built_in = Description::built_in();
    let is_it = |(index, _): &&(u16, &str)| {
        built_in.layout(*index).is_some_and(|known| std::ptr::eq(known, layout))
    };
    match REFUSED_LAYOUTS.iter().find(is_it) {
        Some((_, why)) => Err(Skip::from(format!("{}: {why}", layout.name))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_that_import_are_refused() {
        let refused = |name: &str| {
            let built_in = Description::built_in();
            let mut layouts = (0..).map_while(|index| built_in.layout(index));
            let layout = layouts.find(|layout| layout.name == name);
            structure(layout.unwrap_or_else(|| panic!("no structure is {name}"))).is_err()
        };
        assert!(refused("ze_external_memory_import_fd_t"));
        assert!(!refused("ze_external_memory_export_desc_t"));
        assert!(!refused("ze_device_mem_alloc_desc_t"));
    }
}
