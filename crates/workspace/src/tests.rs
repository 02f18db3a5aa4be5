//! Reach of tools, and above all its limits; each in a real folder beside one that must stay as it
//! is.

use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;

use super::{ABSENT, GrepOutput, GrepQuery, LARGEST_FILE, Workspace, WorkspaceError, stamp};

/// A workspace, and a folder beside it that no tool may see or change.
struct WorkspaceFixture {
    home: TempDir,
    workspace: Workspace,
}

const SECRET: &str = "outside";

impl WorkspaceFixture {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        for folder in ["inside/notes", "inside/data", "outside"] {
            fs::create_dir_all(home.path().join(folder)).unwrap();
        }
        fs::write(home.path().join("outside/secret.txt"), SECRET).unwrap();
        let root = home.path().join("inside");
        fs::write(root.join("settings.toml"), "token = 'needle'").unwrap();
        let closed = [root.join("data"), root.join("settings.toml"), root.join("gone")];
        let closed: Vec<_> = closed.iter().map(PathBuf::as_path).collect();
        let workspace = Workspace::open(&root, &closed).unwrap();
        Self { home, workspace }
    }

    fn inside(&self, path: &str) -> PathBuf {
        self.home.path().join("inside").join(path)
    }

    fn outside(&self, path: &str) -> PathBuf {
        self.home.path().join("outside").join(path)
    }

    fn has(&self, path: &str, content: &str) {
        fs::create_dir_all(self.inside(path).parent().unwrap()).unwrap();
        fs::write(self.inside(path), content).unwrap();
    }

    fn writes(&self, path: &str, content: &str) -> Result<(), WorkspaceError> {
        let found = self.workspace.read_if_exists(path)?;
        let expected = found.map_or_else(|| ABSENT.to_owned(), |file| file.stamp);
        self.workspace.write(path, content, &expected).map(drop)
    }

    /// Neither reading nor looking nor writing works, and nothing outside has changed.
    fn refuses(&self, path: &str) {
        assert!(self.workspace.read(path).is_err(), "{path:?} was read");
        self.refuses_to_write(path);
    }

    fn refuses_to_write(&self, path: &str) {
        assert!(self.workspace.read_if_exists(path).is_err(), "{path:?} was looked at");
        for expected in [ABSENT.to_owned(), stamp(SECRET), stamp("")] {
            let written = self.workspace.write(path, "changed", &expected);
            assert!(written.is_err(), "{path:?} was written");
        }
        self.is_untouched();
    }

    fn is_untouched(&self) {
        let names: Vec<_> = fs::read_dir(self.outside("")).unwrap().flatten().collect();
        assert_eq!(names.len(), 1, "{names:?}");
        assert_eq!(fs::read_to_string(self.outside("secret.txt")).unwrap(), SECRET);
    }
}

fn link(target: impl AsRef<std::path::Path>, name: impl AsRef<std::path::Path>) {
    std::os::unix::fs::symlink(target, name).unwrap();
}

#[test]
fn a_file_is_written_and_read_again() {
    let ground = WorkspaceFixture::new();
    ground.writes("notes/new/one.txt", "One.").unwrap();
    assert_eq!(ground.workspace.read("./notes//new/one.txt").unwrap().text, "One.");
    ground.writes("notes/new/one.txt", "Two.").unwrap();
    assert_eq!(fs::read_to_string(ground.inside("notes/new/one.txt")).unwrap(), "Two.");
    let left: Vec<_> = fs::read_dir(ground.inside("notes/new")).unwrap().flatten().collect();
    assert_eq!(left.len(), 1, "nothing is left beside it: {left:?}");
}

