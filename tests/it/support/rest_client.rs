//! A program that works by REST: JSON in, JSON out, with a person's token.

use serde_json::Value;

use super::TestServer;
use super::http::{Response, ask, send, send_bytes};

/// A program with a token.
pub struct RestClient {
    address: String,
    bearer: String,
}

/// Answer to a request.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    /// `null` where there was none.
    pub body: Value,
}

impl RestClient {
    pub fn new(copydesk: &TestServer, token: &str) -> Self {
        Self { address: copydesk.address().to_owned(), bearer: format!("Bearer {token}") }
    }

    /// Asks with these headers besides the usual ones; an empty body is none.
    pub fn says(&self, request: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let usual = [("Host", self.address.as_str()), ("Authorization", self.bearer.as_str())];
        let mut headers = [&usual, headers].concat();
        let Response { status, head, body, .. } = if body.is_empty() {
            ask(&self.address, request, &headers)
        } else {
            if !headers.iter().any(|(name, _)| *name == "Content-Type") {
                headers.push(("Content-Type", "application/json"));
            }
            send(&self.address, request, &headers, body)
        };
        Answer { status, head, body: serde_json::from_str(&body).unwrap_or(Value::Null) }
    }

    /// `GET /api/v1/…`
    pub fn gets(&self, path: &str) -> Answer {
        self.says(&format!("GET /api/v1/{path}"), &[], "")
    }

    /// `POST /api/v1/…`
    pub fn posts(&self, path: &str, body: &Value) -> Answer {
        self.says(&format!("POST /api/v1/{path}"), &[], &body.to_string())
    }

    /// `POST /api/v1/…` with a file as the body.
    pub fn posts_file(&self, path: &str, headers: &[(&str, &str)], file: &[u8]) -> Answer {
        let usual = [("Host", self.address.as_str()), ("Authorization", self.bearer.as_str())];
        let headers = [&usual, headers].concat();
        let request = format!("POST /api/v1/{path}");
        let Response { status, head, body, .. } =
            send_bytes(&self.address, &request, &headers, file);
        Answer { status, head, body: serde_json::from_str(&body).unwrap_or(Value::Null) }
    }

    /// `DELETE /api/v1/…`
    pub fn deletes(&self, path: &str) -> Answer {
        self.says(&format!("DELETE /api/v1/{path}"), &[], "")
    }

    /// The same as `posts` with a key.
    pub fn posts_once(&self, key: &str, path: &str, body: &Value) -> Answer {
        let key = [("Idempotency-Key", key)];
        self.says(&format!("POST /api/v1/{path}"), &key, &body.to_string())
    }
}

impl Answer {
    /// Returns the body of the answer; the story fails if the request was refused.
    #[track_caller]
    pub fn ok(self) -> Value {
        assert!((200..300).contains(&self.status), "refused: {self:?}");
        self.body
    }

    /// The story fails unless it was refused like this.
    #[track_caller]
    pub fn refused_with(&self, status: u16, code: &str) {
        assert_eq!((self.status, self.body["code"].as_str()), (status, Some(code)), "{self:?}");
        assert!(self.head.contains("content-type: application/problem+json"), "{}", self.head);
        assert_eq!(self.body["status"], status);
    }
}
