//! The data file decodes to the descriptions in it, and malformed lines are rejected with their numbers.

use gapii_commands::{
    Api, COUNT, CommandId, Descriptions, Effect, EnumGroup, FieldDesc, FunctionDesc, Kind,
    LayoutDesc, Observed, ParamDesc, Repr, TypeRef, descriptions,
};

const TEXT: &str = include_str!("../src/generated/descriptions.txt");

#[test]
fn decoded_file_encodes_to_the_same_lines() {
    let decoded = Descriptions::decode(TEXT).unwrap();
    let expected: Vec<&str> = TEXT.lines().filter(|line| !line.is_empty()).collect();
    let encoded = encode(&decoded, &expected);
    for (at, (encoded, expected)) in encoded.iter().zip(&expected).enumerate() {
        assert_eq!(encoded, expected, "line {at} of those that are not empty");
    }
    assert_eq!(encoded.len(), expected.len());
}

#[test]
fn every_command_is_described_at_its_id() {
    assert_eq!(descriptions().functions.len(), COUNT);
    for command in CommandId::all() {
        let function = descriptions().function(command);
        assert_eq!(function.id, command.number());
        assert_eq!((function.name, function.api), (command.name(), command.api()));
    }
}

const SMALL: &str = "\
# A comment.
enum GL
 0x0000 GL_NONE
 0x0de1 GL_TEXTURE_2D

names
 0x0100 GL_DEPTH_BUFFER_BIT
 0x4000 GL_COLOR_BUFFER_BIT
group TextureTarget GL
 GL_NONE
 GL_TEXTURE_2D
group ClearBufferMask -
 GL_DEPTH_BUFFER_BIT GL_COLOR_BUFFER_BIT
struct outer_t 24 0xd
 0 stype u32
 8 pNext pointer:chain
 16 inner[2] void:struct:inner_t
struct inner_t 4 -
 0 name[4] u8:string
api egl
eglInitialize(dpy pointer:handle, major out pointer:array of i32) u32:bool enter leaves
api gl
glClear(mask u32:bitfield:ClearBufferMask) void enter
glMix(flag u8:bool, target u32:enum:TextureTarget, desc in pointer:struct:outer_t) void recorded
glFinish() void leave leaves
";

#[test]
fn small_file_has_groups_structs_and_commands() {
    let decoded = Descriptions::decode(SMALL).unwrap();
    let ty = |repr, kind| TypeRef { repr, kind };
    let pointer = |kind| ty(Repr::Pointer, kind);
    let param =
        |name, ty, offset, observed, element| ParamDesc { name, ty, offset, observed, element };
    let field = |name, offset, ty, len| FieldDesc { name, offset, ty, len, element: None };
    let handle = pointer(Kind::Handle);
    let int = ty(Repr::I32, Kind::Number);
    let expected = Descriptions {
        groups: vec![
            EnumGroup {
                name: "GL",
                values: vec![(0, "GL_NONE"), (0xDE1, "GL_TEXTURE_2D")],
                fallback: None,
            },
            EnumGroup {
                name: "TextureTarget",
                values: vec![(0, "GL_NONE"), (0xDE1, "GL_TEXTURE_2D")],
                fallback: Some(0),
            },
            EnumGroup {
                name: "ClearBufferMask",
                values: vec![(0x100, "GL_DEPTH_BUFFER_BIT"), (0x4000, "GL_COLOR_BUFFER_BIT")],
                fallback: None,
            },
        ],
        layouts: vec![
            LayoutDesc {
                name: "outer_t",
                size: 24,
                stype: Some(13),
                fields: vec![
                    field("stype", 0, ty(Repr::U32, Kind::Number), 0),
                    field("pNext", 8, pointer(Kind::Chain), 0),
                    field("inner", 16, ty(Repr::Void, Kind::Struct(1)), 2),
                ],
            },
            LayoutDesc {
                name: "inner_t",
                size: 4,
                stype: None,
                fields: vec![field("name", 0, ty(Repr::U8, Kind::String), 4)],
            },
        ],
        functions: vec![
            FunctionDesc {
                id: 0,
                name: "eglInitialize",
                api: Api::Egl,
                params: vec![
                    param("dpy", handle, 0, Observed::No, None),
                    param("major", pointer(Kind::Array), 8, Observed::Out, Some(int)),
                ],
                result: ty(Repr::U32, Kind::Bool),
                fixed_len: 16,
                effect: Effect::Enter,
                leaves: true,
            },
            FunctionDesc {
                id: 1,
                name: "glClear",
                api: Api::Gl,
                params: vec![param(
                    "mask",
                    ty(Repr::U32, Kind::Bitfield(2)),
                    0,
                    Observed::No,
                    None,
                )],
                result: TypeRef::VOID,
                fixed_len: 4,
                effect: Effect::Enter,
                leaves: false,
            },
            FunctionDesc {
                id: 2,
                name: "glMix",
                api: Api::Gl,
                params: vec![
                    param("flag", ty(Repr::U8, Kind::Bool), 0, Observed::No, None),
                    param("target", ty(Repr::U32, Kind::Enum(1)), 4, Observed::No, None),
                    param("desc", pointer(Kind::Struct(0)), 8, Observed::In, None),
                ],
                result: TypeRef::VOID,
                fixed_len: 16,
                effect: Effect::Recorded,
                leaves: false,
            },
            FunctionDesc {
                id: 3,
                name: "glFinish",
                api: Api::Gl,
                params: vec![],
                result: TypeRef::VOID,
                fixed_len: 0,
                effect: Effect::Leave,
                leaves: true,
            },
        ],
    };
    assert_eq!(decoded, expected);
}

