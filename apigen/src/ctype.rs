//! C types of the registry, and the Rust and record types that stand for them. Knows x86-64 and aarch64 Linux only:
//! `long` and pointers have 8 bytes. A type that `base` does not list is unknown; a mistake is reported where its size
//! is needed.

use proc_macro2::TokenStream;
use quote::quote;

/// A C type as the registry spells it: a base type behind some pointers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CType {
    pub base: String,
    /// For each `*`, innermost first: whether its pointee is `const`.
    pub pointers: Vec<bool>,
}

/// Storage of a value in a record; the names are those of `gapii_commands::Repr`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Repr {
    Void,
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    U64,
    I64,
    F32,
    F64,
    Pointer,
}

impl Repr {
    /// Size and alignment in bytes.
    pub fn size(self) -> u16 {
        match self {
            Repr::Void => 0,
            Repr::U8 | Repr::I8 => 1,
            Repr::U16 | Repr::I16 => 2,
            Repr::U32 | Repr::I32 | Repr::F32 => 4,
            Repr::U64 | Repr::I64 | Repr::F64 | Repr::Pointer => 8,
        }
    }
}

/// Meaning of a base type, which its size does not tell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sense {
    Number,
    Bool,
    Enum,
    Bitfield,
    /// An opaque pointer or name of an object.
    Handle,
    /// A pointer to a function or to a type that the API does not define.
    Pointer,
    Char,
    Void,
}

impl CType {
    /// Parses a declaration without its name, for example `const GLchar *const*`.
    pub fn parse(text: &str) -> Option<Self> {
        let spaced = text.replace('*', " * ");
        let mut base = None;
        let mut pointers = Vec::new();
        let mut constant = false;
        for token in spaced.split_whitespace() {
            match token {
                "const" => constant = true,
                "struct" => {}
                "int" | "long" if base.as_deref() == Some("unsigned") => {
                    base = Some(format!("unsigned {token}"))
                }
                "*" => {
                    pointers.push(constant);
                    constant = false;
                }
                _ if base.is_none() && pointers.is_empty() => base = Some(token.to_owned()),
                _ => return None,
            }
        }
        Some(Self { base: base?, pointers })
    }

    pub fn is_pointer(&self) -> bool {
        !self.pointers.is_empty()
    }

    /// Whether this is `void`, the result of a command without one.
    pub fn is_void(&self) -> bool {
        self.base == "void" && !self.is_pointer()
    }

    /// Whether the memory behind the outermost pointer may not be written.
    pub fn points_at_const(&self) -> bool {
        self.pointers.last().copied().unwrap_or(false)
    }

    /// The type behind the outermost pointer.
    pub fn pointee(&self) -> Option<CType> {
        let (_, inner) = self.pointers.split_last()?;
        Some(CType { base: self.base.clone(), pointers: inner.to_vec() })
    }

    /// The storage and the meaning of a value of this type; `None` for an unknown type.
    pub fn scalar(&self) -> Option<(Repr, Sense)> {
        if self.is_pointer() {
            return Some((Repr::Pointer, Sense::Pointer));
        }
        base(&self.base).map(|known| (known.repr, known.sense))
    }

    /// The Rust type with the names of the header; numbers and characters have Rust's names, those of C's own types
    /// are in `core::ffi`.
    pub fn spelled(&self) -> String {
        let base = match self.base.as_str() {
            "void" => "c_void",
            "char" => "c_char",
            "int" => "c_int",
            "unsigned int" => "c_uint",
            "unsigned long" => "c_ulong",
            "float" => "f32",
            "int32_t" => "i32",
            "int64_t" => "i64",
            "uint8_t" => "u8",
            "uint32_t" => "u32",
            "uint64_t" => "u64",
            "size_t" => "usize",
            named => named,
        };
        let pointer = |constant: &bool| if *constant { "*const " } else { "*mut " };
        let pointers: String = self.pointers.iter().rev().map(pointer).collect();
        pointers + base
    }

