//! Types of uniforms, as shader sources declare them, for programs that never asked the driver. Comments, preprocessor
//! lines and function bodies are skipped, so types that macros produce are not found. A new GLSL type is added in
//! `gl_type` and `components`.

#![allow(non_upper_case_globals, reason = "the registry spells GL_FLOAT_MAT2x3")]

use gapii_commands::constants::*;

/// Returns the GL type of a uniform by its name in glGetUniformLocation: `light.color`, `lights[2].color`,
/// `bones[3]`.
pub fn uniform_type(source: &str, name: &str) -> Option<u32> {
    let tokens = tokens(source);
    let mut path = name.split('.').map(without_index);
    let mut members = uniforms(&tokens);
    let mut ty = declared(&members, path.next()?)?;
    for member in path {
        members = structure(&tokens, ty)?;
        ty = declared(&members, member)?;
    }
    gl_type(ty)
}

/// Returns the GL type of the uniform with an explicit location: `layout(location = 3)`.
pub fn type_at(source: &str, location: i32) -> Option<u32> {
    let tokens = tokens(source);
    let starts = tokens.iter().enumerate().filter(|(_, token)| **token == "layout");
    starts.map(|(at, _)| tokens.get(at + 1..).unwrap_or_default()).find_map(|rest| {
        let close = rest.iter().position(|token| *token == ")")?;
        let qualifiers = rest.get(..close)?;
        let placed = qualifiers.windows(3).find_map(|it| match it {
            ["location", "=", number] => number.parse::<i32>().ok(),
            _ => None,
        })?;
        let declaration = rest.get(close + 1..)?;
        let end = declaration.iter().position(|token| *token == ";")?;
        let declaration = declaration.get(..end)?;
        let at = declaration.iter().position(|token| *token == "uniform")?;
        let mut words = declaration.get(at + 1..)?.iter().filter(|word| !is_qualifier(word));
        let ty = gl_type(words.next()?)?;
        let elements = declaration.windows(3).find_map(|it| match it {
            ["[", number, "]"] => number.parse::<i32>().ok(),
            _ => None,
        });
        let elements = elements.unwrap_or(1);
        (location >= placed && location - placed < elements).then_some(ty)
    })
}

/// Returns the number of components of a GL type; `None` for an unknown type.
pub fn components(ty: u32) -> Option<i64> {
    Some(match ty {
        GL_FLOAT | GL_INT | GL_UNSIGNED_INT | GL_BOOL => 1,
        GL_FLOAT_VEC2 | GL_INT_VEC2 | GL_UNSIGNED_INT_VEC2 | GL_BOOL_VEC2 => 2,
        GL_FLOAT_VEC3 | GL_INT_VEC3 | GL_UNSIGNED_INT_VEC3 | GL_BOOL_VEC3 => 3,
        GL_FLOAT_VEC4 | GL_INT_VEC4 | GL_UNSIGNED_INT_VEC4 | GL_BOOL_VEC4 | GL_FLOAT_MAT2 => 4,
        GL_FLOAT_MAT2x3 | GL_FLOAT_MAT3x2 => 6,
        GL_FLOAT_MAT2x4 | GL_FLOAT_MAT4x2 => 8,
        GL_FLOAT_MAT3 => 9,
        GL_FLOAT_MAT3x4 | GL_FLOAT_MAT4x3 => 12,
        GL_FLOAT_MAT4 => 16,
        GL_DOUBLE_VEC2 => 2,
        GL_DOUBLE_VEC3 => 3,
        GL_DOUBLE_VEC4 | GL_DOUBLE_MAT2 => 4,
        GL_DOUBLE_MAT2x3 | GL_DOUBLE_MAT3x2 => 6,
        GL_DOUBLE_MAT2x4 | GL_DOUBLE_MAT4x2 => 8,
        GL_DOUBLE_MAT3 => 9,
        GL_DOUBLE_MAT3x4 | GL_DOUBLE_MAT4x3 => 12,
        GL_DOUBLE_MAT4 => 16,
        0 => return None,
        // The value of a sampler or an image is its unit.
        _ => 1,
    })
}

/// Whether the last part of a uniform's name is declared as an array.
pub fn is_array(source: &str, name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or(name);
    tokens(source).windows(2).any(|it| matches!(it, [word, "["] if *word == last))
}

/// Returns the name without an index: `bones[3]` is an element of `bones`.
fn without_index(name: &str) -> &str {
    name.split('[').next().unwrap_or(name)
}

/// Names and their declared types.
type Declarations<'a> = Vec<(&'a str, &'a str)>;

fn declared<'a>(all: &Declarations<'a>, name: &str) -> Option<&'a str> {
    all.iter().find(|(declared, _)| *declared == name).map(|(_, ty)| *ty)
}