#[test]
fn malformed_line_is_rejected_with_its_number() {
    let check = |line: &str, broken: &str, expected: &str| {
        let at = SMALL.lines().position(|known| known == line).expect("a line of the small file");
        let lines: Vec<&str> =
            SMALL.lines().map(|known| if known == line { broken } else { known }).collect();
        let text = String::leak(lines.join("\n"));
        let refused = Descriptions::decode(text).unwrap_err();
        assert_eq!(refused.to_string(), format!("line {}: {expected}", at + 1), "{broken}");
    };
    check("enum GL", "enums GL", "\"enums GL\" is not a valid header line");
    check("enum GL", " 0x0 GL_X", "an indented line needs an enum, group or struct above it");
    let value = " 0x0de1 GL_TEXTURE_2D";
    check(value, " 0x0de1", "a value needs a name");
    check(value, " 0xgg GL_TEXTURE_2D", "\"0xgg\" is not a number, or too large");
    check(value, " 0x0de1 GL_NONE", "\"GL_NONE\" has a value already");
    check(value, " 0x0000 GL_X", "\"GL_X\" is not above the value before it");
    let group = "group TextureTarget GL";
    check(group, "group GL -", "group \"GL\" is described twice");
    check(group, "group TextureTarget EGL", "group \"EGL\" is not described above");
    let names = " GL_DEPTH_BUFFER_BIT GL_COLOR_BUFFER_BIT";
    check(
        names,
        " GL_STENCIL_BUFFER_BIT",
        "value \"GL_STENCIL_BUFFER_BIT\" is not described above",
    );
    let again = "GL_DEPTH_BUFFER_BIT GL_DEPTH_BUFFER_BIT";
    check(names, &format!(" {again}"), "\"GL_DEPTH_BUFFER_BIT\" is not above the value before it");
    check(
        "struct outer_t 24 0xd",
        "struct outer_t 24",
        "\"struct outer_t 24\" is not a valid header line",
    );
    check("api egl", "struct outer_t 4 -", "struct \"outer_t\" is described twice");
    let large = "struct inner_t 0x100000000 -";
    check("struct inner_t 4 -", large, "\"0x100000000\" is not a number, or too large");
    let field = " 16 inner[2] void:struct:inner_t";
    check(field, " 16", "a field needs an offset, a name and a type");
    check(field, " 16 inner", "\"\" is not a type");
    check(field, " 16 inner[x] u8", "\"x\" is not a number, or too large");
    check(field, " 16 inner void:struct:no_t", "struct \"no_t\" is not described above");
    check(
        "api gl",
        "api glide",
        "no API is named \"glide\"; the APIs are egl, gl, glx, level_zero",
    );
    let early = "glEarly() void enter";
    check("api egl", early, "command \"glEarly\" needs an API above it");
    let clear = "glClear(mask u32:bitfield:ClearBufferMask) void enter";
    check(clear, "glClear(mask u32", "`) ` must end the parameters");
    check(clear, "glClear(mask) void enter", "\"\" is not a type");
    check(clear, "glClear(mask u24) void enter", "\"u24\" does not begin with a representation");
    check(clear, "glClear(mask u32:enum) void enter", "\"u32:enum\" does not have a kind");
    check(clear, "glClear(mask u32:bool:GL) void enter", "kind \"bool\" refers to nothing: \"GL\"");
    check(clear, "glClear(mask u32:enum:Gl) void enter", "group \"Gl\" is not described above");
    check(clear, "glClear(mask u32) void sometimes", "\"sometimes\" is not an effect");
    let end = "a command ends with its result, its effect and `leaves`";
    check(clear, "glClear(mask u32) void", end);
    check(clear, "glClear(mask u32) void enter stays", end);
}

