//! The commands of every API that gapii records: ids, names, the API of a command, enum constants, and
//! descriptions of parameters, structs and enums.
//!
//! No other crate types an API constant or decides by the spelling of a command's name. Everything here
//! comes from the Khronos registries and `apis/` through `cargo xtask generate`. The crate calls no driver
//! and reads no trace.
//!
//! ```
//! use gapii_commands::{Api, CommandId, constants, descriptions};
//!
//! let clear = CommandId::named("glClear").expect("OpenGL ES has glClear");
//! assert_eq!(clear, CommandId::GL_CLEAR);
//! assert_eq!((clear.name(), clear.api()), ("glClear", Api::Gl));
//!
//! let mask = &descriptions().function(clear).params[0];
//! assert_eq!(mask.name, "mask");
//! assert_eq!(constants::GL_COLOR_BUFFER_BIT, 0x4000);
//! ```

#![forbid(unsafe_code)]

mod api;
mod command_id;
mod decode;
mod desc;
mod generated;

pub use api::{Api, UnknownApi};
pub use command_id::{COUNT, CommandId, EXPORTED, NAMES, ids};
pub use decode::{DESCRIPTIONS_TEXT, DecodeError, descriptions};
pub use desc::{
    Descriptions, Effect, EnumGroup, FieldDesc, FunctionDesc, Kind, LayoutDesc, Observed,
    ParamDesc, Repr, TypeRef,
};
pub use generated::command_lists::{FRAME_ENDS, OF_GROUPS};
pub use generated::constants;
