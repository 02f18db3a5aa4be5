//! Loop over the model's answers that make one answer to a client, with calls of this server's
//! tools and of the client's.
//!
//! A call of a tool that runs here is run, and the model continues. Calls of the client's own tools
//! go back to the client, all at once. If there are both, this server's run first, and their
//! results are held until the client brings the others.

use std::collections::HashSet;
use std::sync::Arc;

use copydesk_llm::AssistantMessage;
use copydesk_llm::messages_api::{
    ChatMessage, ContentBlock, MessageRole, StopReason, TokenUsage, ToolChoice,
};

use super::conversation_cache::HiddenAnswer;

/// Maximum answers of the model for one request; then the client is to continue (`pause_turn`).
const MOST_ROUNDS: usize = 50;

/// State of one answer that is being written.
#[derive(Debug, Default)]
pub struct ServerToolLoop {
    /// Names of the tools that run on this server.
    internal: HashSet<String>,
    choice: Option<ToolChoice>,
    /// Messages since the client's last one.
    said: Vec<ChatMessage>,
    /// Calls of this server's tools that wait for their results.
    waiting: Vec<ContentBlock>,
    /// Calls that go to the client after this server's calls have run.
    external: Vec<ContentBlock>,
    rounds: usize,
    usage: TokenUsage,
}

/// Next action of the [driver](super::driver).
#[derive(Debug, PartialEq)]
pub enum LoopStep {
    /// Question to the model, with all messages so far.
    Ask,
    /// Calls to run; [`ServerToolLoop::ran`] takes their results.
    Run(Vec<ContentBlock>),
    /// Complete answer to send.
    End(Box<LoopEnd>),
}

/// Complete answer of a [`ServerToolLoop`].
#[derive(Debug, PartialEq)]
pub struct LoopEnd {
    /// Part of the model's last answer that is still to be sent, with the client's calls only.
    pub shown: Vec<ContentBlock>,
    /// Reason for the end.
    pub stop_reason: StopReason,
    /// Stop sequence that ended the answer.
    pub stop_sequence: Option<String>,
    /// Details of a refusal.
    pub stop_details: Option<serde_json::Value>,
    /// Tokens of all of the model's answers together.
    pub usage: TokenUsage,
    /// Content that the client is not shown, if there is any, for [`unfold`].
    pub hidden: Option<Arc<HiddenAnswer>>,
}

impl LoopEnd {
    /// Returns the end of a turn in which nothing was said.
    pub fn empty(stop_reason: StopReason) -> Self {
        let (stop_sequence, stop_details, hidden) = (None, None, None);
        let usage = TokenUsage::default();
        Self { shown: Vec::new(), stop_reason, stop_sequence, stop_details, usage, hidden }
    }
}

impl ServerToolLoop {
    /// Returns an empty answer. `internal` are the tools that run here; every other tool is the
    /// client's.
    pub fn new(internal: HashSet<String>, choice: Option<ToolChoice>) -> Self {
        Self { internal, choice, ..Self::default() }
    }

    /// Returns the model's last answer as the client is shown it: without the calls that run here.
    pub fn shown(&self) -> Vec<ContentBlock> {
        let last = self.said.last().map(|message| message.content.as_slice());
        last.unwrap_or_default().iter().filter(|it| !self.is_internal(it)).cloned().collect()
    }

    /// Returns `true` if the model's last answer has calls of the client's.
    pub fn calls_others(&self) -> bool {
        !self.external.is_empty()
    }

    /// Makes the answer end after the current calls, because the client will not wait for another
    /// one.
    pub fn end_soon(&mut self) {
        self.rounds = MOST_ROUNDS;
    }

    /// Returns the messages since the client's last one, to be sent to the model after it.
    pub fn said(&self) -> &[ChatMessage] {
        &self.said
    }

    /// Returns the tool choice for the model's next answer. A call that the client required is no
    /// longer required once a tool that runs here was called.
    pub fn choice(&self) -> Option<ToolChoice> {
        match &self.choice {
            Some(
                ToolChoice::Any { disable_parallel_tool_use }
                | ToolChoice::Tool { disable_parallel_tool_use, .. },
            ) if self.rounds > 0 => {
                Some(ToolChoice::Auto { disable_parallel_tool_use: *disable_parallel_tool_use })
            }
            choice => choice.clone(),
        }
    }

