//! `functions.rs` of the protocol: the description of every command.

use super::file;
use crate::ctype::Repr;
use crate::model::{
    Api, Direction, Effect, Function, Kind, Layout, LayoutField, Model, Param, Type,
};

const PRELUDE: &str = "use crate::desc::{Api, Effect, FieldDesc, FunctionDesc, Kind, LayoutDesc, \
                       Observed, ParamDesc, Repr, TypeRef};";

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

const fn field(
    name: &'static str,
    offset: u32,
    ty: TypeRef,
    len: u32,
    element: Option<TypeRef>,
) -> FieldDesc {
    FieldDesc { name, offset, ty, len, element }
}
";

pub fn emit(model: &Model) -> String {
    let functions: Vec<String> = model.functions.iter().map(function).collect();
    let layouts: Vec<String> = model.layouts.iter().map(layout).collect();
    let items = [
        format!(
            "/// Commands by id, sorted by name.\npub static FUNCTIONS: [FunctionDesc; {}] = [{}];",
            functions.len(),
            functions.join("\n")
        ),
        format!(
            "\n/// C structs, by the index that kinds refer to.\n\
             pub static LAYOUTS: [LayoutDesc; {}] = [{}];",
            layouts.len(),
            layouts.join("\n")
        ),
        SHORTHANDS.to_owned(),
    ];
    file(PRELUDE, &items)
}

fn function(function: &Function) -> String {
    let api = match function.api {
        Api::Egl => "Egl",
        Api::Gles => "Gles",
        Api::LevelZero => "LevelZero",
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

fn layout(layout: &Layout) -> String {
    let fields: Vec<String> = layout.fields.iter().map(field).collect();
    format!(
        "LayoutDesc {{ name: {:?}, size: {}, stype: {:?}, fields: &[{}] }},",
        layout.name,
        layout.size,
        layout.stype,
        fields.join("\n")
    )
}

fn field(field: &LayoutField) -> String {
    format!(
        "field({:?}, {}, {}, {}, {}),",
        field.name,
        field.offset,
        ty(field.ty),
        field.len,
        optional(field.element)
    )
}

fn optional(element: Option<Type>) -> String {
    element.map_or("None".to_owned(), |ty| format!("Some({})", self::ty(ty)))
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
    let is_struct = matches!(param.value.ty.kind, Kind::Struct(_));
    let element = optional(observation.element.filter(|_| !is_struct));
    format!(
        "{direction}(\"{}\", Kind::{:?}, {}, {element}),",
        param.name, param.value.ty.kind, param.offset
    )
}

fn ty(ty: Type) -> String {
    format!("ty(Repr::{:?}, Kind::{:?})", ty.repr, ty.kind)
}
