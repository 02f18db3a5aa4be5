//! Marks of hunks: the facts that a change alters, worked out from the words of the hunk and the
//! text around them.

use crate::{ApprovalRequest, Hunk, Mark, MarkKind};
use copydesk_marks::{Language, marks};

/// Number of hunks whose passages give the language of a request.
const HUNKS_FOR_LANGUAGE: usize = 32;

impl Hunk {
    /// Returns the marks of the change as proposed; none if they were not worked out.
    pub fn marks(&self) -> &[Mark] {
        self.marks.as_deref().unwrap_or_default()
    }

    /// Returns the kinds by which policies judge the change as proposed: those of its own marks,
    /// and those of the hunk that it was split from. In order, each once.
    pub fn mark_kinds(&self) -> Vec<MarkKind> {
        let own = self.marks().iter().map(|mark| mark.kind);
        sorted(own.chain(self.marks_of_whole.iter().copied()).collect())
    }

    /// Returns `true` if no mark says that the change alters the meaning.
    pub fn keeps_meaning(&self) -> bool {
        self.marks.is_some() && self.mark_kinds().is_empty()
    }

    /// Describes the marks for people and models, as in `number 12 → 21; name Smith gone`.
    pub fn meaning(&self) -> Option<String> {
        let fact = |Mark { kind, was, now }: &Mark| match (was.is_empty(), now.is_empty()) {
            (true, _) => format!("{} {now} new", kind.as_str()),
            (false, true) => format!("{} {was} gone", kind.as_str()),
            (false, false) => format!("{} {was} → {now}", kind.as_str()),
        };
        let facts: Vec<_> = self.marks().iter().map(fact).collect();
        (!facts.is_empty()).then(|| facts.join("; "))
    }

    fn passage(&self) -> String {
        [&self.around.0, &self.base(), &self.around.1].map(String::as_str).concat()
    }

    fn marks_between(&self, base: &str, proposed: &str, language: Language) -> Vec<Mark> {
        if self.is_moved() {
            return marks(base, proposed, language);
        }
        let (before, after) = &self.around;
        let [base, proposed] = [base, proposed].map(|words| [before, words, after].concat());
        marks(&base, &proposed, language)
    }
}

impl ApprovalRequest {
    /// Works out the marks of all hunks that have none yet.
    pub fn mark_hunks(&mut self) {
        if self.hunks.iter().all(|hunk| hunk.marks.is_some()) {
            return;
        }
        let language = self.language();
        for hunk in self.hunks.iter_mut().filter(|hunk| hunk.marks.is_none()) {
            hunk.marks = Some(hunk.marks_between(&hunk.base(), &hunk.proposed(), language));
        }
    }

    /// Returns the kinds by which policies judge a hunk that is accepted with a person's own
    /// `text`, or over changed words that the person has `seen`; at least those of the proposal.
    pub fn applied_kinds(
        &self,
        hunk: &Hunk,
        text: Option<&str>,
        seen: Option<&str>,
    ) -> Vec<MarkKind> {
        let mut kinds = hunk.mark_kinds();
        if text.is_some() || seen.is_some() {
            let base = seen.map_or_else(|| hunk.base(), str::to_owned);
            let proposed = text.map_or_else(|| hunk.proposed(), str::to_owned);
            let applied = hunk.marks_between(&base, &proposed, self.language());
            kinds.extend(applied.into_iter().map(|mark| mark.kind));
        }
        sorted(kinds)
    }

    /// Returns the language of the passages that the request changes.
    fn language(&self) -> Language {
        let passages = self.hunks.iter().take(HUNKS_FOR_LANGUAGE).map(Hunk::passage);
        Language::of(&passages.collect::<Vec<_>>().join("\n")).unwrap_or_default()
    }
}

fn sorted(mut kinds: Vec<MarkKind>) -> Vec<MarkKind> {
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}
