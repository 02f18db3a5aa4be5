//! Suggestions of people: what is written on, and what stays as it is.

use std::collections::BTreeSet;

use super::*;
use crate::{HunkStatus, RequestSource, SUGGESTION_TOOL};

const TEXT: &str = "The keeper wrote every night. He had few visitors there.\n\nThe light went out at nine.\n- one\n- two\n\nNobody knew why it did.\n";

struct Suggestion {
    request: ApprovalRequest,
    text: Text,
}

impl Suggestion {
    fn of(text: &str) -> Self {
        let mut proposal = proposal(SUGGESTION_TOOL, json!({}), Preview::generic());
        proposal.action.source = RequestSource::Person;
        let request = ApprovalRequest::begin_suggestion(proposal, Version(1), 0, None);
        Self { request, text: Text::new(text) }
    }

    /// Text with everything that is pending accepted.
    fn suggested(&self) -> String {
        let mut request = self.request.clone();
        let mut text = self.text.clone();
        request.end_writing(u64::MAX);
        if request.hunks.iter().any(|hunk| hunk.status == HunkStatus::Pending) {
            let hash = Some(request.preview_hash());
            let decision =
                Decision { preview_hash: hash, ..Decision::plain(RequestVerdict::Approve) };
            let none = DecisionRequirements::default();
            let outcome = request.judge_and_carry_out(&decision, &bob(), &text, 0, &none).unwrap();
            if let Some(changes) = outcome.changes {
                changes.apply(&mut text).unwrap();
            }
        }
        text.to_string()
    }

    /// Suggests this text in place of the whole one.
    fn writes(&mut self, wanted: &str) -> crate::RewrittenHunks {
        let edits = copydesk_document::diff::word_edits(
            &self.text.to_string(),
            wanted,
            &DiffLimits::default(),
        );
        let edits: Vec<TextEdit> = edits.into_iter().map(TextEdit::from).collect();
        let change = ChangeSet::of(self.text.len(), &edits).unwrap();
        self.takes(&change)
    }

    fn takes(&mut self, change: &ChangeSet) -> crate::RewrittenHunks {
        let (arrived, limits) = (change.clone().into(), DiffLimits::default());
        let rewritten = self.request.rewrite(arrived, &self.text, 2_000, &limits).unwrap();
        let mut wanted = self.text.clone();
        change.apply(&mut wanted).unwrap();
        let is_in_conflict = self.request.hunks.iter().any(|it| it.status == HunkStatus::Conflict);
        assert!(is_in_conflict || self.suggested() == wanted.to_string(), "{:#?}", self.request);
        assert_eq!(self.request.contradictions(), [] as [String; 0]);
        assert_eq!(self.request.misfits(&self.text), [] as [String; 0]);
        rewritten
    }

    fn votes_for(&mut self, id: &HunkId) {
        let hunk = self.request.hunks.iter_mut().find(|hunk| hunk.id == *id).unwrap();
        hunk.votes.push(Vote {
            by: Person::from(&bob()),
            at_ms: 0,
            text: None,
            seen: None,
            rule: None,
            wish: None,
            under: ApprovalRequirement::default(),
        });
    }

    fn ids(&self) -> Vec<String> {
        self.request.hunks.iter().map(|hunk| hunk.id.to_string()).collect()
    }

    fn type_over(&mut self, from: usize, to: usize, insert: &str) {
        let edit = TextEdit { from, to, insert: insert.to_owned() };
        let change = ChangeSet::of(self.text.len(), [&edit]).unwrap();
        change.apply(&mut self.text).unwrap();
        self.request.rebase(&change, &self.text, 0);
    }
}

