//! Cost of comparing two texts: prose that was rewritten, and texts made to be hard.
//!
//! CPU time of this thread, best of a few rounds. Goals: 100 KB of rewritten prose in 50 ms,
//! everything else in 250 ms.

#![expect(clippy::print_stdout, reason = "the table is the result")]

use copydesk_document::diff::{DiffLimits, HunkDraft, diff};
use fastrand::Rng;
use rustix::time::{ClockId, clock_gettime};

const ROUNDS: usize = 5;
const PROSE_GOAL_MS: f64 = 50.0;
const HARD_GOAL_MS: f64 = 250.0;

struct Case {
    name: &'static str,
    old: String,
    new: String,
    goal_ms: f64,
    /// Sentences that differ, where that is known.
    changed: Option<usize>,
}

fn main() {
    println!(
        "{:<36} {:>8} {:>8} {:>7} {:>8} {:>12} {:>13}",
        "texts", "ms", "goal ms", "", "hunks", "per sentence", "largest units"
    );
    for case in prose().into_iter().chain(hard()) {
        let mut best = f64::INFINITY;
        let mut hunks = Vec::new();
        for _ in 0..ROUNDS {
            let start = cpu();
            hunks = diff(&case.old, &case.new, &DiffLimits::default());
            best = best.min((cpu() - start) * 1e3);
        }
        let verdict = if best <= case.goal_ms { "met" } else { "MISSED" };
        let each = case.changed.map(|n| format!("{:.2}", hunks.len() as f64 / n.max(1) as f64));
        println!(
            "{:<36} {best:>8.1} {:>8} {verdict:>7} {:>8} {:>12} {:>13}",
            case.name,
            case.goal_ms,
            hunks.len(),
            each.unwrap_or_default(),
            hunks.iter().map(span).max().unwrap_or_default(),
        );
    }
}

/// Seconds this thread has worked.
fn cpu() -> f64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

fn span(hunk: &HunkDraft) -> usize {
    let inserted: usize = hunk.parts.iter().map(|p| p.insert.len()).sum();
    match (hunk.parts.first(), hunk.parts.last()) {
        (Some(first), Some(last)) => (last.to - first.from).max(inserted),
        _ => 0,
    }
}

/// Rewritten prose: the share of sentences changed in a few words, and the share replaced, removed
/// or added.
fn prose() -> Vec<Case> {
    [
        ("5 KB, lightly rewritten", 5_000, 3, 3, "\n\n"),
        ("100 KB, lightly rewritten", 100_000, 3, 3, "\n\n"),
        ("100 KB, rewritten", 100_000, 12, 12, "\n\n"),
        ("100 KB, heavily rewritten", 100_000, 40, 40, "\n\n"),
        ("100 KB without line breaks", 100_000, 12, 12, " "),
    ]
    .map(|(name, size, words, sentences, gap)| {
        let mut random = Rng::with_seed(7);
        let (mut old, mut new, mut changed) = (String::new(), String::new(), 0);
        while old.len() < size {
            let mut paragraphs = (String::new(), String::new());
            for _ in 0..random.usize(2..8) {
                let sentence = sentence(&mut random);
                let rewritten = rewrite(&mut random, &sentence, words, sentences);
                changed += usize::from(sentence != rewritten);
                paragraphs.0 += &sentence;
                paragraphs.1 += &rewritten;
            }
            old += paragraphs.0.trim_end();
            new += paragraphs.1.trim_end();
            old += gap;
            new += gap;
        }
        Case { name, old, new, goal_ms: PROSE_GOAL_MS, changed: Some(changed) }
    })
    .into()
}

fn word(random: &mut Rng) -> String {
    // A few words are frequent, most are rare, as in a language.
    let rank = random.u64(0..3_000) * random.u64(0..3_000) / 3_000;
    let mut letters = Rng::with_seed(rank);
    (0..letters.usize(2..9)).map(|_| letters.lowercase()).collect()
}

fn sentence(random: &mut Rng) -> String {
    let mut words: Vec<String> = (0..random.usize(6..24)).map(|_| word(random)).collect();
    words[0] = words[0][..1].to_uppercase() + &words[0][1..];
    words.join(" ") + ". "
}

fn rewrite(random: &mut Rng, old: &str, words: u8, sentences: u8) -> String {
    if random.u8(0..100) < sentences {
        return match random.u8(0..3) {
            0 => String::new(),
            1 => sentence(random),
            _ => old.to_owned() + &sentence(random),
        };
    }
    if random.u8(0..100) >= words * 2 {
        return old.to_owned();
    }
    let mut changed: Vec<String> = old.split_inclusive(' ').map(str::to_owned).collect();
    let at = random.usize(1..changed.len() - 1);
    changed[at] = word(random) + " ";
    changed.concat()
}

/// Texts on which some engines need minutes.
fn hard() -> Vec<Case> {
    let case = |name, old, new| Case { name, old, new, goal_ms: HARD_GOAL_MS, changed: None };
    let words = |seed: u64, of: &[&str]| {
        let mut random = Rng::with_seed(seed);
        let mut text = String::new();
        while text.len() < 100_000 {
            text += of[random.usize(0..of.len())];
            text.push(' ');
        }
        text
    };
    let vocabulary: Vec<String> = (0..20_000).map(|n| format!("w{n}")).collect();
    let shuffled = |seed: u64| {
        let mut words = vocabulary.clone();
        Rng::with_seed(seed).shuffle(&mut words);
        words.join(" ")
    };
    let numbered = |from: usize| {
        let words: Vec<String> = (from..from + 15_000).map(|n| format!("v{n}")).collect();
        words.join(" ")
    };
    let lines = |text: String| text.replace(' ', "\n");
    let shouted: String = words(3, &["a", "b"]).replace(' ', "");
    vec![
        case("the same words, shuffled", shuffled(1), shuffled(2)),
        case("words a b a a", words(1, &["a", "b", "a", "a"]), words(2, &["a", "b", "a", "a"])),
        case(
            "four words again and again",
            words(1, &["x", "yy", "z", "w"]),
            words(2, &["x", "yy", "z", "w"]),
        ),
        case("nothing in common", numbered(0), numbered(20_000)),
        case(
            "lines of a b a a",
            lines(words(1, &["a", "b", "a", "a"])),
            lines(words(2, &["a", "b", "a", "a"])),
        ),
        case("shuffled lines", lines(shuffled(1)), lines(shuffled(2))),
        case("one word of 50 KB", shouted.clone(), shouted.replacen("ab", "ba", 40)),
        case("only spaces", " ".repeat(100_000), " ".repeat(99_000)),
        case("only line breaks", "\n".repeat(100_000), "\n".repeat(99_000)),
        case("100 KB to nothing", words(1, &["Some", "words.", "More"]), String::new()),
        case(
            "Chinese, shuffled",
            words(1, &["东", "京", "去", "了。"]).replace(' ', ""),
            words(2, &["东", "京", "去", "了。"]).replace(' ', ""),
        ),
        case("one emoji family, repeated", "👩‍👩‍👧‍👦".repeat(4_000), "👩‍👩‍👧".repeat(4_000)),
    ]
}
