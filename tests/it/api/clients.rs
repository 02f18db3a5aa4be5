//! The suites that people are invited to copy pass as they are.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use crate::support::{modules, python};

/// The suite in Rust needs nothing but what Cargo brings, and runs as it is.
#[path = "../../clients/rust/review.rs"]
mod rust;

const CLIENTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/clients");

/// Runs a suite against the binary that these stories use.
fn passes(command: &mut Command, folder: &Path) {
    let output = command
        .current_dir(folder)
        .env("COPYDESK", env!("CARGO_BIN_EXE_copydesk"))
        .env("COPYDESK_SCRIPTS", concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/scripts"))
        .output()
        .expect("it can be started");
    let said = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&said));
}

#[test]
fn the_javascript_suite() {
    // Packages are looked for beside the files that import them.
    let folder = tempfile::tempdir().expect("there is room");
    for name in ["copydesk.mjs", "review.test.mjs", "package.json"] {
        let from = Path::new(CLIENTS).join("javascript").join(name);
        std::fs::copy(from, folder.path().join(name)).expect("it is there");
    }
    let packages = modules().expect("stories have a socket.io client");
    symlink(packages, folder.path().join("node_modules")).expect("a link");
    passes(Command::new("node").arg("--test"), folder.path());
}

#[test]
fn the_python_suite() {
    let Some(python) = python("tests/clients/python") else { return };
    let mut command = Command::new(python);
    // Nothing is left beside the sources.
    command.args(["-B", "-m", "unittest", "-v"]);
    passes(&mut command, &Path::new(CLIENTS).join("python"));
}
