//! A model that plays a script from a file, so that every run is equal.
//!
//! Each call plays the first unused turn whose `when` matches. Turns are used up per session, for
//! as long as the process lives. Nothing is retried.

mod script;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use super::delta_stream::{self, DeltaSink};
use super::retry::status_is_retryable;
use super::{AnswerStream, AssistantMessage, Model, ModelError, ModelRequest, ModelResult};
use crate::messages_api::{ContentBlock, TokenUsage};
pub use script::{ModelScript, ScriptError};
use script::{ScriptBlock, ScriptTurn, TurnEnd, TurnReuse};

/// [`Model`] that plays a script.
pub struct ScriptedModel {
    name: String,
    run: Arc<ScriptRun>,
}

/// [`ModelScript`], and the turns that each session has used.
struct ScriptRun {
    script: ModelScript,
    /// Flags of each session, one per turn: `true` if the turn is used up.
    used: Mutex<HashMap<String, Vec<bool>>>,
}

impl ScriptedModel {
    /// Reads and checks the script at `path`.
    pub fn load(path: &Path) -> Result<Self, ScriptError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| ScriptError::Read { path: path.to_owned(), source })?;
        let file = path.display().to_string();
        Ok(Self::new(&file, ModelScript::parse(&file, &text)?))
    }

    /// Builds a model that plays `script`; `file` is the name of the script for people.
    pub fn new(file: &str, script: ModelScript) -> Self {
        let run = ScriptRun { script, used: Mutex::default() };
        Self { name: format!("script:{file}"), run: Arc::new(run) }
    }
}

impl Model for ScriptedModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn is_local(&self) -> bool {
        true
    }

    fn stream(&self, request: ModelRequest, cancel: CancellationToken) -> AnswerStream {
        let (run, name) = (Arc::clone(&self.run), self.name.clone());
        delta_stream::answer(cancel, |sink| async move {
            let index = run.take_turn(&request)?;
            play(&run.script.turns[index], name, &sink).await
        })
    }
}

impl ScriptRun {
    /// Returns the first unused turn that matches, and marks it as used.
    fn take_turn(&self, request: &ModelRequest) -> ModelResult<usize> {
        let results = request.tool_results().map(|outcomes| {
            outcomes.into_iter().map(|outcome| outcome.text).collect::<Vec<_>>().join("\n")
        });
        let turns = &self.script.turns;
        let mut sessions = self.used.lock();
        let used =
            sessions.entry(request.session.clone()).or_insert_with(|| vec![false; turns.len()]);
        let free = |(index, turn): &(usize, &ScriptTurn)| {
            !used[*index] && turn.matches(request, results.as_deref())
        };
        let (index, turn) = turns
            .iter()
            .enumerate()
            .find(free)
            .ok_or_else(|| no_turn(request, results.as_deref(), used))?;
        used[index] = turn.reuse == TurnReuse::Once;
        Ok(index)
    }
}

impl ScriptTurn {
    fn matches(&self, request: &ModelRequest, results: Option<&str>) -> bool {
        let prompt = request.prompt.as_deref();
        self.user.as_ref().is_none_or(|user| prompt.is_some_and(|text| user.is_match(text)))
            && self
                .tool_result
                .as_ref()
                .is_none_or(|pattern| results.is_some_and(|r| pattern.is_match(r)))
            && self.system.as_ref().is_none_or(|system| system.is_match(&request.system))
    }
}

async fn play(turn: &ScriptTurn, model: String, sink: &DeltaSink) -> ModelResult<AssistantMessage> {
    let blocks: Vec<ContentBlock> = turn.content.iter().map(mint).collect();
    delta_stream::play(&blocks, turn.pace, sink).await;
    match &turn.ending {
        TurnEnd::Stop(reason) => {
            Ok(delta_stream::complete(blocks, reason.clone(), TokenUsage::default(), model))
        }
        TurnEnd::Cut => Err(ModelError::CutOff),
        TurnEnd::Error { status, error } => {
            Err(ModelError::api(Some(*status), error.clone(), status_is_retryable(*status)))
        }
    }
}

/// Returns a block in the form of a provider: a call without an identifier gets one.
fn mint(block: &ScriptBlock) -> ContentBlock {
    match block {
        ScriptBlock::Text { text } => ContentBlock::text(text),
        ScriptBlock::ToolUse { id, name, input } => {
            let id = id.clone().unwrap_or_else(delta_stream::mint_call_id);
            ContentBlock::tool_use(id, name, input.clone())
        }
    }
}

fn no_turn(request: &ModelRequest, results: Option<&str>, used: &[bool]) -> ModelError {
    let what = match (results, &request.prompt) {
        (Some(results), _) => format!("tool results {results:?}"),
        (None, Some(prompt)) => format!("prompt {prompt:?}"),
        (None, None) => "a request with neither a prompt nor tool results".to_owned(),
    };
    let spent = used.iter().filter(|used| **used).count();
    let session = &request.session;
    let request = format!("{what} (session {session}; {spent} of {} turns used up)", used.len());
    ModelError::NoTurn { request }
}

#[cfg(test)]
mod tests;
