use std::time::Duration;

use futures_util::StreamExt;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use super::*;
use crate::AnswerDelta;
use crate::messages_api::MessageRole;
use crate::testing::{
    MockProvider, asks, collect_answer, json_answer, read_request, refusal, stream,
};

fn model(provider: &MockProvider) -> AnthropicModel {
    AnthropicModel::new(AnthropicSettings {
        base_url: provider.url.clone(),
        api_key: "sk-secret".into(),
        model: DEFAULT_MODEL.into(),
        patience: RetryPolicy { first_pause: Duration::ZERO, ..RetryPolicy::default() },
    })
    .expect("a client")
}

fn error_body(kind: &str, message: &str) -> String {
    json!({"type": "error", "error": {"type": kind, "message": message}}).to_string()
}

fn overloaded() -> Vec<u8> {
    refusal(529, "", &error_body("overloaded_error", "Overloaded"))
}

#[tokio::test]
async fn the_request_is_what_the_api_asks_for() {
    let provider = MockProvider::answering([stream("text")]).await;
    let mut request = asks("Hello");
    request.messages.insert(0, ChatMessage { role: MessageRole::Assistant, content: vec![] });
    let recorded = collect_answer(&model(&provider), request).await;
    assert_eq!(recorded.text(), "Good morning — café 🦀.");
    let asked = provider.asked().await.pop().expect("one request");
    assert!(asked.head.starts_with("post /v1/messages http/1.1"), "{}", asked.head);
    for header in [
        "authorization: bearer sk-secret",
        "anthropic-version: 2026-10-21",
        "accept: application/json",
        "content-type: application/json",
        "user-agent: copydesk/",
    ] {
        assert!(asked.head.contains(header), "{header} in {}", asked.head);
    }
    let hour = json!({"type": "ephemeral", "ttl": "1h"});
    let tool = |name| json!({"name": name, "description": format!("{name}."), "input_schema": {"type": "object"}, "eager_input_streaming": true});
    let tools = ["update_full_document", "update_selection", "respond_conversation_only"].map(tool);
    let expected = json!({
        "model": "claude-sonnet-5-5", "max_tokens": 1024, "stream": true, "cache_control": hour,
        "system": [{"type": "text", "text": "You edit documents.", "cache_control": hour}],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Hello"}]}],
        "tools": tools,
    });
    assert_eq!(asked.body, expected);
}

#[tokio::test]
async fn a_request_without_model_system_or_limit_gets_the_defaults() {
    let provider = MockProvider::answering([stream("text")]).await;
    let request =
        ModelRequest { messages: vec![ChatMessage::user("Hello")], ..ModelRequest::default() };
    collect_answer(&model(&provider), request).await.end.expect("an answer");
    let body = provider.asked().await.pop().expect("one request").body;
    assert_eq!((&body["max_tokens"], &body["model"]), (&json!(128_000), &json!(DEFAULT_MODEL)));
    assert_eq!((body.get("system"), body.get("tools")), (None, None));
}

#[tokio::test]
async fn reasoning_goes_back_unchanged() {
    let provider = MockProvider::answering([stream("thinking"), stream("text")]).await;
    let first = collect_answer(&model(&provider), asks("Hello")).await;
    let mut request = asks("Hello");
    request.messages.push(ChatMessage::assistant(first.message().content.clone()));
    collect_answer(&model(&provider), request).await.end.expect("an answer");
    let body = &provider.asked().await[1].body;
    let thinking =
        json!({"type": "thinking", "thinking": "Two words too many.", "signature": "EqQB"});
    assert_eq!(body["messages"][1]["content"][0], thinking);
    assert_eq!(
        body["messages"][1]["content"][1],
        json!({"type": "redacted_thinking", "data": "Zm9n"})
    );
}

#[tokio::test]
async fn what_another_model_has_said_is_made_sendable() {
    let provider = MockProvider::answering([stream("text")]).await;
    let mut request = asks("Hello");
    let (id, input) = ("functions.read:0", json!("{not json"));
    request.messages.push(ChatMessage::assistant(vec![
        ContentBlock::text("\n\n"),
        ContentBlock::tool_use(id, "read", input),
    ]));
    request.messages.push(ChatMessage::results(vec![ContentBlock::tool_error(id, "Invalid")]));
    collect_answer(&model(&provider), request).await.end.expect("an answer");
    let body = &provider.asked().await[0].body;
    let call = json!({"type": "tool_use", "id": "functions_read_0", "name": "read", "input": {"invalid_json": "{not json"}});
    assert_eq!(body["messages"][1]["content"], json!([call]));
    assert_eq!(body["messages"][2]["content"][0]["tool_use_id"], "functions_read_0");
}

