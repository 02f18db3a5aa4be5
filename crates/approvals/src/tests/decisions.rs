//! What a decision can carry.

use super::*;
use HunkStatus::{Accepted, Conflict, Expired, Obsolete, Pending, Rejected};

const OLD: &str = "Teh first one is here. Than a second came along. It were a third.";
const NEW: &str = "The first one is here. Then a second came along. It was a third.";

fn three() -> ReviewFixture {
    let fixture = ReviewFixture::proposing(OLD, NEW);
    assert_eq!(fixture.request.hunks.len(), 3);
    fixture
}

#[test]
fn approve_all_accepts_every_pending_hunk_in_one_change() {
    let mut fixture = three();
    let outcome = fixture.decide(&approve()).unwrap();
    assert_eq!(fixture.text(), NEW);
    assert_eq!(outcome.resolved, Some(RequestStatus::Approved));
    assert_eq!(outcome.decided.len(), 3);
    assert_eq!(fixture.request.version, Version(1));
}

#[test]
fn approve_all_leaves_conflicted_hunks_open() {
    let mut fixture = three();
    fixture.types("T|eh", "x");
    let outcome = fixture.decide(&approve()).unwrap();
    assert_eq!(outcome.resolved, None);
    assert_eq!(fixture.statuses(), [Conflict, Accepted, Accepted]);
    assert_eq!(fixture.text(), NEW.replacen("The", "Txeh", 1));
}

#[test]
fn approve_all_is_refused_where_everything_is_in_conflict() {
    let mut fixture = ReviewFixture::proposing("Teh end", "The end");
    fixture.types("T|eh", "x");
    let refused = fixture.decide(&approve()).unwrap_err();
    assert_eq!(refused, DecisionError::Conflicted { hunks: vec![fixture.id(0)] });
}

#[test]
fn reject_all_rejects_conflicted_hunks_too() {
    let mut fixture = three();
    fixture.types("T|eh", "x");
    let outcome = fixture.decide(&reject()).unwrap();
    assert_eq!(outcome.resolved, Some(RequestStatus::Rejected));
    assert_eq!(outcome.changes, None);
    assert_eq!(fixture.statuses(), [Rejected; 3]);
}

#[test]
fn hunks_may_be_decided_one_by_one_over_time_by_different_people() {
    let mut fixture = three();
    fixture.accept(1).unwrap();
    fixture.types("|Teh", "So. ");
    fixture.decide_as(&bob(), &one(fixture.id(0), HunkChoice::Reject)).unwrap();
    assert_eq!(fixture.request.status, RequestStatus::Pending);
    let outcome = fixture.accept(2).unwrap();
    assert_eq!(outcome.resolved, Some(RequestStatus::Partly));
    assert_eq!(fixture.text(), format!("So. {}", NEW.replacen("The", "Teh", 1)));
}

#[test]
fn a_decision_that_names_some_hunks_leaves_the_others_pending() {
    let mut fixture = three();
    let outcome = fixture.accept(1).unwrap();
    assert_eq!(outcome.resolved, None);
    assert_eq!(fixture.statuses(), [Pending, Accepted, Pending]);
}

#[test]
fn finish_decides_the_rest() {
    let mut fixture = three();
    let rest =
        Decision { finish: Some(FinishRest::Reject), ..one(fixture.id(1), HunkChoice::Accept) };
    assert_eq!(fixture.decide(&rest).unwrap().resolved, Some(RequestStatus::Partly));
    assert_eq!(fixture.statuses(), [Rejected, Accepted, Rejected]);

    let mut fixture = three();
    let rest =
        Decision { finish: Some(FinishRest::Accept), ..one(fixture.id(1), HunkChoice::Reject) };
    assert_eq!(fixture.decide(&rest).unwrap().resolved, Some(RequestStatus::Partly));
    assert_eq!(fixture.statuses(), [Accepted, Rejected, Accepted]);
}

