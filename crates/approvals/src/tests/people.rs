//! Who may decide, and what an approval is bound to.

use super::*;

fn sentence() -> ReviewFixture {
    ReviewFixture::proposing("Teh end. Than more came.", "The end. Then more came.")
}

#[test]
fn any_editor_or_reviewer_may_decide_but_no_viewer() {
    for (role, may) in [(Role::Reviewer, true), (Role::Owner, true), (Role::Viewer, false)] {
        let refused = sentence().decide_as(&person("x", role), &approve()).err();
        assert_eq!(refused.map(|e| e.code()), (!may).then_some("not_allowed"));
    }
    let elsewhere = Principal { document: Some("doc_2".into()), ..bob() };
    assert_eq!(sentence().decide_as(&elsewhere, &approve()).unwrap_err().code(), "not_allowed");
}

#[test]
fn not_the_requester_means_somebody_else_whatever_their_name() {
    let mut fixture = sentence().with_policy(DecisionPolicy::NotRequester);
    let renamed = Principal { name: "Somebody".into(), ..ann() };
    assert_eq!(fixture.decide_as(&renamed, &approve()).unwrap_err().code(), "not_allowed");
    assert!(fixture.decide_as(&bob(), &approve()).is_ok());
}

#[test]
fn owner_means_an_owner() {
    let mut fixture = sentence().with_policy(DecisionPolicy::Owner);
    assert_eq!(fixture.decide_as(&bob(), &approve()).unwrap_err().code(), "not_allowed");
    assert!(fixture.decide_as(&person("o", Role::Owner), &approve()).is_ok());
}

#[test]
fn commands_only_by_an_owner() {
    let mut fixture = ReviewFixture::asking("Bash", Preview::command("ls", Vec::new()));
    assert_eq!(fixture.decide_as(&bob(), &approve()).unwrap_err().code(), "not_allowed");
    assert!(fixture.decide_as(&person("o", Role::Owner), &approve()).is_ok());
}

#[test]
fn two_people_must_agree_and_one_of_them_may_have_asked() {
    let mut fixture = sentence().with_policy(DecisionPolicy::Two);
    let outcome = fixture.decide_as(&ann(), &approve()).unwrap();
    assert_eq!((outcome.changes, outcome.resolved), (None, None));
    assert_eq!(outcome.votes, VoteCount { have: 1, need: 2 });
    let again = fixture.decide_as(&ann(), &approve()).unwrap();
    assert_eq!(again.votes, VoteCount { have: 1, need: 2 }, "the same person twice is one person");
    let outcome = fixture.decide_as(&bob(), &approve()).unwrap();
    assert_eq!(outcome.resolved, Some(RequestStatus::Approved));
    assert_eq!(outcome.votes, VoteCount { have: 2, need: 2 });
    assert_eq!(fixture.text(), "The end. Then more came.");
}

#[test]
fn where_the_requester_does_not_count_two_others_must_agree() {
    let mut fixture = sentence().with_policies([DecisionPolicy::Two, DecisionPolicy::NotRequester]);
    assert_eq!(fixture.decide_as(&ann(), &approve()).unwrap_err().code(), "not_allowed");
    let outcome = fixture.decide_as(&bob(), &approve()).unwrap();
    assert_eq!((outcome.resolved, outcome.votes), (None, VoteCount { have: 1, need: 2 }));
    let outcome = fixture.decide_as(&person("eve", Role::Editor), &approve()).unwrap();
    assert_eq!(outcome.resolved, Some(RequestStatus::Approved));
}

#[test]
fn where_owners_decide_and_two_must_agree_two_owners_must() {
    let mut fixture = sentence().with_policies([DecisionPolicy::Owner, DecisionPolicy::Two]);
    assert_eq!(fixture.decide_as(&bob(), &approve()).unwrap_err().code(), "not_allowed");
    let outcome = fixture.decide_as(&person("o", Role::Owner), &approve()).unwrap();
    assert_eq!((outcome.resolved, outcome.votes), (None, VoteCount { have: 1, need: 2 }));
    let outcome = fixture.decide_as(&person("p", Role::Owner), &approve()).unwrap();
    assert_eq!(outcome.resolved, Some(RequestStatus::Approved));
}

