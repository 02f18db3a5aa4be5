//! A model that plays a script from a file, so that every run is the same run.
//!
//! Each call plays the first unused turn whose `when` matches. Turns are used up per session, for
//! as long as the process lives. Nothing is retried: a scripted error is what the agent sees.

mod script;

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::stream::BoxStream;
use tokio_util::sync::CancellationToken;

use super::answer::{self, Outlet};
use super::retry::status_is_retryable;
use super::{AssistantMessage, Delta, Model, ModelError, Request};
use crate::wire::messages::{ContentBlock, Usage};
use script::{Block, Ending, Reuse, Turn};
pub use script::{Script, ScriptError};

/// The scripted model.
pub struct Scripted {
    name: String,
    run: Arc<Run>,
}

/// A script and how far each session has come in it.
struct Run {
    script: Script,
    /// Which turns are used up, by session.
    used: Mutex<HashMap<String, Vec<bool>>>,
}

impl Scripted {
    /// Reads and checks the script at `path`.
    pub fn load(path: &Path) -> Result<Self, ScriptError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| ScriptError::Read { path: path.to_owned(), source })?;
        let file = path.display().to_string();
        Ok(Self::new(&file, Script::parse(&file, &text)?))
    }

    /// Plays `script`; `file` names it to people.
    pub fn new(file: &str, script: Script) -> Self {
        let run = Run { script, used: Mutex::default() };
        Self { name: format!("script:{file}"), run: Arc::new(run) }
    }
}

impl Model for Scripted {
    fn name(&self) -> &str {
        &self.name
    }

    fn stream(
        &self,
        request: Request,
        cancel: CancellationToken,
    ) -> BoxStream<'static, Result<Delta, ModelError>> {
        let (run, name) = (Arc::clone(&self.run), self.name.clone());
        answer::answer(cancel, |outlet| async move {
            let index = run.take_turn(&request)?;
            play(&run.script.turns[index], name, &outlet).await
        })
    }
}

impl Run {
    /// The first unused turn that matches; it is used up by this.
    fn take_turn(&self, request: &Request) -> Result<usize, ModelError> {
        let results = request.tool_results().map(|outcomes| {
            outcomes.into_iter().map(|outcome| outcome.text).collect::<Vec<_>>().join("\n")
        });
        let turns = &self.script.turns;
        let mut sessions = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let used =
            sessions.entry(request.session.clone()).or_insert_with(|| vec![false; turns.len()]);
        let free = |(index, turn): &(usize, &Turn)| {
            !used[*index] && turn.matches(request, results.as_deref())
        };
        let (index, turn) = turns
            .iter()
            .enumerate()
            .find(free)
            .ok_or_else(|| no_turn(request, results.as_deref(), used))?;
        used[index] = turn.reuse == Reuse::Once;
        Ok(index)
    }
}

impl Turn {
    fn matches(&self, request: &Request, results: Option<&str>) -> bool {
        let prompt = request.prompt.as_deref().filter(|_| results.is_none());
        self.user.as_ref().is_none_or(|user| prompt.is_some_and(|text| user.is_match(text)))
            && self
                .tool_result
                .as_ref()
                .is_none_or(|told| results.is_some_and(|r| told.is_match(r)))
            && self.system.as_ref().is_none_or(|system| system.is_match(&request.system))
    }
}

async fn play(turn: &Turn, model: String, outlet: &Outlet) -> Result<AssistantMessage, ModelError> {
    let blocks: Vec<ContentBlock> = turn.content.iter().map(mint).collect();
    answer::play(&blocks, turn.pace, outlet).await;
    match &turn.ending {
        Ending::Stop(reason) => {
            Ok(answer::complete(blocks, reason.clone(), Usage::default(), model))
        }
        Ending::Cut => Err(ModelError::CutOff),
        Ending::Error { status, kind, message } => Err(ModelError::Api {
            status: Some(*status),
            kind: kind.clone(),
            message: message.clone(),
            retry_after: None,
            retryable: status_is_retryable(*status),
            details: None,
        }),
    }
}

/// A block as the provider would give it: a call without an id gets one of its own.
fn mint(block: &Block) -> ContentBlock {
    match block {
        Block::Text { text } => ContentBlock::text(text),
        Block::ToolUse { id, name, input } => {
            let id = id.clone().unwrap_or_else(answer::mint_call_id);
            ContentBlock::tool_use(id, name, input.clone())
        }
    }
}

fn no_turn(request: &Request, results: Option<&str>, used: &[bool]) -> ModelError {
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
