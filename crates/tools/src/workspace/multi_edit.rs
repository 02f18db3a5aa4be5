//! Tool that replaces words in several places of one text file of the workspace.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use copydesk_approvals::{Preview, PreviewStep};

use copydesk_document::diff::DiffLimits;
use copydesk_rooms::command::DocumentSnapshot;
use copydesk_workspace::Workspace;

use super::edit::EditTool;
use super::replacements::{self, Replacement, occurrences};
use crate::{
    ActionPreview, CallTarget, ExecutionContext, FileEdit, FileTool, ProgramOffer, ReplacedText,
    Tool, ToolResult, ToolScope,
};

/// Tool `MultiEdit`.
pub struct MultiEdit;

/// Input of the tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// File, relative to the workspace.
    file_path: String,
    /// Replacements, in order; each is applied to the result of the one before.
    edits: Vec<Replacement>,
}

impl Tool for MultiEdit {
    const NAME: &'static str = "MultiEdit";
    const TITLE: &'static str = "Several edits";
    const RULE_TITLE: &'static str = "Several edits of a file";
    const DESCRIPTION: &'static str = "Replace text in several places of one file of the workspace: all of them or none. Each edit works \
         on what the one before left. People see the difference and decide before anything is written.";
    const WHEN: &'static str = "Use to change several parts of one file";
    const SCOPE: ToolScope = ToolScope::Workspace;
    const PROGRAM: Option<ProgramOffer> = Some(ProgramOffer {
        noun: "Edit",
        ..ProgramOffer::new("atlas_multi_edit", "Edit a file in several places")
    });
    type Input = Input;

    fn target(input: &Value) -> CallTarget {
        CallTarget::file_path(input)
    }
}

impl FileTool for MultiEdit {
    const REPLACES: ReplacedText = ReplacedText::Quoted;
    const REPEATS: Option<&'static str> = Some(EditTool::NAME);

    fn preview(
        workspace: &Workspace,
        Input { file_path, edits }: Input,
        limits: &DiffLimits,
    ) -> ToolResult<ActionPreview> {
        let edited = replacements::apply_to_file(workspace, &file_path, &edits)?;
        let steps: Vec<_> = edits.iter().zip(&edited.counts).map(step).collect();
        let (old, new) = (&edited.old.text, &edited.new);
        let shown = Preview::multi_diff(&file_path, old, new, &steps, limits);
        Ok(edited.preview(&file_path, shown, limits))
    }

    fn write(
        execution: &ExecutionContext,
        Input { file_path, edits }: Input,
    ) -> ToolResult<String> {
        let (count, note) = replacements::write(execution, &file_path, &edits)?;
        Ok(applied(&file_path, &edits, count) + &note)
    }

    fn edit(base: &DocumentSnapshot, Input { file_path, edits }: Input) -> ToolResult<FileEdit> {
        let (text, count, note) = replacements::of_document(base, &edits)?;
        let success_text = applied(&file_path, &edits, count) + &note;
        Ok(FileEdit { path: file_path, text, success_text })
    }
}

fn step<'a>((edit, occurrences): (&'a Replacement, &usize)) -> PreviewStep<'a> {
    PreviewStep {
        from: &edit.old_string,
        to: &edit.new_string,
        everywhere: edit.replace_all,
        occurrences: *occurrences,
    }
}

fn applied(path: &str, edits: &[Replacement], count: usize) -> String {
    format!("Applied {} edits to {path} ({})", edits.len(), occurrences(count))
}
