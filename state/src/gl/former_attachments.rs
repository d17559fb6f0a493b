//! What framebuffers of a context had attached before. The context may have drawn to it and not flushed since, so that a
//! snapshot which another thread makes has older pixels of it.

use crate::Attachment;
use crate::stored::{Reader, Stored, Writer};

/// Number of attachments that a context keeps.
const KEPT_MAX: usize = 32;

/// The last attachments that were removed or replaced, each once, the newest last. Only the shim notes them.
#[derive(Clone, Debug, Default)]
pub struct FormerAttachments {
    kept: Vec<Attachment>,
}

impl FormerAttachments {
    /// Notes an attachment that is removed.
    pub fn note(&mut self, attachment: Attachment) {
        self.kept.retain(|it| *it != attachment);
        if self.kept.len() == KEPT_MAX {
            self.kept.remove(0);
        }
        self.kept.push(attachment);
    }

    /// The attachments. Their objects may be deleted.
    pub fn iter(&self) -> impl Iterator<Item = &Attachment> {
        self.kept.iter()
    }
}

/// Readers of a trace have nothing of it.
impl Stored for FormerAttachments {
    fn store(&self, _: &mut Writer) {}

    fn restore(_: &mut Reader<'_>) -> Option<Self> {
        Some(Self::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(level: i32) -> Attachment {
        Attachment { level, ..Attachment::default() }
    }

    #[test]
    fn last_attachments_are_kept_once_each() {
        let mut former = FormerAttachments::default();
        for it in [0, 1, 2, 1].map(level).into_iter().chain((3..33).map(level)) {
            former.note(it);
        }
        let kept: Vec<i32> = former.iter().map(|it| it.level).collect();
        let expected: Vec<i32> = [2, 1].into_iter().chain(3..33).collect();
        assert_eq!(kept, expected);
    }
}