#[test]
fn an_edited_text_replaces_from_the_first_part_to_the_last() {
    let mut fixture =
        ReviewFixture::proposing("He go to store today", "He hurries to the store today");
    assert_eq!(fixture.request.hunks[0].parts.len(), 2);
    fixture.decide(&edited(fixture.id(0), "walks to a ")).unwrap();
    assert_eq!(fixture.text(), "He walks to a store today");
    assert_eq!(fixture.request.status, RequestStatus::Approved);
}

#[test]
fn an_edited_text_never_overwrites_words_typed_between_the_parts_unseen() {
    let mut fixture =
        ReviewFixture::proposing("He go to store today", "He hurries to the store today");
    fixture.types("go| to", " quickly");
    assert_eq!(fixture.statuses(), [Pending]);
    let refused = fixture.decide(&edited(fixture.id(0), "walks to a ")).unwrap_err();
    assert_eq!(refused.code(), "conflicted");
    let mut decision = edited(fixture.id(0), "walks to a ");
    decision.hunks.as_mut().unwrap()[0].seen = Some("go quickly to ".to_owned());
    fixture.decide(&decision).unwrap();
    assert_eq!(fixture.text(), "He walks to a store today");
}

#[test]
fn line_ends_of_an_edited_text_are_normalised() {
    let mut fixture = ReviewFixture::proposing("Teh end", "The end");
    fixture.decide(&edited(fixture.id(0), "A\r\nB\r")).unwrap();
    assert_eq!(fixture.text(), "A\nB\n end");
    assert_eq!(fixture.request.hunks[0].inverse[0].base, "A\nB\n");
}

#[test]
fn a_conflicted_hunk_is_accepted_only_with_force_and_what_stands_there() {
    let mut fixture = three();
    fixture.types("Teh", "Our");
    assert_eq!(fixture.accept(0).unwrap_err().code(), "conflicted");
    assert_eq!(fixture.decide(&forced(fixture.id(0), "Teh")).unwrap_err().code(), "conflicted");
    let mut blind = forced(fixture.id(0), "Our");
    blind.hunks.as_mut().unwrap()[0].seen = None;
    assert_eq!(fixture.decide(&blind).unwrap_err().code(), "invalid_decision");
    fixture.decide(&forced(fixture.id(0), "Our")).unwrap();
    assert_eq!(fixture.text(), OLD.replace("Teh", "The"));
}

#[test]
fn words_to_be_added_where_the_place_is_gone_need_force_too() {
    let mut fixture = ReviewFixture::proposing("go to store now", "go to the store now");
    fixture.types("to store ", "");
    assert_eq!(fixture.statuses(), [Conflict]);
    assert_eq!(fixture.accept(0).unwrap_err().code(), "conflicted");
    fixture.decide(&forced(fixture.id(0), "")).unwrap();
    assert_eq!(fixture.text(), "go the now");
}

#[test]
fn a_conflicted_hunk_can_be_accepted_edited() {
    let mut fixture = three();
    fixture.types("Teh", "Our");
    let mut decision = forced(fixture.id(0), "Our");
    decision.hunks.as_mut().unwrap()[0].text = Some("The very".to_owned());
    fixture.decide(&decision).unwrap();
    assert_eq!(fixture.text(), OLD.replace("Teh", "The very"));
}

#[test]
fn a_decision_is_all_or_nothing() {
    let mut fixture = three();
    fixture.types("T|eh", "x");
    let accept = |i: usize| HunkVerdict::plain(fixture.id(i), HunkChoice::Accept);
    let decision = named(vec![accept(1), accept(0)]);
    let refused = fixture.decide(&decision).unwrap_err();
    assert_eq!(refused, DecisionError::Conflicted { hunks: vec![fixture.id(0)] });
    assert_eq!(fixture.statuses(), [Conflict, Pending, Pending]);
}