#[test]
fn a_file_keeps_what_it_was_allowed() {
    use std::os::unix::fs::PermissionsExt as _;
    let ground = WorkspaceFixture::new();
    ground.has("run.sh", "one");
    fs::set_permissions(ground.inside("run.sh"), fs::Permissions::from_mode(0o750)).unwrap();
    ground.writes("run.sh", "two").unwrap();
    assert_eq!(fs::metadata(ground.inside("run.sh")).unwrap().permissions().mode() & 0o777, 0o750);
}

#[test]
fn a_file_keeps_its_owner_where_that_is_permitted() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
    let ground = WorkspaceFixture::new();
    ground.has("a.txt", "old");
    let path = ground.inside("a.txt");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o664)).unwrap();
    // Only root may give a file away; for others it stays their own.
    chown(&path, Some(1_234), Some(2_345)).ok();
    let before = fs::metadata(&path).unwrap();
    ground.writes("a.txt", "new").unwrap();
    let after = fs::metadata(&path).unwrap();
    assert_ne!(after.ino(), before.ino(), "it was replaced");
    let owned = |it: &fs::Metadata| (it.uid(), it.gid(), it.mode() & 0o7777);
    assert_eq!(owned(&after), owned(&before));
}

#[test]
fn a_file_that_changed_is_not_written() {
    let ground = WorkspaceFixture::new();
    ground.has("a.txt", "old");
    let seen = ground.workspace.read_if_exists("a.txt").unwrap().unwrap().stamp;
    ground.has("a.txt", "else");
    let written = ground.workspace.write("a.txt", "new", &seen);
    assert!(matches!(written, Err(WorkspaceError::Changed { .. })), "{written:?}");
    assert_eq!(fs::read_to_string(ground.inside("a.txt")).unwrap(), "else");
    for (path, expected) in [("a.txt", ABSENT), ("gone.txt", "sha256:0")] {
        let written = ground.workspace.write(path, "new", expected);
        assert!(matches!(written, Err(WorkspaceError::Changed { .. })), "{written:?}");
    }
}

#[test]
fn paths_that_climb_or_begin_elsewhere_are_refused() {
    let ground = WorkspaceFixture::new();
    let absolute = ground.outside("secret.txt").display().to_string();
    let paths = [
        "..",
        "../outside/secret.txt",
        "notes/../../outside/secret.txt",
        "./../outside/secret.txt",
        "notes/..",
        "/etc/passwd",
        &absolute,
        "/",
        "",
        ".",
        "notes/../../outside/new.txt",
    ];
    for path in paths {
        ground.refuses(path);
    }
}

#[test]
fn links_are_not_followed_wherever_they_lead() {
    let ground = WorkspaceFixture::new();
    ground.has("notes/real.txt", "real");
    link(ground.outside("secret.txt"), ground.inside("file-link"));
    link(ground.outside(""), ground.inside("folder-link"));
    link("../outside", ground.inside("relative-link"));
    link(ground.outside("new.txt"), ground.inside("dangling-link"));
    link("notes/real.txt", ground.inside("inner-link"));
    link("file-link", ground.inside("link-to-link"));
    let paths = [
        "file-link",
        "folder-link",
        "folder-link/secret.txt",
        "folder-link/new.txt",
        "relative-link/secret.txt",
        "dangling-link",
        "dangling-link/new.txt",
        "inner-link",
        "link-to-link",
        "notes/../folder-link/secret.txt",
    ];
    for path in paths {
        ground.refuses(path);
    }
    let words = ground.workspace.read("folder-link/secret.txt").unwrap_err().to_string();
    assert!(words.contains("links are not followed"), "{words}");
}

