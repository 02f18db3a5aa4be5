//! `.ci/again`, which runs failed stories once more: what it forgives, and what it does not. The
//! workflows: what they run comes from fixed commits, with few permissions.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

/// Returns what `cargo test --no-fail-fast` prints when these tests failed, each after its target.
fn log_of(failures: &[(&str, &str)]) -> String {
    let failed = |(target, name): &(&str, &str)| {
        [
            format!("     Running {target} (target/debug/deps/it-0)"),
            "test fine ... ok".to_owned(),
            format!("test {name} ... FAILED"),
            "\nfailures:\n".to_owned(),
            format!("---- {name} stdout ----\n"),
            format!("thread '{name}' panicked at tests/a.rs:1:2:"),
            format!("too late\n\nfailures:\n    {name}\n"),
            "test result: FAILED. 1 passed; 1 failed; 0 ignored\n".to_owned(),
        ]
        .join("\n")
    };
    failures.iter().map(failed).collect()
}

/// Runs the script on a log with a `cargo` whose tests end with that status. Returns whether it
/// succeeded, the names with which `cargo` was called, and what was noted as flaky.
fn again(log: &str, status: u8) -> (bool, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("log"), log).unwrap();
    fs::write(path("calls"), "").unwrap();
    fs::write(path("flaky"), "").unwrap();
    let calls = path("calls");
    let cargo = format!("#!/bin/sh\necho \"$@\" >>{}\nexit {status}\n", calls.display());
    fs::write(path("cargo"), cargo).unwrap();
    fs::set_permissions(path("cargo"), fs::Permissions::from_mode(0o755)).unwrap();
    let ended = Command::new(super::root().join(".ci/again"))
        .args([path("log"), path("flaky")])
        .env("CARGO", path("cargo"))
        .output()
        .unwrap();
    let read = |name| fs::read_to_string(path(name)).unwrap();
    (ended.status.success(), read("calls"), read("flaky"))
}

#[test]
fn a_failed_story_runs_once_more_alone_and_is_noted_with_its_reason() {
    let log = log_of(&[("tests/it/main.rs", "crash::a"), ("tests/browser.rs", "b")]);
    let (passed, calls, flaky) = again(&log, 0);
    assert!(passed);
    assert_eq!(
        calls,
        "test --locked --test it -- --exact crash::a\ntest --locked --test browser -- --exact b\n"
    );
    assert_eq!(flaky.lines().count(), 2);
    assert!(flaky.starts_with("it crash::a: thread 'crash::a' panicked"), "{flaky}");
    assert!(flaky.contains("too late"), "{flaky}");
}

#[test]
fn a_story_that_fails_twice_fails() {
    let (passed, calls, flaky) = again(&log_of(&[("tests/it/main.rs", "crash::a")]), 101);
    assert!(!passed);
    assert_eq!(calls.lines().count(), 1);
    assert_eq!(flaky, "");
}

#[test]
fn a_failed_unit_test_and_a_build_that_broke_are_not_run_again() {
    for log in [
        log_of(&[("tests/it/main.rs", "crash::a"), ("unittests src/lib.rs", "unit")]),
        log_of(&[("tests/simulation/main.rs", "rooms")]),
        "error: could not compile `copydesk`\n".to_owned(),
    ] {
        let (passed, calls, _) = again(&log, 0);
        assert!(!passed, "{log}");
        assert_eq!(calls, "", "{log}");
    }
}

/// A tag can be moved to other code; a commit cannot.
#[test]
fn workflows_name_actions_by_their_commit_and_state_their_permissions() {
    let workflows = super::files(".github/workflows");
    assert!(workflows.len() > 1);
    for workflow in workflows {
        assert!(
            workflow.text.lines().any(|line| line.starts_with("permissions:")),
            "{}",
            workflow.path
        );
        for line in workflow.text.lines() {
            let Some((_, action)) = line.split_once("uses: ") else { continue };
            let (_, commit) = action.split_once('@').unwrap();
            let (commit, version) = commit.split_once(" # v").unwrap_or((commit, ""));
            let is_commit = commit.len() == 40 && commit.chars().all(|it| it.is_ascii_hexdigit());
            assert!(is_commit && !version.is_empty(), "{}: {line}", workflow.path);
        }
    }
}
