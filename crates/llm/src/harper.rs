//! A model without a network: Harper's grammar rules and plain commands behind common tools.
//!
//! It behaves like any other model: it says a sentence, calls one tool, and closes with a sentence
//! about the result. The library never unloads its dictionary (some 160 MB once unpacked), so that
//! is kept in a child process, which is started for the first text and ended after a while without
//! one.

mod corrected_text;
mod edits;
mod grammar_checker;
mod grammar_worker;
mod intent;
mod left_alone;
mod plan;
mod proofread;
mod quoted;
mod rules;
mod spelling;
mod wording;
mod worker_client;
mod worker_process;
mod worker_protocol;

use std::path::PathBuf;
use std::time::Duration;

use serde_json::json;
use tokio_util::sync::CancellationToken;

pub use grammar_worker::run as run_grammar_worker;
pub use proofread::{TextCorrection, proofread};
pub use rules::CorrectionKind;

use super::delta_stream::{self, DeltaPace, DeltaSink};
use super::{AnswerStream, AssistantMessage, Model, ModelError, ModelRequest, ToolResultView};
use crate::messages_api::{ContentBlock, MessageRole, StopReason, TokenUsage};
use grammar_checker::GrammarChecker;
use plan::{EditPlan, EditTarget, PlanStep};
use worker_client::WorkerCommand;

/// [`Model`] of the built-in copy editor. The default checks texts in this process.
#[derive(Clone, Debug, Default)]
pub struct HarperModel {
    checker: GrammarChecker,
}

/// Subcommand of this program that runs the grammar worker.
const WORKER: &str = "grammar-worker";

impl HarperModel {
    /// Returns a model that checks texts in a child process: `program`, which is this program, with
    /// the argument `grammar-worker`; if that cannot be started, in this process. Needs a running
    /// [`tokio`] runtime.
    pub fn in_worker(program: PathBuf) -> Self {
        let command = WorkerCommand { program, arguments: vec![WORKER.into()] };
        Self { checker: GrammarChecker::in_worker(command) }
    }
}

const NAME: &str = "harper";

/// Tool that asks people to approve a plan, in a run that may change nothing before they have.
const PLAN_TOOL: &str = "ExitPlanMode";

/// Pace of the answers: pieces small enough to look written, and few enough for the stream.
const PACE: DeltaPace = DeltaPace { chunk_chars: Some(24), delay: Duration::ZERO };

impl Model for HarperModel {
    fn name(&self) -> &str {
        NAME
    }

    fn is_local(&self) -> bool {
        true
    }

    fn stream(&self, request: ModelRequest, cancel: CancellationToken) -> AnswerStream {
        let checker = self.checker.clone();
        delta_stream::answer(cancel, |sink| respond(request, checker, sink))
    }
}

async fn respond(
    request: ModelRequest,
    checker: GrammarChecker,
    sink: DeltaSink,
) -> Result<AssistantMessage, ModelError> {
    let offered = request.tools.iter().map(|tool| tool.name.clone()).collect::<Vec<_>>();
    let content = match request.tool_results() {
        Some(outcomes) if is_plan_approved(&request, &outcomes) => {
            opening(plan(request, &checker).await?, &offered)
        }
        Some(outcomes) => closing(&request, &outcomes),
        None if offered.iter().any(|tool| tool == PLAN_TOOL) => {
            proposal(plan(request, &checker).await?, &offered)
        }
        None => opening(plan(request, &checker).await?, &offered),
    };
    let calls = content.iter().any(ContentBlock::is_tool_use);
    let stop_reason = if calls { StopReason::ToolUse } else { StopReason::EndTurn };
    delta_stream::play(&content, PACE, &sink).await;
    Ok(delta_stream::complete(content, stop_reason, TokenUsage::default(), NAME.into()))
}

async fn plan(request: ModelRequest, checker: &GrammarChecker) -> Result<EditPlan, ModelError> {
    let first = move || match PlanStep::first(prompt(&request), request.document.as_ref()) {
        PlanStep::Ready(EditPlan::Say(words))
            if words == wording::WHAT_I_CAN_DO && has_said(&request, &words) =>
        {
            PlanStep::Ready(EditPlan::Say(wording::BEYOND_ME.into()))
        }
        step => step,
    };
    match on_blocking_thread(first).await? {
        PlanStep::Ready(plan) => Ok(plan),
        PlanStep::Proofread(task) => {
            let corrections = checker.check(task.context.clone()).await?;
            on_blocking_thread(move || task.plan(corrections)).await
        }
    }
}

