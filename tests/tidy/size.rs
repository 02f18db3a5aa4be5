//! Size of the repository: lines of code and of comments for each crate, of the editor, of tests
//! and of Markdown. `cargo test --test tidy size -- --nocapture` prints the table.

use std::collections::BTreeMap;
use std::path::Path;

use super::{File, files, is_comment, is_rust, sources};

/// Lines of production Rust: not blank, not comment, not tests. A feature may raise it by what it
/// needs.
const MOST_RUST: usize = 104_800;
/// Lines of the editor's TypeScript, without tests and generated files.
const MOST_EDITOR: usize = 21_700;
/// Comment lines in 100 lines of production Rust.
const MOST_COMMENTS: usize = 18;
/// Sections `# Errors` of all crates.
const MOST_ERRORS: usize = 450;

/// Lines of some files.
#[derive(Clone, Copy, Default)]
struct Lines {
    code: usize,
    comments: usize,
}

impl Lines {
    fn add(&mut self, code: usize, comments: usize) {
        self.code += code;
        self.comments += comments;
    }
}

#[test]
fn the_size_stays_within_its_limits() {
    let (mut crates, mut rust) = (BTreeMap::<String, Lines>::new(), Lines::default());
    let mut errors = 0;
    for file in sources() {
        let comments = production(&file).filter(|line| is_comment(line)).count();
        errors += production(&file).filter(|line| line.trim() == "/// # Errors").count();
        let name = file.path.strip_prefix("crates/").and_then(|path| path.split('/').next());
        crates
            .entry(name.unwrap_or("(root)").to_owned())
            .or_default()
            .add(file.code_lines(), comments);
        rust.add(file.code_lines(), comments);
    }
    for (name, lines) in &crates {
        println!("{}", described(name, *lines));
    }
    println!("{}", described("Rust", rust));
    let all = ["src", "crates", "tests", "benches", "examples"].into_iter().flat_map(files);
    let whole: usize = all.filter(is_rust).map(|file| code_lines(&file)).sum();
    let editor: usize =
        files("web/src").iter().filter(|file| is_editor(file)).map(script_lines).sum();
    println!("{:22} {:7} lines of code", "tests and benches", whole - rust.code);
    println!("{:22} {editor:7} lines of code", "web/src");
    let is_page = |file: &File| Path::new(&file.path).extension().is_some_and(|it| it == "md");
    let pages = files("").into_iter().filter(is_page);
    println!(
        "{:22} {:7} lines",
        "Markdown",
        pages.map(|page| page.text.lines().count()).sum::<usize>()
    );
    println!("{:22} {errors:7}", "sections # Errors");
    assert!(rust.code <= MOST_RUST, "{} lines of production Rust", rust.code);
    assert!(editor <= MOST_EDITOR, "{editor} lines in web/src");
    let share = 100 * rust.comments / rust.code;
    assert!((10..=MOST_COMMENTS).contains(&share), "{share} comments for 100 lines of code");
    assert!(errors <= MOST_ERRORS, "{errors} sections # Errors; a type of errors says it once");
}

fn described(name: &str, Lines { code, comments }: Lines) -> String {
    let share = 100 * comments / code.max(1);
    format!("{name:22} {code:7} lines of code, {comments:6} of comments ({share:2} %)")
}

/// Returns the lines of a file before its tests.
fn production(file: &File) -> impl Iterator<Item = &str> {
    file.text.lines().take(file.code().count())
}

fn code_lines(file: &File) -> usize {
    file.text.lines().filter(|line| !line.trim().is_empty() && !is_comment(line)).count()
}

/// Returns the lines of a script that are neither blank nor in a comment.
fn script_lines(file: &File) -> usize {
    let is_code = |line: &&str| {
        let line = line.trim_start();
        !(line.is_empty() || ["//", "/*", "*"].iter().any(|start| line.starts_with(start)))
    };
    file.text.lines().filter(is_code).count()
}

fn is_editor(file: &File) -> bool {
    let is_source = [".ts", ".tsx"].iter().any(|end| file.path.ends_with(end));
    is_source && !file.path.contains(".test.") && !file.path.contains("generated")
}
