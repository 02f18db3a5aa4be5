//! Stories about running a server: what its log names, and the unit that starts it.

use std::process::Command;

use serde_json::json;

use crate::support::{OWNER, TestServer, found, http, say_skipped};

/// The value of a header.
fn header<'a>(answer: &'a http::Response, name: &str) -> &'a str {
    let line = answer.head.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")));
    line.unwrap_or_else(|| panic!("there is no {name} in {}", answer.head))
}

/// Waits until a line of the log has all of these words.
fn logged(copydesk: &TestServer, words: &[&str]) -> String {
    found(|| {
        let log = copydesk.complaints();
        let line = log.lines().find(|line| words.iter().all(|it| line.contains(it)));
        line.map(str::to_owned).ok_or_else(|| format!("no line has {words:?}:\n{log}"))
    })
}

#[test]
fn every_answer_names_its_request_as_the_log_does() {
    let copydesk = TestServer::plan().variable("COPYDESK_LOG", "warn,copydesk=debug").start();
    let address = copydesk.address();
    let mut names = Vec::new();
    for (request, status) in [
        ("GET /api/v1/documents", 200),
        ("GET /healthz", 200),
        ("GET /?token=hunter2", 200),
        ("DELETE /metrics", 405),
        ("GET /v1/models", 200),
        ("GET /v1/nothing", 404),
    ] {
        let bearer = format!("Bearer {OWNER}");
        let headers = [("Host", address), ("Authorization", bearer.as_str())];
        let answer = http::ask(address, request, &headers);
        assert_eq!(answer.status, status, "{request}");
        names.push((header(&answer, "request-id").to_owned(), status));
    }
    let foreign = http::ask(address, "GET /healthz", &[("Host", "elsewhere.example")]);
    names.push((header(&foreign, "request-id").to_owned(), 403));
    for (name, status) in &names {
        assert!(name.starts_with("req_") && name.len() == 36, "{name}");
        logged(&copydesk, &[name, "answered", &status.to_string()]);
    }
    let log = copydesk.complaints();
    assert!(!log.contains("hunter2"), "{log}");
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 7, "each has a name of its own");
}

#[test]
fn what_is_logged_about_a_run_names_it() {
    let copydesk = TestServer::plan().variable("COPYDESK_LOG", "warn,copydesk=debug").start();
    let ana = copydesk.editor("Ana");
    let document = ana.creates("Dear reader,\n");
    let run = ana.asks_about("Hello", &json!({"documentId": document}));
    ana.answer(&run);
    logged(&copydesk, &["run{", &run, "ended"]);
}

#[test]
fn the_unit_of_systemd_starts_the_server_with_options_that_it_has() {
    let unit = include_str!("../../../packaging/copydesk.service");
    let help = Command::new(env!("CARGO_BIN_EXE_copydesk")).args(["serve", "--help"]).output();
    let help = String::from_utf8(help.expect("the binary is built").stdout).unwrap();
    let variables: Vec<_> =
        unit.lines().filter_map(|line| line.strip_prefix("Environment=")).collect();
    assert_eq!(variables, ["COPYDESK_DATA=/var/lib/copydesk"]);
    assert!(help.contains("COPYDESK_DATA"), "{help}");
    for hardened in
        ["NoNewPrivileges=yes", "ProtectSystem=strict", "Restart=on-failure", "Type=exec"]
    {
        assert!(unit.lines().any(|line| line == hardened), "{hardened}");
    }
    let Ok(version) = Command::new("systemd-analyze").arg("--version").output() else {
        // Not required anywhere: what has it brings all of systemd.
        say_skipped("whether systemd takes its unit", "there is no systemd-analyze");
        return;
    };
    assert!(version.status.success());
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("copydesk.service");
    let binary = env!("CARGO_BIN_EXE_copydesk");
    std::fs::write(&file, unit.replace("/usr/local/bin/copydesk", binary)).unwrap();
    let verified = Command::new("systemd-analyze").arg("verify").arg(&file).output().unwrap();
    let message = String::from_utf8_lossy(&verified.stderr);
    let complaints: Vec<_> =
        message.lines().filter(|line| line.contains("copydesk.service")).collect();
    // Where it cannot run at all, as in some containers, it says nothing of the unit.
    assert!(complaints.is_empty(), "{message}");
}