#[tokio::test]
async fn a_server_that_does_not_know_eager_input_is_asked_without_it_from_then_on() {
    let words = "tools.0.custom.eager_input_streaming: Extra inputs are not permitted";
    let unknown = refusal(400, "", &error_body("invalid_request_error", words));
    let provider = MockProvider::answering([unknown, stream("text"), stream("text")]).await;
    let model = model(&provider);
    collect_answer(&model, asks("Hello")).await.end.expect("an answer");
    collect_answer(&model, asks("Hello")).await.end.expect("an answer");
    let asked = provider.asked().await;
    let eager: Vec<_> =
        asked.iter().map(|it| it.body["tools"][0].get("eager_input_streaming").is_some()).collect();
    assert_eq!(eager, [true, false, false]);
}

#[tokio::test]
async fn a_provider_that_allows_fewer_output_tokens_is_asked_for_fewer() {
    let words = "max_tokens: 128000 > 32000, which is the maximum allowed number of output tokens";
    let too_many = refusal(400, "", &error_body("invalid_request_error", words));
    let provider = MockProvider::answering([too_many, stream("text")]).await;
    let request = ModelRequest { max_tokens: 0, ..asks("Hello") };
    collect_answer(&model(&provider), request).await.end.expect("an answer");
    let asked = provider.asked().await;
    let limits: Vec<_> = asked.iter().map(|it| it.body["max_tokens"].clone()).collect();
    assert_eq!(limits, [128_000, 32_000]);
}

#[tokio::test]
async fn a_server_that_takes_neither_is_asked_without_both_from_then_on() {
    let refused = |words: &str| refusal(400, "", &error_body("invalid_request_error", words));
    let provider = MockProvider::answering([
        refused("max_tokens: 128000 > 32000, which is the maximum allowed number of output tokens"),
        refused("tools.0.custom.eager_input_streaming: Extra inputs are not permitted"),
        stream("text"),
        stream("text"),
    ])
    .await;
    let model = model(&provider);
    let request = || ModelRequest { max_tokens: 0, ..asks("Hello") };
    collect_answer(&model, request()).await.end.expect("an answer");
    collect_answer(&model, request()).await.end.expect("an answer");
    let sent = provider.asked().await.into_iter().map(|it| {
        let eager = it.body["tools"][0].get("eager_input_streaming").is_some();
        (it.body["max_tokens"].as_u64().unwrap_or_default(), eager)
    });
    let sent: Vec<_> = sent.collect();
    assert_eq!(sent, [(128_000, true), (32_000, true), (32_000, false), (32_000, false)]);
}

#[tokio::test]
async fn a_long_conversation_lowers_the_limit_of_no_other() {
    let words = "input length and `max_tokens` exceed context limit: 188240 + 128000 > 200000, decrease input length or `max_tokens` and try again";
    let too_long = refusal(400, "", &error_body("invalid_request_error", words));
    let provider = MockProvider::answering([too_long, stream("text"), stream("text")]).await;
    let model = model(&provider);
    for _ in 0..2 {
        let request = ModelRequest { max_tokens: 0, ..asks("Hello") };
        collect_answer(&model, request).await.end.expect("an answer");
    }
    let asked = provider.asked().await;
    let limits: Vec<_> = asked.iter().map(|it| it.body["max_tokens"].clone()).collect();
    assert_eq!(limits, [128_000, 32_000, 128_000]);
}

#[tokio::test]
async fn a_complaint_that_stays_is_told() {
    let words = "eager_input_streaming and max_tokens: no";
    let refused = || refusal(400, "", &error_body("invalid_request_error", words));
    let provider = MockProvider::answering([refused(), refused(), refused()]).await;
    let request = ModelRequest { max_tokens: 0, ..asks("Hello") };
    let error = collect_answer(&model(&provider), request).await.end.expect_err("refused");
    assert!(error.to_string().starts_with(words), "{error}");
    assert_eq!(provider.asked().await.len(), 3);
}

