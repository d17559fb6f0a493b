//! Types: conversion from the syntax and from C, and their names in messages. An array has 1 to 65,536 elements
//! (`MOST_ELEMENTS`). Keys of maps are integers, bools, addresses, texts, refs and enums.

use super::super::ast;
use super::super::diagnostic::Diagnostic;
use super::super::typed::{Number, Program, Shown, Type};
use super::checker::Checker;
use super::names::{Declared, did_you_mean};
use crate::ctype::{CType, Repr, Sense};

/// Maximum number of elements of an array.
const MOST_ELEMENTS: i64 = 65536;

impl Checker<'_> {
    /// The type that the syntax denotes; `None` after a reported mistake.
    pub(super) fn ty(&mut self, ty: &ast::Type) -> Option<Type> {
        Some(match &ty.kind {
            ast::TypeKind::Array(element, len) => {
                if !(1..=MOST_ELEMENTS).contains(&len.value) {
                    let message = format!("an array has 1 to {MOST_ELEMENTS} elements");
                    self.mistake(len.span, message);
                    return None;
                }
                Type::Array(Box::new(self.ty(element)?), len.value.unsigned_abs())
            }
            ast::TypeKind::List(element) => Type::List(Box::new(self.ty(element)?)),
            ast::TypeKind::Map(key, value) => {
                let (key_ty, value) = (self.ty(key), self.ty(value));
                let key_ty = key_ty?;
                if !is_key(&key_ty) {
                    let message = format!("{} can't be a key", self.program.name_of_type(&key_ty));
                    let help = "keys are integers, bools, addresses, texts, refs and enums";
                    self.report(Diagnostic::at(key.span, message).help(help));
                    return None;
                }
                Type::Map(Box::new(key_ty), Box::new(value?))
            }
            ast::TypeKind::Optional(inner) => {
                let inner_ty = self.ty(inner)?;
                if matches!(inner_ty, Type::Ref(_)) {
                    let message = "a ref can be `none` already: remove the `?`";
                    self.mistake(ty.span, message);
                    return None;
                }
                Type::Optional(Box::new(inner_ty))
            }
            ast::TypeKind::Ref(name) => match self.names.declared(&name.text) {
                Some(Declared::Object(object)) => Type::Ref(object),
                _ => {
                    let mistake = Diagnostic::at(name.span, format!("no object `{}`", name.text));
                    let help = self.names.like_declared(&name.text).map(did_you_mean);
                    self.report(Diagnostic { help, ..mistake });
                    return None;
                }
            },
            ast::TypeKind::Named(name) => return self.named_type(name, ty),
        })
    }

    fn named_type(&mut self, name: &str, ty: &ast::Type) -> Option<Type> {
        if let Some(plain) = plain_type(name) {
            return Some(plain);
        }
        match self.names.declared(name) {
            Some(Declared::Struct(id)) => return Some(Type::Struct(id)),
            Some(Declared::Enum(id)) => return Some(Type::Enum(id)),
            Some(Declared::Object(_)) => {
                let help = format!("`ref {name}` refers to one of these objects");
                let message = format!("`{name}` is an object, not a type");
                self.report(Diagnostic::at(ty.span, message).help(help));
                return None;
            }
            _ => {}
        }
        let of_c = CType { base: name.to_owned(), pointers: Vec::new() };
        let found = scalar(&of_c);
        if found.is_none() {
            let help = self.names.like_declared(name).map(did_you_mean);
            let mistake = Diagnostic::at(ty.span, format!("no type `{name}`"));
            self.report(Diagnostic { help, ..mistake });
        }
        found
    }
}

fn plain_type(name: &str) -> Option<Type> {
    Some(match name {
        "bool" => Type::Bool,
        "address" => Type::Address,
        "text" => Type::Text,
        "bytes" => Type::Bytes,
        "i8" => Type::number(Repr::I8),
        "i16" => Type::number(Repr::I16),
        "i32" => Type::number(Repr::I32),
        "i64" => Type::number(Repr::I64),
        "u8" => Type::number(Repr::U8),
        "u16" => Type::number(Repr::U16),
        "u32" => Type::number(Repr::U32),
        "u64" => Type::number(Repr::U64),
        "f32" => Type::number(Repr::F32),
        "f64" => Type::number(Repr::F64),
        _ => return None,
    })
}

/// The type of a C value in bodies; `None` for `void` and unknown types.
pub(super) fn scalar(ty: &CType) -> Option<Type> {
    let (repr, sense) = ty.scalar()?;
    let number = |shown| Type::Number(Number { repr, shown });
    match sense {
        Sense::Void => None,
        Sense::Bool => Some(Type::Bool),
        Sense::Handle | Sense::Pointer => Some(Type::Address),
        Sense::Enum => Some(number(Shown::Enum)),
        Sense::Bitfield => Some(number(Shown::Bitfield)),
        Sense::Number | Sense::Char => Some(number(Shown::Number)),
    }
}

fn is_key(ty: &Type) -> bool {
    ty.is_integer()
        || matches!(ty, Type::Bool | Type::Address | Type::Text | Type::Ref(_) | Type::Enum(_))
}

impl Program {
    /// The type's name in diagnostics, with an article.
    pub fn name_of_type(&self, ty: &Type) -> String {
        match ty {
            Type::Bool => "a bool".to_owned(),
            Type::Number(_) if ty.is_float() => "a float".to_owned(),
            Type::Number(_) => "an integer".to_owned(),
            Type::Address => "an address".to_owned(),
            Type::Text => "a text".to_owned(),
            Type::Bytes => "bytes".to_owned(),
            Type::Array(..) => "an array".to_owned(),
            Type::List(_) => "a list".to_owned(),
            Type::Map(..) => "a map".to_owned(),
            Type::Optional(inner) => format!("{} or none", self.name_of_type(inner)),
            Type::Ref(object) => format!("a ref {}", self[*object].name),
            Type::Struct(id) => format!("a {}", self[*id].name),
            Type::Enum(id) => format!("a {}", self[*id].name),
            Type::None => "nothing".to_owned(),
        }
    }
}
