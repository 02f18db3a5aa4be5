//! Tool that writes a text file of the workspace.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use copydesk_approvals::Preview;
use copydesk_document::diff::DiffLimits;
use copydesk_file_sync::text_encoding;
use copydesk_rooms::command::DocumentSnapshot;
use copydesk_workspace::{ABSENT, TextFile, Workspace, WorkspaceError};

use crate::pipeline::file_warnings;
use crate::{
    ActionPreview, CallTarget, ExecutionContext, FileEdit, FileTool, ProgramOffer, Tool, ToolError,
    ToolResult, ToolScope,
};

/// Tool `Write`.
pub struct WriteTool;

/// Input of the tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// File, relative to the workspace; missing folders are created.
    file_path: String,
    /// Complete new content.
    content: String,
}

impl Tool for WriteTool {
    const NAME: &'static str = "Write";
    const TITLE: &'static str = "Write";
    const RULE_TITLE: &'static str = "Write a file";
    const DESCRIPTION: &'static str = "Write a text file of the workspace: make it, or replace its content. People see the difference \
         and decide before anything is written. A file whose lines all end in CRLF keeps that if you write LF, and a byte order mark stays.";
    const WHEN: &'static str = "Use to make a file, or to replace all of it";
    const SCOPE: ToolScope = ToolScope::Workspace;
    const PROGRAM: Option<ProgramOffer> = Some(ProgramOffer {
        noun: "Write",
        result: for_programs,
        ..ProgramOffer::new("atlas_write", "Write a file")
    });
    type Input = Input;

    fn target(input: &Value) -> CallTarget {
        CallTarget::file_path(input)
    }
}

impl FileTool for WriteTool {
    fn preview(
        workspace: &Workspace,
        Input { file_path, content }: Input,
        limits: &DiffLimits,
    ) -> ToolResult<ActionPreview> {
        workspace.check(&file_path, &content)?;
        let old = workspace.read_if_exists(&file_path)?;
        let new = succeeding(old.as_ref(), &content);
        workspace.check(&file_path, &new)?;
        let before = old.as_ref().map(|file| file.text.as_str());
        if before == Some(new.as_str()) {
            let same = format!("{file_path} already reads like this; nothing to write");
            return Err(ToolError::Failed(same));
        }
        let shown = Preview::diff(&file_path, before, &new, limits);
        let warnings = match before {
            Some(before) => file_warnings::of_change(&file_path, before, &new, &shown, limits),
            None => file_warnings::of_file(&file_path, None, &new, limits),
        };
        let preview = Preview { warnings, ..shown };
        let touched = old.map_or_else(|| ABSENT.to_owned(), |file| file.stamp);
        Ok(ActionPreview { preview, touched: Some(touched) })
    }

    fn write(
        execution: &ExecutionContext,
        Input { file_path, content }: Input,
    ) -> ToolResult<String> {
        let ExecutionContext { workspace, touched, .. } = execution;
        let expected = touched.as_deref().unwrap_or_default();
        let old = workspace.read_if_exists(&file_path)?;
        // The form of the new text depends on the present file.
        if old.as_ref().map_or(ABSENT, |file| &file.stamp) != expected {
            return Err(WorkspaceError::Changed { path: file_path }.into());
        }
        let new = succeeding(old.as_ref(), &content);
        let note = workspace.write(&file_path, &new, expected)?.note();
        let success_text = written(&file_path, &content);
        let kept = ", in the form the file has (its line ends or byte order mark)";
        Ok(if new == content { success_text } else { success_text + kept } + &note)
    }

    fn edit(_: &DocumentSnapshot, Input { file_path, content }: Input) -> ToolResult<FileEdit> {
        let success_text = written(&file_path, &content);
        Ok(FileEdit { path: file_path, text: content, success_text })
    }
}

fn succeeding(old: Option<&TextFile>, content: &str) -> String {
    old.map_or_else(|| content.to_owned(), |old| text_encoding::succeeding(&old.text, content))
}

/// Returns `Wrote 11 characters to notes.md` in the words of the MCP proxy protocol; other lines
/// stay.
fn for_programs(text: &str) -> String {
    let line = |line: &str| {
        let path = line
            .strip_prefix("Wrote ")
            .and_then(|rest| rest.split_once(" characters to "))
            .filter(|(count, _)| count.bytes().all(|byte| byte.is_ascii_digit()));
        match path {
            Some((_, path)) => format!("Successfully wrote to {path}"),
            None => line.to_owned(),
        }
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

fn written(path: &str, content: &str) -> String {
    format!("Wrote {} characters to {path}", content.chars().count())
}
