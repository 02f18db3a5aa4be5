//! Tool that runs a shell command in the workspace, if the server allows it and an owner approves
//! it.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use copydesk_approvals::{Preview, PreviewWarning};
use copydesk_workspace::{CommandEnd, CommandResult, CommandSpec, LONGEST_COMMAND, cautions};

use crate::document::text_changes;
use crate::{
    ActTool, ActionPreview, ExecutionContext, ProgramOffer, Tool, ToolContext, ToolError,
    ToolResult, ToolScope,
};

/// Default time limit of a command, in milliseconds.
const USUAL_MS: u64 = 120_000;
/// Maximum time limit of a command, in milliseconds.
const LONGEST_MS: u64 = 600_000;

/// Tool `Bash`.
pub struct BashTool;

/// Input of the tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Command for bash. It starts in the workspace, with a clean environment and no input.
    command: String,
    /// Time limit in milliseconds, 1 to 600000; missing: 120000.
    #[serde(default)]
    timeout: Option<u64>,
    /// One sentence for the people who decide: what it does, and why.
    #[serde(default)]
    #[expect(
        dead_code,
        reason = "read from the stored input, which is what counts after a restart"
    )]
    description: String,
}

impl Tool for BashTool {
    const NAME: &'static str = "Bash";
    const TITLE: &'static str = "Run a command";
    const DESCRIPTION: &'static str = "Run a shell command in the workspace. An owner of the server sees the whole command and decides \
         before it runs. It ends with the run; nothing it starts is left behind.";
    const WHEN: &'static str = "Use to run a command when no other tool can do it";
    const SCOPE: ToolScope = ToolScope::Workspace;
    const PROGRAM: Option<ProgramOffer> =
        Some(ProgramOffer { noun: "Bash", ..ProgramOffer::new("atlas_bash", "Run a command") });
    type Input = Input;
}

impl ActTool for BashTool {
    async fn preview(&self, _context: ToolContext, input: Input) -> ToolResult<ActionPreview> {
        let Input { command, timeout, .. } = input;
        let bytes = command.len();
        if bytes > LONGEST_COMMAND {
            let words =
                format!("the command has {bytes} bytes; at most {LONGEST_COMMAND} are possible");
            return Err(ToolError::Failed(words));
        }
        if command.trim().is_empty() || command.contains('\0') {
            return Err(ToolError::Failed(
                "the command is empty, or has NUL characters".to_owned(),
            ));
        }
        if timeout.is_some_and(|ms| !(1..=LONGEST_MS).contains(&ms)) {
            return Err(ToolError::Failed(format!("timeout is 1 to {LONGEST_MS} milliseconds")));
        }
        text_changes::blocking(move |_| {
            let warning =
                |(code, text): (&str, String)| PreviewWarning { code: code.to_owned(), text };
            let warnings = cautions(&command).into_iter().map(warning).collect();
            let preview = Preview::command(&command, warnings);
            ActionPreview { preview, touched: None }
        })
        .await
    }

    async fn execute(&self, execution: ExecutionContext, input: Input) -> ToolResult<String> {
        let limit_ms = input.timeout.unwrap_or(USUAL_MS).min(LONGEST_MS);
        let limit = Duration::from_millis(limit_ms);
        let spec =
            CommandSpec { command: input.command, limit, mark: execution.request.to_string() };
        let CommandResult { ended, output } =
            execution.workspace.run(&spec, &execution.cancel).await?;
        let failed =
            |how: String| Err(ToolError::Told(format!("{how}\n{output}").trim_end().to_owned()));
        match ended {
            CommandEnd::Itself(Some(0)) if output.is_empty() => Ok("(no output)".to_owned()),
            CommandEnd::Itself(Some(0)) => Ok(output),
            CommandEnd::Itself(Some(code)) => failed(format!("Exit code {code}")),
            CommandEnd::Itself(None) => failed("The command was ended by a signal".to_owned()),
            CommandEnd::TooLong => {
                failed(format!("The command took longer than {limit_ms}ms and was stopped"))
            }
            CommandEnd::Stopped => {
                failed("The run was cancelled; the command was stopped".to_owned())
            }
        }
    }
}
