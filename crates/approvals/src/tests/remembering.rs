//! What people approve in advance: which requests a rule covers, and in whose place it decides.

use super::*;
use copydesk_ids::RuleId;

/// Three units deleted, three inserted: as large as a small correction gets.
fn small() -> ReviewFixture {
    ReviewFixture::proposing("Teh end.", "The end.")
}

fn wish(scope: RuleScope, max_units: Option<usize>) -> RememberWish {
    RememberWish { id: "rul_1".into(), scope, path: None, max_units, author: None, unmarked: false }
}

fn remembering(remember: RememberWish) -> Decision {
    Decision { remember: Some(remember), ..approve() }
}

/// The rule that a person makes with the approval of a small correction.
fn rule_of(who: &Principal, remember: RememberWish) -> ApprovalRule {
    small().decide_as(who, &remembering(remember)).unwrap().rule.unwrap()
}

fn anywhere(max_units: usize) -> ApprovalRule {
    rule_of(&ann(), wish(RuleScope::Document, Some(max_units)))
}

/// Lets the rules decide, as the room does.
fn by_rules(
    fixture: &mut ReviewFixture,
    rules: &[ApprovalRule],
    people: &[Principal],
) -> Vec<RuleId> {
    let deciding = fixture.request.deciding_rules(rules, people);
    for (rule, maker) in &deciding {
        fixture.decide_as(maker, &Decision::by_rule(rule.clone())).unwrap();
    }
    deciding.into_iter().map(|(rule, _)| rule).collect()
}

#[test]
fn a_size_is_everything_deleted_and_everything_inserted() {
    assert_eq!(small().request.units(), Some(6));
    assert_eq!(ReviewFixture::proposing("One two.", "One. two.").request.units(), Some(1));
    assert_eq!(ReviewFixture::proposing("I am 😀.", "I am 😁.").request.units(), Some(4));
    let two = ReviewFixture::proposing("Teh end. Than more came.", "The end. Then more came.");
    assert_eq!(two.request.units(), Some(14));
}

#[test]
fn a_size_is_what_was_proposed_whatever_was_decided_since() {
    let mut fixture =
        ReviewFixture::proposing("Teh end. Than more came.", "The end. Then more came.");
    fixture.accept(0).unwrap();
    fixture.types("|Than", "So ");
    assert_eq!(fixture.request.units(), Some(14));
}

#[test]
fn a_files_size_is_never_less_than_the_smallest_edit_and_without_a_text_nobody_knows() {
    let limits = DiffLimits::default();
    let units = |old: Option<&str>, new: &str| {
        ReviewFixture::asking("Write", Preview::diff("a.md", old, new, &limits)).request.units()
    };
    assert_eq!(units(Some("one two three"), "one 2 three"), Some(4));
    assert_eq!(units(None, "new"), Some(3));
    assert_eq!(units(Some("aa"), "aaa"), Some(1));
    assert_eq!(units(Some("a😀b"), "a😁b"), Some(4));
    assert_eq!(ReviewFixture::asking("Write", Preview::generic()).request.units(), None);
}

#[test]
fn a_rule_lets_its_size_through_and_not_one_unit_more() {
    assert!(small().request.is_covered_by(&anywhere(6)));
    assert!(!small().request.is_covered_by(&anywhere(5)));
    let unlimited = rule_of(&ann(), wish(RuleScope::Document, None));
    assert!(
        ReviewFixture::proposing("One.", "Something else entirely.")
            .request
            .is_covered_by(&unlimited)
    );
}

#[test]
fn a_rule_with_a_size_is_silent_where_nobody_knows_it() {
    let mut fixture = ReviewFixture::asking("Write", Preview::generic());
    fixture.request.proposal.document = None;
    let sized = wish(RuleScope::Session, Some(1_000));
    let rule = fixture.request.clone();
    let rule = { rule }
        .judge_and_carry_out(
            &remembering(sized),
            &ann(),
            &fixture.text,
            fixture.now_ms,
            &DecisionRequirements::default(),
        )
        .unwrap()
        .rule;
    assert!(!fixture.request.is_covered_by(&rule.unwrap()));
}

