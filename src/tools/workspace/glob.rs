//! Find files of the workspace by their names.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::approvals;
use crate::workspace::WorkspaceError;

use crate::tools::document::text_changes;
use crate::tools::pipeline::inbox_approval;
use crate::tools::{PreparedCall, Tool, ToolAnswer, ToolContext, ToolEffect, ToolError, ToolScope};

/// Which files are there.
pub struct GlobTool;

/// What the model gives.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// `*` stays within a name, `**` crosses folders, `{a,b}` is either.
    pattern: String,
    /// The folder to look in, from the workspace's top; all of it if missing.
    #[serde(default)]
    path: Option<String>,
}

impl Tool for GlobTool {
    const NAME: &'static str = "Glob";
    const DESCRIPTION: &'static str = "Find files of the workspace whose path matches a pattern such as `**/*.md`. What .gitignore \
         names is left out, and links are not followed.";
    const WHEN: &'static str = "Use to find files by name";
    const EFFECT: ToolEffect = ToolEffect::Reads;
    const GROUND: ToolScope = ToolScope::Workspace;
    type Input = Input;

    async fn prepare(context: ToolContext, input: Input) -> Result<PreparedCall, ToolError> {
        let workspace = context.workspace()?.clone();
        let Input { pattern, path } = input;
        let from = path.unwrap_or_else(|| ".".to_owned());
        // To be told the name of a file that people are to be asked about is what leads to asking.
        let hidden =
            inbox_approval::hidden(&context, Self::NAME, approvals::RuleEffect::Deny).await?;
        let (hides, is_hidden) = (!hidden.is_empty(), hidden.has(&from));
        let found = move |_: &_| workspace.glob(&pattern, &from, |path| hidden.has(path));
        let (paths, is_cut) = match text_changes::blocking(found).await? {
            Ok(found) => (found.paths, found.is_cut),
            Err(error) if is_hidden && tells_of_a_file(&error) => (Vec::new(), false),
            Err(error) => return Err(error.into()),
        };
        let text = listed(paths, is_cut.then_some(LESS), "No files found", hides);
        Ok(PreparedCall::Answer(ToolAnswer { text, ..ToolAnswer::default() }))
    }
}

/// What is said where there is more.
pub(crate) const LESS: &str = "[there is more; look for less]";

/// One line for each, and what is said of the rest, if there is `more`, or may be: `hides` says that rules keep files from being found, which is
/// told whether or not there was one to keep.
pub(crate) fn listed(lines: Vec<String>, more: Option<&str>, nothing: &str, hides: bool) -> String {
    let mut lines = if lines.is_empty() { vec![nothing.to_owned()] } else { lines };
    lines.extend(more.map(ToOwned::to_owned));
    if hides {
        lines.push(
            "[files that rules of this workspace keep from searches are left out]".to_owned(),
        );
    }
    lines.join("\n")
}

/// Whether an error says what is where a search was to begin. That is not told where nothing may be found.
pub(crate) fn tells_of_a_file(error: &WorkspaceError) -> bool {
    !matches!(error, WorkspaceError::Pattern { .. } | WorkspaceError::Outside { .. })
}
