//! Run as a state machine without input or output: events go in, actions come out.
//!
//! Every call of a turn is answered, in block order and in one message, before the model is called
//! again. A run that is cancelled answers its remaining calls, because a conversation with an
//! unanswered call cannot continue.

use std::collections::VecDeque;

use serde_json::Value;

use copydesk_llm::AssistantMessage;
use copydesk_llm::messages_api::{ContentBlock, StopReason};
use copydesk_store::RunEndKind;
use copydesk_tools::{ToolCall, ToolOutcome};

use super::end_reason::RunEndReason;
use super::usage::UsageTotals;
use crate::conversation::transcript::{EntryKind, TranscriptEntry};

/// Limits of one run.
#[derive(Clone, Copy, Debug)]
pub struct RunLimits {
    /// Maximum number of answers of the model.
    pub rounds: usize,
    /// Maximum number of calls in one answer, and so of its requests; further calls are refused.
    pub calls_per_turn: usize,
    /// Maximum number of tokens sent and received, those from a cache included.
    pub tokens: u64,
    /// Maximum time of waiting for the model, in milliseconds; people may take as long as they
    /// like.
    pub model_ms: u64,
    /// Maximum number of input tokens of one request; longer conversations lose their oldest part.
    pub input_tokens: u64,
}

impl RunLimits {
    /// Returns the end of a run that has reached a limit; `None` if it may continue.
    pub fn passed(&self, spent: &UsageTotals) -> Option<RunEnd> {
        if spent.tokens() >= self.tokens {
            let tokens = spent.tokens();
            return Some(RunEnd::limit(format!("The run stopped after {tokens} tokens")));
        }
        (spent.model_ms >= self.model_ms).then(|| self.out_of_time())
    }

    /// Returns the end of a run whose model took too long altogether.
    pub fn out_of_time(&self) -> RunEnd {
        let minutes = self.model_ms / 60_000;
        RunEnd::limit(format!("The run stopped after {minutes} minutes of waiting for the model"))
    }
}

impl Default for RunLimits {
    fn default() -> Self {
        Self {
            rounds: 50,
            calls_per_turn: 16,
            tokens: 5_000_000,
            model_ms: 60 * 60 * 1_000,
            input_tokens: 160_000,
        }
    }
}

/// Event of a run, handled by [`RunMachine::on`].
#[derive(Clone, Debug, PartialEq)]
pub enum RunInput {
    /// The model gave a complete answer.
    Answered(AssistantMessage),
    /// The model gave no complete answer; people may have seen the beginning of one.
    Failed {
        /// Text that people have read so far.
        partial: String,
        /// End of the run.
        end: RunEnd,
    },
    /// A call was answered.
    Ran(ToolOutcome),
    /// A person stopped the run.
    Cancelled {
        /// Text of an answer that people have read so far.
        partial: String,
    },
}

/// Action of a run, returned by [`RunMachine::on`]; actions are performed in order.
#[derive(Clone, Debug, PartialEq)]
pub enum RunAction {
    /// Call the model with the present transcript.
    CallModel,
    /// Append to the transcript; durable before the next action begins.
    Append(EntryKind),
    /// Run a call; the index is its position in the turn.
    RunTool(usize, ToolCall),
    /// End the run.
    Finish(RunEnd),
}

/// End of a run: the subtype of its `result` and a sentence for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunEnd {
    /// Kind of the end.
    pub kind: RunEndKind,
    /// Sentence for people.
    pub message: String,
    /// Reason for programs, if the run was no success.
    pub reason: Option<RunEndReason>,
}

impl RunEnd {
    /// Returns the end of a successful run (wording of the tool approval protocol).
    pub fn success() -> Self {
        Self { kind: RunEndKind::Success, message: "Conversation complete".into(), reason: None }
    }

    /// Returns the end of an external call that was answered.
    pub fn called() -> Self {
        Self { kind: RunEndKind::Success, message: "The call was answered".into(), reason: None }
    }