/// Returns the tokens of a source, without comments and preprocessor lines.
fn tokens(source: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = source;
    loop {
        rest = rest.trim_start();
        let Some(first) = rest.chars().next() else { return tokens };
        let len = if rest.starts_with("//") || first == '#' {
            rest = rest.find('\n').and_then(|end| rest.get(end..)).unwrap_or("");
            continue;
        } else if rest.starts_with("/*") {
            rest = rest.split_once("*/").map_or("", |(_, after)| after);
            continue;
        } else if is_word(first) {
            rest.find(|next| !is_word(next)).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let (token, after) = rest.split_at(len);
        tokens.push(token);
        rest = after;
    }
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// Returns the uniforms that a source declares, without blocks: members of blocks have no location.
fn uniforms<'a>(tokens: &[&'a str]) -> Declarations<'a> {
    let mut found = Vec::new();
    for (at, _) in tokens.iter().enumerate().filter(|(_, token)| **token == "uniform") {
        let rest = tokens.get(at + 1..).unwrap_or_default();
        let end = rest.iter().position(|token| *token == ";").unwrap_or(rest.len());
        let mut declaration = rest.get(..end).unwrap_or_default();
        // A structure may be declared in place: `uniform struct S { … } s;` names its type S.
        if let Some(open) = declaration.iter().position(|token| *token == "{") {
            let is_struct = declaration.contains(&"struct");
            let close = rest.iter().position(|token| *token == "}").unwrap_or(rest.len());
            let after = rest.get(close + 1..).unwrap_or_default();
            let end = after.iter().position(|token| *token == ";").unwrap_or(after.len());
            if is_struct && let Some(ty) = open.checked_sub(1).and_then(|at| rest.get(at)) {
                names(ty, after.get(..end).unwrap_or_default(), &mut found);
            }
            continue;
        }
        while let Some((first, after)) = declaration.split_first()
            && is_qualifier(first)
        {
            declaration = after;
        }
        if let Some((ty, after)) = declaration.split_first() {
            names(ty, after, &mut found);
        }
    }
    found
}

/// Returns the members of a structure, by its name.
fn structure<'a>(tokens: &[&'a str], name: &str) -> Option<Declarations<'a>> {
    let at = tokens.windows(3).position(|it| matches!(it, ["struct", of, "{"] if *of == name))?;
    let body = tokens.get(at + 3..)?;
    let body = body.get(..body.iter().position(|token| *token == "}")?)?;
    let mut found = Vec::new();
    for mut declaration in body.split(|token| *token == ";") {
        while let Some((first, after)) = declaration.split_first()
            && is_qualifier(first)
        {
            declaration = after;
        }
        if let Some((ty, after)) = declaration.split_first() {
            names(ty, after, &mut found);
        }
    }
    Some(found)
}

fn is_qualifier(token: &str) -> bool {
    matches!(
        token,
        "lowp"
            | "mediump"
            | "highp"
            | "const"
            | "readonly"
            | "writeonly"
            | "coherent"
            | "volatile"
            | "restrict"
            | "precise"
    )
}

/// Adds the names in `a, b[2], c`, all of one type. The size may also stand with the type: `float[2] a`.
fn names<'a>(ty: &'a str, declarators: &[&'a str], found: &mut Declarations<'a>) {
    let mut depth = 0;
    let mut is_next = true;
    for token in declarators {
        match *token {
            "[" | "(" | "{" => depth += 1,
            "]" | ")" | "}" => depth -= 1,
            "," if depth == 0 => is_next = true,
            name if depth == 0 && is_next => {
                found.push((name, ty));
                is_next = false;
            }
            _ => {}
        }
    }
}

