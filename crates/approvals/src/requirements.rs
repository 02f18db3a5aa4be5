//! Requirements of a decision, computed for what it would apply: by size, tool and path.
//!
//! A request is judged when it arrives, and before a decision once more as it will be applied: with
//! people's own words, with an edited input, on a fresh preview, and with everything that was
//! accepted of it before. The stricter of both results holds.

use std::sync::Arc;

use super::preview::changed_units;
use super::{
    ApprovalRequest, ApprovalRequirement, ApprovalRule, ChangeExtent, DecisionError,
    DecisionPolicy, Hunk, HunkStatus, MarkKind, NotAllowedReason, RuleEffect, RuleSubject,
    ToolCatalog, ToolPolicy, UpdatedPreview,
};
use crate::hunks::apply::HunkEdit;
use copydesk_document::utf16_len;
use copydesk_ids::permissions::{Action, Principal};

/// Requirements of a document or of the workspace inbox: its policies, and the rules of its owners.
#[derive(Clone, Debug, Default)]
pub struct DecisionRequirements<'a> {
    /// Tools of the server.
    pub tools: ToolCatalog,
    /// Policy for every decision.
    pub policy: DecisionPolicy,
    /// Stricter policies for some tools and sizes.
    pub policies: &'a [ToolPolicy],
    /// Rules in force.
    pub rules: Vec<&'a ApprovalRule>,
    /// Further requirements of the inbox, of a document that is a workspace file.
    pub inbox_policies: Option<FileRequirements<'a>>,
}

/// Requirements of a request by the settings at one time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgedRequirements {
    /// For the whole request as it was proposed.
    pub proposed: ApprovalRequirement,
    /// For accepting what is open, at least that of the proposal.
    pub standing: ApprovalRequirement,
    /// For each hunk [`Hunk::required`].
    pub hunks: Vec<ApprovalRequirement>,
}

/// Requirements of the inbox before a workspace file is changed.
#[derive(Clone, Copy, Debug)]
pub struct FileRequirements<'a> {
    /// The file, from the workspace's top.
    pub path: &'a str,
    /// Policy for every decision.
    pub policy: DecisionPolicy,
    /// Stricter policies for some tools and sizes.
    pub policies: &'a [ToolPolicy],
    /// The rules in force.
    pub rules: &'a [Arc<ApprovalRule>],
}

impl DecisionRequirements<'_> {
    /// Returns the requirement for applying `matter`.
    pub fn requirement_of(&self, matter: &RuleSubject) -> ApprovalRequirement {
        let own = self.policy.of(matter, self.policies);
        self.inbox_policies.map_or(own, |inbox| own.with(inbox.requirement_of(matter)))
    }

    /// Returns `true` if a policy is for some kinds of marks only.
    pub(super) fn has_marks(&self) -> bool {
        let inbox = self.inbox_policies.map_or(&[][..], |inbox| inbox.policies);
        self.policies.iter().chain(inbox).any(|policy| policy.marks.is_some())
    }

    fn denies(&self, matter: &RuleSubject) -> bool {
        denies(self.rules.iter().copied(), matter)
            || self.inbox_policies.is_some_and(|inbox| inbox.denies(matter))
    }
}

impl FileRequirements<'_> {
    fn matters<'m>(&'m self, matter: &RuleSubject<'m>) -> impl Iterator<Item = RuleSubject<'m>> {
        let &RuleSubject { tools, tool, units, requester, marks, .. } = matter;
        let is_for_files = tools.file_tools().any(|name| name == tool);
        let others = tools.file_tools().filter(move |_| !is_for_files);
        let file = Some(self.path);
        let of =
            move |tool| RuleSubject { tools, tool, document: None, file, units, requester, marks };
        std::iter::once(tool).chain(others).map(of)
    }

    fn requirement_of(&self, matter: &RuleSubject) -> ApprovalRequirement {
        let takes = self.matters(matter).map(|matter| self.policy.of(&matter, self.policies));
        takes.fold(ApprovalRequirement::default(), ApprovalRequirement::with)
    }

    fn denies(&self, matter: &RuleSubject) -> bool {
        self.matters(matter).any(|matter| denies(self.rules.iter().map(AsRef::as_ref), &matter))
    }
}

fn denies<'r>(mut rules: impl Iterator<Item = &'r ApprovalRule>, matter: &RuleSubject) -> bool {
    rules.any(|rule| rule.effect == RuleEffect::Deny && rule.stops(matter))
}

