//! Stories of documents: who pushes what on which version, and what everybody ends with.

use super::*;

const LIMITS: ChangeLimits =
    ChangeLimits { max_sections: 1000, max_inserted: 1000, max_length: 6000 };

fn document(text: &str) -> Document {
    Document::new(Text::new(text), Version(0))
}

/// A tail bounded by the number of updates alone.
fn updates(updates: usize) -> TailLimits {
    TailLimits { updates, bytes: usize::MAX }
}

/// Pushes updates as `client:json` on version `base`; gives the JSON that was committed.
fn push(
    document: &mut Document,
    base: u64,
    updates: &[(&str, &str)],
) -> Result<Vec<String>, PushError> {
    let clients: Vec<ClientId> = updates.iter().map(|&(client, _)| client.into()).collect();
    let incoming: Vec<_> = clients
        .iter()
        .zip(updates)
        .map(|(client, &(_, changes))| IncomingUpdate { client, changes })
        .collect();
    let committed = document.push(Version(base), &incoming, &LIMITS, RebaseBudget::UNLIMITED)?;
    Ok(committed.map(|update| update.changes.into()).collect())
}

/// An update of client `a` that adds an `x` to a text of `len` units.
fn add_x(document: &mut Document, len: u64) {
    let json = if len == 0 { r#"[[0,"x"]]"#.into() } else { format!(r#"[{len},[0,"x"]]"#) };
    push(document, len, &[("a", &json)]).unwrap();
}

#[test]
fn a_push_on_the_newest_version_is_committed_as_it_is() {
    let mut document = document("hello");
    let committed =
        push(&mut document, 0, &[("a", r#"[5,[0," world"]]"#), ("a", r#"[11,[0,"!"]]"#)]).unwrap();
    assert_eq!(committed, [r#"[5,[0," world"]]"#, r#"[11,[0,"!"]]"#]);
    assert_eq!(
        (document.text().to_string(), document.version()),
        ("hello world!".into(), Version(2))
    );
}

#[test]
fn an_older_push_is_rebased() {
    let mut document = document("hello");
    push(&mut document, 0, &[("a", r#"[[0,"> "],5]"#)]).unwrap();
    let committed =
        push(&mut document, 0, &[("b", "[1,[1],3]"), ("b", r#"[1,[0,"u"],3]"#)]).unwrap();
    assert_eq!(committed, ["[3,[1],3]", r#"[3,[0,"u"],3]"#]);
    assert_eq!(document.text().to_string(), "> hullo");
}

#[test]
fn missed_updates_are_taken_one_at_a_time() {
    // With the missed updates composed, as CodeMirror's own server part does, this ends as "YX
    // world".
    let mut document = document("hello world");
    push(&mut document, 0, &[("a", "[[5],6]")]).unwrap();
    push(&mut document, 0, &[("b", r#"[5,[0,"X"],6]"#)]).unwrap();
    push(&mut document, 0, &[("c", r#"[[0,"Y"],11]"#)]).unwrap();
    assert_eq!(document.text().to_string(), "XY world");
}

#[test]
fn an_update_of_which_nothing_is_left_still_takes_a_version() {
    let mut document = document("abc");
    push(&mut document, 0, &[("a", "[[3]]")]).unwrap();
    assert_eq!(push(&mut document, 0, &[("b", "[1,[1],1]")]).unwrap(), ["[]"]);
    assert_eq!(document.version(), Version(2));
}

#[test]
fn what_was_committed_already_is_recognised() {
    let mut document = document("abc");
    push(&mut document, 0, &[("a", r#"[3,[0,"1"]]"#)]).unwrap();
    push(&mut document, 0, &[("b", r#"[[0,"x"],3]"#)]).unwrap();
    let again = [("b", r#"[[0,"x"],3]"#), ("b", r#"[1,[0,"y"],3]"#)];
    assert_eq!(push(&mut document, 0, &again).unwrap(), [r#"[1,[0,"y"],4]"#]);
    assert_eq!(push(&mut document, 0, &again).unwrap(), [""; 0]);
    assert_eq!((document.text().to_string(), document.version()), ("xyabc1".into(), Version(3)));
}

#[test]
fn a_client_that_lost_track_is_told_so() {
    let mut document = document("abc");
    push(&mut document, 0, &[("a", r#"[[0,"x"],3]"#)]).unwrap();
    let error = push(&mut document, 0, &[("a", r#"[3,[0,"y"]]"#)]).unwrap_err();
    assert!(matches!(error, PushError::NotTheSame { index: 0 }), "{error}");
}

#[test]
fn a_push_is_all_or_nothing() {
    let mut document = document("a😀");
    let error = push(&mut document, 0, &[("a", r#"[[0,"x"],3]"#), ("a", "[3,[1]]")]).unwrap_err();
    assert!(matches!(error, PushError::Invalid { index: 1, .. }), "{error}");
    assert_eq!((document.text().to_string(), document.version()), ("a😀".into(), Version(0)));
}

#[test]
fn an_update_after_recognised_ones_is_counted_from_the_first() {
    let mut document = document("a😀");
    push(&mut document, 0, &[("a", r#"[[0,"x"],3]"#)]).unwrap();
    let error = push(&mut document, 0, &[("a", r#"[[0,"x"],3]"#), ("a", "[3,[1]]")]).unwrap_err();
    assert!(matches!(error, PushError::Invalid { index: 1, .. }), "{error}");
}

#[test]
fn lengths_are_checked_against_the_version_the_push_was_made_on() {
    let mut document = document("abc");
    push(&mut document, 0, &[("a", r#"[[0,"x"],3]"#)]).unwrap();
    for (base, updates, wrong) in [
        (0, vec![r#"[4,[0,"y"]]"#], 0),
        (1, vec!["[3]"], 0),
        (1, vec!["[2,[1]]"], 0),
        (1, vec![r#"[[9,"0123456789"]]"#], 0),
        (0, vec!["[[3]]", "[3]"], 1),
        (0, vec!["[3]", "[4]"], 1),
    ] {
        let updates: Vec<_> = updates.into_iter().map(|json| ("b", json)).collect();
        let error = push(&mut document, base, &updates).unwrap_err();
        let PushError::Invalid { index, source: ChangeError::LengthMismatch { .. } } = error else {
            panic!("{updates:?} on {base}: {error}");
        };
        assert_eq!(index, wrong, "{updates:?} on {base}");
    }
    assert_eq!(document.version(), Version(1));
}

#[test]
fn limits_hold_for_typing_and_for_everything_else() {
    let tight = ChangeLimits { max_sections: 5, max_inserted: 4, max_length: 100 };
    for (json, allowed) in [
        (r#"[2,[0,"1234"],1]"#, true),
        (r#"[2,[0,"12345"],1]"#, false),
        (r#"[[0,"12"],2,[0,"34"],1]"#, true),
        (r#"[[0,"12"],2,[0,"345"],1]"#, false),
        (r#"[[0,"1"],1,[0,"2"],1,[0,"3"],1]"#, false),
    ] {
        let mut document = document("abc");
        let incoming = [IncomingUpdate { client: &"a".into(), changes: json }];
        let pushed = document.push(Version(0), &incoming, &tight, RebaseBudget::UNLIMITED);
        assert_eq!(pushed.is_ok(), allowed, "{json}");
    }
}

#[test]
fn more_updates_than_the_log_holds_are_refused_together() {
    for (tail, count) in [(3, 4), (1, 2), (600, 601), (0, 1)] {
        let mut document = Document::with_tail(Text::new("abc"), Version(7), updates(tail));
        let updates = vec![("a", "[3]"); count];
        let error = push(&mut document, 7, &updates).unwrap_err();
        assert!(matches!(error, PushError::TooMany { most } if most == tail), "{error}");
        assert_eq!(document.version(), Version(7));
        // One less is returned completely, however full the log was before.
        for base in 0..3 {
            let base = 7 + base * tail as u64;
            assert_eq!(push(&mut document, base, &updates[1..]).unwrap().len(), tail);
        }
    }
}

#[test]
fn versions_outside_the_log_are_refused() {
    let mut document = Document::with_tail(Text::new("abc"), Version(7), updates(3));
    let error = push(&mut document, 8, &[("a", "[3]")]).unwrap_err();
    assert!(matches!(error, PushError::Ahead { base: Version(8), version: Version(7) }), "{error}");
    let error = push(&mut document, 6, &[("a", "[3]")]).unwrap_err();
    assert!(matches!(error, PushError::TooOld { tail_start: Version(7), .. }), "{error}");
}

#[test]
fn the_text_cannot_outgrow_its_limit_but_can_shrink_towards_it() {
    let mut document = document(&"x".repeat(6000));
    for json in [r#"[6000,[0,"y"]]"#, r#"[[0,"y"],6000,[0,"z"]]"#] {
        let error = push(&mut document, 0, &[("a", json)]).unwrap_err();
        let PushError::Invalid { source: ChangeError::TooLong { max: 6000 }, .. } = error else {
            panic!("{json}: {error}");
        };
    }
    let change = ChangeSet::parse(r#"[6000,[0,"yyyy"]]"#, &LIMITS).unwrap();
    document.commit(&change, &"server".into(), None).unwrap();
    push(&mut document, 1, &[("a", "[6003,[1]]")]).unwrap();
    push(&mut document, 2, &[("a", "[[1],6001,[1]]")]).unwrap();
    assert_eq!(document.text().len(), 6001);
}

#[test]
fn the_server_commits_with_an_origin() {
    let mut document = document("abc");
    let change = ChangeSet::of(3, &[TextEdit { from: 1, to: 2, insert: "B".into() }]).unwrap();
    let update = document.commit(&change, &"server".into(), Some("req_1")).unwrap();
    assert_eq!((&*update.changes, update.origin.as_deref()), (r#"[1,[1,"B"],1]"#, Some("req_1")));
    assert_eq!(document.since(Version(0)).unwrap().collect::<Vec<_>>(), [update]);
}

#[test]
fn the_log_keeps_at_least_its_tail_and_forgets_the_rest() {
    let mut document = Document::with_tail(Text::default(), Version(0), updates(1000));
    for version in 0..5000 {
        add_x(&mut document, version);
        assert!(document.tail_start().0 <= version.saturating_sub(999), "at {version}");
    }
    assert!(document.tail_start() > Version(3000), "nothing was forgotten");
    let since: Vec<_> = document.since(Version(4500)).unwrap().collect();
    assert_eq!((since.len(), &*since[0].changes), (500, r#"[4500,[0,"x"]]"#));
    assert!(document.since(Version(100)).is_none() && document.since(Version(5001)).is_none());
}

#[test]
fn the_log_is_bounded_in_bytes_and_holds_what_was_pushed_last() {
    let bytes = 4 * 1024 * 1024;
    let tail = TailLimits { updates: 1000, bytes };
    let mut document = Document::with_tail(Text::new("x"), Version(0), tail);
    let limits = ChangeLimits { max_inserted: 2_000_000, ..LIMITS };
    let wide = ChangeLimits { max_length: 10_000_000, ..limits };
    let mut len = 1;
    for version in 0..40 {
        let words = format!(r#"[[{len},"{}"]]"#, "y".repeat(1_000_000 + version as usize));
        let update = IncomingUpdate { client: &"a".into(), changes: &words };
        let base = Version(version);
        let pushed = document.push(base, &[update], &wide, RebaseBudget::UNLIMITED).unwrap();
        assert_eq!(pushed.map(|update| update.changes.len()).sum::<usize>(), words.len());
        len = 1_000_000 + version as usize;
        // One update more than the bound at most, and what the last block has spare.
        let held = document.log_size_bytes();
        assert!(held < bytes + 3_000_000, "{held} bytes at {version}");
    }
    assert!(document.tail_start() > Version(30), "starts at {}", document.tail_start());
    let newest: Vec<_> = document.since(Version(38)).unwrap().collect();
    assert_eq!((newest.len(), newest[1].changes.len()), (2, 1_000_039 + 14));
    assert!(document.since(Version(3)).is_none());
}

#[test]
fn being_behind_is_paid_for_by_what_it_costs_and_changes_nothing_past_that() {
    let mut document = document(&"x".repeat(2_000));
    // Twenty updates that touch a thousand places each.
    let everywhere = format!("[{}]", vec![r#"[1,"y"],1"#; 1_000].join(","));
    let wide = ChangeLimits { max_sections: 10_000, max_inserted: 10_000, max_length: 10_000 };
    for version in 0..20 {
        let update = IncomingUpdate { client: &"a".into(), changes: &everywhere };
        let unlimited = RebaseBudget::UNLIMITED;
        drop(document.push(Version(version), &[update], &wide, unlimited).unwrap());
    }
    let late = IncomingUpdate { client: &"b".into(), changes: &everywhere };
    // Some 80,000 sections are moved over each other, and 200,000 bytes are read.
    let narrow = RebaseBudget { steps: 50_000 };
    let error = document.push(Version(0), &[late], &wide, narrow).err().unwrap();
    assert!(matches!(error, PushError::TooCostly { budget: 50_000 }), "{error}");
    assert_eq!(
        (document.version(), document.text().to_string()),
        (Version(20), "yx".repeat(1_000))
    );
    let enough = RebaseBudget { steps: 1_000_000 };
    drop(document.push(Version(0), &[late], &wide, enough).unwrap());
    // Updates that touch one place cost little, however many they are.
    let typed = IncomingUpdate { client: &"c".into(), changes: r#"[3000,[0,"z"]]"# };
    drop(document.push(Version(21), &[typed], &wide, narrow).unwrap());
}

#[test]
fn limits_hold_for_all_updates_of_a_push_together() {
    let mut document = document("abc");
    let tight = ChangeLimits { max_sections: 5, max_inserted: 4, max_length: 100 };
    let client = ClientId::from("a");
    let two = |one: &'static str, other: &'static str| {
        [one, other].map(|changes| IncomingUpdate { client: &client, changes })
    };
    let unlimited = RebaseBudget::UNLIMITED;
    let long = two(r#"[3,[0,"123"]]"#, r#"[6,[0,"45"]]"#);
    let error = document.push(Version(0), &long, &tight, unlimited).err().unwrap();
    let PushError::Invalid { index: 1, source: ChangeError::TooMuchInserted { max: 4 } } = error
    else {
        panic!("{error}");
    };
    let busy = two(r#"[1,[0,"1"],2]"#, r#"[1,[0,"2"],3]"#);
    let error = document.push(Version(0), &busy, &tight, unlimited).err().unwrap();
    let PushError::Invalid { index: 1, source: ChangeError::TooManySections { max: 5 } } = error
    else {
        panic!("{error}");
    };
    let fits = two(r#"[3,[0,"12"]]"#, r#"[5,[0,"34"]]"#);
    drop(document.push(Version(0), &fits, &tight, unlimited).unwrap());
}

#[test]
fn a_push_on_updates_that_were_put_back_is_rebased_and_recognised() {
    let mut long_used = document("abc");
    push(&mut long_used, 0, &[("a", r#"[[0,"x"],3]"#)]).unwrap();
    push(&mut long_used, 1, &[("b", r#"[4,[0,"y"]]"#)]).unwrap();
    let logged: Vec<_> = long_used.since(Version(0)).unwrap().collect();
    let mut loaded = Document::new(long_used.text().clone(), Version(2));
    push(&mut loaded, 2, &[("a", r#"[[0,"w"],5]"#)]).unwrap();
    loaded.prepend_log(&logged);
    assert_eq!(loaded.tail_start(), Version(0));
    assert_eq!(push(&mut loaded, 1, &[("b", r#"[4,[0,"y"]]"#)]).unwrap(), [""; 0]);
    assert_eq!(push(&mut loaded, 0, &[("c", r#"[3,[0,"!"]]"#)]).unwrap(), [r#"[6,[0,"!"]]"#]);
    assert_eq!(loaded.text().to_string(), "wxabcy!");
}

#[test]
fn updates_that_were_put_back_are_in_order_and_dropped_first() {
    let mut long_used = Document::with_tail(Text::default(), Version(0), updates(5_000));
    (0..2_000).for_each(|len| add_x(&mut long_used, len));
    let logged: Vec<_> = long_used.since(Version(0)).unwrap().collect();
    let mut loaded = Document::with_tail(long_used.text().clone(), Version(2_000), updates(1_000));
    loaded.prepend_log(&logged[1_500..]);
    loaded.prepend_log(&logged[..1_500]);
    assert!(loaded.since(Version(0)).unwrap().eq(logged), "no update is lost or moved");
    (2_000..2_600).for_each(|len| add_x(&mut loaded, len));
    assert!(loaded.tail_start() > Version(1_000), "starts at {}", loaded.tail_start());
    assert!(loaded.since(Version(1_600)).is_some(), "starts at {}", loaded.tail_start());
}
