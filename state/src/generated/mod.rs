pub mod extensions;
pub mod fields;
