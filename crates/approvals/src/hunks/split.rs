//! Split of a hunk into one hunk for each of its parts, to be decided singly. Parts that are one
//! structure, such as the two marks of a bold passage, stay together.

use std::ops::Range;

use crate::reopen::AROUND;
use crate::{
    ApprovalRequest, ClosedBy, DecisionError, Hunk, HunkChoice, HunkKind, HunkStatus, HunkVerdict,
    InvalidDecisionReason, Person,
};
use copydesk_document::diff::{DraftPart, part_groups};
use copydesk_document::utf16_len;
use copydesk_ids::HunkId;
use copydesk_ids::permissions::Principal;

impl ApprovalRequest {
    /// Replaces an open hunk of several parts by one hunk for each part, and returns the new ones.
    /// Parts that are one structure stay one. Votes for the proposed words count for each.
    pub fn split(
        &mut self,
        id: &HunkId,
        who: &Principal,
        now_ms: u64,
    ) -> Result<Vec<HunkId>, DecisionError> {
        let index = self.hunks.iter().position(|hunk| hunk.id == *id);
        if index.is_none() && !self.was_replaced(id) {
            return Err(DecisionError::NotFound { hunk: id.clone() });
        }
        self.check_allowed(who)?;
        let verdict = HunkVerdict::plain(id.clone(), HunkChoice::Accept);
        let named: Vec<_> = index.into_iter().map(|index| (index, &verdict)).collect();
        self.check_open(&named, now_ms)?;
        let Some(index) = index else {
            return Err(DecisionError::StalePreview { current: self.preview_hash() });
        };
        let hunk = &self.hunks[index];
        let reason = match hunk {
            hunk if hunk.kind == Some(HunkKind::Moved) => Some(InvalidDecisionReason::SplitMoved),
            hunk if hunk.is_being_written() => Some(InvalidDecisionReason::StillWriting),
            hunk if hunk.parts.len() < 2 => Some(InvalidDecisionReason::SplitOnePart),
            _ => None,
        };
        let groups = hunk.part_groups();
        if let Some(reason) =
            reason.or((groups.len() < 2).then_some(InvalidDecisionReason::SplitStructure))
        {
            return Err(DecisionError::InvalidDecision { reason });
        }
        let parts = hunk.split(&groups);
        let ids = parts.iter().map(|hunk| hunk.id.clone()).collect();
        self.forget_hash();
        self.raise_revision();
        self.hunks.splice(index..=index, parts);
        self.mark_hunks();
        self.settle(ClosedBy::by(Some(Person::from(who)), now_ms));
        Ok(ids)
    }

    pub(crate) fn was_replaced(&self, id: &HunkId) -> bool {
        self.was_split(id)
            || self.hunk(id).is_none() && (self.was_joined(id) || self.was_written_on(id))
    }

    pub(crate) fn was_split(&self, id: &HunkId) -> bool {
        self.hunks.iter().any(|hunk| hunk.split_of.as_ref() == Some(id))
    }
}

impl Hunk {
    /// Returns the parts in runs that can be decided apart.
    fn part_groups(&self) -> Vec<Range<usize>> {
        let gaps = self.gaps.iter().map(String::as_str).chain(std::iter::once(""));
        let words = [self.around.0.as_str(), &self.base(), &self.around.1].concat();
        let mut at = utf16_len(&self.around.0);
        let mut parts = Vec::with_capacity(self.parts.len());
        for (part, gap) in self.parts.iter().zip(gaps) {
            let (from, to) = (at, at + utf16_len(&part.base));
            let (base, insert) = (part.base.clone(), part.insert.clone());
            parts.push(DraftPart { from, to, base, insert });
            at = to + utf16_len(gap);
        }
        part_groups(&words, &parts)
    }

    fn split(&self, groups: &[Range<usize>]) -> Vec<Self> {
        let words = [self.around.0.as_str(), &self.base(), &self.around.1].concat();
        let gap = |number: usize| self.gaps.get(number).map_or("", String::as_str);
        let mut at = self.around.0.len();
        let mut hunks = Vec::with_capacity(groups.len());
        for (number, group) in groups.iter().enumerate() {
            let (parts, last) = (&self.parts[group.clone()], group.end - 1);
            let within = (group.start..last).map(|number| gap(number).len()).sum::<usize>();
            let end = at + within + parts.iter().map(|part| part.base.len()).sum::<usize>();
            let around = (last_units(&words[..at]), first_units(&words[end..]));
            at = end + gap(last).len();
            let mut hunk = Self {
                id: HunkId::from(format!("{}.{}", self.id, number + 1)),
                parts: parts.to_vec(),
                gaps: self.gaps.get(group.start..last).unwrap_or_default().to_vec(),
                around,
                split_of: Some(self.id.clone()),
                split_gap: self.gaps.get(last).cloned(),
                marks: None,
                marks_of_whole: self.mark_kinds(),
                status: HunkStatus::Pending,
                ..self.clone()
            };
            // Votes for words of their own are for the hunk as a whole.
            hunk.votes.retain(|vote| vote.text.is_none() && vote.seen.is_none());
            hunk.update_conflict_status();
            hunks.push(hunk);
        }
        hunks
    }
}

fn last_units(text: &str) -> String {
    let starts = text.char_indices().map(|(at, _)| at);
    let start = starts.rev().take_while(|at| utf16_len(&text[*at..]) <= AROUND).last();
    start.map_or("", |start| &text[start..]).to_owned()
}

fn first_units(text: &str) -> String {
    let ends = text.char_indices().map(|(at, c)| at + c.len_utf8());
    let end = ends.take_while(|at| utf16_len(&text[..*at]) <= AROUND).last();
    end.map_or("", |end| &text[..end]).to_owned()
}
