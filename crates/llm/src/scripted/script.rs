//! File format of scripted runs, read strictly: a typing mistake is an error and no silent default.

use std::path::PathBuf;
use std::time::Duration;

use regex::Regex;
use serde::Deserialize;
use serde_json::Value;

use crate::delta_stream::DeltaPace;
use crate::messages_api::{ProviderError, StopReason};

/// Script that was read and checked.
#[derive(Debug)]
pub struct ModelScript {
    pub(super) turns: Vec<ScriptTurn>,
}

/// Reason why a [`ModelScript`] cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// The file cannot be read.
    #[error("cannot read the script {}", path.display())]
    Read {
        /// Path of the script.
        path: PathBuf,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// The file is not JSON, or does not have the fields of a script.
    #[error("script {file}, line {line}, column {column}: {message}")]
    Json {
        /// Name of the script.
        file: String,
        /// Line of the error, from 1.
        line: usize,
        /// Column of the error, from 1.
        column: usize,
        /// Description of the error.
        message: String,
    },
    /// A field has a value that is not allowed.
    #[error("script {file}, {field}: {message}")]
    Invalid {
        /// Name of the script.
        file: String,
        /// Path of the field, such as `turns[2].when.user`.
        field: String,
        /// Description of the error.
        message: String,
    },
}

/// One answer, and the conditions for it.
#[derive(Debug)]
pub(super) struct ScriptTurn {
    pub(super) user: Option<Regex>,
    pub(super) tool_result: Option<Regex>,
    pub(super) system: Option<Regex>,
    pub(super) content: Vec<ScriptBlock>,
    pub(super) ending: TurnEnd,
    pub(super) pace: DeltaPace,
    pub(super) reuse: TurnReuse,
}

/// Number of times that a turn may be played in one session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TurnReuse {
    Once,
    Always,
}

#[derive(Clone, Debug)]
pub(super) enum TurnEnd {
    Stop(StopReason),
    Error { status: u16, error: ProviderError },
    Cut,
}

/// Block of a turn's answer.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum ScriptBlock {
    Text { text: String },
    ToolUse { id: Option<String>, name: String, input: Value },
}

impl ModelScript {
    /// Reads and checks a script; `file` is its name in errors.
    pub fn parse(file: &str, text: &str) -> Result<Self, ScriptError> {
        let raw: RawScript = serde_json::from_str(text).map_err(|error| ScriptError::Json {
            file: file.to_owned(),
            line: error.line(),
            column: error.column(),
            message: error.to_string(),
        })?;
        let invalid = |(field, message): ScriptFault| ScriptError::Invalid {
            file: file.to_owned(),
            field,
            message,
        };
        if raw.turns.is_empty() {
            return Err(invalid(("turns".into(), "a script needs at least one turn".into())));
        }
        let turns = raw.turns.into_iter().enumerate().map(|(index, turn)| {
            turn.check()
                .map_err(|(field, message)| invalid((format!("turns[{index}].{field}"), message)))
        });
        Ok(Self { turns: turns.collect::<Result<_, _>>()? })
    }
}