#[tokio::test]
async fn calls_of_other_models_are_sent_under_names_of_their_own() {
    let provider = MockProvider::answering([stream("text")]).await;
    let mut request = asks("Hello");
    for _ in 0..2 {
        let call = ContentBlock::tool_use("call_0", "x".repeat(3_000), json!({}));
        request.messages.push(ChatMessage::assistant(vec![call]));
        request.messages.push(ChatMessage::results(vec![ContentBlock::tool_error("call_0", "No")]));
    }
    collect_answer(&model(&provider), request).await.end.expect("an answer");
    let messages = &provider.asked().await[0].body["messages"];
    assert_eq!(messages[1]["content"][0]["name"], "x".repeat(64));
    assert_eq!(messages[2]["content"][0]["tool_use_id"], "call_0");
    assert_eq!(messages[3]["content"][0]["id"], "call_0_2");
    assert_eq!(messages[4]["content"][0]["tool_use_id"], "call_0_2");
}

#[tokio::test]
async fn tokens_are_counted_of_the_request_that_would_be_sent() {
    let provider =
        MockProvider::answering([json_answer(&json!({"input_tokens": 14_921})), stream("text")])
            .await;
    let model = model(&provider);
    assert_eq!(model.count(asks("Hello")).await, Ok(Some(14_921)));
    collect_answer(&model, asks("Hello")).await.end.expect("an answer");
    let asked = provider.asked().await;
    assert!(asked[0].head.starts_with("post /v1/messages/count_tokens http/1.1"));
    let mut sent = asked[1].body.clone();
    for only_generating in ["max_tokens", "stream"] {
        sent.as_object_mut().expect("an object").remove(only_generating);
    }
    assert_eq!(asked[0].body, sent);
}

#[tokio::test]
async fn the_models_that_are_not_retired_are_listed() {
    let entry =
        |id: &str, lifecycle: &str| json!({"type": "model", "id": id, "lifecycle": lifecycle});
    let list = json!({"data": [entry("claude-b", "active"), entry("claude-a", "retired"), {"id": "claude-c"}]});
    let provider = MockProvider::answering([json_answer(&list)]).await;
    assert_eq!(model(&provider).list().await, Ok(vec!["claude-b".into(), "claude-c".into()]));
    let asked = provider.asked().await;
    assert!(asked[0].head.starts_with("get /v1/models?limit=100 http/1.1"));
    assert!(asked[0].head.contains("anthropic-version: 2026-10-21"));
}

#[tokio::test]
async fn an_overloaded_provider_is_asked_again_without_a_word() {
    let after = refusal(529, "retry-after-ms: 1\r\n", &error_body("overloaded_error", "Full"));
    let provider = MockProvider::answering([after, overloaded(), stream("text")]).await;
    let recorded = collect_answer(&model(&provider), asks("Hello")).await;
    assert_eq!(recorded.streamed_text(), "Good morning — café 🦀.");
    assert!(!recorded.deltas.contains(&AnswerDelta::Reset));
    let asked = provider.asked().await;
    assert_eq!((&asked[0].body, &asked[1].body), (&asked[1].body, &asked[2].body));
}

#[tokio::test]
async fn patience_ends_after_three_tries() {
    let provider = MockProvider::answering([overloaded(), overloaded(), overloaded()]).await;
    let recorded = collect_answer(&model(&provider), asks("Hello")).await;
    let error = recorded.end.expect_err("overloaded");
    assert_eq!(error.to_string(), "Overloaded (overloaded_error, HTTP 529)");
    assert_eq!(provider.asked().await.len(), 3);
}

#[tokio::test]
async fn an_answer_that_breaks_after_its_first_words_starts_again() {
    let provider = MockProvider::answering([
        stream("cut-in-text"),
        stream("error-mid-stream"),
        stream("text"),
    ])
    .await;
    let recorded = collect_answer(&model(&provider), asks("Hello")).await;
    let text = |piece: &str| AnswerDelta::Text(piece.into());
    let again = [text("Half a "), AnswerDelta::Reset, text("Half a "), AnswerDelta::Reset];
    assert_eq!(recorded.deltas[..4], again);
    assert_eq!(recorded.streamed_text(), recorded.text());
    assert_eq!(recorded.text(), "Good morning — café 🦀.");
    assert_eq!(recorded.lost, [(812, 1), (812, 1)], "what was used in vain is known");
}