    /// Returns the end of a run in which something failed.
    pub fn error(reason: RunEndReason, message: impl Into<String>) -> Self {
        Self { kind: RunEndKind::Error, message: message.into(), reason: Some(reason) }
    }

    /// Returns the end of a run that a person stopped.
    pub fn cancelled() -> Self {
        Self::other(RunEndKind::Cancelled, "The run was cancelled")
    }

    /// Returns the end of a run that reached a limit.
    pub fn limit(message: impl Into<String>) -> Self {
        Self::other(RunEndKind::Limit, message)
    }

    /// Returns the end of a run whose next call of the model is refused by a spending limit.
    pub fn spending_limit(message: impl Into<String>) -> Self {
        let reason = Some(RunEndReason::SpendingLimit);
        Self { reason, ..Self::limit(message) }
    }

    fn other(kind: RunEndKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), reason: Some(RunEndReason::Kind(kind)) }
    }
}

/// State machine of a run.
#[derive(Debug)]
pub struct RunMachine {
    limits: RunLimits,
    rounds: usize,
    /// `true` for an external call: no model continues after it.
    is_external_call: bool,
    /// `true` if people have got anything from this run: words, a change or a request.
    has_output: bool,
    /// Number of calls of an answer that the provider paused; lost unless the answer makes them
    /// again.
    left_out: usize,
    state: MachineState,
}

#[derive(Debug)]
enum MachineState {
    AskingModel,
    /// The first call of `left` is being run.
    RunningTool {
        index: usize,
        left: VecDeque<ToolCall>,
        answers: Vec<ToolOutcome>,
    },
    Over,
}

impl RunMachine {
    /// Resumes a run, or begins it, at the end of its transcript. `said` holds the entries of this
    /// run, the prompt first.
    pub fn resume_from(limits: RunLimits, said: &[TranscriptEntry]) -> (Self, Vec<RunAction>) {
        let rounds =
            said.iter().filter(|entry| matches!(entry.kind, EntryKind::Answer { .. })).count();
        let has_output = said.iter().any(|entry| is_something(&entry.kind));
        let (is_external_call, left_out, state) = (false, 0, MachineState::AskingModel);
        let mut machine = Self { limits, rounds, is_external_call, has_output, left_out, state };
        let actions = match said.last().map(|entry| &entry.kind) {
            Some(EntryKind::Answer { content, stop }) => machine.after_answer(content, stop),
            Some(EntryKind::End { .. }) => machine.over(Vec::new(), RunEnd::success()),
            Some(
                EntryKind::Cleared { .. } | EntryKind::Prompt { .. } | EntryKind::Results { .. },
            )
            | None => machine.call_model_or_end(Vec::new()),
        };
        (machine, actions)
    }

    /// Resumes an external call. The call is the run's only answer, as if a model had given it.
    pub fn take_up_call(
        limits: RunLimits,
        said: &[TranscriptEntry],
        call: &ToolCall,
    ) -> (Self, Vec<RunAction>) {
        let (is_external_call, has_output, state) = (true, true, MachineState::AskingModel);
        let (rounds, left_out) = (0, 0);
        let mut machine = Self { limits, rounds, is_external_call, has_output, left_out, state };
        let ToolCall { id, name, input } = call.clone();
        let content = vec![ContentBlock::ToolUse { id, name, input }];
        let actions = match said.last().map(|entry| &entry.kind) {
            Some(EntryKind::Answer { content, stop }) => machine.after_answer(content, stop),
            Some(EntryKind::Results { .. } | EntryKind::End { .. }) => {
                machine.over(Vec::new(), RunEnd::called())
            }
            Some(EntryKind::Cleared { .. } | EntryKind::Prompt { .. }) | None => {
                let mut actions = vec![RunAction::Append(EntryKind::Answer {
                    content: content.clone(),
                    stop: StopReason::ToolUse,
                })];
                actions.extend(machine.after_answer(&content, &StopReason::ToolUse));
                actions
            }
        };
        (machine, actions)
    }

