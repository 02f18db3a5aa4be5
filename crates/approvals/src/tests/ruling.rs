//! What owners say in advance: which rule of several counts, and what it speaks of.

use std::sync::LazyLock;

use super::*;
use copydesk_ids::UserId;

static REQUESTER: LazyLock<UserId> = LazyLock::new(|| ann().user);

/// A rule of ann's for work without a document.
fn rule(effect: RuleEffect, tool: &str, path: Option<&str>, over: Option<usize>) -> ApprovalRule {
    let path = path.map(|path| PathPattern::parse(path).unwrap());
    ApprovalRule {
        remember: RememberWish {
            id: "rul_1".into(),
            scope: RuleScope::Workspace,
            path,
            max_units: None,
            author: None,
            unmarked: false,
        },
        effect,
        over,
        tool: tool.into(),
        session: "ses_1".into(),
        document: None,
        request: None,
        by: Person::from(&ann()),
        at_ms: 0,
        ended: None,
    }
}

fn asker() -> RequesterIds<'static> {
    RequesterIds { user: &REQUESTER, former: &[] }
}

fn writing(file: Option<&str>, units: Option<usize>) -> RuleSubject<'_> {
    let (tool, document, requester) = ("Write", None, asker());
    RuleSubject { tools: &TOOLS, tool, document, file, units, requester, marks: &[] }
}

#[test]
fn of_several_rules_the_strictest_counts_in_whatever_order_they_were_made() {
    let [allow, ask, deny] = [RuleEffect::Allow, RuleEffect::Ask, RuleEffect::Deny]
        .map(|effect| rule(effect, "Write", None, None));
    let matter = writing(Some("a.md"), Some(5));
    let strictest = |rules: [&ApprovalRule; 3]| ruling(rules, &matter).map(|rule| rule.effect);
    assert_eq!(strictest([&allow, &deny, &ask]), Some(RuleEffect::Deny));
    assert_eq!(strictest([&deny, &ask, &allow]), Some(RuleEffect::Deny));
    assert_eq!(strictest([&ask, &allow, &allow]), Some(RuleEffect::Ask));
    assert_eq!(strictest([&allow, &allow, &allow]), None);
    let ended = ApprovalRule { ended: Some(RuleEnd { by: None, at_ms: 1 }), ..deny };
    assert_eq!(strictest([&ended, &ask, &allow]), Some(RuleEffect::Ask));
}

#[test]
fn a_denial_speaks_of_its_tool_its_size_and_its_document() {
    let stops = |rule: &ApprovalRule, matter: RuleSubject| rule.stops(&matter);
    let any = rule(RuleEffect::Deny, EVERY_TOOL, None, None);
    assert!(stops(&any, writing(None, None)));
    assert!(!stops(&rule(RuleEffect::Deny, "Edit", None, None), writing(None, None)));
    let large = rule(RuleEffect::Deny, "Write", None, Some(5));
    assert!(!stops(&large, writing(None, Some(5))) && stops(&large, writing(None, Some(6))));
    assert!(stops(&large, writing(None, None)), "nobody can tell how large it is");
    let document = "doc_1".into();
    assert!(!stops(&any, RuleSubject { document: Some(&document), ..writing(None, None) }));
}

/// A rule about what `who` asks.
fn about(who: &Principal, rule: ApprovalRule) -> ApprovalRule {
    let remember = RememberWish { author: Some(Person::from(who)), ..rule.remember };
    ApprovalRule { remember, ..rule }
}

#[test]
fn a_rule_about_what_one_person_asks_stops_nobody_else() {
    let deny = || rule(RuleEffect::Deny, "Read", Some("secret/**"), None);
    let read = RuleSubject { tool: "Read", ..writing(Some("secret/a"), None) };
    let (anns, bobs) = (about(&ann(), deny()), about(&bob(), deny()));
    assert!(anns.stops(&read) && !bobs.stops(&read));
    assert!(bobs.stops(&RuleSubject { requester: (&bob()).into(), ..read }));
    // Ann's tokens were tied to a login since.
    let tied = Principal { former: vec![ann().user], ..person("ann@example.org", Role::Editor) };
    assert!(anns.stops(&RuleSubject { requester: (&tied).into(), ..read }));
    assert!(!bobs.stops(&RuleSubject { requester: (&tied).into(), ..read }));
    assert!(anns.denial().contains(&format!("for what {} asks", ann().name)));
    assert!(!anns.repeats(&bobs) && !anns.repeats(&deny()));
    let hides = |rule: &ApprovalRule| {
        ExcludedPaths::by([rule], &["Read"], asker(), RuleEffect::Deny).has("secret/a")
    };
    assert!(hides(&anns) && !hides(&bobs));
}

#[test]
fn to_deny_a_pattern_covers_rather_too_much() {
    let stops = |pattern: &str, file: &str| {
        rule(RuleEffect::Deny, "Write", Some(pattern), None).stops(&writing(Some(file), None))
    };
    assert!(stops("*.md", "a.md") && stops("*.md", "A.MD") && stops("**", ".env"));
    assert!(stops("secrets/**", "../secrets/a") && stops("a", "/etc/passwd"));
    assert!(!stops("secrets/**", "notes/a.md") && !stops("notes/*.md", "a.md"));
    let named = rule(RuleEffect::Deny, "Write", Some("**"), None);
    assert!(!named.stops(&writing(None, None)), "a call that names no file");
}