/// Path of a field, and a description of its error.
type ScriptFault = (String, String);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawScript {
    #[serde(default, rename = "name")]
    _name: Option<String>,
    turns: Vec<RawTurn>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTurn {
    #[serde(default)]
    when: RawWhen,
    #[serde(default)]
    content: Vec<ScriptBlock>,
    stop_reason: Option<String>,
    chunk_chars: Option<usize>,
    #[serde(default)]
    delay_ms: u64,
    #[serde(default)]
    repeat: bool,
    error: Option<RawError>,
    #[serde(default)]
    cut: bool,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct RawWhen {
    user: Option<String>,
    tool_result: Option<String>,
    system: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawError {
    status: u16,
    #[serde(rename = "type")]
    kind: String,
    message: Option<String>,
}

/// Longest pause per piece in milliseconds: more than a minute is a typing mistake.
const MAX_DELAY_MS: u64 = 60_000;

impl RawTurn {
    fn check(self) -> Result<ScriptTurn, ScriptFault> {
        let fault = |field: &str, message: &str| Err((field.to_owned(), message.to_owned()));
        if self.chunk_chars == Some(0) {
            return fault("chunk_chars", "must be at least 1");
        }
        if self.delay_ms > MAX_DELAY_MS {
            return fault("delay_ms", "must be at most 60000");
        }
        if self.when.user.is_some() && self.when.tool_result.is_some() {
            return fault("when", "`user` and `tool_result` can never match the same message");
        }
        let reuse = if self.repeat { TurnReuse::Always } else { TurnReuse::Once };
        for (index, block) in self.content.iter().enumerate() {
            check_block(block, reuse)
                .map_err(|(field, message)| (format!("content[{index}].{field}"), message))?;
        }
        Ok(ScriptTurn {
            user: pattern("when.user", self.when.user.as_deref())?,
            tool_result: pattern("when.tool_result", self.when.tool_result.as_deref())?,
            system: pattern("when.system", self.when.system.as_deref())?,
            pace: DeltaPace {
                chunk_chars: self.chunk_chars,
                delay: Duration::from_millis(self.delay_ms),
            },
            reuse,
            ending: ending(self.error, self.cut, self.stop_reason, &self.content)?,
            content: self.content,
        })
    }
}

fn pattern(field: &str, source: Option<&str>) -> Result<Option<Regex>, ScriptFault> {
    let compile = |source: &str| {
        Regex::new(source).map_err(|error| (field.to_owned(), format!("`{source}`: {error}")))
    };
    source.map(compile).transpose()
}

fn check_block(block: &ScriptBlock, reuse: TurnReuse) -> Result<(), ScriptFault> {
    let fault = |field: &str, message: &str| Err((field.to_owned(), message.to_owned()));
    match block {
        ScriptBlock::Text { text } if text.is_empty() => fault("text", "must not be empty"),
        ScriptBlock::ToolUse { name, .. } if name.is_empty() => fault("name", "must not be empty"),
        ScriptBlock::ToolUse { input, .. } if !input.is_object() => {
            fault("input", "must be an object")
        }
        ScriptBlock::ToolUse { id: Some(_), .. } if reuse == TurnReuse::Always => {
            fault("id", "a turn with `repeat` must not fix the id of a call: ids are unique")
        }
        ScriptBlock::Text { .. } | ScriptBlock::ToolUse { .. } => Ok(()),
    }
}

fn ending(
    error: Option<RawError>,
    cut: bool,
    stop_reason: Option<String>,
    content: &[ScriptBlock],
) -> Result<TurnEnd, ScriptFault> {
    let fault = |field: &str, message: &str| Err((field.to_owned(), message.to_owned()));
    let calls = content.iter().any(|block| matches!(block, ScriptBlock::ToolUse { .. }));
    match (error, cut, stop_reason) {
        (Some(_), true, _) => fault("cut", "a turn ends by `error` or by `cut`, not both"),
        (Some(_), _, Some(_)) | (None, true, Some(_)) => {
            fault("stop_reason", "a turn that ends by `error` or `cut` has no stop reason")
        }
        (Some(error), false, None) if !(400..=599).contains(&error.status) => {
            fault("error.status", "must be between 400 and 599")
        }
        (Some(RawError { status, kind, message }), false, None) => {
            let message = message.unwrap_or_else(|| "scripted error".to_owned());
            Ok(TurnEnd::Error { status, error: ProviderError { kind, message, details: None } })
        }
        (None, true, None) => Ok(TurnEnd::Cut),
        (None, false, _) if content.is_empty() => {
            fault("content", "a turn needs content, an `error` or `cut`")
        }
        (None, false, None) if calls => Ok(TurnEnd::Stop(StopReason::ToolUse)),
        (None, false, None) => Ok(TurnEnd::Stop(StopReason::EndTurn)),
        (None, false, Some(word)) if word == "tool_use" && !calls => {
            fault("stop_reason", "`tool_use` needs a tool_use block")
        }
        (None, false, Some(word)) => Ok(TurnEnd::Stop(StopReason::from(word))),
    }
}
