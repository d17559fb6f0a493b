//! Values that a vertex shader got from an array, turned back into the bytes of the array (OpenGL ES 3.2, 10.3.8). Bytes
//! that give the same value are not told apart: of the lowest two normalized signed numbers the greater one is taken.
//! Packed formats of 10-10-10-2 bits with the two bits first are not read.

use gapii_commands::constants::{
    GL_BYTE, GL_FIXED, GL_FLOAT, GL_HALF_FLOAT, GL_HALF_FLOAT_OES, GL_INT, GL_INT_2_10_10_10_REV,
    GL_SHORT, GL_UNSIGNED_BYTE, GL_UNSIGNED_INT, GL_UNSIGNED_INT_2_10_10_10_REV, GL_UNSIGNED_SHORT,
};
use gapii_state::VertexAttrib;

use super::formats::half;
use super::glsl;

/// Bytes of the four words that the shader writes for each vertex.
pub const WORDS: usize = 16;

/// Returns a vertex shader that writes the bits of an attribute's value into the varying `words`.
pub fn shader(location: u32, attrib: &VertexAttrib) -> String {
    let (kind, bits) = match (attrib.integer, attrib.kind) {
        (false, _) => ("vec4", "floatBitsToUint(value)"),
        (true, GL_BYTE | GL_SHORT | GL_INT) => ("ivec4", "uvec4(value)"),
        (true, _) => ("uvec4", "value"),
    };
    let version = glsl::version(300);
    format!(
        "{version}
layout(location = {location}) in highp {kind} value;
flat out highp uvec4 words;
void main() {{
    words = {bits};
    gl_Position = vec4(0.0);
    gl_PointSize = 1.0;
}}
"
    )
}

/// Returns the bytes of one vertex. `words` are those that the shader has written. `None` for formats that are not read.
pub fn bytes(attrib: &VertexAttrib, words: &[u8]) -> Option<Vec<u8>> {
    let components = usize::try_from(attrib.size).ok()?;
    let mut all = words.chunks_exact(4).filter_map(|word| word.first_chunk()).copied();
    let packed = |bits: [u32; 4], is_signed: bool, values: [f32; 4]| {
        let mut word = 0;
        let mut at = 0;
        for (bits, value) in bits.into_iter().zip(values) {
            let most = (1_u32 << (bits - u32::from(is_signed))) - 1;
            let scale = if attrib.normalized { f64::from(most) } else { 1.0 };
            let number = (f64::from(value) * scale).round() as i64 as u32;
            word |= (number & ((1 << bits) - 1)) << at;
            at += bits;
        }
        word.to_le_bytes().to_vec()
    };
    if let GL_INT_2_10_10_10_REV | GL_UNSIGNED_INT_2_10_10_10_REV = attrib.kind {
        let mut values = [0.0; 4];
        values.iter_mut().zip(&mut all).for_each(|(value, word)| *value = f32::from_le_bytes(word));
        return Some(packed([10, 10, 10, 2], attrib.kind == GL_INT_2_10_10_10_REV, values));
    }
    let mut bytes = Vec::new();
    for word in all.take(components) {
        let value = f32::from_le_bytes(word);
        let number = |most: f64| match (attrib.integer, attrib.normalized) {
            (true, _) => i64::from(i32::from_le_bytes(word)),
            (false, true) => (f64::from(value) * most).round() as i64,
            (false, false) => f64::from(value).round() as i64,
        };
        match attrib.kind {
            GL_FLOAT => bytes.extend_from_slice(&word),
            GL_HALF_FLOAT | GL_HALF_FLOAT_OES => {
                bytes.extend_from_slice(&half(value).to_le_bytes())
            }
            GL_FIXED => {
                let fixed = (f64::from(value) * 65536.0).round() as i32;
                bytes.extend_from_slice(&fixed.to_le_bytes());
            }
            GL_BYTE => bytes.push(number(127.0) as u8),
            GL_UNSIGNED_BYTE => bytes.push(number(255.0) as u8),
            GL_SHORT => bytes.extend_from_slice(&(number(32767.0) as u16).to_le_bytes()),
            GL_UNSIGNED_SHORT => bytes.extend_from_slice(&(number(65535.0) as u16).to_le_bytes()),
            GL_INT => bytes.extend_from_slice(&(number(2_147_483_647.0) as u32).to_le_bytes()),
            GL_UNSIGNED_INT => {
                bytes.extend_from_slice(&(number(4_294_967_295.0) as u32).to_le_bytes());
            }
            _ => return None,
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(kind: u32, normalized: bool, values: [f32; 4], size: i32) -> Option<Vec<u8>> {
        let attrib = VertexAttrib { size, kind, normalized, ..VertexAttrib::default() };
        let words: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        bytes(&attrib, &words)
    }

    #[test]
    fn values_become_the_bytes_that_they_were_read_from() {
        for number in [0_i16, 1, -1, 77, -32767, 32767] {
            let value = f32::from(number) / 32767.0;
            let expected = Some(number.to_le_bytes().to_vec());
            assert_eq!(read(GL_SHORT, true, [value, 0.0, 0.0, 1.0], 1), expected);
        }
        assert_eq!(read(GL_BYTE, false, [-128.0, 5.0, 0.0, 1.0], 2), Some(vec![0x80, 5]));
        assert_eq!(read(GL_UNSIGNED_BYTE, true, [1.0, 0.0, 0.0, 1.0], 1), Some(vec![255]));
        assert_eq!(
            read(GL_FIXED, false, [-1.5, 0.0, 0.0, 1.0], 1),
            Some(vec![0, 0x80, 0xFE, 0xFF])
        );
        assert_eq!(read(GL_HALF_FLOAT, false, [1.0, 0.0, 0.0, 1.0], 1), Some(vec![0, 0x3C]));
        let packed = read(GL_INT_2_10_10_10_REV, true, [1.0, -1.0, 0.0, -1.0], 4);
        assert_eq!(packed, Some((0x1FF_u32 | 0x201 << 10 | 3 << 30).to_le_bytes().to_vec()));
    }

    #[test]
    fn integers_keep_all_bits() {
        let attrib = VertexAttrib { integer: true, kind: GL_INT, ..VertexAttrib::default() };
        let words: Vec<u8> =
            [i32::MIN, -1, 0, i32::MAX].iter().flat_map(|it| it.to_le_bytes()).collect();
        assert_eq!(bytes(&attrib, &words), Some(words));
    }
}