    /// Handles an event and returns the next actions; ignores one that does not fit the state.
    pub fn on(&mut self, event: RunInput) -> Vec<RunAction> {
        match (std::mem::replace(&mut self.state, MachineState::Over), event) {
            (MachineState::AskingModel, RunInput::Answered(answer)) => self.answered(answer),
            (MachineState::AskingModel, RunInput::Failed { partial, end }) => {
                self.over(keep_text(partial), end)
            }
            (MachineState::AskingModel, RunInput::Cancelled { partial }) => {
                self.over(keep_text(partial), RunEnd::cancelled())
            }
            (MachineState::RunningTool { index, mut left, mut answers }, RunInput::Ran(answer)) => {
                left.pop_front();
                self.has_output |= is_outcome(&answer);
                answers.push(answer);
                self.next_call(index + 1, left, answers)
            }
            (MachineState::RunningTool { left, mut answers, .. }, RunInput::Cancelled { .. }) => {
                answers.extend(left.into_iter().map(|call| {
                    ToolOutcome::failed(
                        call.id,
                        "The run was cancelled; this call was not executed",
                    )
                }));
                self.over(
                    vec![RunAction::Append(EntryKind::of_outcomes(answers))],
                    RunEnd::cancelled(),
                )
            }
            (state, _) => {
                self.state = state;
                Vec::new()
            }
        }
    }

    fn answered(&mut self, answer: AssistantMessage) -> Vec<RunAction> {
        self.rounds += 1;
        let stop = answer.stop_reason;
        let details = answer.stop_details.as_ref().map(why).unwrap_or_default();
        let is_tool_use = |block: &ContentBlock| matches!(block, ContentBlock::ToolUse { .. });
        let announced =
            answer.calls_left_out + answer.content.iter().filter(|it| is_tool_use(it)).count();
        let content: Vec<_> =
            answer.content.into_iter().filter(|block| worth_keeping(block, &stop)).collect();
        let made = content.iter().filter(|block| is_tool_use(block)).count();
        let paused = std::mem::take(&mut self.left_out);
        let left_out = announced - made + if made > 0 { 0 } else { paused };
        if stop == StopReason::PauseTurn {
            self.left_out = left_out;
        }
        self.has_output |= content.iter().any(is_words);
        let mut actions = Vec::new();
        if !content.is_empty() {
            actions.push(RunAction::Append(EntryKind::Answer {
                content: content.clone(),
                stop: stop.clone(),
            }));
        }
        actions.extend(self.after_answer(&content, &stop));
        if let Some(RunAction::Finish(end)) = actions.last_mut() {
            if end.kind == RunEndKind::Success {
                *end = self.end_after_success(left_out);
            }
            end.message.push_str(&details);
        }
        actions
    }

    /// Returns the end of a run whose model says that it is done: an error if people got no word,
    /// or if a call was begun but not made.
    fn end_after_success(&self, left_out: usize) -> RunEnd {
        match (left_out, self.has_output) {
            (0, true) => RunEnd::success(),
            (0, false) => RunEnd::error(
                RunEndReason::ModelSilent,
                "The model gave no answer; ask again, in other words",
            ),
            _ => RunEnd::error(
                RunEndReason::ModelIncomplete,
                "The model began a change and did not finish it; nothing was changed; ask again",
            ),
        }
    }

    fn after_answer(&mut self, content: &[ContentBlock], stop: &StopReason) -> Vec<RunAction> {
        let calls: VecDeque<ToolCall> = content.iter().filter_map(ToolCall::of).collect();
        if !calls.is_empty() {
            return self.next_call(0, calls, Vec::new());
        }
        let end = match stop {
            // The provider paused the turn: it continues when it is sent its answer so far.
            StopReason::PauseTurn if !content.is_empty() => {
                return self.call_model_or_end(Vec::new());
            }
            StopReason::Other(why) if why == UNFINISHED => {
                RunEnd::error(RunEndReason::Interrupted, "The answer broke off")
            }
            StopReason::EndTurn
            | StopReason::ToolUse
            | StopReason::StopSequence
            | StopReason::PauseTurn
            | StopReason::Other(_) => RunEnd::success(),
            StopReason::MaxTokens => {
                RunEnd::other(RunEndKind::MaxTokens, "The model's answer was cut: it is too long")
            }
            StopReason::ModelContextWindowExceeded => RunEnd::other(
                RunEndKind::MaxTokens,
                "The model's answer was cut: document and conversation no longer fit into its context; begin a new conversation",
            ),
            StopReason::Refusal => {
                RunEnd::other(RunEndKind::Refusal, "The model declined to answer")
            }
        };
        self.over(Vec::new(), end)
    }