#[test]
fn conflicts_that_reach_over_one_another_are_taken_one_at_a_time() {
    let mut fixture =
        ReviewFixture::proposing("Go thare. Stop heer. Fine.", "Go there. Stop here. Fine.");
    fixture.types("are. Stop he", "");
    fixture.types("th|er", "ink");
    assert_eq!((fixture.stands(0), fixture.stands(1)), ("think".into(), "inker".into()));
    let mut both = forced(fixture.id(0), "think");
    both.hunks.as_mut().unwrap().extend(forced(fixture.id(1), "inker").hunks.unwrap());
    let refused = fixture.decide(&both).unwrap_err();
    assert_eq!(refused, DecisionError::Conflicted { hunks: vec![fixture.id(0), fixture.id(1)] });
    fixture.decide(&forced(fixture.id(0), "think")).unwrap();
    assert_eq!(fixture.text(), "Go thereer. Fine.");
}

#[test]
fn before_committing_the_words_are_checked_for_every_unforced_hunk() {
    let mut fixture = three();
    // A text that the hunks were not mapped to: the room lost a race and forgot to map again.
    let other = Text::new(&OLD.replace("Than", "Thus"));
    fixture.text = other;
    let refused = fixture.decide(&approve()).unwrap_err();
    assert_eq!(refused, DecisionError::Conflicted { hunks: vec![fixture.id(1)] });
    assert_eq!(fixture.statuses(), [Pending; 3]);
}

#[test]
fn accepting_words_added_at_one_place_keeps_their_order_whichever_comes_first() {
    for first in [0, 1] {
        let mut fixture = ReviewFixture::proposing("End.", "End. One more. Two more.");
        assert_eq!(fixture.request.hunks.len(), 2);
        let outcome = fixture.accept(first).unwrap();
        let moved: Vec<HunkId> = if first == 1 { vec![fixture.id(0)] } else { Vec::new() };
        assert_eq!(outcome.put, moved);
        fixture.accept(1 - first).unwrap();
        assert_eq!(fixture.text(), "End. One more. Two more.");
    }
}

#[test]
fn the_first_valid_decision_on_a_hunk_wins_and_later_ones_learn_who_and_when() {
    let mut fixture = three();
    fixture.accept(1).unwrap();
    let at = fixture.now_ms;
    let refused = fixture.decide_as(&bob(), &one(fixture.id(1), HunkChoice::Reject)).unwrap_err();
    assert_eq!(
        refused,
        DecisionError::AlreadyResolved {
            status: RequestStatus::Pending,
            hunk: Some((fixture.id(1), Accepted)),
            by: Some(Person::from(&ann())),
            at_ms: Some(at),
        }
    );
    assert_eq!(refused.to_string(), "this change is already accepted, by ANN");
    fixture.decide(&reject()).unwrap();
    let refused = fixture.decide_as(&bob(), &approve()).unwrap_err();
    assert_eq!(refused.to_string(), "this request is already partly, by ANN");
}

#[test]
fn errors_are_checked_in_the_stated_order() {
    let viewer = person("eve", Role::Viewer);
    let mut fixture = three();
    let nowhere: HunkId = "hnk_nowhere".into();
    let all_wrong = |ids: &[HunkId]| Decision {
        preview_hash: Some("sha256:old".into()),
        hunks: Some(
            ids.iter()
                .map(|id| HunkVerdict {
                    text: Some("x".into()),
                    ..HunkVerdict::plain(id.clone(), HunkChoice::Reject)
                })
                .collect(),
        ),
        ..approve()
    };
    let code = |fixture: &mut ReviewFixture, who: &Principal, ids: &[HunkId]| {
        fixture.decide_as(who, &all_wrong(ids)).unwrap_err().code()
    };
    let (first, second) = (fixture.id(0), fixture.id(1));
    fixture.accept(1).unwrap();
    assert_eq!(code(&mut fixture, &viewer, &[first.clone(), nowhere]), "not_found");
    assert_eq!(code(&mut fixture, &viewer, std::slice::from_ref(&second)), "not_allowed");
    assert_eq!(code(&mut fixture, &ann(), &[first.clone(), second]), "already_resolved");
    assert_eq!(code(&mut fixture, &ann(), std::slice::from_ref(&first)), "invalid_decision");
    fixture.types("T|eh", "x");
    let stale = Decision {
        preview_hash: Some("sha256:old".into()),
        ..one(first.clone(), HunkChoice::Accept)
    };
    assert_eq!(fixture.decide(&stale).unwrap_err().code(), "stale_preview");
    assert_eq!(fixture.decide(&one(first, HunkChoice::Accept)).unwrap_err().code(), "conflicted");
}

