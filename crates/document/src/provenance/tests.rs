//! Stories of words and who wrote them; and every history, against a list of characters.

use super::*;
use crate::{ChangeLimits, Text, TextEdit};

const MIN: u64 = MINUTE_MS;

fn change(json: &str) -> ChangeSet {
    ChangeSet::parse(json, &ChangeLimits::NONE).unwrap()
}

/// A document in which several people write.
struct ProvenanceStory {
    replay: ProvenanceReplay,
}

impl ProvenanceStory {
    fn begin(len: usize, later: &[&UpdatePlacements]) -> Self {
        let later = later.iter().copied();
        Self { replay: ProvenanceReplay::new(Provenance::beginning(len), Version(0), later) }
    }

    fn types(&mut self, user: &str, minute: u64, json: &str) {
        self.update(user, minute, json, None, None);
    }

    fn update(
        &mut self,
        user: &str,
        minute: u64,
        json: &str,
        origin: Option<&str>,
        placements: Option<&UpdatePlacements>,
    ) {
        let origin = origin.map(RequestId::from);
        let entry = ReplayEntry {
            change: &change(json),
            author: &user.into(),
            at_ms: minute * MIN + 7,
            origin: origin.as_ref(),
            placements,
        };
        self.replay.follow(&entry).unwrap();
    }

    /// Each span as `from-to who`.
    fn spans(&self) -> Vec<String> {
        let provenance = self.replay.provenance();
        let said = |span: &SourceSpan| match &span.source {
            SpanSource::Beginning => "beginning".to_owned(),
            SpanSource::Person { user, at_ms } => format!("{user}@{}", at_ms / MIN),
            SpanSource::Request { hunk, edited, requester, approver, rule, .. } => format!(
                "ai {} for {} by {}{}{}",
                hunk.as_ref().map_or("-", |it| it.as_str()),
                requester.as_ref().map_or("-", |it| it.as_str()),
                approver.as_ref().map_or("-", |it| it.as_str()),
                rule.as_ref().map(|it| format!("'s {it}")).unwrap_or_default(),
                if *edited { " edited" } else { "" }
            ),
        };
        let spans = provenance.spans(0..provenance.len());
        spans.iter().map(|span| format!("{}-{} {}", span.from, span.to, said(span))).collect()
    }
}

fn accepted(from: usize, to: usize, hunk: &str, edited: bool) -> WordPlacement {
    let origin = if edited { PlacementOrigin::Edited } else { PlacementOrigin::Proposed };
    WordPlacement { from, to, hunk: Some(hunk.into()), origin }
}

fn back(from: usize, to: usize, version: u64, at: usize) -> WordPlacement {
    let origin = PlacementOrigin::Stood(FormerPlace { version: Version(version), at });
    WordPlacement { from, to, hunk: None, origin }
}

fn placements(placed: Vec<WordPlacement>) -> UpdatePlacements {
    UpdatePlacements {
        act: ServerAct::Accepted,
        requester: Some("ana".into()),
        claimed_author: None,
        suggested: false,
        unasked: false,
        rule: None,
        placed,
    }
}