impl ApprovalRequest {
    /// Returns the subject that rules and policies look at, for a change of this extent.
    pub fn matter<'a>(
        &'a self,
        extent: &'a ChangeExtent,
        tools: &'a ToolCatalog,
    ) -> RuleSubject<'a> {
        let document = self.proposal.document.as_ref();
        let file = extent.file.as_deref().filter(|_| document.is_none());
        RuleSubject {
            tools,
            tool: &self.proposal.origin.tool,
            document,
            file,
            units: extent.units,
            requester: self.proposal.requester_ids(),
            marks: &[],
        }
    }

    /// Returns the extent of the whole request as it was proposed.
    pub fn proposed_extent(&self) -> ChangeExtent {
        let first = self.announced_for.as_ref().and_then(|announced| announced.extent.clone());
        match first.filter(|_| self.hunks.is_empty()) {
            Some(first) => first,
            None => ChangeExtent {
                units: self.units(),
                file: self.proposal.action.preview.file_path.clone(),
            },
        }
    }

    /// Returns the extent of the accepted hunks as applied, and of the open ones as proposed.
    fn standing_extent(&self) -> ChangeExtent {
        if self.hunks.is_empty() {
            return ChangeExtent::from(&self.proposal.action.preview);
        }
        let open = self.hunks.iter().filter(|hunk| hunk.status.is_open());
        let parts = open.flat_map(|hunk| &hunk.parts);
        let open: usize = parts.map(|part| utf16_len(&part.base) + utf16_len(&part.insert)).sum();
        self.of_units(self.accepted_units() + open)
    }

    /// Returns the extent of what was accepted already plus `edits`; `with_text` is `true` for a
    /// hunk that is accepted with a person's own words.
    pub(super) fn extent_with(
        &self,
        edits: &[HunkEdit],
        with_text: impl Fn(usize) -> bool,
    ) -> ChangeExtent {
        let units = edits.iter().map(|HunkEdit { index, edit, base, .. }| {
            units_of(base, &edit.insert, with_text(*index))
        });
        self.of_units(self.accepted_units() + units.sum::<usize>())
    }

    pub(super) fn reversed_extent(&self, edits: &[HunkEdit]) -> ChangeExtent {
        let units = edits.iter().map(|HunkEdit { index, edit, base, .. }| {
            units_of(base, &edit.insert, self.has_own_words(*index))
        });
        self.of_units(units.sum())
    }

    /// Returns the extent of an edited call; its size is unknown if there is no new preview.
    pub(super) fn revised_extent(&self, revised: Option<&UpdatedPreview>) -> ChangeExtent {
        let preview = &self.proposal.action.preview;
        let unknown = || ChangeExtent { units: None, file: preview.file_path.clone() };
        revised.map_or_else(unknown, |fresh| ChangeExtent::from(&fresh.preview))
    }

    fn of_units(&self, units: usize) -> ChangeExtent {
        ChangeExtent { units: Some(units), file: self.proposal.action.preview.file_path.clone() }
    }

    fn accepted_units(&self) -> usize {
        let accepted = self.hunks.iter().enumerate();
        let accepted = accepted.filter(|(_, hunk)| hunk.status == HunkStatus::Accepted);
        let parts =
            accepted.flat_map(|(index, hunk)| hunk.inverse.iter().map(move |part| (index, part)));
        parts
            .map(|(index, part)| units_of(&part.insert, &part.base, self.has_own_words(index)))
            .sum()
    }

    fn has_own_words(&self, index: usize) -> bool {
        self.hunks[index].decided.as_ref().is_some_and(|decided| decided.text.is_some())
    }

    /// Refuses a change that a rule denies, at this extent or as the whole request was proposed.
    /// `most` is the most units that rules for files allow.
    pub(super) fn check_denied(
        &self,
        extent: &ChangeExtent,
        most: Option<usize>,
        requirements: &DecisionRequirements,
    ) -> Result<(), DecisionError> {
        let proposed = self.proposed_extent();
        let is_denied = |extent: &ChangeExtent| {
            most.is_some_and(|most| extent.units.is_none_or(|units| units > most))
                || requirements.denies(&self.matter(extent, &requirements.tools))
        };
        if is_denied(&proposed) || is_denied(extent) {
            return Err(DecisionError::NotAllowed { reason: NotAllowedReason::DeniedByRule });
        }
        Ok(())
    }

    pub(super) fn check_not_denied(
        &self,
        extent: &ChangeExtent,
        requirements: &DecisionRequirements,
    ) -> Result<(), DecisionError> {
        if requirements.denies(&self.matter(extent, &requirements.tools)) {
            return Err(DecisionError::NotAllowed { reason: NotAllowedReason::DeniedByRule });
        }
        Ok(())
    }

    /// Returns the requirement for `who` to apply or undo this much of the request; at least the
    /// requirement of the whole request as it was proposed.
    ///
    /// # Errors
    /// [`DecisionError::NotAllowed`] if the requirement does not admit `who`, or if the request is
    /// their own suggestion and they may not write.
    pub(super) fn requirement_for(
        &self,
        extent: &ChangeExtent,
        who: &Principal,
        requirements: &DecisionRequirements,
    ) -> Result<ApprovalRequirement, DecisionError> {
        let document = self.proposal.document.as_ref();
        if self.proposal.is_suggestion()
            && self.proposal.requester_ids().contains(&who.user)
            && !who.may(Action::Write, document)
        {
            let reason = NotAllowedReason::OwnSuggestionNeedsWrite;
            return Err(DecisionError::NotAllowed { reason });
        }
        let takes = requirements.requirement_of(&self.matter(extent, &requirements.tools));
        let requirement = self.proposal.policy.with(takes);
        let [other, owner] = [NotAllowedReason::SizeNeedsOther, NotAllowedReason::SizeNeedsOwner];
        self.check_admitted(who, requirement, takes, [other, owner])
    }

    /// Returns the requirement for `who` to accept or undo a hunk with these marks: `least`, and
    /// what policies by marks take at these extents.
    pub(super) fn requirement_for_marks(
        &self,
        kinds: &[MarkKind],
        extents: [&ChangeExtent; 2],
        least: ApprovalRequirement,
        who: &Principal,
        requirements: &DecisionRequirements,
    ) -> Result<ApprovalRequirement, DecisionError> {
        if kinds.is_empty() {
            return Ok(least);
        }
        let takes = self.taken_by_marks(kinds, extents, requirements);
        let [other, owner] = [NotAllowedReason::MarksNeedOther, NotAllowedReason::MarksNeedOwner];
        self.check_admitted(who, least.with(takes), takes, [other, owner])
    }

    fn taken_by_marks(
        &self,
        kinds: &[MarkKind],
        extents: [&ChangeExtent; 2],
        requirements: &DecisionRequirements,
    ) -> ApprovalRequirement {
        let takes = extents.map(|extent| {
            let matter = self.matter(extent, &requirements.tools);
            requirements.requirement_of(&RuleSubject { marks: kinds, ..matter })
        });
        takes[0].with(takes[1])
    }

    /// Returns `requirement` if it admits `who`; else the first reason where `takes` would admit
    /// `who` for the request of somebody else, or the second.
    fn check_admitted(
        &self,
        who: &Principal,
        requirement: ApprovalRequirement,
        takes: ApprovalRequirement,
        [other, owner]: [NotAllowedReason; 2],
    ) -> Result<ApprovalRequirement, DecisionError> {
        let document = self.proposal.document.as_ref();
        if requirement.admits(who, &self.proposal.requester.user, document) {
            return Ok(requirement);
        }
        let reason = if takes.admits(who, &"".into(), document) { other } else { owner };
        Err(DecisionError::NotAllowed { reason })
    }

    /// Computes by the current settings what the request takes, as proposed and as it stands.
    pub fn judge(&self, requirements: &DecisionRequirements) -> JudgedRequirements {
        let extents = [&self.proposed_extent(), &self.standing_extent()];
        let [proposed, standing] = extents
            .map(|extent| requirements.requirement_of(&self.matter(extent, &requirements.tools)));
        let standing = proposed.with(standing);
        let has_marks = requirements.has_marks();
        let of_hunk = |hunk: &Hunk| {
            let kinds = if has_marks { hunk.mark_kinds() } else { Vec::new() };
            if kinds.is_empty() {
                return ApprovalRequirement::default();
            }
            standing.with(self.taken_by_marks(&kinds, extents, requirements)).beyond(standing)
        };
        JudgedRequirements { proposed, standing, hunks: self.hunks.iter().map(of_hunk).collect() }
    }

    /// Returns the requirements by which the request was judged last.
    pub fn judged(&self) -> JudgedRequirements {
        let hunks = self.hunks.iter().map(|hunk| hunk.required).collect();
        JudgedRequirements { proposed: self.proposal.policy, standing: self.requires(), hunks }
    }

    /// Updates [`Self::requires`] and what hunks take beyond it, after a part of the request was
    /// decided or changed.
    pub fn update_required(&mut self, requirements: &DecisionRequirements) {
        let judged = self.judge(requirements);
        self.take_requirements(judged);
    }

    /// Replaces the requirement by that of the current settings.
    pub fn set_policy(&mut self, requirements: &DecisionRequirements) {
        let judged = self.judge(requirements);
        self.proposal.policy = judged.proposed;
        self.take_requirements(judged);
    }

    fn take_requirements(&mut self, judged: JudgedRequirements) {
        let JudgedRequirements { proposed: _, standing, hunks } = judged;
        self.decisions.required = standing;
        for (hunk, required) in self.hunks.iter_mut().zip(hunks) {
            hunk.required = required;
        }
    }

    /// Returns the requirement for accepting everything that is open, as of now.
    pub fn requires(&self) -> ApprovalRequirement {
        self.proposal.policy.with(self.decisions.required)
    }
}

/// Returns the size of replacing `old` by `new`; of `own_words`, without the common start and end.
fn units_of(old: &str, new: &str, own_words: bool) -> usize {
    if own_words { changed_units(old, new) } else { utf16_len(old) + utf16_len(new) }
}
