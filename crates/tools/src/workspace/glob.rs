//! Tool that finds files of the workspace by their names.

use schemars::JsonSchema;
use serde::Deserialize;

use copydesk_approvals as approvals;
use copydesk_workspace::WorkspaceError;

use crate::document::text_changes;
use crate::pipeline::inbox_approval;
use crate::{
    ProgramOffer, ReadTool, Tool, ToolAnswer, ToolContext, ToolResult, ToolScope, WordsRead,
};

/// Tool `Glob`.
pub struct GlobTool;

/// Input of the tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Pattern: `*` matches within a name, `**` across folders, `{a,b}` either.
    pattern: String,
    /// Folder to search, relative to the workspace; missing: the whole workspace.
    #[serde(default)]
    path: Option<String>,
}

impl Tool for GlobTool {
    const NAME: &'static str = "Glob";
    const TITLE: &'static str = "Find files";
    const DESCRIPTION: &'static str = "Find files of the workspace whose path matches a pattern such as `**/*.md`. What .gitignore \
         names is left out, and links are not followed.";
    const WHEN: &'static str = "Use to find files by name";
    const SCOPE: ToolScope = ToolScope::Workspace;
    const PROGRAM: Option<ProgramOffer> = Some(ProgramOffer {
        noun: "Glob",
        ..ProgramOffer::new("atlas_glob", "Find files by name")
    });
    type Input = Input;
}

impl ReadTool for GlobTool {
    const READS: WordsRead = WordsRead::Nothing;

    async fn read(&self, context: ToolContext, input: Input) -> ToolResult<ToolAnswer> {
        let workspace = context.workspace()?.clone();
        let Input { pattern, path } = input;
        let from = path.unwrap_or_else(|| ".".to_owned());
        // Files with an ask rule are listed by name, because people can be asked about a file only
        // if the model knows its name.
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
        Ok(ToolAnswer { text, ..ToolAnswer::default() })
    }
}

pub(crate) const LESS: &str = "[there is more; look for less]";

/// Formats an answer, one line for each item. `more` is added if the answer is not complete.
/// `hides` adds that rules hide files; it is added even if there was no such file.
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

/// Returns `true` if an error reveals what is at the start of a search; rules may hide that place.
pub(crate) fn tells_of_a_file(error: &WorkspaceError) -> bool {
    !matches!(error, WorkspaceError::Pattern { .. } | WorkspaceError::Outside { .. })
}