/// Runs `work`. Its panic on strange text ends this run only.
async fn on_blocking_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ModelError> {
    let failed = |_| ModelError::Internal { message: "the copy editor cannot read this".into() };
    tokio::task::spawn_blocking(work).await.map_err(failed)
}

/// Returns the text that the person typed, or else the last text of a user in the conversation.
fn prompt(request: &ModelRequest) -> &str {
    let last = request.messages.iter().rev().find(|message| message.role == MessageRole::User);
    let words = || last?.content.iter().rev().find_map(ContentBlock::as_text);
    let typed = request.prompt.as_deref().or(request.question.as_deref());
    typed.or_else(words).unwrap_or_default()
}

/// Returns `true` if the copy editor said these words before in this conversation.
fn has_said(request: &ModelRequest, words: &str) -> bool {
    let mut blocks = request.messages.iter().flat_map(|message| &message.content);
    blocks.any(|block| match block {
        ContentBlock::ToolUse { input, .. } => input["response"] == words,
        block => block.as_text() == Some(words),
    })
}

/// Returns the [`EditPlan`] as a model's answer, in words if its tool is not offered.
fn opening(plan: EditPlan, offered: &[String]) -> Vec<ContentBlock> {
    let call =
        |name: &str, input| ContentBlock::tool_use(delta_stream::mint_call_id(), name, input);
    let is_offered = |name: &str| offered.iter().any(|tool| tool == name);
    match plan {
        EditPlan::Say(response) if is_offered("respond_conversation_only") => {
            vec![call("respond_conversation_only", json!({"response": response}))]
        }
        EditPlan::Say(response) => vec![ContentBlock::text(response)],
        EditPlan::Edit { opening, target, new_text, explanation, reasons } => {
            let (name, mut input) = match target {
                EditTarget::Selection(range) => (
                    "update_selection",
                    json!({
                        "new_text": new_text,
                        "selection_range": {"start": range.from, "end": range.to},
                        "explanation": explanation,
                    }),
                ),
                EditTarget::Document => (
                    "update_full_document",
                    json!({"new_content": new_text, "explanation": explanation}),
                ),
            };
            if !reasons.is_empty() {
                input["reasons"] = json!(reasons);
            }
            if is_offered(name) {
                vec![ContentBlock::text(opening), call(name, input)]
            } else {
                vec![ContentBlock::text(format!("I may not change the text here. {explanation}"))]
            }
        }
    }
}

/// Returns the [`EditPlan`] as a plan that people approve first, if it changes the text.
fn proposal(plan: EditPlan, offered: &[String]) -> Vec<ContentBlock> {
    let EditPlan::Edit { explanation, target, .. } = &plan else { return opening(plan, offered) };
    let plan = wording::proposed(explanation, matches!(target, EditTarget::Selection(_)));
    let call =
        ContentBlock::tool_use(delta_stream::mint_call_id(), PLAN_TOOL, json!({ "plan": plan }));
    vec![ContentBlock::text(wording::HERE_IS_A_PLAN), call]
}

/// Returns `true` if these are the results of a plan that people approved.
fn is_plan_approved(request: &ModelRequest, outcomes: &[ToolResultView]) -> bool {
    outcomes.iter().any(|outcome| {
        !outcome.is_error
            && outcome.text.trim_start().starts_with("The plan is approved")
            && called_tool(request, outcome) == PLAN_TOOL
    })
}

/// Returns the name of the tool whose result this is; empty if its call is not known.
fn called_tool<'r>(request: &'r ModelRequest, outcome: &ToolResultView) -> &'r str {
    let mut blocks = request.messages.iter().flat_map(|message| &message.content);
    let called = blocks.find_map(|block| match block {
        ContentBlock::ToolUse { id, name, .. } if *id == outcome.tool_use_id => Some(name.as_str()),
        _ => None,
    });
    called.unwrap_or_default()
}

/// Builds one sentence for each [`ToolResultView`] of a decided call.
fn closing(request: &ModelRequest, outcomes: &[ToolResultView]) -> Vec<ContentBlock> {
    let sentences =
        outcomes.iter().map(|outcome| wording::closing(called_tool(request, outcome), outcome));
    sentences.filter(|sentence| !sentence.is_empty()).map(ContentBlock::text).collect()
}

#[cfg(test)]
mod prose_tests;
#[cfg(test)]
mod tests;
