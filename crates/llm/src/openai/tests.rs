use std::time::Duration;

use serde_json::{Value, json};

use super::*;
use crate::AnswerDelta;
use crate::messages_api::StopReason;
use crate::testing::{
    MockProvider, asks, collect_answer, json_answer, refusal, stream, with_results,
};

fn settings(provider: &MockProvider) -> OpenAiSettings {
    OpenAiSettings {
        base_url: provider.url.clone(),
        api_key: None,
        model: Some("qwen3:8b".into()),
        patience: RetryPolicy { first_pause: Duration::ZERO, ..RetryPolicy::default() },
    }
}

fn model(provider: &MockProvider) -> OpenAiModel {
    OpenAiModel::new(settings(provider)).expect("a client")
}

fn text() -> Vec<u8> {
    stream("openai/plain-text")
}

fn complaint(message: &str) -> Vec<u8> {
    refusal(400, "", &json!({"error": {"message": message, "type": "BadRequest"}}).to_string())
}

#[tokio::test]
async fn the_request_is_what_every_server_takes() {
    let provider = MockProvider::answering([text()]).await;
    let recorded = collect_answer(&model(&provider), asks("Hello")).await;
    assert_eq!(recorded.text(), "Good morning 🦀.");
    assert_eq!(recorded.message().model, "m-1");
    let asked = provider.asked().await.pop().expect("one request");
    assert!(asked.head.starts_with("post /v1/chat/completions http/1.1"), "{}", asked.head);
    assert!(!asked.head.contains("authorization"), "no key, no header: {}", asked.head);
    let tool = |name| {
        let function = json!({"name": name, "description": format!("{name}."), "parameters": {"type": "object"}});
        json!({"type": "function", "function": function})
    };
    let tools = ["update_full_document", "update_selection", "respond_conversation_only"].map(tool);
    let expected = json!({
        "model": "qwen3:8b", "max_tokens": 1024, "stream": true,
        "stream_options": {"include_usage": true}, "tools": tools,
        "messages": [
            {"role": "system", "content": "You edit documents."},
            {"role": "user", "content": "Hello"},
        ],
    });
    assert_eq!(asked.body, expected);
}

