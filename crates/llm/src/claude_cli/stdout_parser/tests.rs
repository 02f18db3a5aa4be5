use std::path::Path;

use super::*;

/// Returns the outcomes of the lines of a fixture, up to the first failure; the same however they
/// were cut on the way.
fn read_line(name: &str) -> (Vec<LineOutcome>, Option<NoAnswerReason>) {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../fixtures/claude/{name}.jsonl"));
    let bytes = std::fs::read(path).expect("a fixture");
    let heard = hear_in_pieces(&bytes, bytes.len());
    for size in [1, 7, 1000] {
        assert_eq!(hear_in_pieces(&bytes, size), heard, "{name} in pieces of {size}");
    }
    heard
}

fn hear_in_pieces(bytes: &[u8], size: usize) -> (Vec<LineOutcome>, Option<NoAnswerReason>) {
    let mut tools = crate::testing::asks("x").tools;
    (tools[0].name, tools[0].alias) = ("Write".into(), Some("atlas_write".into()));
    let (mut lines, mut hearing, mut steps) =
        (LineBuffer::default(), AnswerParser::of(tools), Vec::new());
    for line in bytes.chunks(size).flat_map(|piece| lines.feed(piece)) {
        match line.map_err(NoAnswerReason::from).and_then(|line| hearing.read_line(line)) {
            Ok(step) => steps.extend(step),
            Err(stop) => return (steps, Some(stop)),
        }
    }
    (steps, None)
}

fn answers(steps: &[LineOutcome]) -> Vec<&AssistantMessage> {
    let mut answers = Vec::new();
    for step in steps {
        if let LineOutcome::Done(answer) = step {
            answers.push(answer);
        }
    }
    answers
}

fn text(answer: &AssistantMessage) -> String {
    answer.content.iter().filter_map(ContentBlock::as_text).collect()
}