    /// The Rust type; `None` for an unknown type.
    pub fn rust(&self) -> Option<TokenStream> {
        let mut tokens = base(&self.base)?.rust;
        for constant in &self.pointers {
            tokens = if *constant { quote!(*const #tokens) } else { quote!(*mut #tokens) };
        }
        Some(tokens)
    }
}

struct Base {
    repr: Repr,
    sense: Sense,
    rust: TokenStream,
}

fn base(name: &str) -> Option<Base> {
    let (repr, sense) = match name {
        "void" => (Repr::Void, Sense::Void),
        "GLchar" | "GLcharARB" | "char" => (Repr::U8, Sense::Char),
        "GLboolean" => (Repr::U8, Sense::Bool),
        "EGLBoolean" | "Bool" => (Repr::U32, Sense::Bool),
        "GLenum" | "EGLenum" => (Repr::U32, Sense::Enum),
        "GLbitfield" => (Repr::U32, Sense::Bitfield),
        "GLbyte" => (Repr::I8, Sense::Number),
        "GLubyte" => (Repr::U8, Sense::Number),
        "GLshort" => (Repr::I16, Sense::Number),
        "GLushort" | "GLhalfNV" => (Repr::U16, Sense::Number),
        "GLint" | "GLsizei" | "GLfixed" | "GLclampx" | "EGLint" | "int" => {
            (Repr::I32, Sense::Number)
        }
        "EGLNativeFileDescriptorKHR" | "Status" | "VLPath" | "VLNode" | "int32_t" => {
            (Repr::I32, Sense::Number)
        }
        "GLuint" | "GLhandleARB" => (Repr::U32, Sense::Number),
        "GLfloat" | "GLclampf" | "float" => (Repr::F32, Sense::Number),
        "GLdouble" | "GLclampd" => (Repr::F64, Sense::Number),
        "GLint64" | "GLint64EXT" | "EGLnsecsANDROID" | "int64_t" => (Repr::I64, Sense::Number),
        "GLintptr" | "GLsizeiptr" | "GLintptrARB" | "GLsizeiptrARB" | "GLvdpauSurfaceNV"
        | "EGLAttrib" | "EGLAttribKHR" => (Repr::I64, Sense::Number),
        "GLuint64" | "GLuint64EXT" | "EGLuint64KHR" | "EGLuint64NV" => (Repr::U64, Sense::Number),
        "EGLTime" | "EGLTimeKHR" | "EGLTimeNV" => (Repr::U64, Sense::Number),
        "GLsync" | "GLeglImageOES" | "GLeglClientBufferEXT" => (Repr::Pointer, Sense::Handle),
        "EGLClientBuffer" | "EGLConfig" | "EGLContext" | "EGLDeviceEXT" | "EGLDisplay"
        | "EGLImage" | "EGLImageKHR" | "EGLLabelKHR" | "EGLObjectKHR" | "EGLOutputLayerEXT"
        | "EGLOutputPortEXT" | "EGLStreamKHR" | "EGLSurface" | "EGLSync" | "EGLSyncKHR"
        | "EGLSyncNV" => (Repr::Pointer, Sense::Handle),
        // Names of objects of the X server.
        "XID" | "Colormap" | "Font" | "Pixmap" | "Window" => (Repr::Pointer, Sense::Handle),
        "DMbuffer" | "VLServer" => (Repr::Pointer, Sense::Handle),
        "EGLNativeDisplayType" | "EGLNativePixmapType" | "EGLNativeWindowType" => {
            (Repr::Pointer, Sense::Handle)
        }
        "GLDEBUGPROC"
        | "GLDEBUGPROCAMD"
        | "GLDEBUGPROCARB"
        | "GLDEBUGPROCKHR"
        | "GLVULKANPROCNV"
        | "EGLDEBUGPROCKHR"
        | "EGLSetBlobFuncANDROID"
        | "EGLGetBlobFuncANDROID"
        | "__GLXextFuncPtr"
        | "__eglMustCastToProperFunctionPointerType" => (Repr::Pointer, Sense::Pointer),
        // Types of Level Zero; `Types::simplified` makes all others one of these.
        "ze_bool_t" => (Repr::U8, Sense::Bool),
        "ze_enum" => (Repr::U32, Sense::Enum),
        "ze_flags" => (Repr::U32, Sense::Bitfield),
        "handle" | "ze_handle" => (Repr::Pointer, Sense::Handle),
        "ze_callback" => (Repr::Pointer, Sense::Pointer),
        "uint8_t" => (Repr::U8, Sense::Number),
        "uint32_t" | "unsigned int" => (Repr::U32, Sense::Number),
        "uint64_t" | "size_t" | "unsigned long" => (Repr::U64, Sense::Number),
        // Types of other libraries; they occur behind pointers only.
        "AHardwareBuffer"
        | "DMparams"
        | "EGLClientPixmapHI"
        | "GLXHyperpipeConfigSGIX"
        | "GLXHyperpipeNetworkSGIX"
        | "XVisualInfo"
        | "wl_buffer"
        | "wl_display"
        | "wl_resource"
        | "struct _cl_context"
        | "struct _cl_event" => (Repr::Void, Sense::Void),
        _ => return None,
    };
    Some(Base { repr, sense, rust: rust_of(name, repr) })
}

fn rust_of(name: &str, repr: Repr) -> TokenStream {
    match (name, repr) {
        ("GLchar" | "GLcharARB" | "char", _) => quote!(c_char),
        (
            "GLintptr" | "GLsizeiptr" | "GLintptrARB" | "GLsizeiptrARB" | "GLvdpauSurfaceNV"
            | "EGLAttrib" | "EGLAttribKHR",
            _,
        ) => quote!(isize),
        (_, Repr::Void) => quote!(c_void),
        (_, Repr::U8) => quote!(u8),
        (_, Repr::I8) => quote!(i8),
        (_, Repr::U16) => quote!(u16),
        (_, Repr::I16) => quote!(i16),
        (_, Repr::U32) => quote!(u32),
        (_, Repr::I32) => quote!(i32),
        (_, Repr::U64) => quote!(u64),
        (_, Repr::I64) => quote!(i64),
        (_, Repr::F32) => quote!(f32),
        (_, Repr::F64) => quote!(f64),
        (_, Repr::Pointer) => quote!(*mut c_void),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declaration_with_pointers_becomes_the_rust_type() {
        let check = |text: &str, expected: &str| {
            let rust = CType::parse(text).and_then(|ty| ty.rust()).unwrap();
            assert_eq!(rust.to_string(), expected, "{text}");
        };
        check("GLenum", "u32");
        check("const GLfloat *", "* const f32");
        check("const GLint*", "* const i32");
        check("void **", "* mut * mut c_void");
        check("const void *const*", "* const * const c_void");
        check("const GLchar *const*", "* const * const c_char");
        check("EGLDisplay", "* mut c_void");
        check("EGLConfig *", "* mut * mut c_void");
        check("struct wl_display *", "* mut c_void");
        check("const EGLAttrib *", "* const isize");
    }

    #[test]
    fn declared_type_keeps_the_names_of_the_header() {
        let check = |text: &str, expected: &str| {
            assert_eq!(CType::parse(text).unwrap().spelled(), expected, "{text}");
        };
        check("uint32_t", "u32");
        check("unsigned int", "c_uint");
        check("const ze_group_count_t", "ze_group_count_t");
        check("const ze_group_count_t*", "*const ze_group_count_t");
        check("const char**", "*mut *const c_char");
        check("void**", "*mut *mut c_void");
    }

    #[test]
    fn constness_is_that_of_the_outermost_pointee() {
        let check = |text: &str, expected: bool| {
            assert_eq!(CType::parse(text).unwrap().points_at_const(), expected, "{text}");
        };
        check("const GLfloat *", true);
        check("const GLchar *const*", true);
        check("void **", false);
        check("GLint *", false);
    }

    #[test]
    fn unknown_base_type_has_no_representation() {
        assert_eq!(CType::parse("GLmystery").unwrap().scalar(), None);
    }
}
