//! Rule: no hand-written file spells the value of an API constant, because the generated files name all of them. Found
//! are `const GL_…` and `const EGL_…` of a literal, and four hexadecimal digits that are an enum's value, except those
//! in `COMMON`. Tests, `apigen` and `xtask` may type them.

use std::collections::BTreeSet;

use super::tokens::{Kind, Token};

/// Values that often have another meaning: masks, and round numbers.
const COMMON: &[u32] = &[0x7fff, 0x8000, 0xfffe, 0xffff];

/// The values of four hexadecimal digits in a registry's `value="0x…"`.
pub fn values(registry: &str) -> BTreeSet<u32> {
    let pieces = registry.split("value=\"0x").skip(1).filter_map(|rest| rest.split('"').next());
    let values = pieces.filter(|digits| digits.len() == 4);
    values.filter_map(|digits| u32::from_str_radix(digits, 16).ok()).collect()
}

/// Lines of constants that are typed by hand, with the constant.
pub fn typed_by_hand(tokens: &[Token<'_>], values: &BTreeSet<u32>) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        if token.kind != Kind::Word {
            continue;
        }
        if let Some(value) = hexadecimal(token.text) {
            if values.contains(&value) && !COMMON.contains(&value) {
                found
                    .push((token.line, format!("{} is an API constant typed by hand", token.text)));
            }
            continue;
        }
        let is_constant = at > 0 && tokens[at - 1].is("const");
        let is_of_api = token.text.starts_with("GL_") || token.text.starts_with("EGL_");
        if is_constant && is_of_api && is_small_literal(&tokens[at..]) {
            found.push((token.line, format!("{} is an API constant typed by hand", token.text)));
        }
    }
    found
}

/// The value of `0x` and four digits, with or without a type.
fn hexadecimal(word: &str) -> Option<u32> {
    let digits = word.strip_prefix("0x")?;
    let digits = ["_u32", "_i32", "u16", "u32", "i32", "u64", "i64", "usize"]
        .iter()
        .find_map(|suffix| digits.strip_suffix(suffix))
        .unwrap_or(digits);
    (digits.len() == 4).then(|| u32::from_str_radix(digits, 16).ok())?
}

/// True if a number that [`hexadecimal`] does not find stands between `=` and `;`.
fn is_small_literal(tokens: &[Token<'_>]) -> bool {
    let value = tokens.iter().position(|token| token.is("=")).and_then(|at| tokens.get(at + 1));
    value.is_some_and(|value| {
        value.text.starts_with(|c: char| c.is_ascii_digit()) && hexadecimal(value.text).is_none()
    })
}

#[cfg(test)]
mod tests {
    use super::super::tokens::{tokens, without_tests};
    use super::*;

    const REGISTRY: &str = "<enum value=\"0x8892\" name=\"GL_ARRAY_BUFFER\"/> <enum value=\"0x1F00\"/> \
                            <enum value=\"0x00000001\"/> <enum value=\"1\"/>";

    fn found(text: &str) -> usize {
        typed_by_hand(&without_tests(&tokens(text)), &values(REGISTRY)).len()
    }

    #[test]
    fn values_of_four_digits_are_read_from_a_registry() {
        assert_eq!(values(REGISTRY), BTreeSet::from([0x8892, 0x1f00]));
    }

    #[test]
    fn constant_typed_by_hand_is_found() {
        let check = |text: &str, expected: usize| assert_eq!(found(text), expected, "{text}");
        check("if target == 0x8892 {}", 1);
        check("const VENDOR: u32 = 0x1F00;", 1);
        check("const GL_ARRAY_BUFFER: u32 = 0x8892;", 1);
        check("const EGL_NONE: i32 = 12344;", 1);
        check("f(0x8892_u32, 0x8892u32)", 2);
    }

    #[test]
    fn other_numbers_are_not() {
        let check = |text: &str| assert_eq!(found(text), 0, "{text}");
        check("0x1234 + 0x08892 + 0x88 + 35_090");
        check("const GL_ARRAY_BUFFER: u32 = gles::ARRAY_BUFFER;");
        check("// 0x8892\n\"0x8892\"");
        check("#[cfg(test)] mod tests { const A: u32 = 0x8892; }");
    }
}
