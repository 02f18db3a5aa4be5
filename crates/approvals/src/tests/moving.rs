//! Words that move: one decision over two places, with other changes between them.

use super::*;
use HunkStatus::{Accepted, Conflict, Pending};

const FOG: &str = "The fog had come in over the pier before anybody saw it there.";
const OLD: &str = "It rained. The fog had come in over the pier before anybody saw it there. He \
                   slept.\n\nTeh lamp was out. It was late.\n";
const NEW: &str = "It rained. He slept.\n\nThe lamp was out. The fog had come in over the pier \
                   before anybody saw it there. It was late.\n";

/// A sentence moves to the next paragraph, past a correction.
fn moving() -> ReviewFixture {
    let fixture = ReviewFixture::proposing(OLD, NEW);
    let kinds: Vec<_> = fixture.request.hunks.iter().map(|it| it.kind).collect();
    assert_eq!(kinds, [Some(HunkKind::Correction), Some(HunkKind::Moved)]);
    fixture
}

#[test]
fn a_moved_sentence_is_one_decision_over_two_places() {
    let mut fixture = moving();
    fixture.accept(1).unwrap();
    assert_eq!(fixture.text(), NEW.replace("The lamp", "Teh lamp"));
    fixture.accept(0).unwrap();
    assert_eq!(fixture.text(), NEW);
    let mut fixture = moving();
    fixture.decide(&approve()).unwrap();
    assert_eq!(fixture.text(), NEW);
    let mut fixture = moving();
    fixture.reject(1).unwrap();
    fixture.accept(0).unwrap();
    assert_eq!(fixture.text(), OLD.replace("Teh", "The"));
}

#[test]
fn typing_between_the_two_places_is_no_conflict() {
    let mut fixture = moving();
    fixture.types("slept|.", " well");
    fixture.types("lamp", "lantern");
    assert_eq!(fixture.statuses(), [Pending; 2]);
    fixture.decide(&approve()).unwrap();
    assert_eq!(fixture.text(), NEW.replace("slept", "slept well").replace("lamp", "lantern"));
}

#[test]
fn a_conflict_in_either_place_is_the_hunks() {
    let mut fixture = moving();
    fixture.types("fog", "mist");
    assert_eq!(fixture.statuses(), [Pending, Conflict]);
    let mist = FOG.replace("fog", "mist") + " ";
    assert!(fixture.decide(&forced(fixture.id(1), "something else")).is_err());
    fixture.decide(&forced(fixture.id(1), &mist)).unwrap();
    assert_eq!(fixture.text(), NEW.replace("The lamp", "Teh lamp"));

    let mut fixture = moving();
    fixture.types("out. It was", "");
    assert_eq!(fixture.statuses(), [Pending, Conflict]);
}

#[test]
fn a_persons_own_words_replace_only_what_is_put_in() {
    let mut fixture = moving();
    fixture.decide(&edited(fixture.id(1), "Fog came. ")).unwrap();
    let text = NEW.replace("The lamp", "Teh lamp").replace(FOG, "Fog came.");
    assert_eq!(fixture.text(), text);
    fixture.undo(None, TouchedPolicy::Refuse).unwrap();
    assert_eq!(fixture.text(), OLD);
}

#[test]
fn a_moved_hunk_is_not_split() {
    let mut fixture = moving();
    let refused = fixture.request.split(&fixture.id(1), &ann(), fixture.now_ms).unwrap_err();
    let reason = InvalidDecisionReason::SplitMoved;
    assert_eq!(refused, DecisionError::InvalidDecision { reason });
}

#[test]
fn undo_restores_both_places() {
    let mut fixture = moving();
    fixture.decide(&approve()).unwrap();
    fixture.types("He| slept", " only");
    fixture.undo(Some(&[fixture.id(1)]), TouchedPolicy::Refuse).unwrap();
    assert_eq!(fixture.statuses(), [Accepted, Pending]);
    let text = OLD.replace("Teh", "The").replace("He slept", "He only slept");
    assert_eq!(fixture.text(), text);
    fixture.accept(1).unwrap();
    assert_eq!(fixture.text(), NEW.replace("He slept", "He only slept"));
}

