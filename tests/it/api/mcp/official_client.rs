//! The official client in Python.

use std::process::{Command, Stdio};

use crate::support::{OWNER, python};

use super::{FIXED, TEXT, owner_of, test_server};

/// Runs the official client while a person decides: the first request is approved, the second
/// rejected, the third left.
fn the_official_client_works(over: &str, mode: &str) {
    let copydesk = test_server();
    let owner = owner_of(&copydesk);
    let document = owner.creates(TEXT);
    let Some(python) = python("MCP with the official client") else { return };
    let mut child = Command::new(python)
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/clients/mcp_client.py"))
        .args([over, mode, copydesk.url(), OWNER, env!("CARGO_BIN_EXE_copydesk"), &document])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("Python can be started");
    owner.accepts_all(&owner.sees_request());
    owner.rejects(&owner.sees_request(), "Not there");
    let request = owner.sees_request();
    assert_eq!(owner.sees_resolved(&request)["status"], "cancelled");
    owner.accepts_all(&owner.sees_request());
    let status = child.wait().expect("the script ends");
    let mut words = String::new();
    if let Some(mut stderr) = child.stderr.take() {
        std::io::Read::read_to_string(&mut stderr, &mut words).ok();
    }
    assert!(status.success(), "{words}");
    assert_eq!(copydesk.file("official.txt").as_deref(), Some("hello"));
    assert_eq!(copydesk.file("rejected.txt"), None);
    owner.comes_to_read(FIXED);
}

#[test]
fn the_official_client_works_over_http_in_a_session() {
    the_official_client_works("http", "legacy");
}

#[test]
fn the_official_client_works_over_http_without_one() {
    the_official_client_works("http", "auto");
}

#[test]
fn the_official_client_works_over_standard_input_and_output_in_a_session() {
    the_official_client_works("stdio", "legacy");
}

#[test]
fn the_official_client_works_over_standard_input_and_output_without_one() {
    the_official_client_works("stdio", "auto");
}