#[tokio::test]
async fn a_key_is_sent_and_never_shown() {
    let provider = MockProvider::answering([refusal(401, "", r#"{"error":"bad key"}"#)]).await;
    let keyed = OpenAiSettings { api_key: Some("sk-secret".into()), ..settings(&provider) };
    let keyed = OpenAiModel::new(keyed).expect("a client");
    let error = collect_answer(&keyed, asks("Hello")).await.end.expect_err("refused");
    assert_eq!(error.to_string(), "bad key (api_error, HTTP 401)");
    assert!(!format!("{error:?}").contains("sk-secret"));
    let asked = provider.asked().await;
    assert_eq!(asked.len(), 1);
    assert!(asked[0].head.contains("authorization: bearer sk-secret"));
}

#[tokio::test]
async fn results_follow_their_calls_one_message_each() {
    let provider = MockProvider::answering([stream("openai/two-calls"), text()]).await;
    let model = model(&provider);
    let first = collect_answer(&model, asks("Read both")).await;
    assert_eq!(first.message().stop_reason, StopReason::ToolUse);
    collect_answer(&model, with_results(asks("Read both"), first.message(), "!User rejected: no"))
        .await;
    let messages = provider.asked().await[1].body["messages"].clone();
    let roles: Vec<_> = messages.as_array().expect("a list").iter().map(|it| &it["role"]).collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "tool"]);
    assert_eq!(messages[2]["tool_calls"][1]["function"]["arguments"], r#"{"file_path":"b"}"#);
    let rejected =
        json!({"role": "tool", "tool_call_id": "call_abc2", "content": "ERROR: User rejected: no"});
    assert_eq!(messages[4], rejected);
}

#[tokio::test]
async fn whatever_a_server_forgets_every_call_gets_its_answer() {
    let servers = [
        ("ollama-no-index-stop", 2),
        ("ollama-all-index-zero", 2),
        ("litellm-object-arguments", 2),
        ("vllm-new-id-in-each-piece", 1),
        ("vllm-no-arguments", 2),
        ("sglang-index-zero", 2),
        ("same-id-twice", 2),
        ("old-function-call", 1),
    ];
    for (server, calls) in servers {
        let first = stream(&format!("openai/{server}"));
        let provider = MockProvider::answering([first, text()]).await;
        let model = model(&provider);
        let recorded = collect_answer(&model, asks("Read both")).await;
        collect_answer(&model, with_results(asks("Read both"), recorded.message(), "Read.")).await;
        let messages = provider.asked().await[1].body["messages"].clone();
        let made = messages[2]["tool_calls"].as_array().cloned().expect(server);
        assert_eq!(made.len(), calls, "{server}");
        for (call, answer) in made.iter().zip(3..) {
            assert_eq!(messages[answer]["tool_call_id"], call["id"], "{server}");
            let arguments = call["function"]["arguments"].as_str().expect(server);
            assert!(serde_json::from_str::<Value>(arguments).expect(server).is_object());
        }
    }
}

#[tokio::test]
async fn what_a_server_does_not_take_is_left_out_from_then_on() {
    let provider = MockProvider::answering([
        complaint("Unrecognized request argument supplied: stream_options"),
        complaint("'max_tokens' is too large: 1024. This model's maximum context length is 512"),
        text(),
        text(),
    ])
    .await;
    let model = model(&provider);
    let recorded = collect_answer(&model, asks("Hello")).await;
    assert_eq!((recorded.text().as_str(), recorded.deltas.len()), ("Good morning 🦀.", 2));
    collect_answer(&model, asks("Hello")).await.end.expect("an answer");
    let bodies: Vec<_> = provider.asked().await.into_iter().map(|it| it.body).collect();
    let has =
        |body: &Value| (body.get("stream_options").is_some(), body.get("max_tokens").is_some());
    let sent: Vec<_> = bodies.iter().map(has).collect();
    assert_eq!(sent, [(true, true), (false, true), (false, false), (false, false)]);
}

const THINKING: &str = "Function tools with reasoning_effort are not supported for gpt-6-sol in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.";

#[tokio::test]
async fn a_model_that_takes_tools_only_without_thinking_does_not_think_from_then_on() {
    let provider = MockProvider::answering([complaint(THINKING), text(), text(), text()]).await;
    let model = model(&provider);
    let named = |name: &str| ModelRequest { model: name.into(), ..asks("Hello") };
    for name in ["gpt-6-sol", "gpt-6-sol", "gpt-4.1"] {
        collect_answer(&model, named(name)).await.end.expect("an answer");
    }
    let sent = provider.asked().await.into_iter().map(|it| it.body["reasoning_effort"].clone());
    let sent: Vec<_> = sent.collect();
    let (unsaid, none) = (Value::Null, json!("none"));
    assert_eq!(sent, [unsaid.clone(), none.clone(), none, unsaid], "others may not know the field");
}

#[tokio::test]
async fn a_model_that_takes_no_tools_at_all_says_so_instead_of_the_provider() {
    let words = "Unsupported value: 'reasoning_effort' does not support 'none' with this model. Supported values are: 'low', 'medium', 'high', and 'xhigh'.";
    let answers = [complaint(THINKING), complaint(words), complaint(words)];
    let provider = MockProvider::answering(answers).await;
    let model = model(&provider);
    for _ in 0..2 {
        let request = ModelRequest { model: "gpt-6.1-sol".into(), ..asks("Hello") };
        let error = collect_answer(&model, request).await.end.expect_err("no tools");
        assert_eq!((error.code(), error.retryable()), ("model_without_tools", false));
        let recorded = error.for_people();
        assert!(
            recorded.ends_with(": gpt-6.1-sol takes no tools on chat completions"),
            "{recorded}"
        );
    }
    assert_eq!(provider.asked().await.len(), 3, "what is known is not tried again");
}

#[tokio::test]
async fn a_model_that_thinks_aloud_is_known_from_its_first_answer_on() {
    let thinking = || stream("openai/think-end-only");
    let provider = MockProvider::answering([thinking(), thinking()]).await;
    let model = model(&provider);
    let first = collect_answer(&model, asks("Two and two?")).await;
    assert!(first.deltas.contains(&AnswerDelta::Reset));
    assert_eq!((first.text().as_str(), first.streamed_text().as_str()), ("four.", "four."));
    let second = collect_answer(&model, asks("Two and two?")).await;
    assert!(!second.deltas.contains(&AnswerDelta::Reset), "nothing to take back");
    assert_eq!(second.streamed_text(), "four.");
}

#[tokio::test]
async fn a_complaint_about_something_else_is_final() {
    let words = "registry.ollama.ai/library/gemma:2b does not support tools";
    let provider = MockProvider::answering([complaint(words)]).await;
    let error = collect_answer(&model(&provider), asks("Hello")).await.end.expect_err("refused");
    assert_eq!(error.to_string(), format!("{words} (BadRequest, HTTP 400)"));
    assert_eq!(provider.asked().await.len(), 1);
}

#[tokio::test]
async fn a_server_that_is_loading_or_breaks_off_is_asked_again() {
    let loading = r#"{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}"#;
    let provider =
        MockProvider::answering([refusal(503, "", loading), stream("openai/cut-in-words"), text()])
            .await;
    let recorded = collect_answer(&model(&provider), asks("Hello")).await;
    assert!(recorded.deltas.contains(&AnswerDelta::Reset));
    assert_eq!(recorded.streamed_text(), "Good morning 🦀.");
    assert_eq!(recorded.lost, [], "the server had counted nothing yet");
}

#[tokio::test]
async fn what_a_server_counted_before_it_broke_off_is_told() {
    let counted = json!({"choices": [], "usage": {"prompt_tokens": 20, "completion_tokens": 3}});
    let cut = [stream("openai/cut-in-words"), format!("data: {counted}\n\n").into_bytes()];
    let provider = MockProvider::answering([cut.concat(), text()]).await;
    let recorded = collect_answer(&model(&provider), asks("Hello")).await;
    assert_eq!((recorded.text().as_str(), recorded.lost), ("Good morning 🦀.", vec![(20, 3)]));
}

#[tokio::test]
async fn an_empty_purse_is_final() {
    let spent = json!({"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}});
    let provider = MockProvider::answering([refusal(429, "", &spent.to_string())]).await;
    let error = collect_answer(&model(&provider), asks("Hello")).await.end.expect_err("spent");
    assert!(!error.retryable());
    assert_eq!(provider.asked().await.len(), 1);
}

#[tokio::test]
async fn without_a_name_the_first_model_that_talks_is_asked() {
    let list = json!({"object": "list", "data": [{"id": "nomic-embed-text"}, {"id": "qwen3:8b"}]});
    let provider = MockProvider::answering([json_answer(&list), text(), text()]).await;
    let nameless = OpenAiSettings { model: None, ..settings(&provider) };
    let nameless = OpenAiModel::new(nameless).expect("a client");
    assert_eq!(nameless.name(), "openai");
    collect_answer(&nameless, asks("Hello")).await.end.expect("an answer");
    collect_answer(&nameless, asks("Hello")).await.end.expect("an answer");
    let asked = provider.asked().await;
    assert!(asked[0].head.starts_with("get /v1/models"), "{}", asked[0].head);
    assert_eq!([&asked[1].body["model"], &asked[2].body["model"]], ["qwen3:8b", "qwen3:8b"]);
}

#[tokio::test]
async fn a_server_without_models_says_so() {
    let provider = MockProvider::answering([json_answer(&json!({"models": []}))]).await;
    let nameless = OpenAiSettings { model: None, ..settings(&provider) };
    let nameless = OpenAiModel::new(nameless).expect("a client");
    let error = collect_answer(&nameless, asks("Hello")).await.end.expect_err("nobody");
    assert_eq!(error.to_string(), "the provider lists no models (not_found)");
}

#[tokio::test]
async fn a_gateway_may_answer_in_one_piece() {
    let message = json!({"role": "assistant", "content": "Good morning."});
    let whole = json!({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]});
    let provider = MockProvider::answering([json_answer(&whole)]).await;
    assert_eq!(collect_answer(&model(&provider), asks("Hello")).await.text(), "Good morning.");
}

#[test]
fn addresses_are_read_as_people_write_them() {
    let cases = [
        ("http://localhost:11434", "http://localhost:11434/v1"),
        ("http://localhost:11434/", "http://localhost:11434/v1"),
        ("http://localhost:8000/v1/", "http://localhost:8000/v1"),
        ("https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1"),
    ];
    for (written, meant) in cases {
        assert_eq!(base(written), meant);
    }
    assert_eq!(host("https://api.openai.com/v1"), "api.openai.com");
    assert_eq!(host("http://localhost:11434/v1"), "localhost");
}

#[test]
fn openai_itself_has_a_default_and_the_new_name_of_the_limit() {
    let settings = |base_url: &str| OpenAiSettings {
        base_url: base_url.into(),
        api_key: Some("k".into()),
        model: None,
        patience: RetryPolicy::default(),
    };
    let original = OpenAiModel::new(settings(DEFAULT_BASE_URL)).expect("a client");
    assert_eq!(original.name(), format!("openai:{DEFAULT_MODEL}"));
    assert_eq!(original.api.dialect.limit, OutputLimitField::MaxCompletionTokens);
    let local = OpenAiModel::new(settings("http://localhost:8000")).expect("a client");
    assert_eq!(local.api.dialect.limit, OutputLimitField::MaxTokens);
}