#[test]
fn a_rule_is_about_one_tool_in_one_document() {
    let others: [fn(&mut ProposedCall); 3] = [
        |it| it.origin.tool = "update_selection".into(),
        |it| it.document = Some("doc_2".into()),
        |it| it.document = None,
    ];
    for other in others {
        let mut fixture = small();
        other(&mut fixture.request.proposal);
        assert!(!fixture.request.is_covered_by(&anywhere(100)));
    }
}

#[test]
fn a_rule_for_the_session_is_about_no_other_session_and_one_for_the_document_about_all() {
    let mut fixture = small();
    fixture.request.proposal.origin.session = "ses_2".into();
    assert!(!fixture.request.is_covered_by(&rule_of(&ann(), wish(RuleScope::Session, None))));
    assert!(fixture.request.is_covered_by(&rule_of(&ann(), wish(RuleScope::Document, None))));
}

#[test]
fn a_rule_about_who_asked_covers_what_they_ask_and_nobody_elses() {
    let about = |user: &str| {
        let author = Some(Person { user: user.into(), name: String::new() });
        RememberWish { author, ..wish(RuleScope::Document, None) }
    };
    let requester = small().request.proposal.requester;
    let rule = rule_of(&bob(), about(requester.user.as_str()));
    assert_eq!(rule.remember.author.as_ref(), Some(&requester), "with the name");
    let mut fixture = small();
    assert!(fixture.request.is_covered_by(&rule));
    fixture.request.proposal.origin.session = "ses_2".into();
    assert!(fixture.request.is_covered_by(&rule), "in every session");
    fixture.request.proposal.requester = Person::from(&bob());
    assert!(!fixture.request.is_covered_by(&rule));
    let refused = small().decide(&remembering(about("usr_nobody"))).unwrap_err();
    let reason = InvalidDecisionReason::RuleForOthers;
    assert_eq!(refused, DecisionError::InvalidDecision { reason });
}

#[test]
fn a_path_pattern_covers_files_below_the_workspace_only() {
    let pattern = |text: &str| PathPattern::parse(text).unwrap();
    let covers = |glob: &str, path: &str| {
        let limits = DiffLimits::default();
        let mut fixture = ReviewFixture::asking("Write", Preview::diff(path, None, "x", &limits));
        fixture.request.proposal.document = None;
        let wish = RememberWish { path: Some(pattern(glob)), ..wish(RuleScope::Session, None) };
        let mut decided = fixture.request.clone();
        let outcome = decided.judge_and_carry_out(
            &remembering(wish),
            &ann(),
            &fixture.text,
            fixture.now_ms,
            &DecisionRequirements::default(),
        );
        fixture.request.is_covered_by(&outcome.unwrap().rule.unwrap())
    };
    assert!(covers("notes/*.md", "notes/a.md") && covers("notes/**", "notes/b/c.md"));
    assert!(!covers("notes/*.md", "notes/b/c.md") && !covers("notes/**", "other/a.md"));
    assert!(!covers("**", "notes/../secret.md") && !covers("**", "/etc/passwd"));
    assert!(!covers("*", ".env") && !covers("**/*", "notes/.git/config"));
    assert!(covers(".github/*.yml", ".github/ci.yml"));
    assert!(PathPattern::parse("").is_err() && PathPattern::parse("notes/[a").is_err());
    assert!(PathPattern::parse(&"x".repeat(301)).is_err());
}

#[test]
fn a_pattern_is_no_wish_for_a_document_and_a_document_none_for_work_without_one() {
    let path = PathPattern::parse("*").ok();
    let with_path = RememberWish { path, ..wish(RuleScope::Document, None) };
    assert_eq!(small().decide(&remembering(with_path)).unwrap_err().code(), "invalid_decision");
    let mut fixture = ReviewFixture::asking("Write", Preview::generic());
    fixture.request.proposal.document = None;
    let refused = fixture.decide(&remembering(wish(RuleScope::Document, None)));
    assert_eq!(refused.unwrap_err().code(), "invalid_decision");
}

#[test]
fn whatever_rejects_anything_makes_no_rule() {
    let rule = Some(wish(RuleScope::Document, None));
    let fixture =
        || ReviewFixture::proposing("Teh end. Than more came.", "The end. Then more came.");
    let no = |number: usize| one(fixture().id(number), HunkChoice::Reject);
    let answer = Decision::plain(RequestVerdict::Respond { message: "No.".into() });
    let rest =
        Decision { finish: Some(FinishRest::Reject), ..one(fixture().id(0), HunkChoice::Accept) };
    for decision in [reject(), no(0), answer, rest] {
        let refused = fixture().decide(&Decision { remember: rule.clone(), ..decision });
        assert_eq!(refused.unwrap_err().code(), "invalid_decision");
    }
    let nothing = small().decide(&remembering(wish(RuleScope::Document, Some(0))));
    assert_eq!(nothing.unwrap_err().code(), "invalid_decision");
}

