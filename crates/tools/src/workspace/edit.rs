//! Tool that replaces words in a text file of the workspace.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use copydesk_approvals::Preview;

use copydesk_document::diff::DiffLimits;
use copydesk_rooms::command::DocumentSnapshot;
use copydesk_workspace::Workspace;

use super::replacements::{self, occurrences};
use crate::{
    ActionPreview, CallTarget, ExecutionContext, FileEdit, FileTool, ProgramOffer, ReplacedText,
    Tool, ToolResult, ToolScope,
};

/// Tool `Edit`.
pub struct EditTool;

/// Input of the tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// File, relative to the workspace.
    file_path: String,
    /// Exact text to replace, long enough to occur only once in the file.
    old_string: String,
    /// Replacement.
    new_string: String,
    /// `true`: replace every occurrence; otherwise there must be exactly one.
    #[serde(default)]
    replace_all: bool,
}

impl Input {
    fn parts(self) -> (String, [replacements::Replacement; 1]) {
        let Self { file_path, old_string, new_string, replace_all } = self;
        (file_path, [replacements::Replacement { old_string, new_string, replace_all }])
    }
}

impl Tool for EditTool {
    const NAME: &'static str = "Edit";
    const TITLE: &'static str = "Edit";
    const RULE_TITLE: &'static str = "Edit a file";
    const DESCRIPTION: &'static str = "Replace text in a file of the workspace. `old_string` must be in the file exactly once, unless \
         `replace_all` is set. People see the difference and decide before anything is written.";
    const WHEN: &'static str = "Use to change a part of a file";
    const SCOPE: ToolScope = ToolScope::Workspace;
    const PROGRAM: Option<ProgramOffer> =
        Some(ProgramOffer { noun: "Edit", ..ProgramOffer::new("atlas_edit", "Edit a file") });
    type Input = Input;

    fn target(input: &Value) -> CallTarget {
        CallTarget::file_path(input)
    }
}

impl FileTool for EditTool {
    const REPLACES: ReplacedText = ReplacedText::Quoted;

    fn preview(
        workspace: &Workspace,
        input: Input,
        limits: &DiffLimits,
    ) -> ToolResult<ActionPreview> {
        let (path, edits) = input.parts();
        let edited = replacements::apply_to_file(workspace, &path, &edits)?;
        let shown = Preview::diff(&path, Some(&edited.old.text), &edited.new, limits);
        Ok(edited.preview(&path, shown, limits))
    }

    fn write(execution: &ExecutionContext, input: Input) -> ToolResult<String> {
        let (path, edits) = input.parts();
        let (count, note) = replacements::write(execution, &path, &edits)?;
        Ok(replaced(&path, count) + &note)
    }

    fn edit(base: &DocumentSnapshot, input: Input) -> ToolResult<FileEdit> {
        let (path, edits) = input.parts();
        let (text, count, note) = replacements::of_document(base, &edits)?;
        Ok(FileEdit { text, success_text: replaced(&path, count) + &note, path })
    }
}

fn replaced(path: &str, count: usize) -> String {
    format!("Replaced {} in {path}", occurrences(count))
}
