//! What a decision takes is worked out for what it would apply, never milder than for the whole
//! request as it was proposed.

use super::*;

const OLD: &str = "Teh end. Than more came. Adn it rained.";
const NEW: &str = "The end. Then more came. And it rained.";

fn over(units: usize, policy: DecisionPolicy) -> ToolPolicy {
    ToolPolicy { tool: None, over: Some(units), policy, marks: None }
}

/// Three corrections (6, 8 and 6 units), under policies by size.
fn under(policies: &[ToolPolicy]) -> ReviewFixture {
    let mut fixture = ReviewFixture::proposing(OLD, NEW);
    fixture.request.set_policy(&asking(policies));
    fixture
}

fn owner() -> Principal {
    person("o", Role::Owner)
}

/// Decides as a person by these policies; returns the code of the refusal, if it is one.
fn decides(
    fixture: &mut ReviewFixture,
    policies: &[ToolPolicy],
    who: &Principal,
    decision: &Decision,
) -> Result<DecisionOutcome, &'static str> {
    fixture.decide_under(policies, who, decision).map_err(|error| error.code())
}

#[test]
fn own_words_count_with_what_they_replace() {
    let policies = [over(20, DecisionPolicy::Owner)];
    let of = |len: usize| {
        let mut fixture = under(&policies);
        let edit = edited(fixture.id(0), &"Z".repeat(len));
        decides(&mut fixture, &policies, &ann(), &edit).err()
    };
    assert_eq!((of(17), of(18)), (None, Some("not_allowed")));
}

#[test]
fn own_words_count_without_what_they_have_in_common_with_the_old_ones() {
    let policies = [over(20, DecisionPolicy::Owner)];
    let mut fixture = under(&policies);
    fixture.types("Teh", "T and a very long sentence eh");
    let seen = fixture.stands(0);
    let mut decision = forced(fixture.id(0), &seen);
    decision.hunks.as_mut().unwrap()[0].text = Some(format!("{seen}!"));
    assert!(decides(&mut fixture, &policies, &ann(), &decision).is_ok());
}

#[test]
fn words_that_are_overwritten_by_force_count() {
    let policies = [over(20, DecisionPolicy::Owner)];
    let mut fixture = under(&policies);
    fixture.types("Teh", "T and a very long sentence eh");
    let seen = fixture.stands(0);
    let decision = forced(fixture.id(0), &seen);
    assert_eq!(decides(&mut fixture, &policies, &ann(), &decision).err(), Some("not_allowed"));
    assert!(decides(&mut fixture, &policies, &owner(), &decision).is_ok());
}

#[test]
fn deciding_hunk_by_hunk_takes_no_less_than_the_whole() {
    let policies = [over(19, DecisionPolicy::Owner)];
    for decision in [
        |fixture: &ReviewFixture| one(fixture.id(0), HunkChoice::Accept),
        |fixture: &ReviewFixture| edited(fixture.id(0), "A"),
        |fixture: &ReviewFixture| Decision {
            finish: Some(FinishRest::Accept),
            ..one(fixture.id(0), HunkChoice::Reject)
        },
        |fixture: &ReviewFixture| one(fixture.id(0), HunkChoice::Reject),
    ] {
        let mut fixture = under(&policies);
        let decision = decision(&fixture);
        assert_eq!(decides(&mut fixture, &policies, &ann(), &decision).err(), Some("not_allowed"));
    }
}

#[test]
fn what_was_accepted_before_counts_and_a_rejection_takes_no_more() {
    let policies = [over(30, DecisionPolicy::Owner)];
    let mut fixture = under(&policies);
    let edit = edited(fixture.id(0), &"Z".repeat(26));
    decides(&mut fixture, &policies, &ann(), &edit).unwrap();
    assert_eq!(
        fixture.request.requires(),
        DecisionPolicy::Owner.into(),
        "what is open would be too much"
    );
    let second = one(fixture.id(1), HunkChoice::Accept);
    assert_eq!(decides(&mut fixture, &policies, &ann(), &second).err(), Some("not_allowed"));
    let finish =
        Decision { finish: Some(FinishRest::Accept), ..one(fixture.id(1), HunkChoice::Reject) };
    assert_eq!(decides(&mut fixture, &policies, &ann(), &finish).err(), Some("not_allowed"));
    let no = one(fixture.id(1), HunkChoice::Reject);
    decides(&mut fixture, &policies, &ann(), &no).unwrap();
    decides(&mut fixture, &policies, &owner(), &approve()).unwrap();
}