#[test]
fn words_belong_to_the_person_who_types_them() {
    let mut story = ProvenanceStory::begin(5, &[]);
    story.types("bo", 1, r#"[2,[0,"xyz"],3]"#);
    assert_eq!(story.spans(), ["0-2 beginning", "2-5 bo@1", "5-8 beginning"]);
    story.types("ana", 1, r#"[3,[1,"Q"],4]"#);
    assert_eq!(
        story.spans(),
        ["0-2 beginning", "2-3 bo@1", "3-4 ana@1", "4-5 bo@1", "5-8 beginning"]
    );
}

#[test]
fn what_is_typed_within_a_minute_is_one_span_and_stays_joined_over_a_gap_that_closes() {
    let mut story = ProvenanceStory::begin(0, &[]);
    story.types("bo", 1, r#"[[0,"ab"]]"#);
    story.types("bo", 1, r#"[2,[0,"cd"]]"#);
    story.types("bo", 2, r#"[4,[0,"e"]]"#);
    assert_eq!(story.spans(), ["0-4 bo@1", "4-5 bo@2"]);
    story.types("ana", 2, r#"[2,[0,"-"],3]"#);
    story.types("ana", 2, "[2,[1],3]");
    assert_eq!(story.spans(), ["0-4 bo@1", "4-5 bo@2"]);
}

#[test]
fn accepted_words_are_the_ais_with_the_request_and_a_person_who_let_them_in() {
    let put = placements(vec![accepted(0, 3, "r.1", false), accepted(8, 11, "r.2", true)]);
    let mut story = ProvenanceStory::begin(10, &[&put]);
    story.update("bo", 3, r#"[[3,"The"],5,[2,"end"]]"#, Some("r"), Some(&put));
    assert_eq!(
        story.spans(),
        ["0-3 ai r.1 for ana by bo", "3-8 beginning", "8-11 ai r.2 for ana by bo edited"]
    );
}

#[test]
fn words_that_no_one_was_asked_about_have_no_approver() {
    let put = UpdatePlacements { unasked: true, ..placements(vec![accepted(0, 1, "r.1", false)]) };
    let mut story = ProvenanceStory::begin(0, &[&put]);
    story.update("ana", 3, r#"[[0,"x"]]"#, Some("r"), Some(&put));
    assert_eq!(story.spans(), ["0-1 ai r.1 for ana by -"]);
}

#[test]
fn words_that_a_rule_let_in_name_it() {
    let put = UpdatePlacements {
        rule: Some("rul".into()),
        ..placements(vec![accepted(0, 1, "r.1", false)])
    };
    let mut story = ProvenanceStory::begin(0, &[&put]);
    story.update("bo", 3, r#"[[0,"x"]]"#, Some("r"), Some(&put));
    assert_eq!(story.spans(), ["0-1 ai r.1 for ana by bo's rul"]);
    // As it was kept before there were rules.
    let kept = story.replay.provenance().to_json();
    let older = Provenance::from_json(&kept.replace(r#","rule":"rul""#, "")).unwrap();
    assert!(older != *story.replay.provenance() && older.len() == 1);
}

#[test]
fn undoing_an_accept_gives_the_words_back_to_the_person_who_wrote_them() {
    let put = placements(vec![accepted(1, 3, "r.1", false)]);
    let taken_back = placements(vec![back(2, 6, 2, 1)]);
    let mut story = ProvenanceStory::begin(4, &[&put, &taken_back]);
    story.types("bo", 1, r#"[2,[0,"bb"],2]"#);
    story.types("ana", 2, r#"[4,[0,"a"],2]"#);
    story.update("cas", 3, r#"[1,[4,"AI"],2]"#, Some("r"), Some(&put));
    story.types("dee", 4, r#"[[0,"d"],5]"#);
    story.update("eve", 5, r#"[2,[2,"xbba"],2]"#, Some("r"), Some(&taken_back));
    assert_eq!(
        story.spans(),
        ["0-1 dee@4", "1-3 beginning", "3-5 bo@1", "5-6 ana@2", "6-8 beginning"]
    );
    assert_eq!(story.replay.misplaced(), []);
}

#[test]
fn words_that_never_stood_there_are_the_undoers_and_told() {
    let wrong = placements(vec![back(0, 2, 0, 9)]);
    let mut story = ProvenanceStory::begin(3, &[&wrong]);
    story.update("eve", 1, r#"[[0,"xy"],3]"#, None, Some(&wrong));
    assert_eq!(story.spans(), ["0-2 eve@1", "2-5 beginning"]);
    assert_eq!(story.replay.misplaced(), [Version(1)]);
}

#[test]
fn an_update_of_another_text_changes_nothing() {
    let mut story = ProvenanceStory::begin(3, &[]);
    let entry = ReplayEntry {
        change: &change("[4]"),
        author: &"bo".into(),
        at_ms: 0,
        origin: None,
        placements: None,
    };
    assert!(story.replay.follow(&entry).is_err());
    assert_eq!((story.replay.version(), story.spans()), (Version(0), vec!["0-3 beginning".into()]));
}

#[test]
fn a_range_is_cut_out_and_ends_with_the_text() {
    let mut story = ProvenanceStory::begin(4, &[]);
    story.types("bo", 1, r#"[2,[0,"xy"],2]"#);
    let provenance = story.replay.provenance();
    let spans = provenance.spans(1..3);
    assert_eq!((spans[0].from, spans[0].to, spans[1].from, spans[1].to), (1, 2, 2, 3));
    assert_eq!(provenance.spans(5..99).len(), 1);
    assert_eq!(provenance.spans(6..6), []);
    assert_eq!(provenance.spans(7..9), []);
}

#[test]
fn what_is_kept_is_read_again() {
    let mut story = ProvenanceStory::begin(4, &[]);
    story.types("bo", 1, r#"[2,[0,"xy"],2]"#);
    story.types("ana", 2, "[3,[1],2]");
    let kept = story.replay.provenance().to_json();
    assert_eq!(Provenance::from_json(&kept).unwrap(), *story.replay.provenance());
    assert!(!kept.contains("ana"), "{kept}");
    assert!(Provenance::from_json(r#"{"sources":[],"runs":[[1,0]]}"#).is_err());
}

/// Provenance computed character by character: each unit with its source, at every version.
struct ProvenanceOracle {
    versions: Vec<Vec<SpanSource>>,
}

impl ProvenanceOracle {
    fn now(&self) -> &[SpanSource] {
        self.versions.last().unwrap()
    }

    fn follow(&mut self, change: &ChangeSet, source: impl Fn(usize) -> SpanSource) {
        let mut now = self.now().to_vec();
        for range in change.changed_ranges() {
            let replaced = range.from_b..range.from_b + range.to_a - range.from_a;
            now.splice(replaced, (range.from_b..range.to_b).map(&source));
        }
        self.versions.push(now);
    }

    /// Runs of units with the same source.
    fn spans(&self) -> Vec<SourceSpan> {
        let mut spans: Vec<SourceSpan> = Vec::new();
        for (at, source) in self.now().iter().enumerate() {
            match spans.last_mut() {
                Some(last) if last.source == *source => last.to = at + 1,
                _ => spans.push(SourceSpan { from: at, to: at + 1, source: source.clone() }),
            }
        }
        spans
    }
}

/// One update of a history that was made up.
struct MadeUpdate {
    change: ChangeSet,
    user: UserId,
    at_ms: u64,
    origin: Option<RequestId>,
    placements: Option<UpdatePlacements>,
}

/// Edits somewhere in a text, never through a character.
fn edits(random: &mut fastrand::Rng, text: &Text) -> Vec<TextEdit> {
    let mut places: Vec<usize> =
        (0..random.usize(1..=3) * 2).map(|_| random.usize(0..=text.len())).collect();
    places.retain(|&at| text.is_boundary(at));
    places.sort_unstable();
    let words = ["", "x", "é漢", "😀", "a𝒜b", "plain\ntext"];
    let pairs = places.chunks_exact(2).filter(|pair| pair[0] < pair[1] || random.bool());
    let pairs: Vec<_> = pairs.map(|pair| (pair[0], pair[1])).collect();
    let mut insert = || words[random.usize(..words.len())].to_owned();
    pairs.into_iter().map(|(from, to)| TextEdit { from, to, insert: insert() }).collect()
}

/// A history of typing, accepts and undone accepts, with its text and what the oracle says of it.
fn history(seed: u64, updates: usize) -> (Vec<MadeUpdate>, Text, ProvenanceOracle) {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut text = Text::new("a😀bcd");
    let mut texts = vec![text.clone()];
    let mut oracle = ProvenanceOracle { versions: vec![vec![SpanSource::Beginning; text.len()]] };
    let mut made = Vec::new();
    for number in 0..updates {
        let user = UserId::from(["ana", "bo", "cas"][random.usize(..3)]);
        let at_ms = number as u64 * 25_000;
        let edits = edits(&mut random, &text);
        let change = ChangeSet::of(text.len(), &edits).unwrap();
        let kind = random.usize(..4);
        let mut one = MadeUpdate { change, user, at_ms, origin: None, placements: None };
        match kind {
            2 => accept(&mut one, number),
            3 => bring_back(&mut one, &mut random, &texts, &text),
            _ => {}
        }
        let (replay_author, placed) = (whole(&one), one.placements.clone());
        let versions = oracle.versions.clone();
        oracle.follow(&one.change, |at| {
            let mut placed = placed.iter().flat_map(|it| &it.placed);
            let here = placed.find(|it| it.from <= at && at < it.to);
            match here {
                Some(WordPlacement { from, origin: PlacementOrigin::Stood(stood), .. }) => {
                    versions[stood.version.0 as usize][stood.at + at - from].clone()
                }
                Some(WordPlacement { hunk, origin, .. }) => {
                    let mut source = replay_author.clone();
                    if let SpanSource::Request { hunk: of, edited, .. } = &mut source {
                        (*of, *edited) = (hunk.clone(), *origin == PlacementOrigin::Edited);
                    }
                    source
                }
                None => replay_author.clone(),
            }
        });
        one.change.apply(&mut text).unwrap();
        texts.push(text.clone());
        made.push(one);
    }
    (made, text, oracle)
}

fn whole(made: &MadeUpdate) -> SpanSource {
    match &made.origin {
        None => SpanSource::person(&made.user, made.at_ms),
        Some(request) => SpanSource::Request {
            request: request.clone(),
            hunk: None,
            edited: false,
            requester: made.placements.as_ref().and_then(|it| it.requester.clone()),
            claimed_author: None,
            suggested: false,
            approver: Some(made.user.clone()),
            rule: None,
            at_ms: made.at_ms,
        },
    }
}

fn accept(made: &mut MadeUpdate, number: usize) {
    let placed = made.change.changed_ranges().enumerate().map(|(index, range)| {
        accepted(range.from_b, range.to_b, &format!("r{number}.{index}"), index % 2 == 1)
    });
    made.placements = Some(placements(placed.collect()));
    made.origin = Some(RequestId::from(format!("r{number}")));
}

/// Makes the update one that puts words of an older version back in.
fn bring_back(made: &mut MadeUpdate, random: &mut fastrand::Rng, texts: &[Text], text: &Text) {
    let version = random.usize(..texts.len());
    let old = &texts[version];
    let (mut at, mut end) = (random.usize(0..=old.len()), random.usize(0..=old.len()));
    if at > end {
        std::mem::swap(&mut at, &mut end);
    }
    let from = random.usize(0..=text.len());
    let Ok(words) = old.slice(at..end) else { return };
    if words.is_empty() || !text.is_boundary(from) {
        return;
    }
    let edit = TextEdit { from, to: from, insert: words };
    made.change = ChangeSet::of(text.len(), &[edit]).unwrap();
    let placed = vec![back(from, from + end - at, version as u64, at)];
    let act = ServerAct::Restored(Version(version as u64));
    made.placements = Some(UpdatePlacements { act, requester: None, ..placements(placed) });
}

fn follow(replay: &mut ProvenanceReplay, made: &MadeUpdate) {
    let entry = ReplayEntry {
        change: &made.change,
        author: &made.user,
        at_ms: made.at_ms,
        origin: made.origin.as_ref(),
        placements: made.placements.as_ref(),
    };
    replay.follow(&entry).unwrap();
}

#[test]
fn random_histories_agree_with_a_list_of_characters() {
    for seed in 0..300 {
        let (made, text, oracle) = history(seed, 60);
        let all = made.iter().filter_map(|one| one.placements.as_ref());
        let mut replay = ProvenanceReplay::new(Provenance::beginning(6), Version(0), all);
        for one in &made {
            follow(&mut replay, one);
        }
        let provenance = replay.provenance();
        let spans = provenance.spans(0..provenance.len());
        assert_eq!(spans, oracle.spans(), "seed {seed}");
        assert_eq!(provenance.len(), text.len(), "seed {seed}");
        assert_eq!(replay.misplaced(), [], "seed {seed}");
        let mut at = 0;
        for span in &spans {
            assert_eq!(span.from, at, "seed {seed}: no gap");
            assert!(span.to > span.from && text.is_boundary(span.to), "seed {seed}: {span:?}");
            at = span.to;
        }
    }
}

#[test]
fn following_on_from_what_was_kept_comes_to_the_same() {
    for seed in 0..100 {
        let (made, _, oracle) = history(seed, 60);
        let placed = |from: usize| made[from..].iter().filter_map(|one| one.placements.as_ref());
        let middle = seed as usize % 60;
        // Words that come back must not have stood before the version it begins at.
        if ProvenanceReplay::reaches_back_to(placed(middle)).is_some_and(|it| it.0 < middle as u64)
        {
            continue;
        }
        let mut first = ProvenanceReplay::new(Provenance::beginning(6), Version(0), placed(0));
        made[..middle].iter().for_each(|one| follow(&mut first, one));
        let kept = Provenance::from_json(&first.provenance().to_json()).unwrap();
        let mut rest = ProvenanceReplay::new(kept, first.version(), placed(middle));
        made[middle..].iter().for_each(|one| follow(&mut rest, one));
        let provenance = rest.provenance();
        assert_eq!(provenance.spans(0..provenance.len()), oracle.spans(), "seed {seed}");
    }
}

#[test]
fn many_runs_are_spliced_as_a_plain_list_would_be() {
    for seed in 0..20 {
        let mut random = fastrand::Rng::with_seed(seed);
        let (mut runs, mut model) = (SourceRuns::default(), Vec::<u32>::new());
        for _ in 0..3_000 {
            let from = random.usize(0..=model.len());
            let to = if random.u8(..50) == 0 {
                model.len()
            } else {
                (from + random.usize(..4)).min(model.len())
            };
            let new: Vec<SourceRun> = (0..random.usize(..6))
                .map(|_| SourceRun { len: random.u32(..4), source: random.u32(..9) })
                .collect();
            runs.splice(from..to, &new);
            let units = new.iter().flat_map(|run| vec![run.source; run.len as usize]);
            model.splice(from..to, units.collect::<Vec<_>>());
            assert_eq!(runs.len(), model.len(), "seed {seed}");
        }
        let spelled: Vec<u32> = runs
            .slice(0..usize::MAX)
            .iter()
            .flat_map(|run| vec![run.source; run.len as usize])
            .collect();
        assert_eq!(spelled, model, "seed {seed}");
    }
}
