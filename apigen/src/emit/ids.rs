//! `ids.rs`: a constant for each command.

use super::file;
use crate::model::{Api, Model};

pub fn emit(model: &Model) -> String {
    let count = |api| model.functions.iter().filter(|function| function.api == api).count();
    let egl = count(Api::Egl);
    let before_level_zero = egl + count(Api::Gles);
    let mut items = vec![
        "/// Number of commands; ids are below it.".to_owned(),
        format!("pub const COUNT: usize = {};", model.functions.len()),
        "/// Ids from here on are OpenGL's, those before are EGL's.".to_owned(),
        format!("pub const GL_FIRST: u16 = {egl};"),
        "/// Ids from here on are Level Zero's.".to_owned(),
        format!("pub const ZE_FIRST: u16 = {before_level_zero};\n"),
    ];
    for function in &model.functions {
        items.push(format!("pub const {}: u16 = {};", function.constant, function.id));
    }
    file("#![allow(dead_code)] // Most ids are used by their handler alone.", &items)
}
