//! Words that people write in suggestions, and what the hunks must make of them. Both
//! simulations write with it.

use copydesk_approvals::{ApprovalRequest, HunkStatus};
use copydesk_document::{ChangeSet, Text, TextEdit};
use copydesk_ids::Version;
use copydesk_ids::permissions::Principal;
use copydesk_rooms::command::SuggestionUpdate;
use fastrand::Rng;

use crate::generators;
use crate::invariants::Invariant::SuggestionIsAsWritten;
use crate::invariants::{CheckResult, ensure};

/// People who suggest; the first may do nothing else.
pub const SUGGESTERS: [&str; 2] = ["sue", "bob"];

/// A document as a person sees it who suggests.
pub struct SuggestingView<'a> {
    pub text: &'a Text,
    pub version: Version,
    /// The suggestion that the person has open.
    pub before: Option<&'a ApprovalRequest>,
    /// The newest revision that the person knows of.
    pub revision: u64,
}

impl SuggestingView<'_> {
    /// Writes on a suggestion, or begins one; now and then withdraws it, or writes over a revision
    /// that is not the newest. Returns the update, and the change that it wants.
    pub fn random_update(&self, random: &mut Rng, by: Principal) -> (SuggestionUpdate, ChangeSet) {
        let Self { text, version, before, revision: newest } = *self;
        let pending = before.map_or_else(Vec::new, pending_edits);
        let suggested = ChangeSet::of(text.len(), &pending).unwrap();
        let mut view = text.clone();
        suggested.apply(&mut view).unwrap();
        let places: Vec<usize> = suggested.changed_ranges().map(|it| it.to_b).collect();
        let typed = generators::random_edits(random, &view, &places);
        let typed = ChangeSet::of(view.len(), &typed).unwrap();
        let wanted = if random.u8(..16) == 0 {
            ChangeSet::identity(text.len())
        } else {
            suggested.compose(&typed).unwrap()
        };
        let wrong = [newest + 1, newest.saturating_sub(1).max(1), 0];
        let revision = if random.u8(..8) == 0 { wrong[random.usize(..3)] } else { newest };
        let changes = wanted.to_json().into_boxed_str();
        (SuggestionUpdate { version, revision, changes, base: None, by }, wanted)
    }
}

/// Checks that the pending hunks make exactly the text that the writer wants.
pub fn check_as_written(after: &ApprovalRequest, wanted: &ChangeSet, text: &Text) -> CheckResult {
    let (mut made, mut expected) = (text.clone(), text.clone());
    let change = ChangeSet::of(text.len(), &pending_edits(after)).unwrap();
    change.apply(&mut made).unwrap();
    wanted.apply(&mut expected).unwrap();
    ensure(SuggestionIsAsWritten, made == expected, || {
        format!("wanted is {expected}, the hunks make {made}: {:?}", after.hunks)
    })
}

/// Returns the changes of the pending hunks in the order in which an acceptance makes them.
pub fn pending_edits(request: &ApprovalRequest) -> Vec<TextEdit> {
    let pending = request.hunks.iter().enumerate();
    let pending = pending.filter(|(_, hunk)| hunk.status == HunkStatus::Pending);
    let mut parts: Vec<_> = pending
        .flat_map(|(index, hunk)| hunk.parts.iter().map(move |part| (index, part)))
        .collect();
    parts.sort_by_key(|(index, part)| (part.from, part.to, part.rank, *index));
    let edit = |(_, part): (usize, &copydesk_approvals::HunkPart)| TextEdit {
        from: part.from,
        to: part.to,
        insert: part.insert.clone(),
    };
    parts.into_iter().map(edit).collect()
}
