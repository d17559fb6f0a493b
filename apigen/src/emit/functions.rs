//! `functions.rs` of the protocol: the description of every command.

use super::file;
use crate::ctype::Repr;
use crate::model::{Api, Direction, Effect, Function, Kind, Model, Param, Type};

const PRELUDE: &str = "use crate::desc::{Api, Effect, FunctionDesc, Kind, Observed, ParamDesc, \
                       Repr, TypeRef};";

/// Shorthands that keep the table readable.
const SHORTHANDS: &str = "
const fn ty(repr: Repr, kind: Kind) -> TypeRef {
    TypeRef { repr, kind }
}

const fn plain(name: &'static str, ty: TypeRef, offset: u16) -> ParamDesc {
    ParamDesc { name, ty, offset, observed: Observed::No, element: None }
}

const fn points(name: &'static str, offset: u16, element: TypeRef) -> ParamDesc {
    let ty = ty(Repr::Pointer, Kind::Pointer);
    ParamDesc { name, ty, offset, observed: Observed::No, element: Some(element) }
}

const fn reads(name: &'static str, kind: Kind, offset: u16, element: Option<TypeRef>) -> ParamDesc {
    let ty = ty(Repr::Pointer, kind);
    ParamDesc { name, ty, offset, observed: Observed::In, element }
}

const fn writes(name: &'static str, kind: Kind, offset: u16, element: Option<TypeRef>) -> ParamDesc {
    let ty = ty(Repr::Pointer, kind);
    ParamDesc { name, ty, offset, observed: Observed::Out, element }
}
";

pub fn emit(model: &Model) -> String {
    let functions: Vec<String> = model.functions.iter().map(function).collect();
    let items = [
        format!(
            "/// Commands by id, sorted by name.\npub static FUNCTIONS: [FunctionDesc; {}] = [{}];",
            functions.len(),
            functions.join("\n")
        ),
        SHORTHANDS.to_owned(),
    ];
    file(PRELUDE, &items)
}

fn function(function: &Function) -> String {
    let api = match function.api {
        Api::Egl => "Egl",
        Api::Gles => "Gles",
    };
    let effect = match function.effect {
        Effect::Enter => "Enter",
        Effect::Leave => "Leave",
        Effect::Recorded => "Recorded",
    };
    let void = Type { repr: Repr::Void, kind: Kind::Number };
    let params: Vec<String> = function.params.iter().map(param).collect();
    format!(
        "FunctionDesc {{ id: {}, name: \"{}\", api: Api::{api}, params: &[{}], result: {}, \
         fixed_len: {}, effect: Effect::{effect}, leaves: {} }},",
        function.id,
        function.name,
        params.join("\n"),
        ty(function.result.as_ref().map_or(void, |result| result.ty)),
        function.fixed_len,
        function.leaves()
    )
}

fn param(param: &Param) -> String {
    let Some(observation) = &param.observation else {
        if let Some(element) = param.ranges_element {
            let (name, element) = (&param.name, ty(element));
            return format!("points(\"{name}\", {}, {element}),", param.offset);
        }
        return format!("plain(\"{}\", {}, {}),", param.name, ty(param.value.ty), param.offset);
    };
    let direction = match observation.direction {
        Direction::In => "reads",
        Direction::Out => "writes",
    };
    let element =
        observation.element.map_or("None".to_owned(), |ty| format!("Some({})", self::ty(ty)));
    format!(
        "{direction}(\"{}\", Kind::{:?}, {}, {element}),",
        param.name, param.value.ty.kind, param.offset
    )
}

fn ty(ty: Type) -> String {
    format!("ty(Repr::{:?}, Kind::{:?})", ty.repr, ty.kind)
}