#[test]
fn a_hunk_keeps_its_name_while_its_sentence_is_written_on() {
    let mut suggestion = Suggestion::of(TEXT);
    suggestion.writes(&TEXT.replace("few", "very few"));
    let first = suggestion.ids();
    assert_eq!(first.len(), 1);
    suggestion.request.defer(&HunkId::from(first[0].as_str()), true, &ann());
    for word in ["very f few", "very fe few", "very fe few old"] {
        let rewritten = suggestion.writes(&TEXT.replace("few", word));
        assert_eq!(suggestion.ids(), first, "{word}");
        assert_eq!((rewritten.drop.len(), rewritten.is_relisted), (0, false));
        assert_eq!(suggestion.request.deferred_by(&ann()).count(), 1, "it stays for later");
    }
    assert_eq!(suggestion.request.revision(), Some(4));
    let rewritten = suggestion.writes(
        &TEXT.replace("few", "very fe few old").replace("Nobody knew why", "Everybody asked"),
    );
    let ids = suggestion.ids();
    assert_eq!((ids.len(), &ids[0]), (2, &first[0]), "another sentence is another hunk");
    let put: Vec<_> = rewritten.put.iter().map(ToString::to_string).collect();
    assert_eq!(put, ids, "the first one is no longer being written");
    let writing: Vec<_> = suggestion.request.hunks.iter().map(Hunk::is_being_written).collect();
    assert_eq!(writing, [false, true]);
    assert_eq!(suggestion.request.end_writing(1_999), []);
    assert_eq!(suggestion.request.end_writing(2_000).len(), 1);
}

#[test]
fn words_beside_a_vote_are_another_hunk_and_the_voted_one_stays() {
    let mut suggestion = Suggestion::of(TEXT);
    suggestion.writes(&TEXT.replace("few", "very few"));
    let voted = suggestion.request.hunks[0].clone();
    suggestion.votes_for(&voted.id);
    suggestion.writes(&TEXT.replace("had few visitors", "had very few old visitors"));
    let ids = suggestion.ids();
    assert_eq!(ids.len(), 2);
    let kept = suggestion.request.hunk(&voted.id).unwrap();
    assert_eq!((&kept.parts, kept.votes.len()), (&voted.parts, 1));
    // Its own words: the vote was for other ones.
    suggestion.writes(&TEXT.replace("had few visitors", "had rather few old visitors"));
    assert!(suggestion.request.hunk(&voted.id).is_none());
    assert!(suggestion.request.hunks.iter().all(|hunk| hunk.votes.is_empty()));
    assert!(!suggestion.ids().contains(&voted.id.to_string()));
}

#[test]
fn words_right_behind_a_voted_insertion_come_behind_it() {
    let mut suggestion = Suggestion::of("The keeper wrote.\n");
    suggestion.writes("The keeper wrote. He slept.\n");
    let voted = suggestion.request.hunks[0].id.clone();
    suggestion.votes_for(&voted);
    suggestion.writes("The keeper wrote. He slept. He woke.\n");
    suggestion.writes("The keeper wrote. In March. He slept. He woke.\n");
    assert!(suggestion.request.hunk(&voted).is_some());
}

#[test]
fn parts_of_a_split_hunk_stay_apart_while_one_of_them_is_written_on() {
    let mut suggestion = Suggestion::of(TEXT);
    suggestion.writes(
        &TEXT.replace(
            "The keeper wrote every night",
            "The old keeper nearly wrote every single night",
        ),
    );
    let whole = suggestion.ids();
    assert_eq!(whole.len(), 1);
    suggestion.request.end_writing(u64::MAX);
    let id = HunkId::from(whole[0].as_str());
    let parts = suggestion.request.split(&id, &bob(), 0).unwrap();
    assert!(parts.len() > 2, "{parts:?}");
    for words in ["every single long night", "every single longer night"] {
        let words = format!("The old keeper nearly wrote {words}");
        suggestion.writes(&TEXT.replace("The keeper wrote every night", &words));
        let now = suggestion.ids();
        assert_eq!(now.len(), parts.len(), "{words}: {:#?}", suggestion.request.hunks);
        assert!(parts.iter().all(|part| now.contains(&part.to_string())), "{now:?}");
    }
    let (others, last) = suggestion.request.hunks.split_at(parts.len() - 1);
    assert!(others.iter().all(|hunk| !hunk.is_being_written()) && last[0].is_being_written());
    let undo = suggestion.request.undo_open(Some(&[id]), &bob(), 0);
    assert!(undo.is_err(), "the parts are not those that it was split into: {undo:?}");
}