#[test]
fn commands_and_warnings_are_asked_about_every_time() {
    let owner = person("o", Role::Owner);
    let mut fixture = ReviewFixture::asking("Bash", Preview::command("ls", Vec::new()));
    let refused = fixture.decide_as(&owner, &remembering(wish(RuleScope::Session, None)));
    assert_eq!(refused.unwrap_err().code(), "invalid_decision");
    let warning = PreviewWarning { code: "moved".into(), text: "Look twice.".into() };
    let mut fixture = small();
    fixture.request.proposal.action.preview.warnings.push(warning);
    assert!(!fixture.request.is_covered_by(&anywhere(100)));
}

#[test]
fn a_rule_decides_in_the_place_of_its_maker_and_is_named() {
    let mut fixture = small();
    let rules = [anywhere(6)];
    assert_eq!(by_rules(&mut fixture, &rules, &[ann()]), ["rul_1".into()]);
    assert_eq!(
        (fixture.text().as_str(), fixture.request.status),
        ("The end.", RequestStatus::Approved)
    );
    let decided = fixture.request.hunks[0].decided.clone().unwrap();
    assert_eq!((decided.by.user.as_str(), decided.rule), ("ann", Some("rul_1".into())));
    assert_eq!(fixture.request.decisions.closed.unwrap().rule, Some("rul_1".into()));
}

#[test]
fn a_rule_of_somebody_who_may_not_decide_any_more_does_nothing() {
    let rules = [anywhere(6)];
    let viewer = person("ann", Role::Viewer);
    let elsewhere = Principal { document: Some("doc_2".into()), ..ann() };
    for people in [vec![], vec![viewer.clone()], vec![elsewhere], vec![bob()]] {
        assert_eq!(by_rules(&mut small(), &rules, &people), [], "{people:?}");
    }
    // One good token is enough, whatever else they hold; the right is that of today.
    assert_eq!(by_rules(&mut small(), &rules, &[viewer, ann()]), ["rul_1".into()]);
}

#[test]
fn the_requesters_rule_never_decides_where_the_requester_may_not() {
    let mut fixture = small().with_policy(DecisionPolicy::NotRequester);
    let bobs =
        rule_of(&bob(), RememberWish { id: "rul_2".into(), ..wish(RuleScope::Document, None) });
    assert_eq!(by_rules(&mut fixture, &[anywhere(6)], &[ann(), bob()]), []);
    assert_eq!(by_rules(&mut fixture, &[anywhere(6), bobs], &[ann(), bob()]), ["rul_2".into()]);
}

#[test]
fn an_owners_policy_listens_to_an_owners_rule_only() {
    let people = [ann(), person("o", Role::Owner)];
    let mut fixture = small().with_policy(DecisionPolicy::Owner);
    let owners =
        rule_of(&people[1], RememberWish { id: "rul_2".into(), ..wish(RuleScope::Document, None) });
    assert_eq!(by_rules(&mut fixture, &[anywhere(6), owners], &people), ["rul_2".into()]);
}

#[test]
fn where_two_must_agree_all_rules_of_one_person_are_one_vote() {
    let mut fixture = small().with_policy(DecisionPolicy::Two);
    let more = ApprovalRule {
        remember: RememberWish { id: "rul_2".into(), ..wish(RuleScope::Session, None) },
        ..anywhere(6)
    };
    assert_eq!(by_rules(&mut fixture, &[anywhere(6), more], &[ann(), bob()]), ["rul_1".into()]);
    assert_eq!(
        (fixture.request.votes(), fixture.text().as_str()),
        (VoteCount { have: 1, need: 2 }, "Teh end.")
    );
    fixture.decide_as(&bob(), &approve()).unwrap();
    assert_eq!(fixture.text(), "The end.");
}

