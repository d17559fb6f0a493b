//! Names of objects that only a snapshot makes. No driver gives out such high names, so no program has them.

/// The first name of the objects that a snapshot makes for a moment and deletes again.
pub const FIRST: u32 = 0xF000_0000;

/// The first name of the objects that had lost their own names when the snapshot described them, but were still in use
/// (OpenGL ES 3.2, 5.1.3).
pub const FIRST_NAMELESS: u32 = FIRST + 0x1_0000;

/// Whether a recorded name is that of an object which had lost its own name.
pub const fn is_nameless(recorded: u64) -> bool {
    recorded >= FIRST_NAMELESS as u64 && recorded <= u32::MAX as u64
}