#[test]
fn a_hunk_in_conflict_stays_until_its_place_is_written_on() {
    let mut suggestion = Suggestion::of(TEXT);
    suggestion.writes(&TEXT.replace("wrote every night", "read all day"));
    suggestion.type_over(17, 17, "and slept ");
    assert_eq!(suggestion.request.hunks[0].status, HunkStatus::Conflict);
    let id = suggestion.ids()[0].clone();
    let now = suggestion.text.to_string();
    suggestion.writes(&now.replace("Nobody", "Anybody"));
    assert!(suggestion.ids().contains(&id), "it is not touched");
    suggestion.writes(&now.replace("wrote and slept", "dozed"));
    let hunk = &suggestion.request.hunks[0];
    assert_eq!((hunk.id.as_str(), hunk.status), (id.as_str(), HunkStatus::Pending));
}

#[test]
fn a_hunk_in_conflict_that_is_written_on_at_both_ends_lends_its_name_once() {
    let mut suggestion = Suggestion::of("One. Alpha beta gamma.\n\nLast.\n");
    suggestion.writes("One. Gamma.\n\nLast.\n");
    // It is in two paragraphs now.
    suggestion.type_over(11, 11, "long\n\nand long");
    assert_eq!(suggestion.request.hunks[0].status, HunkStatus::Conflict);
    let id = suggestion.ids()[0].clone();
    let now = suggestion.text.to_string();
    suggestion.writes(&now.replace("Alpha", "Omega").replace("beta", "delta"));
    let ids = suggestion.ids();
    assert_eq!(ids.iter().filter(|it| **it == id).count(), 1, "{ids:?}");
}

#[test]
fn what_was_decided_stays_when_the_rest_is_withdrawn() {
    let mut suggestion = Suggestion::of(TEXT);
    suggestion.writes(&TEXT.replace("few", "very few").replace("Nobody", "Anybody"));
    let mut untouched = suggestion.request.clone();
    let dropped = untouched.withdraw_open(Person::from(&bob()), 5);
    assert_eq!((dropped.len(), untouched.status), (2, RequestStatus::Cancelled));
    assert_eq!(untouched.contradictions(), [] as [String; 0]);
    let request = &mut suggestion.request;
    request.end_writing(u64::MAX);
    let hash = Some(request.hunks[0].words_hash());
    let verdict =
        HunkVerdict { hash, ..HunkVerdict::plain(request.hunks[0].id.clone(), HunkChoice::Reject) };
    let decision =
        Decision { hunks: Some(vec![verdict]), ..Decision::plain(RequestVerdict::Approve) };
    let none = DecisionRequirements::default();
    request.judge_and_carry_out(&decision, &bob(), &suggestion.text, 0, &none).unwrap();
    assert_eq!(request.revision(), Some(2));
    assert_eq!(request.withdraw_open(Person::from(&bob()), 5).len(), 1);
    assert_eq!(
        (request.status, request.hunks.len(), request.revision()),
        (RequestStatus::Rejected, 1, Some(3))
    );
    assert_eq!(request.contradictions(), [] as [String; 0]);
}

/// Numbers that look random, the same every time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end.max(1)
    }
}

/// Types somewhere in the view of the writer, as an editor would.
fn typed(view: &mut Text, change: &ChangeSet, numbers: &mut Numbers) -> ChangeSet {
    const WORDS: [&str; 10] =
        ["x", " very", "few ", ". He", "\n", "\n\nNew.", "**", "", "😀", "wrote every"];
    let mut from = numbers.below(view.len() + 1);
    let mut to = (from + [0, 0, 1, 4, 30][numbers.below(5)]).min(view.len());
    while !view.is_boundary(from) {
        from -= 1;
    }
    while !view.is_boundary(to) {
        to += 1;
    }
    let insert = WORDS[numbers.below(WORDS.len())].to_owned();
    let step = ChangeSet::of(view.len(), [&TextEdit { from, to, insert }]).unwrap();
    step.apply(view).unwrap();
    change.compose(&step).unwrap()
}