#[test]
fn decisions_without_sense_are_invalid() {
    let mut fixture = three();
    let id = fixture.id(0);
    let twice = || HunkVerdict::plain(id.clone(), HunkChoice::Accept);
    let respond = RequestVerdict::Respond { message: "no".into() };
    let remember = RememberWish {
        id: "rul_1".into(),
        scope: RuleScope::Session,
        path: None,
        max_units: None,
        author: None,
        unmarked: false,
    };
    let nonsense = [
        named(vec![]),
        named(vec![twice(), twice()]),
        Decision::plain(RequestVerdict::Edit { input: json!({}) }),
        Decision { verdict: respond, ..one(id.clone(), HunkChoice::Accept) },
        Decision { finish: Some(FinishRest::Accept), ..reject() },
        Decision { remember: Some(remember), ..reject() },
    ];
    for decision in nonsense {
        let refused = fixture.decide(&decision).unwrap_err();
        assert_eq!(refused.code(), "invalid_decision", "{decision:?}");
    }
    let mut plain = ReviewFixture::asking("Write", Preview::generic());
    let finish = Decision { finish: Some(FinishRest::Accept), ..approve() };
    assert_eq!(plain.decide(&finish).unwrap_err().code(), "invalid_decision");
}

#[test]
fn an_obsolete_hunk_cannot_be_decided() {
    let mut fixture = three();
    fixture.types("Teh first one is here. ", "");
    assert_eq!(fixture.statuses()[0], Obsolete);
    assert_eq!(fixture.accept(0).unwrap_err().code(), "already_resolved");
}

#[test]
fn a_tool_without_hunks_runs_on_its_input_or_on_the_persons() {
    let mut fixture = ReviewFixture::asking("Write", Preview::generic());
    fixture.decide(&approve()).unwrap();
    assert_eq!(fixture.request.resolution().unwrap().input, json!({ "x": 1 }));

    let mut fixture = ReviewFixture::asking("Write", Preview::generic());
    fixture.decide(&Decision::plain(RequestVerdict::Edit { input: json!({ "x": 2 }) })).unwrap();
    let resolution = fixture.request.resolution().unwrap();
    assert_eq!(resolution.status, RequestStatus::Approved);
    assert_eq!(resolution.input, json!({ "x": 2 }));
}

#[test]
fn respond_answers_instead_of_running_the_tool() {
    let message = "Use the other file.".to_owned();
    for mut fixture in [ReviewFixture::asking("Write", Preview::generic()), three()] {
        let respond = Decision::plain(RequestVerdict::Respond { message: message.clone() });
        let outcome = fixture.decide(&respond).unwrap();
        assert_eq!(outcome.changes, None);
        assert_eq!(outcome.resolved, Some(RequestStatus::Rejected));
        assert_eq!(fixture.request.report(), ToolReport { text: message.clone(), is_error: false });
    }
}

#[test]
fn remember_gives_a_rule_only_with_an_approval() {
    let mut fixture = three();
    let remember = RememberWish {
        id: "rul_1".into(),
        scope: RuleScope::Document,
        path: None,
        max_units: Some(40),
        author: None,
        unmarked: false,
    };
    let outcome =
        fixture.decide(&Decision { remember: Some(remember.clone()), ..approve() }).unwrap();
    let rule = outcome.rule.unwrap();
    assert_eq!((rule.tool.as_str(), rule.remember), ("update_full_document", remember));
}

