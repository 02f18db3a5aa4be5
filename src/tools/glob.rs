//! Find files of the workspace by their names.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Answer, Context, Effect, Ground, Prepared, Tool, ToolError, changes};

/// Which files are there.
pub struct Glob;

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

impl Tool for Glob {
    const NAME: &'static str = "Glob";
    const DESCRIPTION: &'static str = "Find files of the workspace whose path matches a pattern such as `**/*.md`. What .gitignore \
         names is left out, and links are not followed.";
    const WHEN: &'static str = "Use to find files by name";
    const EFFECT: Effect = Effect::Reads;
    const GROUND: Ground = Ground::Workspace;
    type Input = Input;

    async fn prepare(context: Context, input: Input) -> Result<Prepared, ToolError> {
        let workspace = context.workspace()?.clone();
        let Input { pattern, path } = input;
        let found =
            changes::blocking(move |_| workspace.glob(&pattern, path.as_deref().unwrap_or(".")));
        let found = found.await??;
        let text = listed(found.paths, found.is_cut, "No files found");
        Ok(Prepared::Answer(Answer { text, ..Answer::default() }))
    }
}

/// One line for each, and whether there is more.
pub(super) fn listed(lines: Vec<String>, is_cut: bool, nothing: &str) -> String {
    let mut lines = if lines.is_empty() { vec![nothing.to_owned()] } else { lines };
    if is_cut {
        lines.push("[there is more; look for less]".to_owned());
    }
    lines.join("\n")
}
