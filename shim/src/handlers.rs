//! The table of all handlers, which [`crate::set_up`] gives to [`crate::table`].

use gapii_tool_api::for_each_command;

use crate::command::Command;
use crate::generated::handlers;
use crate::table::Handlers;

macro_rules! handlers {
    ($($name:ident $params:tt $(-> $result:ty)?;)*) => {
        /// The handlers of all commands.
        pub static HANDLERS: Handlers = Handlers {
            handlers: [$(handlers::$name::HANDLER),*],
            trackers: [$(handlers::$name::TRACKER),*],
            are_hooked: [$(handlers::$name::IS_HOOKED),*],
        };
    };
}
for_each_command!(handlers);
