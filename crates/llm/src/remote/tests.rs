use futures_util::FutureExt as _;
use parking_lot::Mutex;
use serde_json::json;

use super::*;
use crate::messages_api::{ContentBlock, StopReason, TokenUsage, ToolChoice};
use crate::testing::{asks, collect_answer};
use crate::{CachePolicy, FailedTryUsage, ModelDocument, ModelThread, RetryMode};

fn answer() -> AssistantMessage {
    AssistantMessage {
        content: vec![
            ContentBlock::Thinking { thinking: "Hm.".into(), signature: "s".into() },
            ContentBlock::text("Let me see.\n\u{2028}"),
            ContentBlock::tool_use("toolu_1", "update_selection", json!({"new_text": "x"})),
        ],
        stop_reason: StopReason::ToolUse,
        stop_sequence: Some("END".into()),
        stop_details: Some(json!({"category": "none"})),
        usage: TokenUsage { input_tokens: 1, output_tokens: 2, ..TokenUsage::default() },
        model: "claude-story".into(),
        calls_left_out: 1,
        notice: Some("Only a part was read.".into()),
    }
}

fn lost() -> FailedTryUsage {
    let usage = TokenUsage { cache_read_input_tokens: 7, ..TokenUsage::default() };
    FailedTryUsage { model: "claude-story".into(), usage }
}

/// One delta of each kind; the match fails to compile when a kind is added.
fn deltas() -> Vec<AnswerDelta> {
    let all = vec![
        AnswerDelta::Text("One\ntwo".into()),
        AnswerDelta::NextText(String::new()),
        AnswerDelta::ToolUse { index: 2, id: "toolu_1".into(), name: "Write".into() },
        AnswerDelta::ToolInput { index: 2, partial_json: "{\"a".into() },
        AnswerDelta::Block(ContentBlock::RedactedThinking { data: "x".into() }),
        AnswerDelta::Block(ContentBlock::Other(json!({"type": "image", "source": {}}))),
        AnswerDelta::Reset,
        AnswerDelta::Lost(lost()),
        AnswerDelta::Done(answer()),
    ];
    for delta in &all {
        match delta {
            AnswerDelta::Text(_)
            | AnswerDelta::NextText(_)
            | AnswerDelta::ToolUse { .. }
            | AnswerDelta::ToolInput { .. }
            | AnswerDelta::Block(_)
            | AnswerDelta::Reset
            | AnswerDelta::Lost(_)
            | AnswerDelta::Done(_) => {}
        }
    }
    all
}

/// One error of each kind; the match fails to compile when a kind is added.
fn errors() -> Vec<ModelError> {
    let message = || "Words.\n".to_owned();
    let api = |status, retry_after, details| ModelError::Api {
        status,
        kind: "overloaded_error".into(),
        message: message(),
        retry_after,
        retryable: true,
        details,
    };
    let all = vec![
        ModelError::Cancelled,
        api(Some(529), Some(Duration::from_millis(1_500)), Some(Box::new(json!({"a": 1})))),
        api(None, None, None),
        ModelError::Network { message: message() },
        ModelError::CutOff,
        ModelError::Malformed { message: message() },
        ModelError::NoTurn { request: message() },
        ModelError::Program { code: "claude_failed".into(), message: message() },
        ModelError::Internal { message: message() },
    ];
    for error in &all {
        match error {
            ModelError::Cancelled
            | ModelError::Api { .. }
            | ModelError::Network { .. }
            | ModelError::CutOff
            | ModelError::Malformed { .. }
            | ModelError::NoTurn { .. }
            | ModelError::Program { .. }
            | ModelError::Internal { .. } => {}
        }
    }
    all
}

#[test]
fn every_delta_and_every_error_is_read_as_it_was_written() {
    let items = deltas().into_iter().map(Ok).chain(errors().into_iter().map(Err));
    for item in items {
        let line = write_line(item.clone());
        let (end, line) = line.split_last().expect("a line");
        assert_eq!((*end, line.contains(&b'\n')), (b'\n', false), "{item:?} is one line");
        let read = match read_line(line).expect("it can be read").expect("it says something") {
            AnswerLine::Delta(delta) => Ok(delta),
            AnswerLine::Error(error) => Err(error),
        };
        assert_eq!(read, item);
    }
}

