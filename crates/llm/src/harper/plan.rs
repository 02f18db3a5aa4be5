//! Plan of the copy editor for a prompt: an edit of the selection or document, or an answer.

use std::ops::Range;

use super::intent::{EditIntent, LetterCase, ListStyle, MistakeScope, QuoteStyle, SortOrder};
use super::proofread::{TextCorrection, proofread};
use super::rules::CorrectionKind;
use super::{edits, wording};
use crate::{DocumentView, SelectionView};

/// Action of the copy editor.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum EditPlan {
    /// Answer in words only.
    Say(String),
    /// One edit, to be shown to people.
    Edit {
        /// Sentence that is said before the edit is shown.
        opening: String,
        target: EditTarget,
        new_text: String,
        explanation: String,
    },
}

/// Part of the document that is edited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EditTarget {
    /// Selection, in UTF-16 code units.
    Selection(SelectionView),
    Document,
}

/// Result that an edit aims at, for the answer when the text is so already.
#[derive(Clone, Copy)]
enum EditGoal {
    /// Nothing of this kind is left in the text.
    NoneOf(&'static str),
    /// The text has this property.
    IsSo(&'static str),
}

/// Largest text in Unicode scalars. The tools refuse larger documents, and checking them would take
/// many seconds.
const MAX_SCALARS: usize = 100_000;

/// Text that may be changed, as a part of the document.
struct EditablePart<'a> {
    target: EditTarget,
    text: &'a str,
    /// Offset of the part in the document, in bytes.
    start: usize,
    /// Name of the part for people: "the selection" or "the document".
    name: &'static str,
}

impl EditPlan {
    /// Reads the prompt as an [`EditIntent`] and works on the text. This takes time: call it on a
    /// blocking thread.
    pub(super) fn make(prompt: &str, document: Option<&DocumentView>) -> Self {
        let intent = EditIntent::read(prompt);
        if intent == EditIntent::Beyond {
            return Self::Say(wording::WHAT_I_CAN_DO.into());
        }
        let Some(document) = document else {
            return Self::Say("Open a document first: there is no text to work on.".into());
        };
        let Some(part) = EditablePart::of(document) else {
            return Self::Say(
                "The selection no longer fits the text. Please select it again.".into(),
            );
        };
        if part.text.trim().is_empty() {
            return Self::Say(format!("There is nothing in {} yet.", part.name));
        }
        match intent {
            EditIntent::Proofread { scope, beyond } => {
                part.proofread(&document.text, scope, beyond.as_deref())
            }
            EditIntent::Replace { what, with } => part.replace(&what, &with),
            EditIntent::Recase(case) => part.recase(case),
            EditIntent::MakeList(list) => part.make_list(list),
            EditIntent::SingleSpaces => {
                let spaces = "Removed spaces that stood twice or at the end of a line.";
                part.edit(
                    edits::single_spaces(part.text),
                    EditGoal::NoneOf("double spaces"),
                    spaces,
                )
            }
            EditIntent::Sort(order) => part.sort(order),
            EditIntent::Requote(quotes) => part.requote(quotes),
            EditIntent::Beyond => Self::Say(wording::WHAT_I_CAN_DO.into()),
        }
    }
}

impl<'a> EditablePart<'a> {
    /// Returns the selection if there is one, or else the document; `None` when the selection is
    /// not inside the text or cuts a character in two.
    fn of(document: &'a DocumentView) -> Option<Self> {
        let text = document.text.as_str();
        match document.selection.filter(|selection| selection.from != selection.to) {
            None => {
                Some(Self { target: EditTarget::Document, text, start: 0, name: "the document" })
            }
            Some(selection) => {
                let Range { start, end } = bytes(text, selection)?;
                let target = EditTarget::Selection(selection);
                Some(Self { target, text: &text[start..end], start, name: "the selection" })
            }
        }
    }

    fn proofread(&self, document: &str, scope: MistakeScope, beyond: Option<&str>) -> EditPlan {
        // The document gives a selection its context, unless the document is too long.
        let (context, start) = if within_limit(document) {
            (document, self.start)
        } else if within_limit(self.text) {
            (self.text, 0)
        } else {
            let part = self.name;
            return EditPlan::Say(format!(
                "More than 100,000 characters are too many for me at once. Select a part of {part} and ask again."
            ));
        };
        let first = context[..start].chars().count();
        let last = first + self.text.chars().count();
        let mut corrections = proofread(context);
        corrections.retain(|one| first <= one.from && one.to <= last && scope.has(one.kind));
        if corrections.is_empty() {
            return EditPlan::Say(self.nothing_found(scope, beyond));
        }
        let found = wording::places(corrections.len());
        let also = beyond.map(wording::beyond).unwrap_or_default();
        EditPlan::Edit {
            opening: format!("I read {} and found {found} to correct.{also}", self.name),
            target: self.target,
            new_text: apply(self.text, first, &corrections),
            explanation: wording::corrected(&corrections),
        }
    }

