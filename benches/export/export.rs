//! Cost of an export in processor time and memory, on texts made to be hard.
//!
//! Each export is made in a process of its own, whose highest memory is taken from `/proc`. Memory
//! is given in bytes for each byte of the text; the goal is what
//! [`ExportInput::memory_bytes`] says. Time for each byte is compared with that of a shorter text:
//! 1 is linear.

#![expect(clippy::print_stdout, reason = "the table is the result")]
#![expect(clippy::expect_used, reason = "a benchmark that cannot measure has failed")]

use std::process::Command;

use copydesk_document::Text;
use copydesk_export::{ExportFormat, ExportInput};
use copydesk_ids::Version;
use rustix::time::{ClockId, clock_gettime};

/// Lengths of the texts, in bytes.
const SIZES: [usize; 3] = [1 << 18, 1 << 19, 1 << 21];
/// Most time for each byte, by that of the next shorter text.
const RATIO_GOAL: f64 = 2.0;

const TEXTS: [(&str, &str); 20] = [
    ("prose", "The keeper wrote *every* night, and read it aloud.\n\n"),
    ("short lines", "a\n"),
    ("short paragraphs", "ab\n\n"),
    ("entities", "&amp;"),
    ("tags", "<b>x</b> "),
    ("marks", "*a* "),
    ("cells", "| a | b |\n|---|---|\n"),
    ("notes", "[^a] "),
    ("numbered lists", "1. a\n\nb\n\n"),
    ("different tags", "<a title=N>"),
    ("comments", "<!-- a --> "),
    ("open comments", "<!--\n\n"),
    ("brackets", "["),
    ("links", "[a](b) "),
    ("pictures", "![a](https://b.example/) "),
    ("code", "`a` "),
    ("quotes", "> "),
    ("formulas", "$a$ "),
    ("definitions", "[^N]: b\n"),
    ("right to left", "א a "),
];

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, case, format, size] = &arguments[..] {
        return measure(case, format, size.parse().expect("a number of bytes"));
    }
    println!("{:<18} {:<5} {:>9} {:>9} {:>8} {:>7}", "text", "", "bytes", "ms", "ratio", "B/byte");
    for (name, _) in TEXTS {
        for format in [ExportFormat::Html, ExportFormat::Docx] {
            let mut before = None;
            for size in SIZES {
                let (ms, bytes, most) = in_a_process(name, format, size);
                let ratio = before.map(|(ms_before, size_before)| {
                    ms / ms_before / (size as f64 / size_before as f64)
                });
                before = Some((ms, size));
                let met = ratio.is_none_or(|ratio: f64| ratio <= RATIO_GOAL) && bytes <= most;
                println!(
                    "{name:<18} {:<5} {size:>9} {ms:>9.0} {:>8} {:>7.1} {}",
                    format.as_str(),
                    ratio.map(|ratio| format!("{ratio:.1}")).unwrap_or_default(),
                    bytes / size as f64,
                    if met { "met" } else { "MISSED" }
                );
            }
        }
    }
}

/// Returns milliseconds, bytes of memory, and the bytes that an export says it takes at most.
fn in_a_process(name: &str, format: ExportFormat, size: usize) -> (f64, f64, f64) {
    let this = std::env::current_exe().expect("this program");
    let output = Command::new(this).args([name, format.as_str(), &size.to_string()]).output();
    let output = output.expect("it runs");
    let text = String::from_utf8(output.stdout).expect("three numbers");
    let numbers: Vec<f64> = text.split_whitespace().map_while(|word| word.parse().ok()).collect();
    let [ms, bytes, most] = numbers[..] else { panic!("{name}: {text}") };
    (ms, bytes, most)
}

/// Makes one export and prints what [`in_a_process`] returns.
fn measure(name: &str, format: &str, size: usize) {
    let (_, piece) = TEXTS.iter().find(|(known, _)| *known == name).expect("a known text");
    let mut text = piece.repeat(size / piece.len());
    if piece.contains('N') {
        text = (0..size / piece.len()).map(|n| piece.replace('N', &n.to_string())).collect();
    }
    if name == "notes" {
        text.push_str("\n\n[^a]: Note.\n");
    }
    let input = ExportInput {
        id: "doc_bench".into(),
        title: "Bench".to_owned(),
        version: Version(1),
        text: Text::new(&text),
        requests: Vec::new(),
        threads: Vec::new(),
        author_spans: Vec::new(),
    };
    drop(text);
    let format = ExportFormat::parse(format).expect("a known format");
    let (memory, start) = (memory_bytes("VmRSS"), cpu());
    let file = input.export(format).expect("an export");
    let ms = (cpu() - start) * 1e3;
    assert!(!file.is_empty());
    let most = input.memory_bytes(format);
    println!("{ms} {} {most}", memory_bytes("VmHWM").saturating_sub(memory));
}

/// Seconds this thread has worked.
fn cpu() -> f64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

/// Memory of this process in bytes; 0 without `/proc`.
fn memory_bytes(kind: &str) -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(kind)).unwrap_or_default();
    let kilobytes = line.split_whitespace().nth(1).and_then(|number| number.parse::<usize>().ok());
    kilobytes.unwrap_or(0) * 1024
}