#[test]
fn votes_for_a_form_that_takes_two_count_for_it_alone() {
    let policies = [over(20, DecisionPolicy::Two)];
    let mut fixture = under(&policies);
    let long = edited(fixture.id(0), &"Z".repeat(40));
    let outcome = decides(&mut fixture, &policies, &ann(), &long).unwrap();
    assert_eq!((outcome.decided, outcome.votes), (vec![], VoteCount { have: 0, need: 2 }));
    let plain = one(fixture.id(0), HunkChoice::Accept);
    let mut other =
        ReviewFixture { text: fixture.text.clone(), request: fixture.request.clone(), ..fixture };
    assert_eq!(decides(&mut other, &policies, &bob(), &plain).unwrap().decided, [other.id(0)]);
    assert_eq!(decides(&mut fixture, &policies, &bob(), &long).unwrap().decided, [fixture.id(0)]);
}

#[test]
fn votes_that_were_given_when_it_took_less_count_no_more() {
    let mut fixture = under(&[]).with_policy(DecisionPolicy::Two);
    let long = edited(fixture.id(0), &"Z".repeat(40));
    decides(&mut fixture, &[], &ann(), &long).unwrap();
    // From now on so much takes an owner, and two of them.
    let policies = [over(20, DecisionPolicy::Owner)];
    let outcome = decides(&mut fixture, &policies, &owner(), &long).unwrap();
    assert_eq!(outcome.decided, [], "ann is no owner");
    let other = person("p", Role::Owner);
    assert_eq!(decides(&mut fixture, &policies, &other, &long).unwrap().decided, [fixture.id(0)]);
}

#[test]
fn a_voter_who_is_no_owner_any_more_is_none_of_the_owners() {
    let policies = [over(20, DecisionPolicy::Owner)];
    let mut fixture = under(&policies).with_policy(DecisionPolicy::Two);
    let long = edited(fixture.id(0), &"Z".repeat(40));
    decides(&mut fixture, &policies, &owner(), &long).unwrap();
    assert_eq!(fixture.request.remove_votes_except(&[owner()]), [].into());
    assert_eq!(
        fixture.request.remove_votes_except(&[person("o", Role::Editor)]),
        ["o".into()].into()
    );
}

#[test]
fn an_edited_call_that_nobody_looked_at_counts_as_large() {
    let policies = [over(1_000_000, DecisionPolicy::Owner)];
    let mut fixture =
        ReviewFixture::asking("Write", Preview::diff("a", None, "x", &DiffLimits::default()));
    let edit = Decision::plain(RequestVerdict::Edit { input: json!({ "x": 2 }) });
    assert_eq!(decides(&mut fixture, &policies, &ann(), &edit).err(), Some("not_allowed"));
}

#[test]
fn a_fresh_preview_never_takes_less_than_the_first() {
    let write = |text: &str| Preview::diff("a.md", None, text, &DiffLimits::default());
    let policies = [over(10, DecisionPolicy::Owner)];
    let mut fixture = ReviewFixture::asking("Write", write("a long new text"));
    fixture.request.set_policy(&asking(&policies));
    for (text, touched) in [("x", "1"), ("xy", "2")] {
        let fresh = UpdatedPreview { preview: write(text), touched: Some(touched.to_owned()) };
        assert!(fixture.request.refresh_preview(fresh, &asking(&policies)));
        assert_eq!(fixture.request.requires(), DecisionPolicy::Owner.into());
        assert_eq!(fixture.request.units(), Some(text.len()));
    }
    fixture.request.set_policy(&asking(&policies));
    assert_eq!(
        fixture.request.proposal.policy,
        DecisionPolicy::Owner.into(),
        "also by settings of today"
    );
    let old: ApprovalRequest =
        serde_json::from_value(serde_json::to_value(&fixture.request).unwrap()).unwrap();
    assert_eq!(old, fixture.request, "and after a restart");
}

#[test]
fn a_larger_fresh_preview_takes_more() {
    let write = |text: &str| Preview::diff("a.md", None, text, &DiffLimits::default());
    let policies = [over(10, DecisionPolicy::Two)];
    let mut fixture = ReviewFixture::asking("Write", write("x"));
    fixture.request.set_policy(&asking(&policies));
    let fresh =
        UpdatedPreview { preview: write("a long new text"), touched: Some("other".to_owned()) };
    assert!(fixture.request.refresh_preview(fresh, &asking(&policies)));
    assert_eq!(fixture.request.votes(), VoteCount { have: 0, need: 2 });
    let yes = Decision { preview_hash: Some(fixture.request.preview_hash()), ..approve() };
    let first = decides(&mut fixture, &policies, &ann(), &yes).unwrap();
    assert_eq!((first.resolved, first.votes), (None, VoteCount { have: 1, need: 2 }));
    assert!(decides(&mut fixture, &policies, &bob(), &yes).unwrap().resolved.is_some());
}

