//! Elements of tracked changes: each has a number of its own, an author and a time.

use super::super::remarks::ChangeSignature;
use super::super::time;
use super::steps::RevisionMark;
use super::xml::escape;

/// Tracked changes of a document.
pub(super) struct Revisions<'a> {
    /// Signatures by the number of the change.
    signatures: Vec<&'a ChangeSignature>,
    /// Next number; each is used once.
    next: usize,
}

impl<'a> Revisions<'a> {
    pub fn new(signatures: Vec<&'a ChangeSignature>) -> Self {
        Self { signatures, next: 1 }
    }

    /// Returns the element around something tracked, and its attributes.
    pub fn element(&mut self, mark: RevisionMark) -> Option<(&'static str, String)> {
        let (name, by) = match mark {
            RevisionMark::Stays => return None,
            RevisionMark::Deleted(by) => ("del", by),
            RevisionMark::Inserted(by) => ("ins", by),
        };
        let signature = self.signatures.get(by as usize)?;
        let number = self.next;
        self.next += 1;
        Some((name, format!("w:id=\"{number}\" {}", attributes(signature))))
    }
}

/// Returns author and time as attributes.
pub(super) fn attributes(signature: &ChangeSignature) -> String {
    let date = time::seconds(signature.at_ms);
    format!("w:author=\"{}\" w:date=\"{date}\"", escape(&signature.author))
}