#[test]
fn whatever_is_typed_the_hunks_make_exactly_the_suggestion() {
    for seed in 1..=12 {
        let mut numbers = Numbers(seed);
        let mut suggestion = Suggestion::of(TEXT);
        let mut view = suggestion.text.clone();
        let mut change = ChangeSet::identity(view.len());
        for _ in 0..25 {
            for _ in 0..=numbers.below(2) {
                change = typed(&mut view, &change, &mut numbers);
            }
            let voted: Vec<_> = suggestion
                .request
                .hunks
                .iter()
                .filter(|it| !it.votes.is_empty())
                .cloned()
                .collect();
            suggestion.takes(&change);
            for hunk in voted {
                if let Some(now) = suggestion.request.hunk(&hunk.id) {
                    assert_eq!(now.words_hash(), hunk.words_hash(), "seed {seed}");
                }
            }
            let hunks = suggestion.request.hunks.len();
            if hunks > 0 && numbers.below(4) == 0 {
                let id = suggestion.request.hunks[numbers.below(hunks)].id.clone();
                suggestion.votes_for(&id);
            }
        }
    }
}

#[test]
fn a_late_suggestion_is_as_if_it_had_come_before_what_others_typed() {
    let mut conflicts = 0;
    for seed in 1..=80 {
        let mut numbers = Numbers(seed);
        let (mut early, mut late) = (Suggestion::of(TEXT), Suggestion::of(TEXT));
        let mut view = late.text.clone();
        let mut wanted = ChangeSet::identity(view.len());
        for _ in 0..=numbers.below(3) {
            wanted = typed(&mut view, &wanted, &mut numbers);
        }
        early.takes(&wanted);
        let (base, mut updates) = (late.text.clone(), Vec::new());
        for _ in 0..=numbers.below(3) {
            let unchanged = ChangeSet::identity(late.text.len());
            let update = typed(&mut late.text, &unchanged, &mut numbers);
            early.request.rebase(&update, &late.text, 0);
            updates.push(update);
        }
        early.text = late.text.clone();
        let limits = DiffLimits::default();
        let arrived = late.request.arrive(&wanted, &base, &updates, &limits).unwrap();
        late.request.rewrite(arrived, &late.text, 0, &limits).unwrap();
        if late.request.hunks.iter().any(|hunk| hunk.status.is_open()) {
            assert_eq!(late.request.contradictions(), [] as [String; 0], "seed {seed}");
        }
        assert_eq!(late.request.misfits(&late.text), [] as [String; 0], "seed {seed}");
        let out = |it: &Suggestion| -> Vec<(String, HunkStatus)> {
            let hunks = it.request.hunks.iter().filter(|it| it.status != HunkStatus::Pending);
            hunks.map(|it| (it.proposed(), it.status)).collect()
        };
        // A hunk may have replaced more words than were typed over.
        let (found, known) = (out(&late), out(&early));
        assert!(found.iter().all(|it| known.contains(it)), "seed {seed}: {found:?} {known:?}");
        if found.len() == known.len() {
            assert_eq!(late.suggested(), early.suggested(), "seed {seed}");
        }
        conflicts += found.len();
    }
    assert!(conflicts > 10, "{conflicts}");
}

#[test]
fn very_many_changes_are_cut_coarser_and_keep_their_names() {
    let sentences = |count: usize| -> String {
        (0..count)
            .map(|number| format!("This is sentence {number}.\n\n"))
            .collect::<Vec<_>>()
            .concat()
    };
    let mut suggestion = Suggestion::of(&sentences(2_600));
    suggestion.writes("");
    let first: BTreeSet<_> = suggestion.ids().into_iter().collect();
    assert!((500..=crate::MOST_SUGGESTED).contains(&first.len()), "{}", first.len());
    suggestion.writes("All of this is gone.");
    let second = suggestion.ids();
    assert!(second.len() <= crate::MOST_SUGGESTED);
    let kept = second.iter().filter(|id| first.contains(*id)).count();
    assert!(kept > first.len() * 9 / 10, "{kept} of {}", first.len());
}