/// Encodes descriptions as the lines of the data file, without empty ones. Comments, names without a group, and the line
/// breaks of groups are copied from `expected`, because descriptions do not hold them.
fn encode(descriptions: &Descriptions, expected: &[&str]) -> Vec<String> {
    let comments = expected.iter().take_while(|line| line.starts_with('#'));
    let mut lines: Vec<String> = comments.map(|line| (*line).to_owned()).collect();
    let is_whole =
        |at: usize| expected.contains(&&*format!("enum {}", descriptions.groups[at].name));
    let whole = (0..descriptions.groups.len()).take_while(|at| is_whole(*at)).count();
    for group in &descriptions.groups[..whole] {
        lines.push(format!("enum {}", group.name));
        lines.extend(group.values.iter().map(|(value, name)| format!(" {value:#06x} {name}")));
    }
    let names = expected.iter().skip_while(|line| **line != "names");
    let names = names.take_while(|line| !line.starts_with("group "));
    lines.extend(names.map(|line| (*line).to_owned()));
    let name = |at: u16| descriptions.groups[usize::from(at)].name;
    for group in &descriptions.groups[whole..] {
        lines.push(format!("group {} {}", group.name, group.fallback.map_or("-", name)));
        let mut values = group.values.iter().peekable();
        while values.peek().is_some() {
            let here = expected.get(lines.len()).map_or(1, |line| line.split(' ').count() - 1);
            let words = values.by_ref().take(here.max(1)).map(|(_, name)| *name);
            lines.push(format!(" {}", words.collect::<Vec<_>>().join(" ")));
        }
    }
    for layout in &descriptions.layouts {
        let stype = layout.stype.map_or("-".to_owned(), |stype| format!("{stype:#x}"));
        lines.push(format!("struct {} {} {stype}", layout.name, layout.size));
        for FieldDesc { name, offset, ty, len, element } in &layout.fields {
            let len = if *len == 0 { String::new() } else { format!("[{len}]") };
            let types = types(descriptions, *ty, *element);
            lines.push(format!(" {offset} {name}{len} {types}"));
        }
    }
    let mut api = None;
    for function in &descriptions.functions {
        if api.replace(function.api) != Some(function.api) {
            lines.push(format!("api {}", function.api));
        }
        let params = function.params.iter().map(|param| {
            let observed = match param.observed {
                Observed::No => "",
                Observed::In => "in ",
                Observed::Out => "out ",
            };
            format!("{} {observed}{}", param.name, types(descriptions, param.ty, param.element))
        });
        let params = params.collect::<Vec<_>>().join(", ");
        let effect = match function.effect {
            Effect::Enter => "enter",
            Effect::Leave => "leave",
            Effect::Recorded => "recorded",
        };
        let leaves = if function.leaves { " leaves" } else { "" };
        let result = types(descriptions, function.result, None);
        lines.push(format!("{}({params}) {result} {effect}{leaves}", function.name));
    }
    lines
}

fn types(descriptions: &Descriptions, ty: TypeRef, element: Option<TypeRef>) -> String {
    let one = |ty: TypeRef| {
        let (kind, index) = ty.kind.name_and_index();
        let target = index.map(usize::from).map(|at| match ty.kind {
            Kind::Struct(_) => format!(":{}", descriptions.layouts[at].name),
            _ => format!(":{}", descriptions.groups[at].name),
        });
        match ty.kind {
            Kind::Number => ty.repr.name().to_owned(),
            _ => format!("{}:{kind}{}", ty.repr.name(), target.unwrap_or_default()),
        }
    };
    let element = element.map_or(String::new(), |element| format!(" of {}", one(element)));
    format!("{}{element}", one(ty))
}
