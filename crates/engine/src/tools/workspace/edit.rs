//! Tool that replaces words in a text file of the workspace.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::approvals::Preview;

use super::replacements::{self, occurrences};
use crate::tools::document::text_changes;
use crate::tools::pipeline::{file_warnings, open_file};
use crate::tools::{
    ActionPreview, CallTarget, ExecutionContext, PreparedCall, ReplacedText, Tool, ToolContext,
    ToolEffect, ToolResult, ToolScope,
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
    const DESCRIPTION: &'static str = "Replace text in a file of the workspace. `old_string` must be in the file exactly once, unless \
         `replace_all` is set. People see the difference and decide before anything is written.";
    const WHEN: &'static str = "Use to change a part of a file";
    const EFFECT: ToolEffect = ToolEffect::Acts;
    const REPLACES: ReplacedText = ReplacedText::Quoted;
    const SCOPE: ToolScope = ToolScope::Workspace;
    type Input = Input;

    fn target(&self, input: &Value) -> CallTarget {
        CallTarget::file_path(input)
    }

    async fn prepare(&self, context: ToolContext, input: Input) -> ToolResult<PreparedCall> {
        let workspace = context.workspace()?.clone();
        let (path, edits) = input.parts();
        if context.open_file.is_some() {
            let (new, count, note) = replacements::of_document(context.document()?, &edits)?;
            workspace.check(&path, &new)?;
            let success_text = replaced(&path, count) + &note;
            return open_file::propose(&context, &path, &new, success_text, None).await;
        }
        text_changes::blocking(move |limits| {
            let edited = replacements::apply_to_file(&workspace, &path, &edits)?;
            let shown = Preview::diff(&path, Some(&edited.old.text), &edited.new, limits);
            let warnings =
                file_warnings::of_change(&path, &edited.old.text, &edited.new, &shown, limits);
            let preview = Preview { warnings, ..shown };
            Ok(PreparedCall::Act(ActionPreview { preview, touched: Some(edited.old.stamp) }))
        })
        .await?
    }

    async fn execute(&self, execution: ExecutionContext, input: Input) -> ToolResult<String> {
        let (path, edits) = input.parts();
        text_changes::blocking(move |_| {
            let (count, note) = replacements::write(&execution, &path, &edits)?;
            Ok(replaced(&path, count) + &note)
        })
        .await?
    }
}

fn replaced(path: &str, count: usize) -> String {
    format!("Replaced {} in {path}", occurrences(count))
}
