//! A model provider in the story's own hands: speaks the streamed Messages API and chat
//! completions, and keeps what it was asked.
//!
//! The scripted model cannot show what a model is sent; this one can.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use serde_json::{Value, json};

/// The provider.
pub struct Provider {
    /// Its address.
    pub url: String,
    asked: Arc<(Mutex<Vec<Value>>, Condvar)>,
    counted: Arc<Mutex<Vec<Value>>>,
    answers: Arc<Mutex<Vec<Value>>>,
}

impl Provider {
    /// Answers each call with the next of these content blocks, the last one for ever. A call that
    /// has no `id` gets one. Instead of blocks a `status`, with further `headers` and a `body`.
    pub fn answering(answers: Vec<Value>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
        let url = format!("http://{}", listener.local_addr().expect("it is bound"));
        let asked: Arc<(Mutex<Vec<Value>>, Condvar)> = Arc::default();
        let counted: Arc<Mutex<Vec<Value>>> = Arc::default();
        let answers = Arc::new(Mutex::new(answers));
        let (kept, counts, known) =
            (Arc::clone(&asked), Arc::clone(&counted), Arc::clone(&answers));
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let call = kept.0.lock().len();
                let answer = {
                    let answers = known.lock();
                    answers[call.min(answers.len() - 1)].clone()
                };
                let Some(body) = serve(stream, &answer, &counts) else { continue };
                kept.0.lock().push(body);
                kept.1.notify_all();
            }
        });
        Self { url, asked, counted, answers }
    }

    /// From now on it answers with these; a story may have to know first what its documents are
    /// called.
    pub fn plays(&self, answers: Vec<Value>) {
        *self.answers.lock() = answers;
    }

    /// Waits for call number `call` (from 1); the body that was sent.
    pub fn asked(&self, call: usize) -> Value {
        let (lock, more) = &*self.asked;
        let mut asked = lock.lock();
        let few = |asked: &mut Vec<Value>| asked.len() < call;
        let waited = more.wait_while_for(&mut asked, few, Duration::from_secs(30));
        assert!(!waited.timed_out(), "the model was called {} times, not {call}", asked.len());
        asked[call - 1].clone()
    }

    /// Everything it was asked so far.
    pub fn all_asked(&self) -> Vec<Value> {
        self.asked.0.lock().clone()
    }

    /// The requests whose tokens it was to count.
    pub fn counted(&self) -> Vec<Value> {
        self.counted.lock().clone()
    }

    /// All text of the newest message of call number `call`.
    pub fn newest_text(&self, call: usize) -> String {
        let body = self.asked(call);
        let last = body["messages"]
            .as_array()
            .and_then(|messages| messages.last())
            .cloned()
            .unwrap_or_default();
        texts(&last["content"])
    }
}

/// All text in a message's content, tool results included, joined by line breaks.
pub fn texts(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks.iter().map(texts).collect::<Vec<_>>().join("\n"),
        Value::Object(block) => {
            block.get("text").or_else(|| block.get("content")).map(texts).unwrap_or_default()
        }
        _ => String::new(),
    }
}

const JSON: &str = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n";

fn serve(stream: TcpStream, answer: &Value, counts: &Mutex<Vec<Value>>) -> Option<Value> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut length = 0;
    let mut first = String::new();
    reader.read_line(&mut first).ok()?;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    if first.starts_with("GET ") {
        let list = json!({"object": "list", "data": [{"id": "story-embed"}, {"id": "story:8b"}]});
        write!(&stream, "{JSON}{list}").ok()?;
        return None;
    }
    let body: Value = serde_json::from_slice(&body).ok()?;
    if first.contains("/count_tokens") {
        counts.lock().push(body);
        write!(&stream, "{JSON}{}", json!({"input_tokens": 7})).ok()?;
        return None;
    }
    if let Some(status) = answer["status"].as_u64() {
        let headers = answer["headers"].as_str().unwrap_or_default();
        let kind = "content-type: application/json\r\nconnection: close";
        write!(&stream, "HTTP/1.1 {status} No\r\n{kind}\r\n{headers}\r\n{}", answer["body"])
            .ok()?;
        return Some(body);
    }
    let events =
        if first.contains("/chat/completions") { chunks(answer) } else { events(answer, &body) };
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nrequest-id: req_story\r\nconnection: close\r\n\r\n";
    let mut stream = stream;
    stream.write_all((head.to_owned() + &events).as_bytes()).ok()?;
    Some(body)
}

/// Content blocks as the stream of a local server: calls without index or identifier, whole, and
/// `stop` for a reason.
fn chunks(blocks: &Value) -> String {
    let chunk = |delta: Value, reason: Value| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": reason});
        format!("data: {}\n\n", json!({"model": "story", "choices": [choice]}))
    };
    let block = |block: &Value| {
        if block["type"] == "tool_use" {
            let function = json!({"name": block["name"], "arguments": block["input"]});
            json!({"tool_calls": [{"type": "function", "function": function}]})
        } else {
            json!({"role": "assistant", "content": block["text"]})
        }
    };
    let blocks = blocks.as_array().into_iter().flatten();
    let mut stream: String = blocks.map(|it| chunk(block(it), Value::Null)).collect();
    stream.push_str(&chunk(json!({}), json!("stop")));
    stream + "data: [DONE]\n\n"
}

/// Content blocks as the event stream of the Messages API.
fn events(blocks: &Value, asked: &Value) -> String {
    let usage = json!({"input_tokens": 1, "output_tokens": 1});
    let message = json!({"id": "msg_story", "type": "message", "role": "assistant", "content": [], "model": asked["model"],
        "stop_reason": null, "stop_sequence": null, "usage": usage});
    let mut events = vec![json!({"type": "message_start", "message": message})];
    let mut stop = "end_turn";
    for (index, block) in blocks.as_array().into_iter().flatten().enumerate() {
        let (start, delta) = if block["type"] == "tool_use" {
            stop = "tool_use";
            let id =
                block["id"].as_str().map_or_else(|| format!("toolu_story{index}"), str::to_owned);
            let start = json!({"type": "tool_use", "id": id, "name": block["name"], "input": {}});
            (start, json!({"type": "input_json_delta", "partial_json": block["input"].to_string()}))
        } else if block["type"] == "thinking" {
            let signed = json!({"type": "signature_delta", "signature": "c2VhbA=="});
            let start = json!({"type": "thinking", "thinking": block["thinking"], "signature": ""});
            (start, signed)
        } else {
            (
                json!({"type": "text", "text": ""}),
                json!({"type": "text_delta", "text": block["text"]}),
            )
        };
        events.push(json!({"type": "content_block_start", "index": index, "content_block": start}));
        events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    events.push(json!({"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": null}, "usage": usage}));
    events.push(json!({"type": "message_stop"}));
    let line = |event: &Value| {
        format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default())
    };
    events.iter().map(line).collect()
}