#[test]
fn a_rule_that_has_ended_loses_its_votes_on_what_is_open() {
    let rules = [("rul_1", ann()), ("rul_2", bob())].map(|(id, who)| {
        rule_of(&who, RememberWish { id: id.into(), ..wish(RuleScope::Document, None) })
    });
    let other_than_first = |rule: &RuleId| *rule != "rul_1".into();
    let call = ReviewFixture::asking("update_full_document", Preview::generic());
    for mut fixture in [small(), call] {
        fixture.request.proposal.policy = DecisionPolicy::Two.into();
        by_rules(&mut fixture, &rules[..1], &[ann(), bob()]);
        assert_eq!(fixture.request.votes().have, 1);
        assert!(fixture.request.lost_rules(|_| true).is_empty());
        let lost = fixture.request.lost_rules(other_than_first);
        assert_eq!(lost, ["rul_1".into()].into());
        fixture.request.remove_votes_of_rules(&lost);
        assert_eq!(fixture.request.votes().have, 0);
        fixture.decide_as(&bob(), &approve()).unwrap();
        assert!(fixture.request.status.is_open(), "one vote is not two");
    }
    let mut decided = small().with_policy(DecisionPolicy::Two);
    by_rules(&mut decided, &rules, &[ann(), bob()]);
    assert!(
        decided.request.lost_rules(other_than_first).is_empty(),
        "what is decided stays decided"
    );
}

#[test]
fn two_people_who_both_have_a_rule_have_both_agreed() {
    let mut fixture = small().with_policy(DecisionPolicy::Two);
    let bobs =
        rule_of(&bob(), RememberWish { id: "rul_2".into(), ..wish(RuleScope::Document, None) });
    by_rules(&mut fixture, &[anywhere(6), bobs], &[ann(), bob()]);
    assert_eq!(fixture.text(), "The end.");
}

#[test]
fn a_vote_makes_a_rule_as_any_approval_does() {
    let mut fixture = small().with_policy(DecisionPolicy::Two);
    let outcome = fixture.decide(&remembering(wish(RuleScope::Document, Some(6)))).unwrap();
    assert_eq!((outcome.resolved, outcome.rule.is_some()), (None, true));
}

#[test]
fn a_wish_goes_with_a_vote_for_a_preview_that_is_no_longer_the_same() {
    let file = |content: &str| Preview::diff("a.md", None, content, &DiffLimits::default());
    for is_refreshed in [false, true] {
        let mut fixture =
            ReviewFixture::asking("Write", file("x")).with_policy(DecisionPolicy::Two);
        let voted = fixture.decide(&remembering(wish(RuleScope::Document, None))).unwrap();
        assert_eq!(fixture.request.granted(&voted), []);
        if is_refreshed {
            let fresh = UpdatedPreview { preview: file("y"), touched: Some("sha256:1".into()) };
            assert!(fixture.request.refresh_preview(fresh, &DecisionRequirements::default()));
            let seen = Some(fixture.request.preview_hash());
            let again = Decision { preview_hash: seen, ..approve() };
            let voted = fixture.decide(&again).unwrap();
            assert_eq!(fixture.request.granted(&voted), []);
        }
        let seen = Some(fixture.request.preview_hash());
        let last = Decision { preview_hash: seen, ..approve() };
        let decided = fixture.decide_as(&bob(), &last).unwrap();
        let made = fixture.request.granted(&decided);
        assert_eq!(made.len(), usize::from(!is_refreshed));
    }
}

#[test]
fn a_rule_never_accepts_words_in_conflict() {
    let mut fixture =
        ReviewFixture::proposing("Teh end. Than more came.", "The end. Then more came.");
    fixture.types("T|eh", "x");
    by_rules(&mut fixture, &[anywhere(14)], &[ann()]);
    assert_eq!(fixture.statuses(), [HunkStatus::Conflict, HunkStatus::Accepted]);
    assert_eq!(fixture.text(), "Txeh end. Then more came.");
}

#[test]
fn a_rule_can_be_revoked_by_its_maker_and_by_an_owner() {
    let rule = anywhere(6);
    assert!(rule.may_be_revoked_by(&ann()) && rule.may_be_revoked_by(&person("o", Role::Owner)));
    assert!(
        rule.may_be_revoked_by(&person("ann", Role::Viewer)),
        "one's own can always be taken back"
    );
    assert!(!rule.may_be_revoked_by(&bob()));
    let ended = ApprovalRule { ended: Some(RuleEnd { by: None, at_ms: 1 }), ..rule };
    assert!(!small().request.is_covered_by(&ended));
}

