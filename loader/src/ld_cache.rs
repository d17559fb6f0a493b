//! Reads `/etc/ld.so.cache`, which maps sonames to paths: glibc's current format (`glibc-ld.so.cache1.1`), alone or
//! after a table in the older format. A missing file, and any other content, counts as an empty cache.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

const MAGIC: &[u8] = b"glibc-ld.so.cache1.1";
const OLD_MAGIC: &[u8] = b"ld.so-1.7.0";
/// Size in bytes of the header before the entries: magic, count, string table size, five words.
const HEADER_BYTES: usize = 48;
/// Size in bytes of an entry: flags, key, value, OS version, hardware capabilities.
const ENTRY_BYTES: usize = 24;
/// Flags of a library for this machine's usual ABI.
const FLAGS: u32 = if cfg!(target_arch = "x86_64") { 0x0303 } else { 0x0a03 };

/// The content of the cache file.
pub struct LdCache(Vec<u8>);

impl LdCache {
    /// Reads the system's cache; `None` if it cannot be read.
    pub fn open() -> Option<LdCache> {
        std::fs::read("/etc/ld.so.cache").ok().map(LdCache)
    }

    /// Returns the paths for `soname`, in the cache's order.
    pub fn find(&self, soname: &str) -> Vec<PathBuf> {
        entries(&self.0, soname.as_bytes()).unwrap_or_default()
    }
}

fn entries(cache: &[u8], soname: &[u8]) -> Option<Vec<PathBuf>> {
    let table = cache.get(table_offset(cache)?..)?;
    let count = word(table, 20)? as usize;
    let mut found = Vec::new();
    for i in 0..count {
        let at = HEADER_BYTES + i.checked_mul(ENTRY_BYTES)?;
        if word(table, at)? == FLAGS && text(table, word(table, at + 4)?)? == soname {
            let path = text(table, word(table, at + 8)?)?;
            found.push(Path::new(std::ffi::OsStr::from_bytes(path)).to_path_buf());
        }
    }
    Some(found)
}

/// Offset at which the current format begins: 0, or after the old format's table, 8-byte aligned.
fn table_offset(cache: &[u8]) -> Option<usize> {
    if cache.starts_with(MAGIC) {
        return Some(0);
    }
    if !cache.starts_with(OLD_MAGIC) {
        return None;
    }
    let entries = word(cache, 12)? as usize;
    let offset = (16 + entries.checked_mul(12)?).next_multiple_of(8);
    cache.get(offset..)?.starts_with(MAGIC).then_some(offset)
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

/// Returns the NUL-terminated string at `offset` from the table's start, without the NUL.
fn text(table: &[u8], offset: u32) -> Option<&[u8]> {
    let rest = table.get(offset as usize..)?;
    rest.get(..rest.iter().position(|&byte| byte == 0)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cache of `(flags, soname, path)` entries, in the format of ldconfig.
    fn cache(libraries: &[(u32, &str, &str)]) -> Vec<u8> {
        let mut strings = Vec::new();
        let strings_at = HEADER_BYTES + libraries.len() * ENTRY_BYTES;
        let mut place = |text: &str| {
            let at = (strings_at + strings.len()) as u32;
            strings.extend_from_slice(text.as_bytes());
            strings.push(0);
            at
        };
        let mut table = MAGIC.to_vec();
        table.extend((libraries.len() as u32).to_ne_bytes());
        table.resize(HEADER_BYTES, 0);
        for (flags, soname, path) in libraries {
            for word in [*flags, place(soname), place(path), 0, 0, 0] {
                table.extend(word.to_ne_bytes());
            }
        }
        table.extend(strings);
        table
    }

    fn check(cache: &[u8], soname: &str, expected: &[&str]) {
        let found = entries(cache, soname.as_bytes()).unwrap_or_default();
        let expected: Vec<PathBuf> = expected.iter().map(PathBuf::from).collect();
        assert_eq!(found, expected, "{soname}");
    }

    #[test]
    fn soname_is_found_in_order_and_for_this_machine_only() {
        let libraries = [
            (FLAGS, "libEGL.so.1", "/opt/libEGL.so.1"),
            (0x0003, "libEGL.so.1", "/lib32/libEGL.so.1"),
            (FLAGS, "libEGL.so", "/usr/lib/libEGL.so"),
            (FLAGS, "libEGL.so.1", "/usr/lib/libEGL.so.1"),
        ];
        let cache = cache(&libraries);
        check(&cache, "libEGL.so.1", &["/opt/libEGL.so.1", "/usr/lib/libEGL.so.1"]);
        check(&cache, "libGLESv2.so.2", &[]);
    }

    #[test]
    fn table_behind_the_older_format_is_found() {
        let mut old = OLD_MAGIC.to_vec();
        old.resize(12, 0);
        old.extend(1_u32.to_ne_bytes());
        old.resize((16_usize + 12).next_multiple_of(8), 0);
        old.extend(cache(&[(FLAGS, "libEGL.so.1", "/usr/lib/libEGL.so.1")]));
        check(&old, "libEGL.so.1", &["/usr/lib/libEGL.so.1"]);
    }

    #[test]
    fn cut_or_changed_cache_finds_nothing_else() {
        let whole = cache(&[(FLAGS, "libEGL.so.1", "/usr/lib/libEGL.so.1")]);
        for len in 0..whole.len() {
            check(&whole[..len], "libEGL.so.1", &[]);
        }
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 0xFF;
            // Any result is fine, as long as no byte outside the file is read.
            let _ = entries(&changed, b"libEGL.so.1");
        }
    }
}