#[test]
fn an_undo_takes_whom_so_much_takes() {
    let policies = [over(20, DecisionPolicy::Owner)];
    let mut fixture = under(&policies);
    let edit = edited(fixture.id(0), &"Z".repeat(26));
    decides(&mut fixture, &policies, &owner(), &edit).unwrap();
    let undo = |who: &Principal| {
        let (scope, at) =
            (UndoScope { hunks: None, touched: TouchedPolicy::Refuse }, fixture.now_ms);
        let undone =
            fixture.request.clone().undo(scope, who, &fixture.text, at, &asking(&policies));
        undone.map(drop).map_err(|error| error.code())
    };
    assert_eq!((undo(&ann()), undo(&owner())), (Err("not_allowed"), Ok(())));
}

#[test]
fn an_undo_by_force_counts_the_words_it_overwrites() {
    let policies = [over(20, DecisionPolicy::Owner)];
    let mut fixture = under(&policies);
    decides(&mut fixture, &policies, &ann(), &one(HunkId::from("req_1.1"), HunkChoice::Accept))
        .unwrap();
    fixture.types("The", "Th and a very long sentence e");
    let scope = UndoScope { hunks: None, touched: TouchedPolicy::Overwrite };
    let undone = fixture.request.undo(scope, &ann(), &fixture.text, 9, &asking(&policies));
    assert_eq!(undone.unwrap_err().code(), "not_allowed");
}

#[test]
fn a_reviewer_puts_in_no_words_but_the_models() {
    let rex = person("rex", Role::Reviewer);
    let mut fixture = under(&[]);
    let own = edited(fixture.id(0), "Thy");
    assert_eq!(decides(&mut fixture, &[], &rex, &own).err(), Some("not_allowed"));
    let models = edited(fixture.id(0), "The");
    decides(&mut fixture, &[], &rex, &models).unwrap();
    decides(&mut fixture, &[], &rex, &reject()).unwrap();
    let mut write = ReviewFixture::asking("Write", Preview::generic());
    let edit = Decision::plain(RequestVerdict::Edit { input: json!({ "x": 2 }) });
    assert_eq!(write.decide_as(&rex, &edit).unwrap_err().code(), "not_allowed");
    let answer = Decision::plain(RequestVerdict::Respond { message: "Later.".into() });
    write.decide_as(&rex, &answer).unwrap();
}

#[test]
fn a_rule_that_denies_is_asked_about_the_whole_and_about_what_is_applied() {
    let by = |limit: usize, decision: &Decision| {
        let mut fixture = under(&[]);
        let rule = denying(limit, Some("doc_1"));
        let requirements =
            DecisionRequirements { rules: vec![&rule], ..DecisionRequirements::default() };
        let decided = fixture.request.judge_and_carry_out(
            decision,
            &owner(),
            &fixture.text,
            fixture.now_ms,
            &requirements,
        );
        decided.err().map(|error| error.code())
    };
    let (first, long) = (HunkId::from("req_1.1"), edited("req_1.1".into(), &"Z".repeat(40)));
    assert_eq!(by(19, &one(first.clone(), HunkChoice::Accept)), Some("not_allowed"));
    assert_eq!(by(19, &one(first.clone(), HunkChoice::Reject)), None);
    assert_eq!(by(20, &one(first, HunkChoice::Accept)), None);
    assert_eq!((by(42, &long), by(43, &long)), (Some("not_allowed"), None));
}

#[test]
fn a_rule_made_with_an_edit_is_about_the_file_that_was_approved() {
    let mut fixture =
        ReviewFixture::asking("Write", Preview::diff("a.md", None, "x", &DiffLimits::default()));
    fixture.request.proposal.document = None;
    let preview = Preview::diff("b.txt", None, "x", &DiffLimits::default());
    let revised = Some(UpdatedPreview { preview, touched: Some("absent".to_owned()) });
    let edit = |path: &str| Decision {
        revised: revised.clone(),
        remember: Some(RememberWish {
            id: "rul_1".into(),
            scope: RuleScope::Session,
            path: PathPattern::parse(path).ok(),
            max_units: None,
            author: None,
            unmarked: false,
        }),
        ..Decision::plain(RequestVerdict::Edit { input: json!({ "x": 2 }) })
    };
    assert_eq!(fixture.decide(&edit("*.md")).unwrap_err().code(), "invalid_decision");
    fixture.decide(&edit("*.txt")).unwrap();
}

#[test]
fn the_models_words_over_a_whole_place_are_a_persons_own_where_somebody_typed_between() {
    let rex = person("rex", Role::Reviewer);
    let mut fixture =
        ReviewFixture::proposing("He go to store today", "He hurries to the store today");
    assert!(fixture.request.hunks[0].parts.len() > 1, "{:?}", fixture.request.hunks);
    fixture.types("go| to", " quickly");
    assert_eq!(fixture.request.hunks[0].status, HunkStatus::Pending);
    let mut decision = forced(fixture.id(0), &fixture.stands(0));
    decision.hunks.as_mut().unwrap()[0].text = Some(fixture.request.hunks[0].proposed());
    assert_eq!(decides(&mut fixture, &[], &rex, &decision).err(), Some("not_allowed"));
    let plain = one(fixture.id(0), HunkChoice::Accept);
    decides(&mut fixture, &[], &rex, &plain).unwrap();
    assert_eq!(fixture.text(), "He hurries quickly to the store today");
}

