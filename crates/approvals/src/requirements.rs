//! Requirements of a decision, computed for what it would apply: by size, tool and path.
//!
//! A request is judged when it arrives, and before a decision once more as it will be applied: with
//! people's own words, with an edited input, on a fresh preview, and with everything that was
//! accepted of it before. The stricter of both results holds.

use std::sync::Arc;

use super::preview::changed_units;
use super::{
    ApprovalRequest, ApprovalRequirement, ApprovalRule, ChangeExtent, DecisionError,
    DecisionPolicy, HunkStatus, NotAllowedReason, RuleEffect, RuleSubject, ToolCatalog, ToolPolicy,
    UpdatedPreview,
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

    fn denies(&self, matter: &RuleSubject) -> bool {
        denies(self.rules.iter().copied(), matter)
            || self.inbox_policies.is_some_and(|inbox| inbox.denies(matter))
    }
}

impl FileRequirements<'_> {
    fn matters<'m>(&'m self, matter: &RuleSubject<'m>) -> impl Iterator<Item = RuleSubject<'m>> {
        let &RuleSubject { tools, tool, units, requester, .. } = matter;
        let is_for_files = tools.file_tools().any(|name| name == tool);
        let others = tools.file_tools().filter(move |_| !is_for_files);
        let file = Some(self.path);
        let of = move |tool| RuleSubject { tools, tool, document: None, file, units, requester };
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
        let requirement_of = self.proposal.policy.with(takes);
        let requester = &self.proposal.requester.user;
        if requirement_of.admits(who, requester, document) {
            Ok(requirement_of)
        } else {
            let reason = if takes.admits(who, &"".into(), document) {
                NotAllowedReason::SizeNeedsOther
            } else {
                NotAllowedReason::SizeNeedsOwner
            };
            Err(DecisionError::NotAllowed { reason })
        }
    }

    /// Computes by the current settings what the request takes, as proposed and as it stands.
    pub fn judge(
        &self,
        requirements: &DecisionRequirements,
    ) -> (ApprovalRequirement, ApprovalRequirement) {
        let (proposed, standing) = (self.proposed_extent(), self.standing_extent());
        let policy = requirements.requirement_of(&self.matter(&proposed, &requirements.tools));
        (
            policy,
            policy.with(requirements.requirement_of(&self.matter(&standing, &requirements.tools))),
        )
    }

    /// Updates [`Self::requires`] after a part of the request was decided or changed.
    pub fn update_required(&mut self, requirements: &DecisionRequirements) {
        (_, self.decisions.required) = self.judge(requirements);
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