fn code(stop: Option<NoAnswerReason>) -> &'static str {
    match stop {
        Some(NoAnswerReason::Failed(error)) => error.code(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_text_is_told_piece_by_piece_and_ends_with_the_result() {
    let (steps, stop) = read_line("text");
    let expected = |text: &str| LineOutcome::Tell(AnswerDelta::Text(text.into()));
    assert_eq!((&steps[..2], stop), (&[expected("Hello "), expected("there.")][..], None));
    assert_eq!(steps.len(), 3);
    let answer = answers(&steps)[0];
    assert_eq!(
        (text(answer).as_str(), &answer.stop_reason),
        ("Hello there.", &StopReason::EndTurn)
    );
    assert_eq!((answer.usage.input_tokens, answer.usage.output_tokens), (10, 20));
    assert_eq!(answer.model, "claude-opus-5-5");
}

#[test]
fn where_the_model_calls_tools_the_answer_is_complete_and_the_next_one_begins() {
    let (steps, stop) = read_line("tool-use");
    assert_eq!(stop, None);
    let [first, second] = answers(&steps)[..] else { panic!("{steps:?}") };
    let input = serde_json::json!({"new_text": "Shorter."});
    assert_eq!(first.content[1], ContentBlock::tool_use("toolu_1", "update_selection", input));
    assert_eq!(first.stop_reason, StopReason::ToolUse);
    assert_eq!(text(second), "Done.");
    assert_eq!(second.usage.output_tokens, 20, "each answer has its own count");
    let call = LineOutcome::Tell(AnswerDelta::ToolUse {
        index: 1,
        id: "toolu_1".into(),
        name: "update_selection".into(),
    });
    assert!(steps.contains(&call));
}

#[test]
fn calls_of_one_message_are_one_answer() {
    let (steps, _) = read_line("parallel-calls");
    let names: Vec<_> = answers(&steps)[0]
        .content
        .iter()
        .filter_map(|block| match block {
            ContentBlock::ToolUse { id, name, .. } => Some((id.as_str(), name.as_str())),
            _ => None,
        })
        .collect();
    assert_eq!(names, [("toolu_1", "update_selection"), ("toolu_2", "Write")]);
}

#[test]
fn a_native_tool_never_passes_for_one_of_ours() {
    let (steps, stop) = read_line("native-call");
    let [first, second] = answers(&steps)[..] else { panic!("{steps:?}") };
    assert!(
        matches!(&first.content[0], ContentBlock::ToolUse { name, .. } if name == "claude:Write")
    );
    assert_eq!((text(second).as_str(), stop), ("Done.", None));
}

#[test]
fn a_cut_message_is_taken_back_and_a_continued_one_goes_on() {
    let (steps, stop) = read_line("cut-and-asked-again");
    assert!(steps.contains(&LineOutcome::Again("First.".into())), "{steps:?}");
    let answer = answers(&steps)[0];
    assert_eq!((text(answer).as_str(), stop), ("First. Second.", None));
    // Three messages, the cut one included.
    assert_eq!((answer.usage.input_tokens, answer.usage.output_tokens), (30, 41));
}

#[test]
fn a_call_that_was_cut_is_none() {
    let (steps, stop) = read_line("call-cut-by-max-tokens");
    let [answer] = answers(&steps)[..] else { panic!("{steps:?}") };
    assert_eq!((text(answer).as_str(), stop), ("Done.", None));
    assert!(answer.content.iter().all(|it| it.as_text().is_some()));
}

#[test]
fn a_refusal_is_an_answer() {
    let (steps, stop) = read_line("refusal");
    assert_eq!((&answers(&steps)[0].stop_reason, stop), (&StopReason::Refusal, None));
}

#[test]
fn failures_have_a_code_and_say_what_to_do() {
    for (name, expected, words) in [
        ("not-logged-in", "claude_not_logged_in", "run `claude` there"),
        ("invalid-key", "claude_not_logged_in", "401"),
        ("api-error", "claude_failed", "529 Overloaded"),
        ("native-tools-on", "claude_unsafe", "a tool of its own, Read"),
        ("other-mode", "claude_unsafe", "bypassPermissions"),
        ("other-server", "claude_unsafe", "mail"),
        ("no-init", "claude_unsafe", "what it can do"),
        ("tools-not-reached", "claude_failed", "could not reach"),
    ] {
        let (steps, stop) = read_line(name);
        let Some(NoAnswerReason::Failed(error)) = stop else { panic!("{name}: {stop:?}") };
        assert_eq!(error.code(), expected, "{name}");
        assert!(error.to_string().contains(words), "{name}: {error}");
        assert_eq!(answers(&steps).len(), 0, "{name}");
    }
}

#[test]
fn a_conversation_it_does_not_know_is_no_failure() {
    assert_eq!(read_line("unknown-conversation"), (Vec::new(), Some(NoAnswerReason::Thread)));
    let taken = "Error: Session ID 11111111-1111-4111-8111-111111111111 is already in use.";
    assert_eq!(ended_without_result(Some(1), taken), NoAnswerReason::Thread);
}

#[test]
fn what_is_unknown_is_left_aside() {
    let (steps, stop) = read_line("unknown-everything");
    assert_eq!((text(answers(&steps)[0]).as_str(), stop), ("Hi.", None));
}

#[test]
fn words_of_the_cli_itself_are_an_answer_when_there_is_no_other() {
    assert_eq!(text(answers(&read_line("only-a-result").0)[0]), "Conversation compacted");
}

#[test]
fn half_a_line_is_waited_for_and_a_broken_one_ends_the_answer() {
    let (steps, stop) = read_line("no-result");
    assert_eq!((answers(&steps).len(), stop), (0, None));
    let NoAnswerReason::Failed(error) = ended_without_result(None, "out of memory\n") else {
        panic!()
    };
    assert!(
        error.to_string().ends_with("by a signal before it answered: out of memory"),
        "{error}"
    );
    assert_eq!(code(read_line("broken-line").1), "claude_failed");
}

#[test]
fn a_line_without_an_end_does_not_fill_the_memory() {
    let mut lines = LineBuffer::default();
    let piece = vec![b'x'; LONGEST_LINE / 2];
    assert_eq!(lines.feed(&piece), []);
    assert_eq!(lines.feed(&piece), []);
    assert!(matches!(lines.feed(b"x")[..], [Err(_)]));
}

#[test]
fn a_huge_line_is_a_line() {
    let text = "ä".repeat(2 * 1024 * 1024);
    let line = serde_json::json!({"type": "result", "subtype": "success", "result": text});
    let heard = LineBuffer::default().feed(format!("{line}\n").as_bytes());
    assert!(matches!(&heard[..], [Ok(CliLine::Result(_))]));
}
