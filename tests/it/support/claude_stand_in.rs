//! The Claude CLI of a story: a stand-in that speaks its lines and calls the tools it is given.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::test_server::{TestServer, TestServerBuilder};
use super::waiting::eventually;

/// The installed CLI and its configuration folder.
pub struct ClaudeStandIn {
    folder: TempDir,
}

impl ClaudeStandIn {
    /// To prompts that match, it plays these turns.
    pub fn playing(plays: &[(&str, Value)]) -> Self {
        let plays: Vec<_> =
            plays.iter().map(|(when, turns)| json!({"when": when, "turns": turns})).collect();
        Self::with(&json!({"plays": plays}))
    }

    /// As its `play.json` says.
    pub fn with(play: &Value) -> Self {
        let cli = Self { folder: tempfile::tempdir().expect("there is room for a folder") };
        let stand_in = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/support/claude.mjs");
        let script = format!("#!/bin/sh\nexec node '{}' \"$@\"\n", stand_in.display());
        std::fs::write(cli.program(), script).expect("there is room for a program");
        let runnable = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(cli.program(), runnable).expect("it can be run");
        cli.plays(play);
        cli
    }

    /// From now on.
    pub fn plays(&self, play: &Value) {
        let path = self.folder.path().join("play.json");
        std::fs::write(path, play.to_string()).expect("there is room for a play");
    }

    /// It knows no conversation any more.
    pub fn forgets(&self) {
        let kept = self.folder.path().join("conversations");
        std::fs::remove_dir_all(kept).expect("there were conversations");
    }

    /// Of every conversation only the name is left, as after a power cut.
    pub fn loses_every_word(&self) {
        let kept = self.folder.path().join("conversations");
        for file in std::fs::read_dir(kept).expect("there were conversations") {
            std::fs::write(file.expect("a file").path(), "").expect("there is room");
        }
    }

    /// The binary.
    pub fn program(&self) -> PathBuf {
        self.folder.path().join("claude")
    }

    /// A server that has it.
    pub fn plan(&self) -> TestServerBuilder {
        let program = self.program().display().to_string();
        TestServer::plan()
            .flags(&["--claude-binary", &program])
            .variable("CLAUDE_CONFIG_DIR", &self.folder.path().display().to_string())
    }

    /// A server whose default model it is.
    pub fn test_server(&self) -> TestServer {
        self.plan().model("claude-cli").start()
    }

    /// Returns the notes of its processes so far that have this field, in order.
    pub fn noted(&self, field: &str) -> Vec<Value> {
        let notes = std::fs::read_to_string(self.folder.path().join("input.jsonl"));
        let notes = notes.unwrap_or_default();
        let notes = notes.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        notes.filter(|it| !it[field].is_null()).collect()
    }

    /// Its processes that run now.
    pub fn alive(&self) -> usize {
        self.noted("pid")
            .iter()
            .filter_map(|it| it["pid"].as_u64())
            .filter(|pid| runs(*pid))
            .count()
    }

    /// Waits until nothing that it started is left.
    pub fn is_gone(&self) {
        let noted = [self.noted("pid"), self.noted("child")].concat();
        let pids = noted.iter().filter_map(|it| it["pid"].as_u64().or(it["child"].as_u64()));
        for pid in pids {
            eventually(&format!("the end of process {pid}"), || !runs(pid));
        }
    }
}

fn runs(pid: u64) -> bool {
    let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // A zombie is gone; no one has looked yet.
    !state.is_empty() && !state.contains(") Z ")
}
