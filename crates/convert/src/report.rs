//! Report of an import for the person who imports: things that were left out, and decisions of the
//! reader. An empty report means that nothing was lost.

use serde::{Deserialize, Serialize};

/// Longest example of what is left out, in characters.
pub(crate) const LONGEST_EXAMPLE: usize = 80;

/// Things that a reader left out of a document, and its decisions about them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Kinds of things that are not in the Markdown.
    pub left_out: Vec<LeftOut>,
    /// Kinds of choices that the reader made for the person.
    pub decided: Vec<Decided>,
}

/// One kind of thing that is not in the Markdown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LeftOut {
    /// Name of the kind in the singular, such as `picture` or `comment`.
    pub kind: String,
    /// Number of things of this kind.
    pub count: u32,
    /// First of them in short, at most 80 characters: a comment's words, a picture's description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub example: Option<String>,
}

/// One kind of choice that a reader made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Decided {
    /// Name of the choice, such as `merged cell` or `table without a heading`.
    pub kind: String,
    /// Number of places.
    pub count: u32,
}

impl Report {
    /// Returns whether nothing was left out and nothing decided.
    pub fn is_empty(&self) -> bool {
        self.left_out.is_empty() && self.decided.is_empty()
    }

    /// Counts one thing that is left out.
    pub fn leave_out(&mut self, kind: &str, example: Option<&str>) {
        if let Some(known) = self.left_out.iter_mut().find(|known| known.kind == kind) {
            known.count += 1;
            return;
        }
        let example = example
            .map(|words| words.trim().chars().take(LONGEST_EXAMPLE).collect::<String>())
            .filter(|words| !words.is_empty());
        self.left_out.push(LeftOut { kind: kind.to_owned(), count: 1, example });
    }

    /// Counts one choice.
    pub fn decide(&mut self, kind: &str) {
        if let Some(known) = self.decided.iter_mut().find(|known| known.kind == kind) {
            known.count += 1;
            return;
        }
        self.decided.push(Decided { kind: kind.to_owned(), count: 1 });
    }

    /// Takes in another report of the same document: of each kind the larger number counts.
    pub fn take_larger(&mut self, other: Self) {
        for more in other.left_out {
            match self.left_out.iter_mut().find(|known| known.kind == more.kind) {
                Some(known) => known.count = known.count.max(more.count),
                None => self.left_out.push(more),
            }
        }
        for more in other.decided {
            match self.decided.iter_mut().find(|known| known.kind == more.kind) {
                Some(known) => known.count = known.count.max(more.count),
                None => self.decided.push(more),
            }
        }
    }
}