#[test]
fn a_policy_for_edit_is_one_for_several_edits_too() {
    let policies = [ToolPolicy { tool: Some("Edit".into()), ..over(100, DecisionPolicy::Owner) }];
    let takes = |tool: &str, units: usize| {
        let ann = ann();
        let requester = (&ann).into();
        let matter = RuleSubject {
            tools: &TOOLS,
            tool,
            document: None,
            file: None,
            units: Some(units),
            requester,
            marks: &[],
        };
        asking(&policies).requirement_of(&matter)
    };
    assert_eq!(takes("MultiEdit", 101), DecisionPolicy::Owner.into());
    assert_eq!(takes("MultiEdit", 100), DecisionPolicy::Any.into());
    assert_eq!(takes("Write", 101), DecisionPolicy::Any.into());
    let both = [
        policies[0].clone(),
        ToolPolicy {
            tool: Some("MultiEdit".into()),
            over: None,
            policy: DecisionPolicy::Two,
            marks: None,
        },
    ];
    let most = DecisionPolicy::Any.at_most(&both, &TOOLS);
    assert!(most.contains(&[DecisionPolicy::Two, DecisionPolicy::Owner].into_iter().collect()));
}

#[test]
fn votes_for_an_edited_call_are_for_the_file_as_it_was() {
    let mut fixture = ReviewFixture::asking(
        "Write",
        Preview::diff("a.md", Some("one"), "x", &DiffLimits::default()),
    )
    .with_policy(DecisionPolicy::Two);
    fixture.request.proposal.action.touched = Some("1".to_owned());
    fixture.request.announced = fixture.request.preview_hash();
    let edit = |stands: &str| {
        let preview = Preview::diff("b.md", None, "y", &DiffLimits::default());
        Decision {
            revised: Some(UpdatedPreview { preview, touched: Some(stands.to_owned()) }),
            ..Decision::plain(RequestVerdict::Edit { input: json!({ "x": 2 }) })
        }
    };
    decides(&mut fixture, &[], &ann(), &edit("1")).unwrap();
    let second = decides(&mut fixture, &[], &bob(), &edit("2")).unwrap();
    assert_eq!((second.resolved, second.votes.have), (None, 1));
    assert!(decides(&mut fixture, &[], &ann(), &edit("2")).unwrap().resolved.is_some());
}

#[test]
fn an_edited_call_overwrites_no_file_that_nobody_was_shown() {
    let of = |path: &str| Preview::diff(path, Some("one"), "x", &DiffLimits::default());
    let mut fixture = ReviewFixture::asking("Write", of("a.md"));
    fixture.request.proposal.action.touched = Some("1".to_owned());
    fixture.request.announced = fixture.request.preview_hash();
    let edit = |path: &str| Decision {
        revised: Some(UpdatedPreview { preview: of(path), touched: Some("1".to_owned()) }),
        ..Decision::plain(RequestVerdict::Edit { input: json!({ "x": 2 }) })
    };
    assert_eq!(decides(&mut fixture, &[], &ann(), &edit("b.md")).err(), Some("invalid_decision"));
    decides(&mut fixture, &[], &ann(), &edit("a.md")).unwrap();
}

fn denying(over: usize, document: Option<&str>) -> ApprovalRule {
    let document = document.map(Into::into);
    let rule = document_rule(RuleEffect::Deny, EVERY_TOOL, &owner());
    ApprovalRule { over: Some(over), document, ..rule }
}

#[test]
fn an_undo_by_force_is_denied_by_rules_and_a_plain_one_is_not() {
    let mut fixture = under(&[]);
    decides(&mut fixture, &[], &ann(), &one("req_1.1".into(), HunkChoice::Accept)).unwrap();
    let rule = denying(0, Some("doc_1"));
    let requirements =
        DecisionRequirements { rules: vec![&rule], ..DecisionRequirements::default() };
    let undo = |fixture: &ReviewFixture| {
        let scope = UndoScope { hunks: None, touched: TouchedPolicy::Overwrite };
        let undone = fixture.request.clone().undo(scope, &ann(), &fixture.text, 9, &requirements);
        undone.map(drop).map_err(|error| error.code())
    };
    assert_eq!(undo(&fixture), Ok(()), "nobody has touched it");
    fixture.types("The", "Th and more e");
    assert_eq!(undo(&fixture), Err("not_allowed"));
}