    fn next_call(
        &mut self,
        mut index: usize,
        mut left: VecDeque<ToolCall>,
        mut answers: Vec<ToolOutcome>,
    ) -> Vec<RunAction> {
        while let Some(call) = left.front() {
            if index < self.limits.calls_per_turn {
                let action = RunAction::RunTool(index, call.clone());
                self.state = MachineState::RunningTool { index, left, answers };
                return vec![action];
            }
            let limit = self.limits.calls_per_turn;
            answers.push(ToolOutcome::failed(
                call.id.clone(),
                format!("Too many calls in one turn (at most {limit}); this one was not executed"),
            ));
            left.pop_front();
            index += 1;
        }
        self.call_model_or_end(vec![RunAction::Append(EntryKind::of_outcomes(answers))])
    }

    fn call_model_or_end(&mut self, mut actions: Vec<RunAction>) -> Vec<RunAction> {
        if self.is_external_call {
            return self.over(actions, RunEnd::called());
        }
        if self.rounds >= self.limits.rounds {
            let message = format!("The run stopped after {} answers of the model", self.rounds);
            return self.over(actions, RunEnd::limit(message));
        }
        self.state = MachineState::AskingModel;
        actions.push(RunAction::CallModel);
        actions
    }

    fn over(&mut self, mut actions: Vec<RunAction>, end: RunEnd) -> Vec<RunAction> {
        self.state = MachineState::Over;
        actions.push(RunAction::Finish(end));
        actions
    }
}

/// Returns the provider's explanation, meant for people, of why its model declined: ` (cyber): …`.
fn why(details: &Value) -> String {
    let said = |name: &str| details[name].as_str().map(str::trim).filter(|it| !it.is_empty());
    let category = said("category").map(|it| format!(" ({it})")).unwrap_or_default();
    let explanation = said("explanation").map(|it| it.chars().take(LONGEST_EXPLANATION));
    let explanation = explanation.map(|it| format!(": {}", it.collect::<String>()));
    category + &explanation.unwrap_or_default()
}

/// Maximum length of an explanation for people, in characters.
const LONGEST_EXPLANATION: usize = 500;

/// Stop reason of an answer that was not completed, for a server that stops before the end is
/// stored.
const UNFINISHED: &str = "unfinished";

/// Stores text that people have read, even if the answer was never completed.
fn keep_text(partial: String) -> Vec<RunAction> {
    if partial.trim().is_empty() {
        return Vec::new();
    }
    let content = vec![ContentBlock::text(partial)];
    vec![RunAction::Append(EntryKind::Answer {
        content,
        stop: StopReason::Other(UNFINISHED.to_owned()),
    })]
}

fn is_something(kind: &EntryKind) -> bool {
    match kind {
        EntryKind::Answer { content, .. } => content.iter().any(is_words),
        EntryKind::Results { answers, .. } => answers.iter().any(is_outcome),
        EntryKind::Prompt { .. } | EntryKind::Cleared { .. } | EntryKind::End { .. } => false,
    }
}

fn is_words(block: &ContentBlock) -> bool {
    block.as_text().is_some_and(|text| !text.trim().is_empty())
}

/// Returns `true` if a call said something to people or asked them.
fn is_outcome(answer: &ToolOutcome) -> bool {
    answer.said.is_some() || answer.change.is_some() || answer.about.contains_key("request_id")
}