#[tokio::test]
async fn an_error_before_the_first_words_is_not_seen() {
    let provider = MockProvider::answering([stream("error-first"), stream("text")]).await;
    let recorded = collect_answer(&model(&provider), asks("Hello")).await;
    assert_eq!(recorded.deltas.first(), Some(&AnswerDelta::Text("Good morning — ".into())));
    assert_eq!(provider.asked().await.len(), 2);
}

#[tokio::test]
async fn a_wrong_key_is_final_and_not_repeated_in_the_error() {
    let body = error_body("authentication_error", "invalid bearer token");
    let provider = MockProvider::answering([refusal(401, "", &body)]).await;
    let error = collect_answer(&model(&provider), asks("Hello")).await.end.expect_err("refused");
    assert_eq!(error.to_string(), "invalid bearer token (authentication_error, HTTP 401)");
    assert!(!format!("{error:?}").contains("sk-secret"));
    assert_eq!(provider.asked().await.len(), 1);
}

#[tokio::test]
async fn the_provider_has_the_last_word_on_retries() {
    let no = refusal(529, "x-should-retry: false\r\n", &error_body("overloaded_error", "No"));
    let provider = MockProvider::answering([no]).await;
    assert!(collect_answer(&model(&provider), asks("Hello")).await.end.is_err());
    assert_eq!(provider.asked().await.len(), 1);

    let yes = refusal(400, "x-should-retry: true\r\n", &error_body("api_error", "Again"));
    let provider = MockProvider::answering([yes, stream("text")]).await;
    assert!(collect_answer(&model(&provider), asks("Hello")).await.end.is_ok());

    let spent = json!({"type": "error", "error": {"type": "rate_limit_error", "message": "Spent",
        "details": {"error_code": "enforced_spend_limit_reached"}}});
    let provider = MockProvider::answering([refusal(429, "", &spent.to_string())]).await;
    let error = collect_answer(&model(&provider), asks("Hello")).await.end.expect_err("spent");
    assert!(!error.retryable());
}

#[tokio::test]
async fn a_long_wait_is_told_instead_of_waited_for() {
    let headers = "retry-after: 3600\r\n";
    let limit = refusal(429, headers, &error_body("rate_limit_error", "Slow down"));
    let provider = MockProvider::answering([limit]).await;
    let error = collect_answer(&model(&provider), asks("Hello")).await.end.expect_err("an error");
    assert_eq!(error.retry_after(), Some(Duration::from_hours(1)));
}

#[tokio::test]
async fn pages_that_are_no_answers_are_quoted_briefly() {
    let page = format!("<html>\n<h1>502 Bad\nGateway</h1>{}", "x".repeat(500));
    let bad_gateway = || refusal(502, "", &page);
    let provider = MockProvider::answering([bad_gateway(), bad_gateway(), bad_gateway()]).await;
    let error = collect_answer(&model(&provider), asks("Hello")).await.end.expect_err("no answer");
    assert!(error.to_string().starts_with("<html> <h1>502 Bad Gateway</h1>xxx"), "{error}");
    assert!(error.to_string().len() < 250);

    let page = || b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 0\r\n\r\n".into();
    let provider = MockProvider::answering([page(), page(), page()]).await;
    let error = collect_answer(&model(&provider), asks("Hello")).await.end.expect_err("no answer");
    let words = "the model's answer cannot be read: text/html instead of a stream of events";
    assert_eq!(error.to_string(), words);
}

#[tokio::test]
async fn no_provider_at_all_is_said_with_its_cause() {
    let provider = MockProvider::answering([]).await;
    let model = model(&provider);
    provider.asked().await;
    let error = collect_answer(&model, asks("Hello")).await.end.expect_err("no one there");
    assert!(matches!(&error, ModelError::Network { message } if message.contains("refused")));
}

