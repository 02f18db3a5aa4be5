//! Processor time of marking the changed meanings of a hunk.
//!
//! CPU time of this thread, best of a few rounds. Goals: 20 µs for a sentence, and time for each
//! byte of hostile texts that does not grow with their length.

#![expect(clippy::print_stdout, reason = "the table is the result")]

use copydesk_marks::{Language, marks};
use rustix::time::{ClockId, clock_gettime};

const ROUNDS: usize = 5;
const REPEATS: usize = 2000;
const SENTENCE_GOAL_US: f64 = 20.0;
const HOSTILE_GOAL_MS: f64 = 500.0;

/// Sentences before and after a change.
const SENTENCES: [(&str, Language, &str, &str); 6] = [
    (
        "English, a number",
        Language::English,
        "The council has received 12 objections to the planned car park, most of them from residents of Mill Lane.",
        "The council has received 21 objections to the planned car park, most of them from residents of Mill Lane.",
    ),
    (
        "English, rewritten",
        Language::English,
        "It should be noted that in order to reset the router, the small button has to be held down for ten seconds.",
        "To reset the router, the user must hold the small button on its back down for at least ten whole seconds now.",
    ),
    (
        "English, names",
        Language::English,
        "After the long match on Saturday, Okafor told Lindqvist that he had signalled for the substitution himself.",
        "After the long match on Saturday, Lindqvist told Okafor that he had signalled for the substitution himself.",
    ),
    (
        "German, a negation",
        Language::German,
        "Der Vermieter der Wohnung ist nach dem Vertrag vom 3. Mai nicht verpflichtet, die Räume vor dem Einzug zu streichen.",
        "Der Vermieter der Wohnung ist nach dem Vertrag vom 3. Mai verpflichtet, die Räume vor dem Einzug zu streichen.",
    ),
    (
        "French, rewritten",
        Language::French,
        "Le prix du billet de train a augmenté de 5 % par rapport à l'année dernière, a dit la ministre des Transports.",
        "Par rapport à l’an dernier, le prix du billet de train a baissé de cinq pour cent, a dit la ministre des Transports.",
    ),
    (
        "other, a name",
        Language::Other,
        "El contrato fue redactado por Lucía Romero en la oficina de la calle Mayor y revisado después por Andrés Vega.",
        "El contrato fue redactado por Lucía Moreno en la oficina de la calle Mayor y revisado después por Andrés Vega.",
    ),
];

fn main() {
    println!("{:<32} {:>10} {:>10} {:>7} {:>6}", "hunk", "µs", "goal µs", "", "marks");
    for (name, language, before, after) in SENTENCES {
        let count = marks(before, after, language).len();
        let time = best(REPEATS, || marks(before, after, language).len());
        row(name, time * 1e6, SENTENCE_GOAL_US, count);
    }
    println!("{:<32} {:>10} {:>10} {:>7} {:>6}", "hostile text", "ms", "goal ms", "", "marks");
    for (name, before, after) in hostile() {
        let count = marks(&before, &after, Language::English).len();
        let time = best(1, || marks(&before, &after, Language::English).len());
        row(name, time * 1e3, HOSTILE_GOAL_MS, count);
    }
}

fn row(name: &str, time: f64, goal: f64, marks: usize) {
    let verdict = if time <= goal { "met" } else { "MISSED" };
    println!("{name:<32} {time:>10.2} {goal:>10} {verdict:>7} {marks:>6}");
}

/// Returns texts of a megabyte that are made to be hard.
fn hostile() -> Vec<(&'static str, String, String)> {
    let numbers =
        |from: usize| (from..from + 100_000).map(|it| it.to_string()).collect::<Vec<_>>().join(" ");
    let repeated = |part: &str| part.repeat((1 << 20) / part.len());
    let pair = |part: &str| (repeated(part), repeated(part) + "x");
    let names = |step: usize| {
        (0..60_000).map(|it| format!("Name{}", it * step)).collect::<Vec<_>>().join(" said ")
    };
    let mut texts =
        vec![("100,000 numbers", numbers(1000), numbers(300_000)), ("names", names(2), names(3))];
    for (name, part) in [
        ("no blanks", "a"),
        ("not", "not "),
        ("only and not", "only not all must "),
        ("quotation marks", "\"a\" “ "),
        ("open brackets", "[("),
        ("targets", "]("),
        ("backticks", "` `` "),
        ("tags", "<a "),
        ("apostrophes", "a'"),
        ("digits", "1"),
        ("points", "1."),
        ("accents", "a\u{301}\u{301}"),
        ("unseen", "a\u{200b}"),
        ("ne", "ne que "),
    ] {
        let (before, after) = pair(part);
        texts.push((name, before, after));
    }
    texts
}

/// Returns the least seconds of several rounds for one call.
fn best(repeats: usize, work: impl Fn() -> usize) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let start = cpu();
        let mut marks = 0;
        for _ in 0..repeats {
            marks += std::hint::black_box(work());
        }
        std::hint::black_box(marks);
        best = best.min((cpu() - start) / repeats as f64);
    }
    best
}

/// Returns the seconds that this thread has worked.
fn cpu() -> f64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}