#[test]
fn a_folder_that_becomes_a_link_while_files_are_written_leads_nowhere() {
    let ground = WorkspaceFixture::new();
    let (folder, aside) = (ground.inside("notes"), ground.inside("aside"));
    let target = ground.outside("");
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                // A write makes the folder anew while it is away, so any of these may fail.
                fs::remove_dir_all(&aside).ok();
                fs::rename(&folder, &aside).ok();
                std::os::unix::fs::symlink(&target, &folder).ok();
                std::thread::yield_now();
                fs::remove_file(&folder).ok();
                fs::rename(&aside, &folder).ok();
            }
        });
        for round in 0..300 {
            assert!(fs::symlink_metadata(ground.outside("secret.txt")).is_ok());
            ground.writes("notes/secret.txt", &format!("round {round}")).ok();
            if let Ok(file) = ground.workspace.read("notes/secret.txt") {
                assert_ne!(file.text, SECRET);
            }
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    ground.is_untouched();
}

#[test]
fn only_regular_files_are_read_and_nothing_waits_for_a_pipe() {
    let ground = WorkspaceFixture::new();
    let pipe = ground.inside("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let _socket = std::os::unix::net::UnixListener::bind(ground.inside("socket")).unwrap();
    // A device can be made by root only; elsewhere the pipe has to stand for it.
    let device = ground.inside("device");
    std::process::Command::new("mknod").arg(&device).args(["c", "1", "5"]).status().ok();
    for path in ["pipe", "socket", "device", "notes"] {
        if ground.inside(path).symlink_metadata().is_ok() {
            ground.refuses(path);
        }
    }
    ground.has("a.txt", "needle");
    assert_eq!(found(&ground, "."), ["a.txt:1:needle"], "a search does not wait either");
}

#[test]
fn a_file_with_another_name_elsewhere_is_not_changed() {
    let ground = WorkspaceFixture::new();
    fs::hard_link(ground.outside("secret.txt"), ground.inside("hard")).unwrap();
    ground.refuses_to_write("hard");
}

#[test]
fn version_control_and_configuration_are_not_written_however_they_are_spelt() {
    let ground = WorkspaceFixture::new();
    ground.has(".git/config", "[core]");
    let paths = [
        ".git/hooks/pre-commit",
        ".GIT/config",
        ".Git./config",
        ".git /config",
        ".gi\u{200d}t/config",
        "notes/.claude/settings.json",
        ".CLAUDE/x",
        "copydesk.toml",
        "CopyDesk.TOML",
        ".hg/hgrc",
        ".git",
    ];
    for path in paths {
        ground.refuses_to_write(path);
        assert!(ground.workspace.check(path, "x").is_err(), "{path:?}");
    }
    assert_eq!(fs::read_to_string(ground.inside(".git/config")).unwrap(), "[core]");
    assert_eq!(fs::read_dir(ground.inside(".git")).unwrap().count(), 1);
}

#[test]
fn the_servers_own_data_is_not_there() {
    let ground = WorkspaceFixture::new();
    ground.has("data/owner-token", "needle");
    ground.refuses("data/owner-token");
    fs::rename(ground.inside("data"), ground.inside("renamed")).unwrap();
    ground.refuses("renamed/owner-token");
    ground.refuses("settings.toml");
    fs::rename(ground.inside("settings.toml"), ground.inside("harmless.txt")).unwrap();
    ground.refuses("harmless.txt");
    assert_eq!(found(&ground, "."), [""; 0]);
    assert_eq!(ground.workspace.glob("**", ".", shown).unwrap().paths, ["harmless.txt"]);
}

#[test]
fn settings_that_were_replaced_or_come_later_are_closed_too() {
    let ground = WorkspaceFixture::new();
    let saved = |name: &str, text: &str| {
        fs::write(ground.inside("beside"), text).unwrap();
        fs::rename(ground.inside("beside"), ground.inside(name)).unwrap();
    };
    saved("settings.toml", "token = 'needle 2'");
    ground.refuses("settings.toml");
    fs::hard_link(ground.inside("settings.toml"), ground.inside("second.txt")).unwrap();
    ground.refuses("second.txt");
    // As editors do that keep the one before.
    fs::rename(ground.inside("settings.toml"), ground.inside("before.txt")).unwrap();
    saved("settings.toml", "token = 'needle 3'");
    for path in ["before.txt", "second.txt", "settings.toml", "Settings.TOML"] {
        ground.refuses(path);
    }
    saved("gone", "token = 'needle 4'");
    ground.refuses("gone");
    fs::rename(ground.inside("data"), ground.inside("aside")).unwrap();
    ground.has("data/owner-token", "needle");
    ground.refuses("data/owner-token");
    ground.refuses("data/new.txt");
    assert!(ground.workspace.file_meta("settings.toml").is_none());
    assert_eq!(found(&ground, "."), [""; 0]);
    // The same names elsewhere, and files of their own, are like any other.
    ground.has("notes/settings.toml", "hay");
    fs::remove_file(ground.inside("before.txt")).unwrap();
    ground.has("notes/new.txt", "hay");
    for path in ["notes/settings.toml", "notes/new.txt"] {
        assert_eq!(ground.workspace.read(path).unwrap().text, "hay", "{path}");
    }
}

#[test]
fn version_control_and_a_servers_settings_are_not_read_however_they_are_spelt() {
    let ground = WorkspaceFixture::new();
    for path in [".git/config", "notes/.git/config", "notes/.GIT/config", ".hg/hgrc"] {
        ground.has(path, "needle");
    }
    ground.has("notes/copydesk.toml", "token = 'needle'");
    ground.has("notes/.git.", "gitdir: needle");
    for path in
        [".git/config", "notes/.git/config", "notes/.GIT/config", "notes/.gi\u{200d}t/config"]
    {
        ground.refuses(path);
    }
    ground.refuses(".hg/hgrc");
    ground.refuses("notes/copydesk.toml");
    ground.refuses("notes/.git.");
    for from in [".git", "notes/.git", "notes/.GIT", ".git/config", "notes/copydesk.toml"] {
        let query =
            GrepQuery { pattern: "needle".into(), from: from.into(), ..GrepQuery::default() };
        let searched = ground.workspace.grep(&query, shown);
        assert!(matches!(searched, Err(WorkspaceError::Guarded { .. })), "{from}: {searched:?}");
        assert!(ground.workspace.glob("**", from, shown).is_err(), "{from}");
    }
    assert_eq!(found(&ground, "."), [""; 0]);
    assert_eq!(ground.workspace.glob("**", ".", shown).unwrap().paths, [""; 0]);
    // How another program is configured is no secret.
    ground.has(".claude/notes.md", "hay");
    assert_eq!(ground.workspace.read(".claude/notes.md").unwrap().text, "hay");
}

#[test]
fn what_is_no_text_or_too_long_is_refused() {
    let ground = WorkspaceFixture::new();
    let huge = fs::File::create(ground.inside("huge.txt")).unwrap();
    huge.set_len(1 << 30).unwrap();
    fs::write(ground.inside("binary"), [0xff, 0xfe]).unwrap();
    ground.has("nul.txt", "a\0b");
    for path in ["huge.txt", "binary", "nul.txt", "a\0b"] {
        ground.refuses(path);
    }
    assert_eq!(fs::metadata(ground.inside("huge.txt")).unwrap().len(), 1 << 30);
    let long = "x".repeat(usize::try_from(LARGEST_FILE).unwrap() + 1);
    for content in [long.as_str(), "a\0b"] {
        assert!(ground.writes("new.txt", content).is_err());
    }
    assert!(!ground.inside("new.txt").exists());
    ground.writes("new.txt", &long[1..]).unwrap();
}

/// No rule hides anything.
fn shown(_path: &str) -> bool {
    false
}

fn found(ground: &WorkspaceFixture, from: &str) -> Vec<String> {
    let query = GrepQuery { pattern: "needle".into(), from: from.into(), ..GrepQuery::default() };
    ground.workspace.grep(&query, shown).unwrap().lines
}

#[test]
fn searches_stay_inside_and_leave_out_what_is_ignored() {
    let ground = WorkspaceFixture::new();
    fs::write(ground.outside("secret.txt"), SECRET).unwrap();
    ground.has("b/two.md", "hay\nneedle here\n");
    ground.has("a.md", "needle");
    ground.has("b/skip.log", "needle");
    ground.has("b/keep.log", "needle");
    ground.has("target/out.md", "needle");
    ground.has(".gitignore", "*.log\n/target\n");
    ground.has("b/.gitignore", "!keep.log\n");
    ground.has(".git/config", "needle");
    fs::write(ground.inside("binary.md"), b"needle\0needle").unwrap();
    link(ground.outside(""), ground.inside("linked"));
    assert_eq!(
        found(&ground, "."),
        ["a.md:1:needle", "b/keep.log:1:needle", "b/two.md:2:needle here"]
    );
    assert_eq!(found(&ground, "b"), ["b/keep.log:1:needle", "b/two.md:2:needle here"]);
    assert_eq!(found(&ground, "b/two.md"), ["b/two.md:2:needle here"]);
    let glob = |pattern, from| ground.workspace.glob(pattern, from, shown).unwrap().paths;
    assert_eq!(glob("*.md", "."), ["a.md", "binary.md"]);
    assert_eq!(glob("**/*.md", "."), ["a.md", "b/two.md", "binary.md"]);
    assert_eq!(glob("*.md", "b"), ["b/two.md"]);
    assert_eq!(glob("./a.md", "."), ["a.md"]);
    assert_eq!(glob("././b/*.md", "."), ["b/two.md"]);
    let here = ground.home.path().join("inside/a.md");
    for pattern in ["../**", "b/../a.md", "{a,../b}", "..", "/etc/*", "~/*", here.to_str().unwrap()]
    {
        let refused = ground.workspace.glob(pattern, ".", shown);
        assert!(matches!(refused, Err(WorkspaceError::Outside { .. })), "{pattern}: {refused:?}");
        let only = GrepQuery {
            pattern: "x".into(),
            from: ".".into(),
            glob: Some(pattern.into()),
            ..GrepQuery::default()
        };
        assert!(ground.workspace.grep(&only, shown).is_err(), "{pattern}");
    }
    for from in ["..", "/", "linked", "gone"] {
        assert!(ground.workspace.glob("**", from, shown).is_err(), "{from}");
    }
}

#[test]
fn what_is_hidden_is_neither_found_nor_counted() {
    let ground = WorkspaceFixture::new();
    ground.has("keys/a.pem", "needle");
    ground.has("open.md", "needle");
    let hidden = |path: &str| path != "open.md";
    let glob = |from| ground.workspace.glob("**", from, hidden).unwrap().paths;
    assert_eq!((glob("."), glob("keys")), (vec!["open.md".to_owned()], Vec::new()));
    let grep = |from: &str| {
        let query =
            GrepQuery { pattern: "needle".into(), from: from.into(), ..GrepQuery::default() };
        ground.workspace.grep(&query, hidden).unwrap().lines
    };
    assert_eq!((grep("."), grep("keys/a.pem")), (vec!["open.md:1:needle".to_owned()], Vec::new()));
}

#[test]
fn a_search_for_much_is_cut_and_says_so() {
    let ground = WorkspaceFixture::new();
    ground.has("long.txt", &"needle\n".repeat(1_000));
    ground.has("wide.txt", &format!("needle{}", "x".repeat(1_000)));
    let query = GrepQuery { pattern: "needle".into(), from: ".".into(), ..GrepQuery::default() };
    let cut = ground.workspace.grep(&query, shown).unwrap();
    assert_eq!((cut.lines.len(), cut.is_cut), (250, true));
    let one = GrepQuery {
        glob: Some("wide*".into()),
        pattern: "NEEDLE".into(),
        ignore_case: true,
        ..query
    };
    let line = ground.workspace.grep(&one, shown).unwrap().lines.remove(0);
    assert!(line.chars().count() < 330 && line.ends_with('…'), "{line}");
}

#[test]
fn a_search_for_much_is_answered_page_by_page_and_nothing_twice() {
    let ground = WorkspaceFixture::new();
    let text = |name: &str| {
        (0..300).map(|at| format!("needle {name} {at}\n")).collect::<Vec<_>>().concat()
    };
    ground.has("a.txt", &text("a"));
    ground.has("b.txt", &text("b"));
    let query = GrepQuery { pattern: "needle".into(), from: ".".into(), ..GrepQuery::default() };
    for (limit, around) in
        [(None, (0, 0)), (Some(70), (0, 0)), (Some(1_000), (1, 2)), (Some(0), (0, 0))]
    {
        let (mut lines, mut offset) = (Vec::new(), Some(0));
        while let Some(from) = offset {
            let page = GrepQuery { limit, around, offset: from, ..query.clone() };
            let found = ground.workspace.grep(&page, shown).unwrap();
            assert!(found.lines.len() <= limit.filter(|it| *it > 0).unwrap_or(250).min(250));
            assert_eq!(found.is_cut, found.next.is_some());
            lines.extend(found.lines);
            offset = found.next;
        }
        lines.retain(|line| line != "--");
        assert_eq!(lines.len(), 600, "{limit:?} {around:?}");
        assert_eq!(
            (lines[0].as_str(), lines[599].as_str()),
            ("a.txt:1:needle a 0", "b.txt:300:needle b 299")
        );
        lines.dedup();
        assert_eq!(lines.len(), 600);
    }
    for offset in [600, usize::MAX] {
        let beyond = GrepQuery { offset, ..query.clone() };
        let beyond = ground.workspace.grep(&beyond, shown).unwrap();
        assert_eq!((beyond.lines, beyond.is_cut, beyond.next), (Vec::new(), false, None));
    }
}

#[test]
fn a_search_tells_lines_around_files_and_counts_as_asked() {
    let ground = WorkspaceFixture::new();
    ground.has("a.rs", "one\ntwo\nneedle\nfour\nfive\nsix\nseven needle\n");
    ground.has("b.md", "needle needle\nafter\n");
    ground.has("c.md", "hay\n");
    let query = GrepQuery { pattern: "needle".into(), from: ".".into(), ..GrepQuery::default() };
    let lines = |grep: GrepQuery| ground.workspace.grep(&grep, shown).unwrap().lines;
    let output = |output| lines(GrepQuery { output, ..query.clone() });
    assert_eq!(output(GrepOutput::Files), ["a.rs", "b.md"]);
    assert_eq!(output(GrepOutput::Counts), ["a.rs:2", "b.md:1"]);
    assert_eq!(
        output(GrepOutput::Bare),
        ["a.rs:needle", "a.rs:seven needle", "b.md:needle needle"]
    );
    let around = lines(GrepQuery { around: (1, 1), ..query.clone() });
    let expected = [
        "a.rs-2-two",
        "a.rs:3:needle",
        "a.rs-4-four",
        "--",
        "a.rs-6-six",
        "a.rs:7:seven needle",
        "--",
        "b.md:1:needle needle",
        "b.md-2-after",
    ];
    assert_eq!(around, expected);
    let after = lines(GrepQuery {
        around: (0, 1),
        output: GrepOutput::Bare,
        limit: Some(2),
        ..query.clone()
    });
    assert_eq!(after, ["a.rs:needle", "a.rs-four"]);
    let counts = GrepQuery { around: (1, 1), output: GrepOutput::Counts, ..query.clone() };
    assert_eq!(lines(counts), ["a.rs:2", "b.md:1"]);
    let second =
        GrepQuery { output: GrepOutput::Files, offset: 1, limit: Some(1), ..query.clone() };
    assert_eq!(lines(second), ["b.md"]);
    let of_type = |kind: &str| {
        let grep =
            GrepQuery { kind: Some(kind.into()), output: GrepOutput::Files, ..query.clone() };
        ground.workspace.grep(&grep, shown)
    };
    assert_eq!(of_type("rust").unwrap().lines, ["a.rs"]);
    assert!(matches!(of_type("no such"), Err(WorkspaceError::Pattern { .. })));
}

#[test]
fn a_match_goes_over_line_ends_where_that_is_asked_for() {
    let ground = WorkspaceFixture::new();
    ground.has("a.txt", "zero\r\nfoo\r\nbar foo\r\nend\r\n");
    let grep = |pattern: &str, multiline, output| {
        let pattern = pattern.to_owned();
        let query =
            GrepQuery { pattern, from: "a.txt".into(), multiline, output, ..GrepQuery::default() };
        ground.workspace.grep(&query, shown).unwrap().lines
    };
    assert_eq!(grep("foo.*bar", false, GrepOutput::Lines), [""; 0]);
    let lines = ["a.txt:2:foo", "a.txt:3:bar foo"];
    assert_eq!(grep("foo.{1,2}bar", true, GrepOutput::Lines), lines);
    assert_eq!(grep(r"^foo\s+bar", true, GrepOutput::Lines), lines);
    assert_eq!(grep("end", true, GrepOutput::Lines), ["a.txt:4:end"]);
    assert_eq!(grep(r"foo\s+bar", true, GrepOutput::Counts), ["a.txt:2"]);
}

#[test]
fn patterns_that_cannot_be_read_are_refused() {
    let ground = WorkspaceFixture::new();
    for pattern in ["(", "(?<=a)b", "a{1000}{1000}{1000}"] {
        let query = GrepQuery { pattern: pattern.into(), from: ".".into(), ..GrepQuery::default() };
        assert!(
            matches!(ground.workspace.grep(&query, shown), Err(WorkspaceError::Pattern { .. })),
            "{pattern}"
        );
    }
    assert!(matches!(ground.workspace.glob("[", ".", shown), Err(WorkspaceError::Pattern { .. })));
}

#[test]
fn a_file_is_removed_only_if_it_still_reads_as_it_was_seen() {
    let ground = WorkspaceFixture::new();
    fs::write(ground.inside("notes/a.txt"), "seen").unwrap();
    let refused = ground.workspace.remove("notes/a.txt", &stamp("else"));
    assert!(matches!(refused, Err(WorkspaceError::Changed { .. })), "{refused:?}");
    ground.workspace.remove("notes/a.txt", &stamp("seen")).unwrap();
    assert!(!ground.inside("notes/a.txt").exists() && ground.inside("notes").exists());
    let gone = ground.workspace.remove("notes/a.txt", &stamp("seen"));
    assert!(matches!(gone, Err(WorkspaceError::Changed { .. })), "{gone:?}");
    let outside = ground.workspace.remove("../outside/secret.txt", &stamp(SECRET));
    assert!(matches!(outside, Err(WorkspaceError::Outside { .. })), "{outside:?}");
    let closed = ground.workspace.remove("settings.toml", &stamp("token = 'needle'"));
    assert!(closed.is_err() && ground.inside("settings.toml").exists());
}

#[test]
fn a_search_that_begins_at_a_pipe_or_a_device_finds_nothing_and_waits_for_nothing() {
    let ground = WorkspaceFixture::new();
    let pipe = ground.inside("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let device = ground.inside("device");
    std::process::Command::new("mknod").arg(&device).args(["c", "1", "5"]).status().ok();
    assert_eq!(found(&ground, "pipe"), [""; 0]);
    if device.symlink_metadata().is_ok() {
        assert_eq!(found(&ground, "device"), [""; 0], "an endless file is not read");
    }
    let paths = ground.workspace.glob("**", ".", shown).unwrap().paths;
    assert_eq!(paths, [""; 0], "nor are they files to be found");
}

#[test]
fn of_a_huge_file_the_beginning_is_searched_and_that_is_said() {
    let ground = WorkspaceFixture::new();
    let grep = |pattern: &str| {
        let query = GrepQuery { pattern: pattern.into(), from: ".".into(), ..GrepQuery::default() };
        ground.workspace.grep(&query, shown).unwrap()
    };
    let bytes = usize::try_from(super::SEARCHED_BYTES).unwrap();
    ground.has("huge.log", &format!("first\n{}last\n", "hay hay\n".repeat(bytes / 8)));
    // A hole of a gigabyte is binary, and left at once.
    fs::File::create(ground.inside("hole")).unwrap().set_len(1 << 30).unwrap();
    let last = grep("last");
    assert_eq!((last.lines, last.partly), (Vec::new(), vec!["huge.log".to_owned()]));
    assert_eq!(grep("first").lines, ["huge.log:1:first"]);
    let hidden = |path: &str| path == "huge.log";
    let query = GrepQuery { pattern: "last".into(), from: ".".into(), ..GrepQuery::default() };
    assert_eq!(ground.workspace.grep(&query, hidden).unwrap().partly, [""; 0]);
}

#[test]
fn lines_end_as_they_do_on_any_system() {
    let ground = WorkspaceFixture::new();
    ground.has("crlf.txt", "a foo\r\nbar\r\nfoo b\r\n\r\n");
    ground.has("lf.txt", "a foo\nbar\nfoo b\n\n");
    let grep = |pattern: &str| {
        let query = GrepQuery { pattern: pattern.into(), from: ".".into(), ..GrepQuery::default() };
        let lines = ground.workspace.grep(&query, shown).unwrap().lines;
        lines.into_iter().filter(|it| !it.starts_with("settings")).collect::<Vec<_>>()
    };
    assert_eq!(grep("foo$"), ["crlf.txt:1:a foo", "lf.txt:1:a foo"]);
    assert_eq!(grep("^bar$"), ["crlf.txt:2:bar", "lf.txt:2:bar"]);
    assert_eq!(grep("^foo"), ["crlf.txt:3:foo b", "lf.txt:3:foo b"]);
    assert_eq!(grep("^$"), ["crlf.txt:4:", "lf.txt:4:"]);
    assert_eq!(grep(r"foo\s*bar"), [""; 0], "a match never leaves its line");
}

#[test]
fn another_name_of_the_servers_own_data_is_not_read_either() {
    let ground = WorkspaceFixture::new();
    fs::create_dir_all(ground.inside("data/deep")).unwrap();
    fs::write(ground.inside("data/owner.token"), "needle").unwrap();
    fs::write(ground.inside("data/deep/copydesk.sqlite"), "needle").unwrap();
    for (data, name) in [("data/owner.token", "hl"), ("data/deep/copydesk.sqlite", "notes/hl.txt")]
    {
        fs::hard_link(ground.inside(data), ground.inside(name)).unwrap();
        let refused = ground.workspace.read(name).unwrap_err();
        assert!(matches!(refused, WorkspaceError::Guarded { .. }), "{name}: {refused}");
        ground.refuses_to_write(name);
    }
    // A file with two names that is no one's data is read as before.
    ground.has("notes/one.txt", "needle");
    fs::hard_link(ground.inside("notes/one.txt"), ground.inside("notes/two.txt")).unwrap();
    assert_eq!(ground.workspace.read("notes/two.txt").unwrap().text, "needle");
    let query = GrepQuery { pattern: "needle".to_owned(), ..GrepQuery::default() };
    let found = ground.workspace.grep(&query, shown).unwrap();
    assert!(!format!("{found:?}").contains("hl"), "{found:?}");
    let texts = ground.workspace.texts("hl", None, 10).unwrap();
    assert!(texts.paths.is_empty(), "{texts:?}");
}
