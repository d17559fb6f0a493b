//! `Noise`: replaces contents by noise of the same size, which only a random key explains. Equal contents become equal noise, so
//! that a reader of the trace still sees what is repeated and which names are the same.
//!
//! The key is never written. Noise is no encryption: nobody can turn it back, the owner of the key included.

use std::collections::{HashMap, HashSet};

use gapii_trace::{BlobName, Untrusted};

/// Texts up to this length, in bytes, get a noise that no other text has. With longer ones chance takes care of it.
const SHORT_TEXT: usize = 8;
/// Noises that are tried for a short text. If all are taken, two texts have the same noise.
const TRIES: u64 = 64;
/// The characters of texts: one for each value of six bits.
const CHARACTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789__";

/// What a noise stands for. Equal bytes of two kinds have different noise.
#[derive(Clone, Copy)]
enum Kind {
    Memory,
    Text,
    Number,
    Name,
}

/// Makes noise with one key.
pub(super) struct Noise {
    key: [u8; 32],
    short: HashMap<Vec<u8>, Vec<u8>>,
    taken: HashSet<Vec<u8>>,
    ids: HashMap<u32, u32>,
}

impl Noise {
    pub(super) fn new(key: [u8; 32]) -> Self {
        Self { key, short: HashMap::new(), taken: HashSet::new(), ids: HashMap::new() }
    }

    fn stream(&self, kind: Kind, of: &[u8]) -> blake3::OutputReader {
        let mut hasher = blake3::Hasher::new_keyed(&self.key);
        hasher.update(&[kind as u8]).update(of);
        hasher.finalize_xof()
    }

    /// Fills `out` with the noise of the memory of this name, from byte `offset` on.
    pub(super) fn memory(&self, name: BlobName, offset: u64, out: &mut [u8]) {
        let mut stream = self.stream(Kind::Memory, &name.0);
        stream.set_position(offset);
        stream.fill(out);
    }

    /// Replaces a number of any size.
    pub(super) fn number(&self, number: &[u8], out: &mut [u8]) {
        self.stream(Kind::Number, number).fill(out);
    }

    /// Replaces a number of floating point, of 4 or 8 bytes, by one from 0 to 1.
    pub(super) fn float(&self, number: &[u8], out: &mut [u8]) {
        let mut bits = [0; 4];
        self.number(number, &mut bits);
        let noise = f64::from(u32::from_le_bytes(bits) >> 8) / f64::from(1 << 24);
        match out.len() {
            4 => out.copy_from_slice(&(noise as f32).to_le_bytes()),
            8 => out.copy_from_slice(&noise.to_le_bytes()),
            _ => out.fill(0),
        }
    }

    /// Returns the name that contents have which are not in the trace.
    pub(super) fn name(&self, name: BlobName) -> BlobName {
        let mut noise = [0; 16];
        self.stream(Kind::Name, &name.0).fill(&mut noise);
        BlobName(noise)
    }

    /// Returns the number that stands for the id of a process or a thread of the operating system: 0 stays, the others count
    /// from 1.
    pub(super) fn id(&mut self, id: u32) -> u32 {
        let next = self.ids.len() as u32 + 1;
        if id == 0 { 0 } else { *self.ids.entry(id).or_insert(next) }
    }

    /// Returns a text of letters and digits of the same length. Ends of lines and NULs stay.
    pub(super) fn text(&mut self, text: &[u8]) -> Vec<u8> {
        if text.len() > SHORT_TEXT {
            return self.text_at(text, 0);
        }
        if let Some(noise) = self.short.get(text) {
            return noise.clone();
        }
        let free = (0..TRIES).map(|at| self.text_at(text, at)).find(|it| !self.taken.contains(it));
        let noise = free.unwrap_or_else(|| self.text_at(text, 0));
        self.taken.insert(noise.clone());
        self.short.insert(text.to_vec(), noise.clone());
        noise
    }

    fn text_at(&self, text: &[u8], at: u64) -> Vec<u8> {
        let mut noise = vec![0; text.len()];
        let mut stream = self.stream(Kind::Text, text);
        stream.set_position(at * SHORT_TEXT as u64);
        stream.fill(&mut noise);
        for (noise, byte) in noise.iter_mut().zip(text) {
            *noise = match byte {
                0 | b'\n' => *byte,
                _ => CHARACTERS[usize::from(*noise % 64)],
            };
        }
        noise
    }

    /// Replaces each line by itself, so that it equals the same line elsewhere.
    pub(super) fn lines(&mut self, text: &[u8]) -> Vec<u8> {
        let lines: Vec<_> = text.split(|byte| *byte == b'\n').map(|line| self.text(line)).collect();
        lines.join(&b'\n')
    }

    /// Replaces the part of a text ahead of its first NUL. The rest becomes 0.
    pub(super) fn until_nul(&mut self, text: &[u8], out: &mut [u8]) {
        let len = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
        let noise = self.text(&text[..len]);
        out.fill(0);
        out[..len].copy_from_slice(&noise);
    }

    /// Replaces a text that is not observed memory.
    pub(super) fn word(&mut self, text: &str) -> String {
        self.text(text.as_bytes()).into_iter().map(char::from).collect()
    }

    /// Replaces a text that is not observed memory.
    pub(super) fn untrusted(&mut self, text: &Untrusted) -> Untrusted {
        self.word(text.raw()).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_keeps_its_length_lines_and_equality_and_nothing_else() {
        let mut noise = Noise::new([7; 32]);
        let source = b"void main() {\n  discard;\n}\0\n";
        let first = noise.text(source);
        assert_eq!((first.len(), first == source), (source.len(), false));
        let places = |text: &[u8]| -> Vec<_> {
            let ends = |(_, byte): &(usize, &u8)| matches!(**byte, 0 | b'\n');
            text.iter().enumerate().filter(ends).map(|(at, byte)| (at, *byte)).collect()
        };
        assert_eq!(places(&first), places(source));
        assert!(first.iter().all(|byte| matches!(byte, 0 | b'\n' | b' '..=b'~')));
        assert_eq!(noise.text(source), first);
        assert_ne!(Noise::new([8; 32]).text(source), first);
        assert_eq!(noise.lines(b"one\ntwo"), [noise.text(b"one"), noise.text(b"two")].join(&b'\n'));
    }

    #[test]
    fn short_texts_stay_different() {
        let mut noise = Noise::new([7; 32]);
        // As many texts as there are characters, which without care would share some: the last ones may have to.
        let all: HashSet<_> = (b'a'..=b'z').map(|letter| noise.text(&[letter])).collect();
        assert_eq!(all.len(), 26);
    }

    #[test]
    fn memory_has_one_noise_from_any_offset() {
        let noise = Noise::new([7; 32]);
        let name = BlobName::of(b"contents");
        let (mut whole, mut part) = ([0; 200], [0; 50]);
        noise.memory(name, 0, &mut whole);
        noise.memory(name, 120, &mut part);
        assert_eq!(whole[120..170], part);
    }

    #[test]
    fn ids_are_counted_and_0_stays() {
        let mut noise = Noise::new([7; 32]);
        assert_eq!([4711, 0, 99, 4711].map(|id| noise.id(id)), [1, 0, 2, 1]);
    }
}