#[test]
fn an_undo_of_moved_words_that_were_changed_shows_only_these() {
    let mut fixture = moving();
    fixture.accept(1).unwrap();
    fixture.types("fog", "mist");
    let refused = fixture.undo(None, TouchedPolicy::Refuse).unwrap_err();
    let DecisionError::Touched { hunks } = refused else { panic!("{refused:?}") };
    assert_eq!(hunks[0].stands.trim(), FOG.replace("fog", "mist"));
    assert_eq!(hunks[0].restores.trim(), FOG);
}

#[test]
fn moved_words_stay_their_authors() {
    use copydesk_document::provenance::PlacementOrigin;
    let mut fixture = moving();
    let outcome = fixture.accept(1).unwrap();
    let stood: Vec<_> = outcome
        .placed
        .iter()
        .filter(|it| matches!(it.origin, PlacementOrigin::Stood(_)))
        .map(|it| fixture.text.slice(it.from..it.to).unwrap())
        .collect();
    assert_eq!(stood, [FOG]);
}

/// Paragraphs in two orders, some of them changed.
fn reordered(random: &mut fastrand::Rng) -> (String, String) {
    let words = ["lamp", "river", "slowly", "under", "crossed", "old", "bridge", "saw", "sea"];
    let sentence = |random: &mut fastrand::Rng| {
        let middle: Vec<_> = (0..random.usize(4..10)).map(|_| words[random.usize(..9)]).collect();
        format!("Day {} {}.", random.u32(..9_999), middle.join(" "))
    };
    let mut paragraphs: Vec<String> = (0..random.usize(2..7))
        .map(|_| (0..random.usize(1..4)).map(|_| sentence(random)).collect::<Vec<_>>().join(" "))
        .collect();
    let old = paragraphs.join("\n\n");
    for _ in 0..random.usize(1..4) {
        let paragraph = paragraphs.remove(random.usize(..paragraphs.len()));
        let changed = if random.bool() { paragraph.replace("lamp", "lantern") } else { paragraph };
        paragraphs.insert(random.usize(..=paragraphs.len()), changed);
        if random.u8(..3) == 0 && paragraphs.len() > 2 {
            paragraphs.remove(random.usize(..paragraphs.len()));
        }
    }
    (old, paragraphs.join("\n\n"))
}

#[test]
fn moves_can_be_accepted_and_undone_in_any_order() {
    let mut moves = 0;
    for seed in 0..400 {
        let mut random = fastrand::Rng::with_seed(seed);
        let (old, new) = reordered(&mut random);
        if old == new {
            continue;
        }
        let mut fixture = ReviewFixture::proposing(&old, &new);
        moves += fixture.request.hunks.iter().filter(|it| it.is_moved()).count();
        let mut order: Vec<usize> = (0..fixture.request.hunks.len()).collect();
        random.shuffle(&mut order);
        for index in &order {
            fixture.accept(*index).unwrap();
        }
        assert_eq!(
            fixture.text(),
            new,
            "seed {seed}: accepted in the order {order:?} from {old:?}"
        );
        random.shuffle(&mut order);
        let half = random.usize(..=order.len());
        for index in &order[..half] {
            fixture.undo(Some(&[fixture.id(*index)]), TouchedPolicy::Refuse).unwrap();
        }
        if half < order.len() {
            fixture.undo(None, TouchedPolicy::Refuse).unwrap();
        }
        assert_eq!(fixture.text(), old, "seed {seed}: undone in the order {order:?} to {new:?}");
        fixture.decide(&approve()).unwrap();
        assert_eq!(fixture.text(), new, "seed {seed}: accepted at once");
    }
    assert!(moves > 100, "{moves}");
}
