//! Marks, their kinds, and the languages of passages.

use serde::{Deserialize, Serialize};

use copydesk_macros::names;

/// Most marks that are returned for one change.
pub(crate) const MOST_MARKS: usize = 32;
/// Most characters of each side of a mark.
pub(crate) const MOST_CHARS: usize = 120;
/// Bytes of a side beyond which the order of words is not compared.
pub(crate) const ORDERED_BYTES: usize = 64 * 1024;

/// Kind of a changed meaning.
#[names(Hash, PartialOrd, Ord, Deserialize, Serialize, wire, lowercase)]
pub enum MarkKind {
    /// A number, an ordinal or a fraction, in digits or words.
    Number,
    /// A date, a year, a time of day, a day of the week.
    Date,
    /// The unit or currency of a number.
    Unit,
    /// A name or a term with a capital, and names that change places.
    Name,
    /// A negation, its scope, or a word by its opposite (allow and forbid).
    Negation,
    /// Duty, permission, certainty, or the source of a claim.
    Modality,
    /// Amounts, frequencies and `only`, as in *all*, *some*, *always*.
    Quantity,
    /// More or less, a bound, or a direction (rise and fall).
    Comparison,
    /// Before or after, first or last, or words that change places.
    Order,
    /// Words in quotation marks.
    Quote,
    /// The target of a link, a citation, a footnote, or a numbered part such as a figure.
    Link,
    /// Code, which is compared byte by byte.
    Code,
}

/// One changed meaning, in the words of the text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "wire", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Mark {
    /// Kind of the meaning that changed.
    pub kind: MarkKind,
    /// Words before the change; empty if nothing of the kind stood there.
    pub was: String,
    /// Words after the change; empty if nothing of the kind stands there.
    pub now: String,
}

/// Language of a passage, which decides about the words that are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Language {
    /// English, of any country.
    English,
    /// German, of any country.
    German,
    /// French, of any country.
    French,
    /// Any other language, or an unknown one.
    #[default]
    Other,
}