#[test]
fn a_request_is_read_as_it_was_written() {
    let request = ModelRequest {
        native: vec![json!({"type": "bash_20250124"})],
        tool_choice: Some(ToolChoice::Any { disable_parallel_tool_use: true }),
        stop_sequences: vec!["END".into()],
        more: json!({"thinking": {"type": "adaptive"}}).as_object().cloned().expect("an object"),
        tries: RetryMode::Once,
        caching: CachePolicy { system: None, ..CachePolicy::default() },
        thread: Some(ModelThread { id: "b".into(), from: Some("a".into()), begun: true }),
        document: Some(ModelDocument { text: "Text".into(), selection: None }),
        ..asks("Fix it")
    };
    let written = serde_json::to_vec(&request).expect("it can be written");
    let read: ModelRequest = serde_json::from_slice(&written).expect("it can be read");
    assert_eq!(read, request);
}

/// Returns a model that is answered by these pieces, and what it was sent.
fn answered_by(pieces: Vec<std::io::Result<Bytes>>) -> (RemoteModel, Arc<Mutex<Vec<Bytes>>>) {
    let sent = Arc::<Mutex<Vec<Bytes>>>::default();
    let (sending, pieces) = (Arc::clone(&sent), Mutex::new(Some(pieces)));
    let open: OpenAnswer = Arc::new(move |request| {
        sending.lock().push(request);
        let pieces = pieces.lock().take().expect("it is asked once");
        async { Ok(stream::iter(pieces).chain(stream::pending()).boxed()) }.boxed()
    });
    (RemoteModel::new("claude-cli:opus", open), sent)
}

#[tokio::test]
async fn an_answer_comes_as_the_model_gave_it_however_it_is_cut() {
    let all: Vec<_> = deltas().into_iter().map(Ok).collect();
    let lines: Vec<_> = answer_lines(stream::iter(all).boxed()).collect().await;
    let bytes = lines.concat();
    for size in [1, 7, bytes.len()] {
        let pieces = bytes.chunks(size).map(|piece| Ok(Bytes::copy_from_slice(piece))).collect();
        let (model, sent) = answered_by(pieces);
        let got = collect_answer(&model, asks("Fix it")).await;
        assert_eq!(got.end, Ok(answer()));
        let told = deltas();
        let told =
            told.iter().filter(|it| !matches!(it, AnswerDelta::Done(_) | AnswerDelta::Lost(_)));
        assert!(got.deltas.iter().eq(told), "{:?}", got.deltas);
        let sent = sent.lock();
        let asked: ModelRequest = serde_json::from_slice(&sent[0]).expect("a request");
        assert_eq!((asked.model.as_str(), asked.document), ("opus", None));
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_ends_early_or_falls_silent_or_makes_no_sense_is_an_error() {
    let text = || Ok(write_line(Ok(AnswerDelta::Text("Let".into()))));
    let broken = || Err(std::io::Error::other("reset"));
    for (pieces, end) in [
        (vec![text()], ModelError::CutOff),
        (vec![text(), broken()], ModelError::CutOff),
        (vec![Ok(write_line(Err(ModelError::Cancelled)))], ModelError::Cancelled),
    ] {
        let (model, _) = answered_by(pieces);
        assert_eq!(collect_answer(&model, asks("Fix it")).await.end, Err(end));
    }
    for nonsense in ["{}\n", "{\"delta\":{\"unknown\":1}}\n", "half", "\u{0}\n"] {
        let (model, _) = answered_by(vec![Ok(Bytes::from_static(nonsense.as_bytes()))]);
        let end = collect_answer(&model, asks("Fix it")).await.end;
        let is_told = matches!(end, Err(ModelError::Malformed { .. } | ModelError::CutOff));
        assert!(is_told, "{nonsense:?}: {end:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn silence_is_filled_with_empty_lines() {
    let late = stream::once(async {
        tokio::time::sleep(3 * SILENCE).await;
        Ok(AnswerDelta::Done(answer()))
    });
    let lines: Vec<_> = answer_lines(late.boxed()).collect().await;
    assert!(lines.len() > 4 && lines[..lines.len() - 1].iter().all(|line| *line == "\n"));
    let (model, _) = answered_by(lines.into_iter().map(Ok).collect());
    assert_eq!(collect_answer(&model, asks("Fix it")).await.end, Ok(answer()));
}

#[test]
fn a_model_is_offered_once_somebody_has_it() {
    let (model, _) = answered_by(Vec::new());
    assert!(!model.is_available());
    assert!(model.set_available(true) && !model.set_available(true) && model.is_available());
    assert!(model.set_available(false) && !model.is_available());
}
