//! `CType`: a type as C writes it, and what it is in Rust.

use serde::Deserialize;

/// A name behind any number of pointers.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
pub struct CType {
    base: String,
    pointers: usize,
    /// What the innermost pointer points at is constant.
    is_const: bool,
}

impl From<String> for CType {
    fn from(text: String) -> Self {
        let pointers = text.matches('*').count();
        let bare = text.trim_end_matches('*').trim();
        let base = bare.strip_prefix("const ").unwrap_or(bare);
        Self { base: base.to_owned(), pointers, is_const: bare.starts_with("const ") }
    }
}

impl CType {
    pub fn is_void(&self) -> bool {
        self.pointers == 0 && self.base == "void"
    }

    /// The name behind all pointers.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// How many pointers there are.
    pub fn depth(&self) -> usize {
        self.pointers
    }

    /// Whether what the innermost pointer points at is constant.
    pub fn points_at_const(&self) -> bool {
        self.is_const && self.pointers > 0
    }

    /// The type in Rust, where that of C's own is of `core::ffi`.
    pub fn rust(&self) -> String {
        let base = match self.base.as_str() {
            "void" => "c_void",
            "char" => "c_char",
            "int" => "c_int",
            "unsigned int" => "c_uint",
            "float" => "f32",
            "int32_t" => "i32",
            "int64_t" => "i64",
            "uint8_t" => "u8",
            "uint32_t" => "u32",
            "uint64_t" => "u64",
            "size_t" => "usize",
            named => named,
        };
        let innermost = if self.is_const { "*const " } else { "*mut " };
        match self.pointers {
            0 => base.to_owned(),
            depth => format!("{}{innermost}{base}", "*mut ".repeat(depth - 1)),
        }
    }

    /// `-> T`, or nothing.
    pub fn arrow(&self) -> String {
        if self.is_void() { String::new() } else { format!("-> {}", self.rust()) }
    }
}

#[cfg(test)]
mod tests {
    use super::CType;

    #[track_caller]
    fn check(c: &str, rust: &str) {
        assert_eq!(CType::from(c.to_owned()).rust(), rust);
    }

    #[test]
    fn types_of_c_are_those_of_rust() {
        check("uint32_t", "u32");
        check("unsigned int", "c_uint");
        check("const ze_group_count_t", "ze_group_count_t");
        check("const ze_group_count_t*", "*const ze_group_count_t");
        check("const char**", "*mut *const c_char");
        check("void**", "*mut *mut c_void");
    }
}