#[test]
fn to_deny_a_name_is_meant_in_every_folder_and_a_folder_with_all_that_is_in_it() {
    let stops = |pattern: &str, file: &str| {
        rule(RuleEffect::Deny, "Write", Some(pattern), None).stops(&writing(Some(file), None))
    };
    assert!(stops("*.key", "a.key") && stops("*.key", "deep/down/a.key"));
    assert!(!stops("*.key", "deep/a.keys") && !stops("keys/*.key", "deep/keys/a.key"));
    // The last three as they may have been kept before patterns were looked at.
    for folder in
        ["private", "private/", "./private/**", "/private/**", " private/** ", "Private/./"]
    {
        assert!(stops(folder, "private/a") && stops(folder, "./private/deep/a.md"), "{folder}");
        assert!(!stops(folder, "privates/a") && !stops(folder, "notes.md"), "{folder}");
    }
    assert!(stops("private", "deep/private/a") && stops("a/b", "a/b/c") && !stops("a/b", "a/bc"));
    let mut allow = rule(RuleEffect::Allow, "Write", Some("*.key"), None).remember.path.unwrap();
    assert!(allow.covers("a.key") && !allow.covers("deep/a.key"));
    allow = PathPattern::parse("notes").unwrap();
    assert!(!allow.covers("notes/a"), "to allow, no more than what is written");
}

#[test]
fn whoever_denies_edit_denies_several_edits_in_one_call() {
    let stops = |effect, named: &str, tool| {
        rule(effect, named, Some("a.md"), None)
            .stops(&RuleSubject { tool, ..writing(Some("a.md"), None) })
    };
    assert!(
        stops(RuleEffect::Deny, "Edit", "MultiEdit") && stops(RuleEffect::Ask, "Edit", "MultiEdit")
    );
    assert!(
        !stops(RuleEffect::Deny, "MultiEdit", "Edit") && !stops(RuleEffect::Deny, "Edit", "Write")
    );
}

#[test]
fn a_pattern_that_no_path_can_be_like_is_refused_and_it_is_said_what_to_write() {
    let reads = |text: &str| PathPattern::written(text).map(|it| it.as_str().to_owned());
    for (text, why) in [
        ("/private/**", "without `/`"),
        ("/srv/notes/private", "without `/`"),
        ("../**", "leave `..` out"),
        ("private/../a", "leave `..` out"),
        ("private\\**", "end with `/`"),
        (" private/** ", "spaces around it"),
        ("./", "every file is `**`"),
        ("", "1 to 300 bytes"),
    ] {
        assert!(reads(text).unwrap_err().contains(why), "{text}");
    }
    assert_eq!(reads("./private//./**"), Ok("private/**".into()));
    assert_eq!(reads("private/"), Ok("private/".into()));
}

#[test]
fn a_path_is_what_it_leads_to_however_it_is_written() {
    let stops = |file: &str| {
        rule(RuleEffect::Deny, "Read", Some("keys/*.pem"), None)
            .stops(&RuleSubject { tool: "Read", ..writing(Some(file), None) })
    };
    for file in ["keys/a.pem", "./keys/a.pem", "keys//a.pem", "keys/./a.pem", "keys/a.pem/"] {
        assert!(stops(file), "{file}");
    }
    assert!(!stops("./open.txt") && !stops("keys/more/a.pem"));
}

#[test]
fn searches_leave_out_what_a_rule_about_reading_denies_or_asks_about() {
    let rules = [
        rule(RuleEffect::Deny, EVERY_TOOL, Some("secret/**"), None),
        rule(RuleEffect::Deny, "Read", Some("*.pem"), Some(5)),
        rule(RuleEffect::Ask, "Read", Some("draft*"), None),
        rule(RuleEffect::Deny, "Write", Some("open.txt"), None),
        rule(RuleEffect::Allow, "Read", Some("**"), None),
        rule(RuleEffect::Deny, "Glob", None, None),
        ApprovalRule {
            document: Some("doc_1".into()),
            ..rule(RuleEffect::Deny, "Read", Some("**"), None)
        },
        ApprovalRule {
            ended: Some(RuleEnd { by: None, at_ms: 1 }),
            ..rule(RuleEffect::Deny, "Read", Some("**"), None)
        },
    ];
    let files = ["secret/a", "Secret/A", "key.PEM", "draft.md", "open.txt"];
    let left = |mildest| {
        let hidden = ExcludedPaths::by(&rules, &["Read", "Grep"], asker(), mildest);
        files.into_iter().filter(|file| !hidden.has(file)).collect::<Vec<_>>()
    };
    assert_eq!(left(RuleEffect::Deny), ["draft.md", "open.txt"]);
    assert_eq!(left(RuleEffect::Ask), ["open.txt"]);
    let writing = |tools: &[&str], mildest| ExcludedPaths::by(&rules[3..], tools, asker(), mildest);
    assert!(writing(&["Read", "Grep"], RuleEffect::Ask).is_empty());
    assert!(writing(&["Write"], RuleEffect::Deny).has("open.txt"));
}

#[test]
fn what_an_owner_denied_its_maker_takes_back_only_as_an_owner() {
    let [allow, deny] =
        [RuleEffect::Allow, RuleEffect::Deny].map(|effect| rule(effect, "Write", None, None));
    let owner = person("olga", Role::Owner);
    assert!(allow.may_be_revoked_by(&ann()) && !deny.may_be_revoked_by(&ann()));
    assert!(allow.may_be_revoked_by(&owner) && deny.may_be_revoked_by(&owner));
}

#[test]
fn a_rule_as_it_was_kept_before_there_were_effects_allows() {
    let kept = json!({
        "id": "rul_1", "scope": "session", "tool": "Write", "session": "ses_1", "document": null,
        "request": "req_1", "by": Person::from(&ann()), "at_ms": 5,
    });
    let read: ApprovalRule = serde_json::from_value(kept.clone()).unwrap();
    assert_eq!((read.effect, read.request.clone()), (RuleEffect::Allow, Some("req_1".into())));
    assert_eq!(serde_json::to_value(read).unwrap(), kept);
}