    /// Takes an answer of the model.
    pub fn answered(&mut self, answer: AssistantMessage) -> LoopStep {
        let AssistantMessage { content, stop_reason, stop_sequence, stop_details, usage, .. } =
            answer;
        self.usage += usage;
        let content = self.allowed(content);
        self.rounds += 1;
        let calls = content.iter().filter(|block| block.is_tool_use()).cloned();
        let (internal, external): (Vec<_>, Vec<_>) = calls.partition(|call| self.is_internal(call));
        // Whatever stop reason a model gives, a call waits for its result, and without a call there
        // is nothing to wait for.
        let stop_reason = match (&stop_reason, internal.is_empty() && external.is_empty()) {
            (StopReason::ToolUse, true) => StopReason::EndTurn,
            _ => stop_reason,
        };
        self.said.push(ChatMessage::assistant(content));
        self.external = external;
        self.waiting = internal;
        if self.waiting.is_empty() {
            return self.end(stop_reason, stop_sequence, stop_details);
        }
        LoopStep::Run(self.waiting.clone())
    }

    /// Takes the results of the calls, one for each, in order.
    pub fn ran(&mut self, results: Vec<ContentBlock>) -> LoopStep {
        self.waiting.clear();
        if !self.external.is_empty() {
            return self.end_holding(StopReason::ToolUse, results);
        }
        if self.rounds >= MOST_ROUNDS {
            return self.end_holding(StopReason::PauseTurn, results);
        }
        self.said.push(ChatMessage::results(results));
        LoopStep::Ask
    }

    fn end(
        &mut self,
        stop_reason: StopReason,
        stop_sequence: Option<String>,
        stop_details: Option<serde_json::Value>,
    ) -> LoopStep {
        let (shown, usage) = (self.shown(), self.usage);
        let (hidden, nothing) = (self.hide(Vec::new()), LoopEnd::empty(stop_reason));
        let end = LoopEnd { shown, stop_sequence, stop_details, usage, hidden, ..nothing };
        LoopStep::End(Box::new(end))
    }

    fn end_holding(&mut self, stop_reason: StopReason, held: Vec<ContentBlock>) -> LoopStep {
        // Without a call of the client's, the answer was sent before this server's calls ran.
        let shown = if self.calls_others() { self.shown() } else { Vec::new() };
        let (hidden, usage) = (self.hide(held), self.usage);
        LoopStep::End(Box::new(LoopEnd { shown, usage, hidden, ..LoopEnd::empty(stop_reason) }))
    }

    /// Returns the complete messages, if the client sees less of them or may bring back less.
    fn hide(&mut self, held: Vec<ContentBlock>) -> Option<Arc<HiddenAnswer>> {
        let said = std::mem::take(&mut self.said);
        let reasons = said.iter().flat_map(|message| &message.content).any(|block| {
            matches!(block, ContentBlock::Thinking { .. } | ContentBlock::RedactedThinking { .. })
        });
        let plain = said.len() == 1 && held.is_empty() && !reasons;
        (!plain).then(|| Arc::new(HiddenAnswer { said, held }))
    }

    /// Removes calls that `tool_choice` does not allow, for models that do not know the field.
    fn allowed(&self, mut content: Vec<ContentBlock>) -> Vec<ContentBlock> {
        let choice = self.choice();
        let one = match &choice {
            Some(
                ToolChoice::Auto { disable_parallel_tool_use }
                | ToolChoice::Any { disable_parallel_tool_use }
                | ToolChoice::Tool { disable_parallel_tool_use, .. },
            ) => *disable_parallel_tool_use,
            Some(ToolChoice::None) | None => false,
        };
        let mut calls = 0;
        content.retain(|block| {
            let ContentBlock::ToolUse { name, .. } = block else { return true };
            let wanted = match &choice {
                Some(ToolChoice::None) => false,
                Some(ToolChoice::Tool { name: only, .. }) => name == only,
                Some(ToolChoice::Auto { .. } | ToolChoice::Any { .. }) | None => true,
            };
            let kept = wanted && !(one && calls > 0);
            calls += usize::from(kept);
            kept
        });
        content
    }

    fn is_internal(&self, call: &ContentBlock) -> bool {
        matches!(call, ContentBlock::ToolUse { name, .. } if self.internal.contains(name))
    }
}