fn gl_type(ty: &str) -> Option<u32> {
    Some(match ty {
        "float" => GL_FLOAT,
        "vec2" => GL_FLOAT_VEC2,
        "vec3" => GL_FLOAT_VEC3,
        "vec4" => GL_FLOAT_VEC4,
        "int" => GL_INT,
        "ivec2" => GL_INT_VEC2,
        "ivec3" => GL_INT_VEC3,
        "ivec4" => GL_INT_VEC4,
        "uint" => GL_UNSIGNED_INT,
        "uvec2" => GL_UNSIGNED_INT_VEC2,
        "uvec3" => GL_UNSIGNED_INT_VEC3,
        "uvec4" => GL_UNSIGNED_INT_VEC4,
        "bool" => GL_BOOL,
        "bvec2" => GL_BOOL_VEC2,
        "bvec3" => GL_BOOL_VEC3,
        "bvec4" => GL_BOOL_VEC4,
        "mat2" | "mat2x2" => GL_FLOAT_MAT2,
        "mat3" | "mat3x3" => GL_FLOAT_MAT3,
        "mat4" | "mat4x4" => GL_FLOAT_MAT4,
        "mat2x3" => GL_FLOAT_MAT2x3,
        "mat2x4" => GL_FLOAT_MAT2x4,
        "mat3x2" => GL_FLOAT_MAT3x2,
        "mat3x4" => GL_FLOAT_MAT3x4,
        "mat4x2" => GL_FLOAT_MAT4x2,
        "mat4x3" => GL_FLOAT_MAT4x3,
        "double" => GL_DOUBLE,
        "dvec2" => GL_DOUBLE_VEC2,
        "dvec3" => GL_DOUBLE_VEC3,
        "dvec4" => GL_DOUBLE_VEC4,
        "dmat2" | "dmat2x2" => GL_DOUBLE_MAT2,
        "dmat3" | "dmat3x3" => GL_DOUBLE_MAT3,
        "dmat4" | "dmat4x4" => GL_DOUBLE_MAT4,
        "dmat2x3" => GL_DOUBLE_MAT2x3,
        "dmat2x4" => GL_DOUBLE_MAT2x4,
        "dmat3x2" => GL_DOUBLE_MAT3x2,
        "dmat3x4" => GL_DOUBLE_MAT3x4,
        "dmat4x2" => GL_DOUBLE_MAT4x2,
        "dmat4x3" => GL_DOUBLE_MAT4x3,
        other if other.contains("sampler") || other.contains("image") => GL_SAMPLER_2D,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "#version 300 es
#define uniform_of_macro uniform vec2 no;
precision highp float;
// uniform vec2 commented;
/* uniform vec2 out; */
uniform mat4 projection, view;
uniform highp vec3 colors[4], tint;
layout(location = 3) uniform mediump vec4 placed;
uniform mediump sampler2D image;
uniform float[2] weights;
struct Inner { lowp vec2 offset; mat3 turn; };
struct Light { highp vec4 color; Inner inner[2]; float near, far; };
uniform Light light;
uniform Light lights[2];
uniform struct Own { ivec2 cell; } own;
layout(std140) uniform Block { mat4 hidden; };
uniform uint mask;
uniform bvec3 flags;
uniform mat2x3 narrow;
void main() { vec2 local = vec2(0.0); }
";

    #[test]
    fn type_is_that_of_the_declaration() {
        let check = |name, expected| assert_eq!(uniform_type(SOURCE, name), expected, "{name}");
        check("projection", Some(GL_FLOAT_MAT4));
        check("view", Some(GL_FLOAT_MAT4));
        check("colors[2]", Some(GL_FLOAT_VEC3));
        check("tint", Some(GL_FLOAT_VEC3));
        check("placed", Some(GL_FLOAT_VEC4));
        check("image", Some(GL_SAMPLER_2D));
        check("weights[1]", Some(GL_FLOAT));
        check("light.color", Some(GL_FLOAT_VEC4));
        check("light.far", Some(GL_FLOAT));
        check("lights[1].inner[0].turn", Some(GL_FLOAT_MAT3));
        check("own.cell", Some(GL_INT_VEC2));
        check("mask", Some(GL_UNSIGNED_INT));
        check("flags", Some(GL_BOOL_VEC3));
        check("narrow", Some(GL_FLOAT_MAT2x3));
        for name in ["hidden", "local", "commented", "out", "no", "light", "light.missing", ""] {
            check(name, None);
        }
    }

    #[test]
    fn uniform_with_an_explicit_location_is_found_by_it() {
        let source = "layout(location = 0) in vec2 corner;
layout(location = 2) uniform mediump vec4 tint;
layout(location=4) uniform mat3 turns[2];
layout(binding = 1) uniform sampler2D image;
layout(location = 7) uniform float tail;";
        let cases = [
            (0, None),
            (1, None),
            (2, Some(GL_FLOAT_VEC4)),
            (3, None),
            (4, Some(GL_FLOAT_MAT3)),
            (5, Some(GL_FLOAT_MAT3)),
            (6, None),
            (7, Some(GL_FLOAT)),
        ];
        for (location, ty) in cases {
            assert_eq!(type_at(source, location), ty, "{location}");
        }
        for end in 0..source.len() {
            type_at(&source[..end], 7);
        }
    }

    #[test]
    fn source_that_is_cut_anywhere_causes_no_panic() {
        for end in 0..SOURCE.len() {
            uniform_type(&SOURCE[..end], "lights[1].inner[0].turn");
            uniform_type(&SOURCE[end..], "own.cell");
        }
    }
}
