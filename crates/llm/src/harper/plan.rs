//! Plan of the copy editor for a prompt: an edit of the selection or document, or an answer.

use std::ops::Range;
use std::sync::Arc;

use super::corrected_text::{self, CorrectionReason};
use super::intent::{EditIntent, LetterCase, ListStyle, MistakeScope, QuoteStyle, SortOrder};
use super::proofread::TextCorrection;
use super::rules::CorrectionKind;
use super::{edits, wording};
use crate::{ModelDocument, ModelSelection};

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
        /// Reasons of the single corrections.
        reasons: Vec<CorrectionReason>,
    },
}

/// First step towards an [`EditPlan`].
#[derive(Debug, PartialEq, Eq)]
pub(super) enum PlanStep {
    /// The plan is made.
    Ready(EditPlan),
    /// The plan needs the corrections of a text.
    Proofread(ProofreadTask),
}

/// Text that is to be checked for an edit.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ProofreadTask {
    /// Text to check: the document, or only the selection if the document is too long.
    pub(super) context: Arc<str>,
    target: EditTarget,
    /// Text that may be changed; a part of the context.
    part: String,
    /// First Unicode scalar of the part in the context.
    first: usize,
    /// Name of the part for people: "the selection" or "the document".
    name: &'static str,
    scope: MistakeScope,
    /// Word that asks for a further change, which cannot be done here.
    beyond: Option<String>,
}

/// Part of the document that is edited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EditTarget {
    /// Selection, in UTF-16 code units.
    Selection(ModelSelection),
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

/// Largest text in Unicode scalars: tools refuse larger ones, and checking takes many seconds.
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

impl PlanStep {
    /// Reads the prompt as an [`EditIntent`] and works on the text as far as that needs no
    /// dictionary. This takes time: call it on a blocking thread.
    pub(super) fn first(prompt: &str, document: Option<&ModelDocument>) -> Self {
        let say = |words: &str| Self::Ready(EditPlan::Say(words.into()));
        let intent = EditIntent::read(prompt);
        if intent == EditIntent::Beyond {
            return say(wording::WHAT_I_CAN_DO);
        }
        let Some(document) = document else {
            return say("Open a document first: there is no text to work on.");
        };
        let Some(part) = EditablePart::of(document) else {
            return say("The selection no longer fits the text. Please select it again.");
        };
        if part.text.trim().is_empty() {
            return say(&format!("There is nothing in {} yet.", part.name));
        }
        Self::Ready(match intent {
            EditIntent::Proofread { scope, beyond } => {
                return part.proofread(&document.text, scope, beyond);
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
            EditIntent::Beyond => EditPlan::Say(wording::WHAT_I_CAN_DO.into()),
        })
    }
}

impl ProofreadTask {
    /// Makes the plan from all corrections of [`ProofreadTask::context`].
    pub(super) fn plan(self, mut corrections: Vec<TextCorrection>) -> EditPlan {
        let last = self.first + self.part.chars().count();
        let is_wanted = |one: &TextCorrection| {
            self.first <= one.from && one.to <= last && self.scope.has(one.kind)
        };
        corrections.retain(is_wanted);
        if corrections.is_empty() {
            return EditPlan::Say(self.nothing_found());
        }
        let found = wording::found(&corrections, matches!(self.target, EditTarget::Selection(_)));
        let also = self.beyond.as_deref().map(wording::beyond).unwrap_or_default();
        let (new_text, reasons) = corrected_text::apply(&self.part, self.first, &corrections);
        EditPlan::Edit {
            opening: format!("{found}{also}"),
            target: self.target,
            new_text,
            reasons,
            explanation: wording::corrected(&corrections),
        }
    }

    fn nothing_found(&self) -> String {
        let what = match self.scope {
            MistakeScope::Everything => "mistakes",
            MistakeScope::SpellingOnly => "spelling mistakes",
        };
        let left_alone = "Names, rare words and what people say in quotation marks I leave alone.";
        let also = self.beyond.as_deref().map(wording::beyond).unwrap_or_default();
        format!("I read {} and found no {what} that I am sure of. {left_alone}{also}", self.name)
    }
}

impl<'a> EditablePart<'a> {
    /// Returns the selection, or else the document; `None` for a selection that does not fit.
    fn of(document: &'a ModelDocument) -> Option<Self> {
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

    fn proofread(&self, document: &str, scope: MistakeScope, beyond: Option<String>) -> PlanStep {
        // The document gives a selection its context, unless the document is too long.
        let (context, start) = if within_limit(document) {
            (document, self.start)
        } else if within_limit(self.text) {
            (self.text, 0)
        } else {
            let part = self.name;
            return PlanStep::Ready(EditPlan::Say(format!(
                "More than 100,000 characters are too many for me at once. Select a part of {part} and ask again."
            )));
        };
        PlanStep::Proofread(ProofreadTask {
            context: context.into(),
            target: self.target,
            part: self.text.to_owned(),
            first: context[..start].chars().count(),
            name: self.name,
            scope,
            beyond,
        })
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
        let (explanation, reasons) = (explanation.into(), Vec::new());
        EditPlan::Edit { opening, target: self.target, new_text, explanation, reasons }
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

fn within_limit(text: &str) -> bool {
    text.len() <= MAX_SCALARS || text.chars().count() <= MAX_SCALARS
}

/// Converts a range of UTF-16 code units to bytes; `None` if it does not fit the text.
fn bytes(text: &str, ModelSelection { from, to }: ModelSelection) -> Option<Range<usize>> {
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