/// Restores the hidden parts of a conversation: replaces each message for which `known` has an
/// entry, and puts held results before those that the client brings.
pub fn unfold(
    messages: &[ChatMessage],
    known: impl Fn(usize) -> Option<Arc<HiddenAnswer>>,
) -> Vec<ChatMessage> {
    let mut whole: Vec<ChatMessage> = Vec::with_capacity(messages.len());
    let mut held: Vec<ContentBlock> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        if let Some(hidden) = known(index) {
            whole.extend(hidden.said.iter().cloned());
            held.clone_from(&hidden.held);
            continue;
        }
        let mut message = message.clone();
        if message.role == MessageRole::User && !held.is_empty() {
            let brought = std::mem::replace(&mut message.content, std::mem::take(&mut held));
            message.content.extend(brought);
        }
        whole.push(message);
    }
    if !held.is_empty() {
        whole.push(ChatMessage::results(held));
    }
    whole
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(id: &str, name: &str) -> ContentBlock {
        ContentBlock::tool_use(id, name, json!({}))
    }

    fn answer(content: Vec<ContentBlock>) -> AssistantMessage {
        let calls = content.iter().any(ContentBlock::is_tool_use);
        AssistantMessage {
            content,
            stop_reason: if calls { StopReason::ToolUse } else { StopReason::EndTurn },
            stop_sequence: None,
            stop_details: None,
            usage: TokenUsage { input_tokens: 5, output_tokens: 2, ..TokenUsage::default() },
            model: "actor".into(),
            calls_left_out: 0,
            notice: None,
        }
    }

    fn tool_loop(choice: Option<ToolChoice>) -> ServerToolLoop {
        ServerToolLoop::new(HashSet::from(["ours".to_owned()]), choice)
    }

    fn end(next: LoopStep) -> LoopEnd {
        match next {
            LoopStep::End(end) => *end,
            other => panic!("not the end: {other:?}"),
        }
    }

    fn ids(calls: &[ContentBlock]) -> Vec<&str> {
        fn id(block: &ContentBlock) -> Option<&str> {
            match block {
                ContentBlock::ToolUse { id, .. } => Some(id),
                _ => None,
            }
        }
        calls.iter().filter_map(id).collect()
    }

    #[test]
    fn words_alone_end_the_turn_and_hide_nothing() {
        let ended = end(tool_loop(None).answered(answer(vec![ContentBlock::text("Hello.")])));
        assert_eq!((ended.stop_reason, ended.hidden), (StopReason::EndTurn, None));
    }

    #[test]
    fn the_clients_calls_go_back_all_at_once() {
        let ended =
            end(tool_loop(None).answered(answer(vec![call("1", "theirs"), call("2", "other")])));
        assert_eq!(ids(&ended.shown), ["1", "2"]);
        assert_eq!((ended.stop_reason, ended.hidden), (StopReason::ToolUse, None));
    }

    #[test]
    fn our_calls_run_and_the_model_goes_on() {
        let mut tool_loop = tool_loop(None);
        let first = vec![ContentBlock::text("Wait."), call("1", "ours")];
        assert_eq!(
            tool_loop.answered(answer(first.clone())),
            LoopStep::Run(vec![call("1", "ours")])
        );
        let result = ContentBlock::tool_result("1", "Done");
        assert_eq!(tool_loop.ran(vec![result.clone()]), LoopStep::Ask);
        let expected = [ChatMessage::assistant(first), ChatMessage::results(vec![result])];
        assert_eq!(tool_loop.said(), expected);
        let ended = end(tool_loop.answered(answer(vec![ContentBlock::text("Done.")])));
        assert_eq!((ended.usage.input_tokens, ended.usage.output_tokens), (10, 4));
        let hidden = ended.hidden.expect("the client saw less");
        assert_eq!((hidden.said.len(), hidden.held.len()), (3, 0));
    }

    #[test]
    fn of_both_ours_run_first_and_their_results_wait_for_the_others() {
        let mut tool_loop = tool_loop(None);
        let all = vec![call("1", "theirs"), call("2", "ours")];
        assert_eq!(tool_loop.answered(answer(all.clone())), LoopStep::Run(vec![call("2", "ours")]));
        let ours = ContentBlock::tool_result("2", "Done");
        let ended = end(tool_loop.ran(vec![ours.clone()]));
        assert_eq!((ids(&ended.shown), &ended.stop_reason), (vec!["1"], &StopReason::ToolUse));
        let hidden = ended.hidden.expect("the client saw less");
        assert_eq!(hidden.held, std::slice::from_ref(&ours));
        // The next request.
        let theirs = ContentBlock::tool_result("1", "Rain");
        let shown = [
            ChatMessage::user("Both."),
            ChatMessage::assistant(vec![call("1", "theirs")]),
            ChatMessage::results(vec![theirs.clone(), ContentBlock::text("Well?")]),
        ];
        let whole = unfold(&shown, |index| (index == 1).then(|| Arc::clone(&hidden)));
        let results = vec![ours, theirs, ContentBlock::text("Well?")];
        assert_eq!(
            whole,
            [shown[0].clone(), ChatMessage::assistant(all), ChatMessage::results(results)]
        );
        assert_eq!(unfold(&shown, |_| None), shown, "what is not known is as the client says");
    }

    #[test]
    fn a_client_that_waits_no_longer_is_asked_to_go_on() {
        let mut tool_loop = tool_loop(None);
        tool_loop.answered(answer(vec![call("1", "ours")]));
        tool_loop.end_soon();
        let ended = end(tool_loop.ran(vec![ContentBlock::tool_error("1", "Late")]));
        assert_eq!((ended.stop_reason, ended.shown), (StopReason::PauseTurn, vec![]));
        assert!(ended.hidden.is_some_and(|hidden| hidden.held.len() == 1));
    }

    #[test]
    fn what_is_shown_is_in_the_models_order_and_without_our_calls() {
        let mut tool_loop = tool_loop(None);
        let text = ContentBlock::text;
        let said = vec![text("A"), call("1", "theirs"), text("B"), call("2", "ours"), text("C")];
        tool_loop.answered(answer(said));
        assert!(tool_loop.calls_others());
        let ended = end(tool_loop.ran(vec![ContentBlock::tool_result("2", "Done")]));
        assert_eq!(ended.shown, [text("A"), call("1", "theirs"), text("B"), text("C")]);
        tool_loop.answered(answer(vec![text("A"), call("3", "ours"), text("B")]));
        assert_eq!(
            (tool_loop.shown(), tool_loop.calls_others()),
            (vec![text("A"), text("B")], false)
        );
    }

    #[test]
    fn a_turn_without_end_is_handed_back() {
        let mut tool_loop = tool_loop(None);
        for _ in 1..MOST_ROUNDS {
            tool_loop.answered(answer(vec![call("1", "ours")]));
            assert_eq!(tool_loop.ran(vec![ContentBlock::tool_result("1", "Again")]), LoopStep::Ask);
        }
        tool_loop.answered(answer(vec![call("1", "ours")]));
        let ended = end(tool_loop.ran(vec![ContentBlock::tool_result("1", "Again")]));
        assert_eq!((&ended.stop_reason, ended.shown.len()), (&StopReason::PauseTurn, 0));
        let hidden = ended.hidden.expect("the client saw less");
        let shown = [ChatMessage::user("Go."), ChatMessage::assistant(vec![])];
        let whole = unfold(&shown, |index| (index == 1).then(|| Arc::clone(&hidden)));
        let last = whole.last().map(|message| message.content.clone());
        assert_eq!(last, Some(hidden.held.clone()), "sent back as it is, it goes on");
    }

    #[test]
    fn the_clients_choice_holds_whatever_the_model_does() {
        let calls =
            || vec![ContentBlock::text("So."), call("1", "a"), call("2", "b"), call("3", "ours")];
        let after = |choice: ToolChoice| {
            let mut tool_loop = tool_loop(Some(choice));
            match tool_loop.answered(answer(calls())) {
                LoopStep::Run(ours) => {
                    (ids(&ours).join(" "), ids(&tool_loop.external).join(" "), String::new())
                }
                LoopStep::End(end) => {
                    (String::new(), ids(&end.shown).join(" "), end.stop_reason.as_str().to_owned())
                }
                LoopStep::Ask => panic!("nothing was run"),
            }
        };
        let told = |ours: &str, theirs: &str, stop: &str| {
            (ours.to_owned(), theirs.to_owned(), stop.to_owned())
        };
        let (all, one) = (false, true);
        assert_eq!(after(ToolChoice::None), told("", "", "end_turn"));
        assert_eq!(
            after(ToolChoice::Auto { disable_parallel_tool_use: all }),
            told("3", "1 2", "")
        );
        assert_eq!(
            after(ToolChoice::Auto { disable_parallel_tool_use: one }),
            told("", "1", "tool_use")
        );
        assert_eq!(
            after(ToolChoice::Any { disable_parallel_tool_use: one }),
            told("", "1", "tool_use")
        );
        let named =
            |name: &str| ToolChoice::Tool { name: name.into(), disable_parallel_tool_use: all };
        assert_eq!(after(named("b")), told("", "2", "tool_use"));
        assert_eq!(after(named("ours")), told("3", "", ""));
    }

    #[test]
    fn what_the_client_insisted_on_is_done_by_a_call_of_ours() {
        let mut tool_loop = tool_loop(Some(ToolChoice::Any { disable_parallel_tool_use: true }));
        tool_loop.answered(answer(vec![call("1", "ours")]));
        tool_loop.ran(vec![ContentBlock::tool_result("1", "Done")]);
        assert_eq!(tool_loop.choice(), Some(ToolChoice::Auto { disable_parallel_tool_use: true }));
    }

    #[test]
    fn reasoning_is_remembered_for_clients_that_drop_it() {
        let thinking = ContentBlock::Thinking { thinking: "Hm.".into(), signature: "s".into() };
        let ended = end(tool_loop(None).answered(answer(vec![thinking, call("1", "theirs")])));
        assert!(ended.hidden.is_some());
    }
}