#[test]
fn the_same_wish_of_the_same_person_is_the_same_rule() {
    let again = ApprovalRule { at_ms: 9, session: "ses_2".into(), ..anywhere(6) };
    assert!(anywhere(6).repeats(&again));
    assert!(!anywhere(7).repeats(&again));
    assert!(!rule_of(&bob(), wish(RuleScope::Document, Some(6))).repeats(&again));
    let session = rule_of(&ann(), wish(RuleScope::Session, Some(6)));
    assert!(
        !session.repeats(&again)
            && !session.repeats(&ApprovalRule { session: "ses_2".into(), ..session.clone() })
    );
}

fn stricter(tool: Option<&str>, over: Option<usize>, policy: DecisionPolicy) -> ToolPolicy {
    ToolPolicy { tool: tool.map(str::to_owned), over, policy, marks: None }
}

/// What a request takes by these policies.
fn taking(
    base: DecisionPolicy,
    others: &[ToolPolicy],
    request: &ApprovalRequest,
) -> ApprovalRequirement {
    base.of(&request.matter(&request.proposed_extent(), &TOOLS), others)
}

#[test]
fn all_policies_for_a_request_hold_together() {
    let request = small().request;
    let of =
        |base: DecisionPolicy, others: &[ToolPolicy]| taking(base, others, &request).policies();
    let tool = Some("update_full_document");
    assert_eq!(of(DecisionPolicy::Any, &[]), [DecisionPolicy::Any]);
    let two = stricter(tool, None, DecisionPolicy::Two);
    let others = [two.clone(), stricter(None, None, DecisionPolicy::NotRequester)];
    assert_eq!(
        of(DecisionPolicy::Any, &others),
        [DecisionPolicy::NotRequester, DecisionPolicy::Two]
    );
    assert_eq!(of(DecisionPolicy::Owner, &[two]), [DecisionPolicy::Two, DecisionPolicy::Owner]);
    assert_eq!(
        of(DecisionPolicy::Owner, &[stricter(tool, None, DecisionPolicy::Any)]),
        [DecisionPolicy::Owner]
    );
    assert_eq!(
        of(DecisionPolicy::Any, &[stricter(Some("Bash"), None, DecisionPolicy::Owner)]),
        [DecisionPolicy::Any]
    );
}

#[test]
fn settings_say_what_requests_can_take_of_people_at_most() {
    let others = [
        stricter(None, None, DecisionPolicy::NotRequester),
        stricter(Some("Write"), Some(2_000), DecisionPolicy::Owner),
    ];
    let at_most: Vec<_> = DecisionPolicy::Two
        .at_most(&others, &TOOLS)
        .into_iter()
        .map(ApprovalRequirement::policies)
        .collect();
    let all = vec![DecisionPolicy::NotRequester, DecisionPolicy::Two];
    assert_eq!(at_most, [all.clone(), [all.clone(), vec![DecisionPolicy::Owner]].concat(), all]);
}

#[test]
fn a_policy_for_a_size_counts_from_the_first_unit_over_it() {
    let over = |units: usize| {
        let owner = [stricter(None, Some(units), DecisionPolicy::Owner)];
        taking(DecisionPolicy::Any, &owner, &small().request).strictest()
    };
    assert_eq!((over(6), over(5)), (DecisionPolicy::Any, DecisionPolicy::Owner));
    let unknown = ReviewFixture::asking("Write", Preview::generic()).request;
    let owner = [stricter(None, Some(1_000_000), DecisionPolicy::Owner)];
    assert_eq!(
        taking(DecisionPolicy::Any, &owner, &unknown).strictest(),
        DecisionPolicy::Owner,
        "what nobody can tell counts as large"
    );
}

#[test]
fn a_stored_rule_reads_as_it_was() {
    let path = PathPattern::parse("notes/**").ok();
    let rule = ApprovalRule {
        remember: RememberWish { path, ..wish(RuleScope::Session, Some(9)) },
        ..anywhere(6)
    };
    let stored = serde_json::to_value(&rule).unwrap();
    assert_eq!(stored["path"], "notes/**");
    assert_eq!(serde_json::from_value::<ApprovalRule>(stored).unwrap(), rule);
}
