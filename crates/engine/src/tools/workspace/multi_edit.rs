//! Tool that replaces words in several places of one text file of the workspace.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::approvals::{Preview, PreviewStep};

use super::replacements::{self, Replacement, occurrences};
use crate::tools::document::text_changes;
use crate::tools::pipeline::{file_warnings, open_file};
use crate::tools::{
    ActionPreview, CallTarget, ExecutionContext, PreparedCall, ReplacedText, Tool, ToolContext,
    ToolEffect, ToolResult, ToolScope,
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
    const DESCRIPTION: &'static str = "Replace text in several places of one file of the workspace: all of them or none. Each edit works \
         on what the one before left. People see the difference and decide before anything is written.";
    const WHEN: &'static str = "Use to change several parts of one file";
    const EFFECT: ToolEffect = ToolEffect::Acts;
    const REPLACES: ReplacedText = ReplacedText::Quoted;
    const SCOPE: ToolScope = ToolScope::Workspace;
    type Input = Input;

    fn target(&self, input: &Value) -> CallTarget {
        CallTarget::file_path(input)
    }

    async fn prepare(&self, context: ToolContext, input: Input) -> ToolResult<PreparedCall> {
        let workspace = context.workspace()?.clone();
        let Input { file_path, edits } = input;
        if context.open_file.is_some() {
            let (new, count, note) = replacements::of_document(context.document()?, &edits)?;
            workspace.check(&file_path, &new)?;
            let success_text = applied(&file_path, &edits, count) + &note;
            return open_file::propose(&context, &file_path, &new, success_text, None).await;
        }
        text_changes::blocking(move |limits| {
            let edited = replacements::apply_to_file(&workspace, &file_path, &edits)?;
            let steps: Vec<_> = edits.iter().zip(&edited.counts).map(step).collect();
            let shown =
                Preview::multi_diff(&file_path, &edited.old.text, &edited.new, &steps, limits);
            let warnings =
                file_warnings::of_change(&file_path, &edited.old.text, &edited.new, &shown, limits);
            let preview = Preview { warnings, ..shown };
            Ok(PreparedCall::Act(ActionPreview { preview, touched: Some(edited.old.stamp) }))
        })
        .await?
    }

    async fn execute(&self, execution: ExecutionContext, input: Input) -> ToolResult<String> {
        let Input { file_path, edits } = input;
        text_changes::blocking(move |_| {
            let (count, note) = replacements::write(&execution, &file_path, &edits)?;
            Ok(applied(&file_path, &edits, count) + &note)
        })
        .await?
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