    fn nothing_found(&self, scope: MistakeScope, beyond: Option<&str>) -> String {
        let what = match scope {
            MistakeScope::Everything => "mistakes",
            MistakeScope::SpellingOnly => "spelling mistakes",
        };
        let left_alone = "Names, rare words and what people say in quotation marks I leave alone.";
        let also = beyond.map(wording::beyond).unwrap_or_default();
        format!("I read {} and found no {what} that I am sure of. {left_alone}{also}", self.name)
    }

    fn replace(&self, what: &str, with: &str) -> EditPlan {
        let (new_text, count) = edits::replace(self.text, what, with);
        if count > 0 {
            let explanation =
                format!("Replaced “{what}” with “{with}” in {}.", wording::places(count));
            return self.edit(new_text, EditGoal::IsSo("that"), &explanation);
        }
        let folded = self.text.to_lowercase().matches(&what.to_lowercase()).count();
        let name = self.name;
        EditPlan::Say(if folded > 0 {
            format!(
                "“{what}” as a word of its own, in these letters, is not in {name}. Letter case counts."
            )
        } else {
            format!("“{what}” is not in {name}.")
        })
    }

    fn recase(&self, case: LetterCase) -> EditPlan {
        let name = match case {
            LetterCase::Upper => "UPPERCASE",
            LetterCase::Lower => "lowercase",
            LetterCase::Title => "Title Case",
        };
        self.selected(
            |text| Some(edits::recase(text, case)),
            EditGoal::IsSo(name),
            &format!("Changed to {name}."),
        )
    }

    fn make_list(&self, list: ListStyle) -> EditPlan {
        let explanation = match list {
            ListStyle::Bulleted => "Made it a list.",
            ListStyle::Numbered => "Made it a numbered list.",
        };
        self.selected(|text| edits::make_list(text, list), EditGoal::IsSo("a list"), explanation)
    }

    fn sort(&self, order: SortOrder) -> EditPlan {
        let explanation = match order {
            SortOrder::Ascending => "Sorted the lines.",
            SortOrder::Descending => "Sorted the lines in reverse.",
        };
        self.selected(
            |text| Some(edits::sort_lines(text, order)),
            EditGoal::IsSo("sorted"),
            explanation,
        )
    }

    fn requote(&self, quotes: QuoteStyle) -> EditPlan {
        let explanation = match quotes {
            QuoteStyle::Straight => "Turned quotation marks and apostrophes straight.",
            QuoteStyle::Curly => "Turned quotation marks and apostrophes curly.",
        };
        self.edit(
            edits::requote(self.text, quotes),
            EditGoal::NoneOf("other quotation marks"),
            explanation,
        )
    }

    /// Makes an edit only of a selection, because it would damage a whole document.
    fn selected(
        &self,
        edit: impl FnOnce(&str) -> Option<String>,
        goal: EditGoal,
        explanation: &str,
    ) -> EditPlan {
        if self.target == EditTarget::Document {
            return EditPlan::Say("Please select the text you mean, then ask again.".into());
        }
        match edit(self.text) {
            Some(new_text) => self.edit(new_text, goal, explanation),
            None => EditPlan::Say(
                "I cannot tell the items apart. Put each on a line of its own.".into(),
            ),
        }
    }

    fn edit(&self, new_text: String, goal: EditGoal, explanation: &str) -> EditPlan {
        if new_text == self.text {
            let nothing = match goal {
                EditGoal::NoneOf(things) => format!("There are no {things} in {}.", self.name),
                EditGoal::IsSo(how) => {
                    format!("Nothing to do: {} is {how} already.", self.name)
                }
            };
            return EditPlan::Say(nothing);
        }
        let opening = format!("Here is {} with the change.", self.name);
        EditPlan::Edit { opening, target: self.target, new_text, explanation: explanation.into() }
    }
}

impl MistakeScope {
    fn has(self, kind: CorrectionKind) -> bool {
        match self {
            Self::Everything => true,
            Self::SpellingOnly => kind == CorrectionKind::Spelling,
        }
    }
}

/// Applies [`TextCorrection`]s to `text`, which begins at scalar `first` of the text they refer to.
fn apply(text: &str, first: usize, corrections: &[TextCorrection]) -> String {
    let letters: Vec<char> = text.chars().collect();
    let mut result = String::with_capacity(text.len());
    let mut done = 0;
    for one in corrections {
        result.extend(&letters[done..one.from - first]);
        result.push_str(&one.right);
        done = one.to - first;
    }
    result.extend(&letters[done..]);
    result
}

fn within_limit(text: &str) -> bool {
    text.len() <= MAX_SCALARS || text.chars().count() <= MAX_SCALARS
}

/// Converts a range of UTF-16 code units to bytes; `None` if it does not fit the text.
fn bytes(text: &str, SelectionView { from, to }: SelectionView) -> Option<Range<usize>> {
    let mut at = 0;
    let mut boundaries = text
        .char_indices()
        .map(|(byte, letter)| {
            let here = at;
            at += letter.len_utf16();
            (here, byte)
        })
        .collect::<Vec<_>>();
    boundaries.push((at, text.len()));
    let byte = |unit: usize| {
        let found = boundaries.binary_search_by_key(&unit, |(units, _)| *units).ok()?;
        Some(boundaries[found].1)
    };
    (from <= to).then_some(())?;
    Some(byte(from)?..byte(to)?)
}