#[test]
fn expired_hunks_stay_expired_beside_accepted_ones() {
    let mut fixture = three();
    fixture.accept(0).unwrap();
    let expired = fixture.request.expire(START_MS + 300_000).unwrap();
    assert_eq!(expired.len(), 2);
    assert_eq!(fixture.statuses(), [Accepted, Expired, Expired]);
    assert_eq!(fixture.request.status, RequestStatus::Partly);
    assert_eq!(fixture.text(), OLD.replace("Teh", "The"));
    // The person who comes too late for them learns that, and the one who comes for the other that
    // it was taken.
    let late = |fixture: &mut ReviewFixture, decision: &Decision| {
        fixture.decide(decision).unwrap_err().code()
    };
    assert_eq!(late(&mut fixture, &approve()), "expired");
    let second = one(fixture.id(1), HunkChoice::Accept);
    assert_eq!(late(&mut fixture, &second), "expired");
    let first = one(fixture.id(0), HunkChoice::Accept);
    assert_eq!(late(&mut fixture, &first), "already_resolved");
}

#[test]
fn the_models_own_words_sent_back_are_no_edit() {
    let mut fixture = three();
    fixture.decide(&edited(fixture.id(0), "The")).unwrap();
    fixture.types("T|han", "x");
    let mut forced = edited(fixture.id(1), "Then");
    let verdict = forced.hunks.as_mut().unwrap();
    verdict[0].force = true;
    verdict[0].seen = Some("Txhan".to_owned());
    fixture.decide(&forced).unwrap();
    assert_eq!(fixture.statuses(), [Accepted, Accepted, Pending]);
    let texts = fixture.request.hunks.iter().filter_map(|hunk| hunk.decided.as_ref());
    assert_eq!(texts.map(|decided| decided.text.clone()).collect::<Vec<_>>(), [None, None]);
    assert!(fixture.text().starts_with("The first one is here. Then a second"));
}

#[test]
fn words_to_be_added_between_accepted_deletions_keep_their_place() {
    let mut fixture = ReviewFixture::proposing("One is. Two is. Three is.", "New one.");
    let (text, id) = (fixture.text.clone(), fixture.request.id().clone());
    let part = |from, to, base: &str, insert: &str| DraftPart {
        from,
        to,
        base: base.to_owned(),
        insert: insert.to_owned(),
    };
    let drafts = [part(0, 8, "One is. ", ""), part(8, 8, "", "New. "), part(8, 16, "Two is. ", "")];
    let drafts = drafts.map(|part| HunkDraft::from(vec![part])).to_vec();
    fixture.request.hunks = ArrivedHunks::map(&id, drafts, &text, []).unwrap().hunks;
    fixture.request.announced = fixture.request.preview_hash();
    let accept = |i: usize| HunkVerdict::plain(fixture.id(i), HunkChoice::Accept);
    let outcome = fixture.decide(&named(vec![accept(0), accept(2)])).unwrap();
    assert_eq!(outcome.put, [fixture.id(1)]);
    fixture.accept(1).unwrap();
    assert_eq!(fixture.text(), "New. Three is.");
}

#[test]
fn words_to_be_added_never_go_into_words_that_were_deleted_and_typed_again() {
    for together in [true, false] {
        let mut fixture = ReviewFixture::proposing("End\nabc.", "End\nnew abx.");
        let (text, id) = (fixture.text.clone(), fixture.request.id().clone());
        let part = |from, to, base: &str, insert: &str| {
            let (base, insert) = (base.to_owned(), insert.to_owned());
            HunkDraft::from(vec![DraftPart { from, to, base, insert }])
        };
        let drafts = vec![part(4, 4, "", "new "), part(4, 7, "abc", "abx")];
        fixture.request.hunks = ArrivedHunks::map(&id, drafts, &text, []).unwrap().hunks;
        fixture.request.announced = fixture.request.preview_hash();
        fixture.edit(4, 5, "");
        fixture.edit(4, 4, "a");
        assert_eq!(fixture.statuses(), [Pending, Pending]);
        assert_eq!(fixture.request.hunks[0].range(), 5..5, "by the general rule");
        if together {
            fixture.decide(&approve()).unwrap();
        } else {
            fixture.accept(0).unwrap();
            fixture.accept(1).unwrap();
        }
        assert_eq!(fixture.text(), "End\nnew abx.");
    }
}