#[tokio::test]
async fn cancelling_closes_the_connection_at_once() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let base_url = format!("http://{}", listener.local_addr().expect("an address"));
    let (closed, was_closed) = oneshot::channel();
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.expect("a connection");
        read_request(&mut socket).await;
        let unfinished = stream("cut-in-text");
        socket.write_all(&unfinished).await.expect("the client listens");
        // Nothing more is said and the connection stays open, until the client closes it.
        closed.send(socket.read(&mut [0]).await.unwrap_or(0)).expect("the test waits");
    });
    let settings = AnthropicSettings {
        base_url,
        api_key: "k".into(),
        model: "m".into(),
        patience: RetryPolicy::default(),
    };
    let cancel = CancellationToken::new();
    let model = AnthropicModel::new(settings).expect("a client");
    let mut answer = model.stream(asks("Hello"), cancel.clone());
    assert_eq!(answer.next().await, Some(Ok(AnswerDelta::Text("Half a ".into()))));
    cancel.cancel();
    let Some(Ok(AnswerDelta::Lost(lost))) = answer.next().await else { panic!("it was begun") };
    assert_eq!((lost.model.as_str(), lost.usage.input_tokens), (DEFAULT_MODEL, 812));
    assert_eq!(answer.next().await, Some(Err(ModelError::Cancelled)));
    assert_eq!(answer.next().await, None);
    assert_eq!(was_closed.await, Ok(0), "the provider sees the end of the connection");
}

#[tokio::test]
async fn a_base_url_may_end_in_v1_and_a_key_must_fit_in_a_header() {
    let settings = |base_url: &str, api_key: &str| AnthropicSettings {
        base_url: base_url.into(),
        api_key: api_key.into(),
        model: "m".into(),
        patience: RetryPolicy::default(),
    };
    for base in ["https://a.example", "https://a.example/", "https://a.example/v1/"] {
        let model = AnthropicModel::new(settings(base, "k")).expect("a client");
        assert_eq!(model.api.base, "https://a.example/v1");
        assert_eq!(model.name(), "anthropic:m");
    }
    let error = AnthropicModel::new(settings("https://a.example", "se\ncret")).err().expect("no");
    assert!(!error.to_string().contains("cret"), "{error}");
}

/// Returns the tokens of every try in vain.
async fn tries_in_vain(model: &AnthropicModel) -> Vec<u64> {
    let answer = model.stream(asks("Hello"), CancellationToken::new());
    let lost = answer.filter_map(|delta| async {
        let Ok(AnswerDelta::Lost(lost)) = delta else { return None };
        assert_eq!(lost.model, DEFAULT_MODEL);
        Some(lost.usage.sent())
    });
    lost.collect().await
}

#[tokio::test]
async fn a_request_that_has_left_is_lost_unless_the_provider_refuses_it() {
    let silent = || b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n".to_vec();
    let provider = MockProvider::answering([silent(), silent(), silent()]).await;
    assert_eq!(tries_in_vain(&model(&provider)).await, [0, 0, 0], "each try was sent");
    let provider = MockProvider::answering([overloaded(), silent(), overloaded()]).await;
    assert_eq!(tries_in_vain(&model(&provider)).await, [0]);
    let refused = refusal(400, "", &error_body("invalid_request_error", "No"));
    let provider = MockProvider::answering([refused]).await;
    assert!(tries_in_vain(&model(&provider)).await.is_empty());
    let provider = MockProvider::answering([]).await;
    let model = model(&provider);
    provider.asked().await;
    assert!(tries_in_vain(&model).await.is_empty(), "nothing is there");
}

#[tokio::test]
async fn hanging_up_before_the_first_word_loses_the_request() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let base_url = format!("http://{}", listener.local_addr().expect("an address"));
    let (arrived, has_arrived) = oneshot::channel();
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.expect("a connection");
        read_request(&mut socket).await;
        arrived.send(()).expect("the test waits");
        drop(socket.read(&mut [0]).await);
    });
    let (api_key, model, patience) = ("k".into(), DEFAULT_MODEL.into(), RetryPolicy::default());
    let settings = AnthropicSettings { base_url, api_key, model, patience };
    let cancel = CancellationToken::new();
    let model = AnthropicModel::new(settings).expect("a client");
    let mut answer = model.stream(asks("Hello"), cancel.clone());
    tokio::select! {
        early = answer.next() => panic!("nothing was said: {early:?}"),
        arrived = has_arrived => arrived.expect("the provider has it"),
    }
    cancel.cancel();
    let Some(Ok(AnswerDelta::Lost(lost))) = answer.next().await else { panic!("it was sent") };
    assert_eq!(lost.usage.sent(), 0, "how long it is was not said");
    assert_eq!(answer.next().await, Some(Err(ModelError::Cancelled)));
}