#[test]
fn votes_of_people_a_stricter_policy_leaves_out_do_not_count() {
    let owner = person("o", Role::Owner);
    let people = [ann(), bob(), owner.clone()];
    let mut fixture = sentence().with_policy(DecisionPolicy::Two);
    fixture.decide_as(&ann(), &approve()).unwrap();
    let mut fixture = fixture.with_policies([DecisionPolicy::Two, DecisionPolicy::NotRequester]);
    assert_eq!(fixture.request.remove_votes_except(&people), ["ann".into()].into());
    fixture.decide_as(&bob(), &approve()).unwrap();
    let mut fixture = fixture.with_policies([DecisionPolicy::Two, DecisionPolicy::Owner]);
    assert_eq!(fixture.request.remove_votes_except(&people), ["bob".into()].into());
    let outcome = fixture.decide_as(&owner, &approve()).unwrap();
    assert_eq!((outcome.resolved, outcome.votes.have), (None, 1));
}

#[test]
fn who_may_decide_is_kept_by_name_as_ever_and_several_policies_as_a_list() {
    let kept = |policies: &[DecisionPolicy]| {
        let consent: ApprovalRequirement = policies.iter().copied().collect();
        let kept = serde_json::to_value(consent).unwrap();
        assert_eq!(serde_json::from_value::<ApprovalRequirement>(kept.clone()).unwrap(), consent);
        kept
    };
    assert_eq!(kept(&[]), "any");
    for one in [
        DecisionPolicy::Any,
        DecisionPolicy::NotRequester,
        DecisionPolicy::Two,
        DecisionPolicy::Owner,
    ] {
        assert_eq!(kept(&[one]), one.as_str());
    }
    assert_eq!(
        kept(&[DecisionPolicy::Owner, DecisionPolicy::Any, DecisionPolicy::Two]),
        json!(["two", "owner"])
    );
    let old = serde_json::to_value(sentence().with_policy(DecisionPolicy::Two).request).unwrap();
    assert_eq!(old["policy"], "two");
    let read: ApprovalRequest = serde_json::from_value(old).unwrap();
    assert_eq!(read.proposal.policy, DecisionPolicy::Two.into());
}

#[test]
fn ones_votes_alone_are_withdrawn_and_never_what_others_decided_with_them() {
    let mut fixture = sentence().with_policy(DecisionPolicy::Two);
    let (first, second) = (fixture.id(0), fixture.id(1));
    fixture.decide_as(&ann(), &approve()).unwrap();
    fixture.decide_as(&bob(), &one(first.clone(), HunkChoice::Accept)).unwrap();
    assert_eq!(fixture.text(), "The end. Than more came.");
    let both = [first.clone(), second.clone()];
    let request = &mut fixture.request;
    let withdrawn = |request: &mut ApprovalRequest, only: Option<&[HunkId]>, who: &Principal| {
        request.withdraw_own_votes(only, who, START_MS).map_err(|refused| refused.code())
    };
    assert_eq!(withdrawn(request, Some(&both), &ann()), Err("already_resolved"));
    assert_eq!(withdrawn(request, Some(&both[..1]), &bob()), Err("already_resolved"));
    assert_eq!(withdrawn(request, Some(&both[1..]), &bob()), Err("invalid_decision"));
    assert_eq!(withdrawn(request, Some(&[]), &ann()), Err("invalid_decision"));
    assert_eq!(withdrawn(request, Some(&["h9".into()]), &ann()), Err("not_found"));
    let viewer = person("vic", Role::Viewer);
    assert_eq!(withdrawn(request, Some(&both[1..]), &viewer), Err("not_allowed"));
    assert!(request.has_vote_of(&"ann".into(), Some(&second)), "a refusal changes nothing");
    // Without names it is all that is open, and what was accepted stays.
    assert_eq!(withdrawn(request, None, &ann()), Ok(vec![second.clone()]));
    assert_eq!(withdrawn(request, None, &ann()), Err("invalid_decision"));
    assert_eq!(fixture.statuses(), [HunkStatus::Accepted, HunkStatus::Pending]);
    for who in [ann(), bob()] {
        fixture.decide_as(&who, &one(second.clone(), HunkChoice::Accept)).unwrap();
    }
    assert_eq!(withdrawn(&mut fixture.request, None, &ann()), Err("already_resolved"));
}

#[test]
fn votes_count_per_hunk_and_text() {
    let mut fixture = sentence().with_policy(DecisionPolicy::Two);
    fixture.decide_as(&ann(), &edited(fixture.id(0), "This")).unwrap();
    let outcome = fixture.decide_as(&bob(), &approve()).unwrap();
    assert_eq!(outcome.decided, [], "bob wants another text, and is the first for the other hunk");
    fixture.decide_as(&bob(), &edited(fixture.id(0), "This")).unwrap();
    assert_eq!(fixture.text(), "This end. Than more came.");
}