/// Returns `true` if a block is stored: not empty texts, which providers refuse, nor calls that the
/// model did not stop for.
fn worth_keeping(block: &ContentBlock, stop: &StopReason) -> bool {
    match block {
        ContentBlock::Text { text, .. } => !text.is_empty(),
        ContentBlock::ToolUse { .. } => *stop == StopReason::ToolUse,
        ContentBlock::ToolResult { .. }
        | ContentBlock::Thinking { .. }
        | ContentBlock::RedactedThinking { .. }
        | ContentBlock::Other(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use copydesk_llm::messages_api::TokenUsage;

    use super::*;
    use crate::conversation::decision_updates::DecisionUpdates;

    const LIMITS: RunLimits = RunLimits {
        rounds: 3,
        calls_per_turn: 2,
        tokens: 1_000,
        model_ms: 60_000,
        input_tokens: 500,
    };

    fn asked() -> Vec<TranscriptEntry> {
        let (name, text, news) = ("Ada".into(), "Hello".into(), DecisionUpdates::default());
        let kind = EntryKind::Prompt { name, text, source: None, news };
        vec![TranscriptEntry { session: "ses".into(), run: "run".into(), at_ms: 0, kind }]
    }

    fn began() -> RunMachine {
        let (machine, actions) = RunMachine::resume_from(LIMITS, &asked());
        assert_eq!(actions, [RunAction::CallModel]);
        machine
    }

    fn answer(calls: usize, stop_reason: StopReason) -> RunInput {
        let mut content = vec![ContentBlock::text("Well."), ContentBlock::text("")];
        content
            .extend((0..calls).map(|n| ContentBlock::tool_use(n.to_string(), "tool", json!({}))));
        RunInput::Answered(AssistantMessage {
            content,
            stop_reason,
            stop_sequence: None,
            stop_details: None,
            usage: TokenUsage::default(),
            model: String::new(),
            calls_left_out: 0,
            notice: None,
        })
    }

    fn ran(id: &str) -> RunInput {
        RunInput::Ran(ToolOutcome {
            tool_use_id: id.into(),
            text: "ok".into(),
            ..ToolOutcome::default()
        })
    }

    fn results(action: &RunAction) -> Vec<(&str, bool)> {
        match action {
            RunAction::Append(EntryKind::Results { answers, .. }) => {
                answers.iter().map(|it| (it.tool_use_id.as_str(), it.is_error)).collect()
            }
            other => panic!("no results: {other:?}"),
        }
    }

    fn ends(actions: &[RunAction]) -> Option<RunEndKind> {
        match actions.last() {
            Some(RunAction::Finish(end)) => Some(end.kind),
            _ => None,
        }
    }

    #[test]
    fn calls_run_in_block_order_and_are_answered_in_one_message() {
        let mut machine = began();
        let actions = machine.on(answer(2, StopReason::ToolUse));
        assert!(
            matches!(&actions[0], RunAction::Append(EntryKind::Answer { content, .. }) if content.len() == 3)
        );
        assert!(matches!(&actions[1], RunAction::RunTool(0, call) if call.id == "0"));
        let actions = machine.on(ran("0"));
        assert!(matches!(&actions[..], [RunAction::RunTool(1, call)] if call.id == "1"));
        let actions = machine.on(ran("1"));
        assert_eq!(results(&actions[0]), [("0", false), ("1", false)]);
        assert_eq!(actions[1..], [RunAction::CallModel]);
    }

    #[test]
    fn calls_beyond_the_limit_are_answered_but_not_run() {
        let mut machine = began();
        machine.on(answer(4, StopReason::ToolUse));
        machine.on(ran("0"));
        let actions = machine.on(ran("1"));
        let expected = [("0", false), ("1", false), ("2", true), ("3", true)];
        assert_eq!(results(&actions[0]), expected);
    }

    #[test]
    fn every_stop_reason_but_tool_use_ends_the_run_without_executing_anything() {
        let cases = [
            (StopReason::EndTurn, RunEndKind::Error),
            (StopReason::StopSequence, RunEndKind::Error),
            (StopReason::Other("new".into()), RunEndKind::Error),
            (StopReason::MaxTokens, RunEndKind::MaxTokens),
            (StopReason::ModelContextWindowExceeded, RunEndKind::MaxTokens),
            (StopReason::Refusal, RunEndKind::Refusal),
        ];
        for (stop, kind) in cases {
            let actions = began().on(answer(1, stop.clone()));
            assert_eq!((actions.len(), ends(&actions)), (2, Some(kind)), "{stop:?}");
            assert!(
                matches!(&actions[0], RunAction::Append(EntryKind::Answer { content, .. }) if content.len() == 1)
            );
        }
    }

    #[test]
    fn a_call_that_was_not_made_and_an_answer_without_words_are_no_success() {
        let told = |event: RunInput, machine: &mut RunMachine| match machine.on(event).pop() {
            Some(RunAction::Finish(end)) => end.reason,
            other => panic!("no end: {other:?}"),
        };
        let of = |content: Vec<ContentBlock>, calls_left_out| match answer(0, StopReason::EndTurn) {
            RunInput::Answered(answer) => {
                RunInput::Answered(AssistantMessage { content, calls_left_out, ..answer })
            }
            other => panic!("{other:?}"),
        };
        let words = || vec![ContentBlock::text("I tighten it.")];
        assert_eq!(told(of(words(), 0), &mut began()), None);
        assert_eq!(told(of(words(), 1), &mut began()), Some(RunEndReason::ModelIncomplete));
        assert_eq!(
            told(of(vec![ContentBlock::text(" ")], 0), &mut began()),
            Some(RunEndReason::ModelSilent)
        );
        assert_eq!(told(of(Vec::new(), 0), &mut began()), Some(RunEndReason::ModelSilent));

        let silent_call = |outcome: ToolOutcome| {
            let mut machine = began();
            let content = vec![ContentBlock::tool_use("0", "tool", json!({}))];
            let RunInput::Answered(calls) = answer(0, StopReason::ToolUse) else { panic!() };
            machine.on(RunInput::Answered(AssistantMessage { content, ..calls }));
            machine.on(RunInput::Ran(outcome));
            told(of(Vec::new(), 0), &mut machine)
        };
        assert_eq!(
            silent_call(ToolOutcome::default()),
            Some(RunEndReason::ModelSilent),
            "it has only read"
        );
        let said = ToolOutcome { said: Some("Hello.".into()), ..ToolOutcome::default() };
        assert_eq!(silent_call(said), None);
    }

    #[test]
    fn a_pause_is_followed_by_another_call_within_the_rounds() {
        let mut machine = began();
        for _ in 0..2 {
            let actions = machine.on(answer(0, StopReason::PauseTurn));
            assert_eq!(actions.last(), Some(&RunAction::CallModel));
        }
        assert_eq!(ends(&machine.on(answer(0, StopReason::PauseTurn))), Some(RunEndKind::Limit));
    }

    #[test]
    fn a_call_that_is_lost_in_a_pause_is_owned_up_to() {
        let mut machine = began();
        assert_eq!(
            machine.on(answer(1, StopReason::PauseTurn)).last(),
            Some(&RunAction::CallModel)
        );
        let actions = machine.on(answer(0, StopReason::EndTurn));
        let Some(RunAction::Finish(end)) = actions.last() else { panic!("{actions:?}") };
        assert_eq!(end.reason, Some(RunEndReason::ModelIncomplete));
        // The call is made again.
        let mut machine = began();
        machine.on(answer(1, StopReason::PauseTurn));
        machine.on(answer(1, StopReason::ToolUse));
        machine.on(ran("0"));
        assert_eq!(ends(&machine.on(answer(0, StopReason::EndTurn))), Some(RunEndKind::Success));
    }

    #[test]
    fn a_refusal_says_what_it_was_about() {
        for (details, told) in [
            (json!({"type": "refusal", "category": "bio"}), " (bio)"),
            (json!({"category": "bio", "explanation": "It may harm. "}), " (bio): It may harm."),
            (json!({"category": null, "explanation": ""}), ""),
        ] {
            let RunInput::Answered(mut declined) = answer(0, StopReason::Refusal) else { panic!() };
            declined.stop_details = Some(details);
            let actions = began().on(RunInput::Answered(declined));
            let Some(RunAction::Finish(end)) = actions.last() else { panic!("{actions:?}") };
            assert_eq!(end.message, format!("The model declined to answer{told}"));
        }
    }

    #[test]
    fn tokens_and_time_have_their_limits() {
        let mut spent = UsageTotals::default();
        assert_eq!(LIMITS.passed(&spent), None);
        spent.model_ms = 60_000;
        let end = LIMITS.passed(&spent).expect("too long");
        assert_eq!(end.kind, RunEndKind::Limit);
        assert_eq!(end.message, "The run stopped after 1 minutes of waiting for the model");
        let usage = TokenUsage {
            cache_read_input_tokens: 600,
            output_tokens: 400,
            ..TokenUsage::default()
        };
        let end =
            LIMITS.passed(&UsageTotals { usage, ..UsageTotals::default() }).expect("too much");
        assert_eq!(end.message, "The run stopped after 1000 tokens");
    }

    #[test]
    fn a_run_ends_after_its_rounds_with_every_call_answered() {
        let mut machine = began();
        for _ in 0..2 {
            machine.on(answer(1, StopReason::ToolUse));
            assert_eq!(machine.on(ran("0")).last(), Some(&RunAction::CallModel));
        }
        machine.on(answer(1, StopReason::ToolUse));
        let actions = machine.on(ran("0"));
        assert_eq!(results(&actions[0]), [("0", false)]);
        assert_eq!(ends(&actions), Some(RunEndKind::Limit));
    }

    #[test]
    fn cancelling_answers_what_is_left_and_nothing_happens_afterwards() {
        let mut machine = began();
        machine.on(answer(2, StopReason::ToolUse));
        machine.on(ran("0"));
        let actions = machine.on(RunInput::Cancelled { partial: String::new() });
        assert_eq!(results(&actions[0]), [("0", false), ("1", true)]);
        assert_eq!(ends(&actions), Some(RunEndKind::Cancelled));
        assert_eq!(machine.on(ran("1")), []);
    }

    #[test]
    fn what_people_have_read_is_kept_when_the_model_fails() {
        let end = RunEnd::error(RunEndReason::Model("model_error".to_owned()), "gone");
        let actions = began().on(RunInput::Failed { partial: "Half".into(), end: end.clone() });
        let content = vec![ContentBlock::text("Half")];
        let kind = EntryKind::Answer { content, stop: StopReason::Other(UNFINISHED.to_owned()) };
        assert_eq!(actions, [RunAction::Append(kind.clone()), RunAction::Finish(end.clone())]);
        let mut said = asked();
        said.push(TranscriptEntry { kind, ..said[0].clone() });
        let resumed = RunMachine::resume_from(LIMITS, &said).1;
        assert_eq!(ends(&resumed), Some(RunEndKind::Error), "the server stopped in between");
        let silent = began().on(RunInput::Failed { partial: " ".into(), end: end.clone() });
        assert_eq!(silent, [RunAction::Finish(end)]);
    }

    #[test]
    fn an_interrupted_turn_runs_its_calls_again_from_the_first() {
        let mut said = asked();
        let content = vec![ContentBlock::tool_use("7", "tool", json!({}))];
        let kind = EntryKind::Answer { content, stop: StopReason::ToolUse };
        said.push(TranscriptEntry { kind, ..said[0].clone() });
        let (_, actions) = RunMachine::resume_from(LIMITS, &said);
        assert!(matches!(&actions[..], [RunAction::RunTool(0, call)] if call.id == "7"));
        let kind = EntryKind::Answer {
            content: vec![ContentBlock::text("Bye")],
            stop: StopReason::EndTurn,
        };
        said.push(TranscriptEntry { kind, ..said[0].clone() });
        assert_eq!(ends(&RunMachine::resume_from(LIMITS, &said).1), Some(RunEndKind::Success));
    }
}
