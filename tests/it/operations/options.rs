//! Stories about the options of the server: which of several values counts, what `--open` does, and
//! what is said of a data directory that cannot be used.

#[cfg(target_os = "linux")]
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{TestServer, copydesk_command, found, output_of};

/// Returns the time that people have to decide, in seconds, as the server says.
fn seconds(copydesk: &TestServer) -> Value {
    let ack = copydesk.owner().emit("settings:get", &json!({})).ok();
    ack["settings"]["timeoutSeconds"].clone()
}

#[test]
fn a_flag_wins_over_a_variable_and_a_variable_over_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("settings.toml");
    std::fs::write(&file, "approval-timeout = 100\n").unwrap();
    let with_file = || TestServer::plan().flags(&["--config", file.to_str().unwrap()]);
    let with_variable = || with_file().variable("COPYDESK_APPROVAL_TIMEOUT", "200");
    assert_eq!(seconds(&with_file().start()), 100);
    assert_eq!(seconds(&with_variable().start()), 200);
    assert_eq!(seconds(&with_variable().flags(&["--approval-timeout", "300"]).start()), 300);
}

#[test]
fn settings_are_read_from_the_file_in_the_folder_where_the_server_starts() {
    let mut copydesk = TestServer::quiet();
    let folder = copydesk.data().parent().unwrap().to_owned();
    assert_eq!(copydesk.stops().code(), Some(0));
    std::fs::write(folder.join("copydesk.toml"), "approval-timeout = 100\n").unwrap();
    copydesk.starts();
    assert_eq!(seconds(&copydesk), 100);
}

/// A folder with a program that writes to `opened`, line by line, what it is to open.
#[cfg(target_os = "linux")]
fn opener(folder: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    let program = folder.join("xdg-open");
    let opened = folder.join("opened");
    let text = format!("#!/bin/sh\nprintf '%s\\n' \"$1\" >> '{}'\n", opened.display());
    std::fs::write(&program, text).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn a_browser_opens_the_link_where_that_is_wanted() {
    let folder = tempfile::tempdir().unwrap();
    opener(folder.path());
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
    let plan = || TestServer::plan().variable("PATH", &path);
    let mut unasked = plan().start();
    assert_eq!(unasked.stops().code(), Some(0));
    let copydesk = plan().flags(&["--open"]).start();
    let opened = || std::fs::read_to_string(folder.path().join("opened")).unwrap_or_default();
    found(|| {
        let opened = opened();
        let is_there = opened.lines().any(|link| link == copydesk.link());
        if is_there { Ok(()) } else { Err((opened, copydesk.link())) }
    });
    assert!(!opened().contains(unasked.link()), "{}", opened());
}

#[cfg(target_os = "linux")]
#[test]
fn a_server_without_a_browser_says_so_and_serves() {
    let folder = tempfile::tempdir().unwrap();
    let plan = TestServer::plan().variable("PATH", folder.path().to_str().unwrap());
    let mut copydesk = plan.flags(&["--open"]).start();
    copydesk.node(0).complains("cannot open a browser", 1);
    copydesk.owner().is_fine();
}

#[test]
fn why_a_data_directory_cannot_be_used_is_said_once() {
    let folder = tempfile::tempdir().unwrap();
    // The user who runs the tests may be allowed everything, but no one opens a folder as a file.
    std::fs::create_dir(folder.path().join("copydesk.lock")).unwrap();
    let mut command = copydesk_command();
    command.args(["serve", "--listen", "127.0.0.1:0", "--model", "harper", "--data"]);
    command.arg(folder.path()).env_remove("COPYDESK_DATABASE_URL");
    let complaint = output_of(&command.output().unwrap(), 1).1;
    assert!(complaint.contains("copydesk.lock"), "{complaint}");
    assert_eq!(complaint.matches("(os error").count(), 1, "{complaint}");
}