#[test]
fn a_vote_survives_typing_but_not_a_conflict() {
    let mut fixture = sentence().with_policy(DecisionPolicy::Two);
    fixture.accept(0).unwrap();
    fixture.types("|Teh", "So ");
    fixture.types("T|eh", "x");
    let outcome = fixture.decide_as(&bob(), &forced(fixture.id(0), "Txeh")).unwrap();
    assert_eq!(outcome.decided, [], "ann never agreed to overwrite what somebody typed");
    fixture.types("Txeh", "Teh");
    fixture.decide_as(&bob(), &one(fixture.id(0), HunkChoice::Accept)).unwrap();
    assert_eq!(fixture.text(), "So The end. Than more came.");
}

#[test]
fn one_person_is_enough_to_reject() {
    let mut fixture = sentence().with_policy(DecisionPolicy::Two);
    assert_eq!(fixture.decide(&reject()).unwrap().resolved, Some(RequestStatus::Rejected));
}

#[test]
fn two_people_must_agree_on_the_input_of_a_tool_without_hunks() {
    let mut fixture =
        ReviewFixture::asking("Write", Preview::generic()).with_policy(DecisionPolicy::Two);
    let edit = Decision::plain(RequestVerdict::Edit { input: json!({ "x": 2 }) });
    fixture.decide_as(&ann(), &approve()).unwrap();
    let outcome = fixture.decide_as(&bob(), &edit).unwrap();
    assert_eq!((outcome.resolved, outcome.votes.have), (None, 1));
    assert!(fixture.decide_as(&ann(), &edit).unwrap().resolved.is_some());
}

#[test]
fn people_typing_elsewhere_never_make_a_preview_stale() {
    let mut fixture = sentence();
    let seen = fixture.request.preview_hash();
    assert!(seen.starts_with("sha256:") && seen.len() == 71);
    fixture.types("|Teh", "Well. ");
    fixture.types("T|eh", "x");
    fixture.accept(1).unwrap();
    assert_eq!(fixture.request.preview_hash(), seen);
    let decision = Decision { preview_hash: Some(seen), ..reject() };
    fixture.decide(&decision).unwrap();
}

#[test]
fn a_preview_is_stale_once_tool_input_hunks_or_file_are_others() {
    let changes: [fn(&mut ApprovalRequest); 5] = [
        |r| r.proposal.origin.tool.push('x'),
        |r| r.proposal.origin.input = json!({ "new_content": "else" }),
        |r| r.hunks[0].parts[0].insert.push('x'),
        |r| r.hunks[0].parts[0].base.push('x'),
        |r| r.proposal.action.touched = Some("other content".into()),
    ];
    for change in changes {
        let mut fixture = sentence();
        let seen = fixture.request.preview_hash();
        change(&mut fixture.request);
        fixture.request.forget_hash();
        let current = fixture.request.preview_hash();
        assert_ne!(current, seen);
        let decision = Decision { preview_hash: Some(seen), ..approve() };
        assert_eq!(fixture.decide(&decision).unwrap_err(), DecisionError::StalePreview { current });
    }
}

#[test]
fn without_a_hash_the_approval_stands_for_the_preview_first_announced() {
    let mut fixture = sentence();
    fixture.request.proposal.origin.input = json!({});
    assert_eq!(fixture.decide(&approve()).unwrap_err().code(), "stale_preview");
    assert!(fixture.decide(&reject()).is_ok());
}

#[test]
fn the_hash_does_not_depend_on_the_order_of_fields_or_on_storing() {
    let mut fixture = sentence();
    fixture.request.proposal.origin.input =
        serde_json::from_str(r#"{"b":1,"a":{"d":[1.5,null],"c":"é"}}"#).unwrap();
    let hash = fixture.request.preview_hash();
    fixture.request.proposal.origin.input =
        serde_json::from_str(r#"{"a":{"c":"é","d":[1.5,null]},"b":1}"#).unwrap();
    assert_eq!(fixture.request.preview_hash(), hash);
    let stored = serde_json::to_string(&fixture.request).unwrap();
    let loaded: ApprovalRequest = serde_json::from_str(&stored).unwrap();
    assert_eq!(loaded, fixture.request);
    assert_eq!(loaded.preview_hash(), hash);
}
