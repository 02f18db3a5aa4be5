//! Client of the socket.io transport over a WebSocket, as the editor's is: for `copydesk bench` and
//! the benchmarks.

use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use reqwest::header::{CONNECTION, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_VERSION, UPGRADE};
use reqwest::{ClientBuilder, Method, StatusCode, Upgraded};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout, timeout_at};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::client::generate_key;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Message, Utf8Bytes};

use super::{ANSWER_TIMEOUT, ClientError, ClientResult, ServerClient, TrustedAuthorities};

/// Event with which the server greets a client that it has admitted.
const GREETING: &str = "sessionRegistered";

/// Longest time without a message: the server pings every 25 s.
const SILENCE: Duration = Duration::from_mins(1);

/// Address of a server's socket.io transport.
#[derive(Clone, Debug)]
pub struct SocketIoServer {
    server: ServerClient,
}

/// Connected client, which the server has admitted.
#[derive(Debug)]
pub struct SocketIoClient {
    stream: WebSocketStream<Upgraded>,
    /// Address of the server, for errors.
    address: String,
    /// Number of the last event that wants an acknowledgement.
    last_ack: u64,
    /// `true` from a ping until its pong was sent.
    is_pong_due: bool,
    /// Time at which something was read last.
    heard: Instant,
    greeting: Value,
}

/// Event or acknowledgement that a client has received.
#[derive(Clone, Debug)]
pub struct SocketIoPacket {
    /// Time at which it was read.
    pub at: Instant,
    text: Utf8Bytes,
}

/// Answer to an event that was refused.
#[derive(Clone, Debug, Deserialize, thiserror::Error)]
#[error("the server refused: {message} ({code})")]
pub struct EventRefusal {
    /// Code of the error, for programs.
    pub code: String,
    /// Message of the error.
    pub message: String,
}

impl SocketIoServer {
    /// Returns the server at `address`, such as `http://127.0.0.1:4680`; nothing is sent yet.
    pub fn new(address: &str) -> ClientResult<Self> {
        let server = ServerClient::build(address, None, None, ClientBuilder::http1_only)?;
        Ok(Self { server })
    }

    /// Returns the server at `address`, whose certificate may be of these authorities too; nothing
    /// is sent yet.
    pub fn trusting(address: &str, authorities: &TrustedAuthorities) -> ClientResult<Self> {
        let configure = |http: ClientBuilder| authorities.trusted_by(http.http1_only());
        Ok(Self { server: ServerClient::build(address, None, None, configure)? })
    }

    /// Connects a client. `auth` is the object of the handshake: the token, the name and the
    /// capabilities.
    ///
    /// # Errors
    /// [`ClientError::NotAdmitted`] if the server refuses the handshake, [`ClientError::Closed`] if
    /// it closes the connection or does not finish within 30 seconds, and those of any request.
    pub async fn connect(&self, auth: &Value) -> ClientResult<SocketIoClient> {
        let connecting = timeout(ANSWER_TIMEOUT, self.open(auth)).await;
        connecting.unwrap_or_else(|_| Err(self.closed()))
    }

    /// Checks that a WebSocket comes through to the server, and closes it.
    pub async fn check_upgrade(&self) -> ClientResult<()> {
        let opened = async {
            // The server speaks first: `0` and what the client has to know.
            match self.upgrade().await?.next().await {
                Some(Ok(Message::Text(text))) if text.starts_with('0') => Ok(()),
                _ => Err(self.closed()),
            }
        };
        timeout(ANSWER_TIMEOUT, opened).await.unwrap_or_else(|_| Err(self.closed()))
    }

    async fn open(&self, auth: &Value) -> ClientResult<SocketIoClient> {
        let stream = self.upgrade().await?;
        let mut client = SocketIoClient {
            stream,
            address: self.server.shown(),
            last_ack: 0,
            is_pong_due: false,
            heard: Instant::now(),
            greeting: Value::Null,
        };
        client.write(format!("40{auth}")).await?;
        client.greeting = client.greeted().await?;
        Ok(client)
    }

    async fn upgrade(&self) -> ClientResult<WebSocketStream<Upgraded>> {
        let mut url = self.server.below(&["socket.io", ""])?;
        url.set_query(Some("EIO=4&transport=websocket"));
        let request = self.server.request_at(Method::GET, url);
        let request = request
            .header(CONNECTION, "Upgrade")
            .header(UPGRADE, "websocket")
            .header(SEC_WEBSOCKET_VERSION, "13")
            .header(SEC_WEBSOCKET_KEY, generate_key());
        let answer = self.server.send_any(request).await?;
        if answer.status() != StatusCode::SWITCHING_PROTOCOLS {
            return Err(self.server.refusal(answer).await);
        }
        let upgraded = answer.upgrade().await.map_err(|_| self.closed())?;
        // Documents are longer than the default limit of a frame.
        let config = WebSocketConfig::default().max_frame_size(None).max_message_size(None);
        Ok(WebSocketStream::from_raw_socket(upgraded, Role::Client, Some(config)).await)
    }

    fn closed(&self) -> ClientError {
        ClientError::Closed { address: self.server.shown() }
    }
}

impl SocketIoClient {
    /// Returns the payload of `sessionRegistered`.
    pub fn greeting(&self) -> &Value {
        &self.greeting
    }

    /// Sends an event; returns the number that its acknowledgement will have.
    pub async fn send(&mut self, event: &str, payload: &Value) -> ClientResult<u64> {
        self.last_ack += 1;
        self.write(format!("42{}{}", self.last_ack, json!([event, payload]))).await?;
        Ok(self.last_ack)
    }

    /// Sends an event whose payload is JSON already; `number` is that of the acknowledgement, if
    /// one is wanted.
    pub async fn pass(
        &mut self,
        number: Option<u64>,
        event: &str,
        payload: &RawValue,
    ) -> ClientResult<()> {
        let number = number.map(|number| number.to_string()).unwrap_or_default();
        let event = Value::from(event);
        self.write(format!("42{number}[{event},{payload}]")).await
    }

    /// Sends an event and returns its answer, accepted or refused. Events that arrive meanwhile are
    /// discarded.
    pub async fn ask(&mut self, event: &str, payload: &Value) -> ClientResult<Value> {
        let number = self.send(event, payload).await?;
        let answered = async {
            loop {
                let packet = self.receive().await?;
                if let Some((_, answer)) = packet.acknowledgement().filter(|it| it.0 == number) {
                    return self.parsed(answer);
                }
            }
        };
        let answered = timeout(ANSWER_TIMEOUT, answered).await;
        answered.unwrap_or_else(|_| Err(self.closed()))
    }

    /// Waits for the next event or acknowledgement, and answers pings meanwhile. May be cancelled
    /// and called again.
    pub async fn receive(&mut self) -> ClientResult<SocketIoPacket> {
        loop {
            if self.is_pong_due {
                self.stream.feed(Message::text("3")).await.map_err(|_| self.closed())?;
                self.is_pong_due = false;
                self.stream.flush().await.map_err(|_| self.closed())?;
            }
            // A server that stands still keeps its connections.
            let message = timeout_at(self.heard + SILENCE, self.stream.next()).await;
            let at = Instant::now();
            let Ok(Some(Ok(message))) = message else { return Err(self.closed()) };
            self.heard = at;
            let Message::Text(text) = message else { continue };
            match text.as_bytes() {
                b"2" => self.is_pong_due = true,
                [b'4', b'2' | b'3', ..] => return Ok(SocketIoPacket { at, text }),
                [b'4', b'4', ..] => return Err(Self::not_admitted(&text[2..])),
                b"1" | [b'4', b'1', ..] => return Err(self.closed()),
                _ => {}
            }
        }
    }

    /// Waits until the server has admitted the client.
    async fn greeted(&mut self) -> ClientResult<Value> {
        loop {
            let packet = self.receive().await?;
            if let Some((GREETING, payload)) = packet.event() {
                return self.parsed(payload);
            }
        }
    }

    async fn write(&mut self, text: String) -> ClientResult<()> {
        self.stream.send(Message::text(text)).await.map_err(|_| self.closed())
    }

    fn parsed<T: DeserializeOwned>(&self, json: &str) -> ClientResult<T> {
        let status = StatusCode::SWITCHING_PROTOCOLS;
        let strange = |_| ClientError::Strange { address: self.address.clone(), status };
        serde_json::from_str(json).map_err(strange)
    }

    fn not_admitted(error: &str) -> ClientError {
        let error: Value = serde_json::from_str(error).unwrap_or_default();
        let detail = error["message"].as_str().unwrap_or_default().to_owned();
        ClientError::NotAdmitted { detail }
    }

    fn closed(&self) -> ClientError {
        ClientError::Closed { address: self.address.clone() }
    }
}

impl SocketIoPacket {
    /// Returns the size on the connection in bytes, with the header of the WebSocket.
    pub fn wire_bytes(&self) -> usize {
        let header = match self.text.len() {
            0..126 => 2,
            126..65_536 => 4,
            _ => 10,
        };
        header + self.text.len()
    }

    /// Returns the name and the payload of an event; `None` for an acknowledgement.
    pub fn event(&self) -> Option<(&str, &str)> {
        let list = self.text.strip_prefix("42[\"")?.strip_suffix(']')?;
        let (name, payload) = list.split_once('"')?;
        Some((name, payload.strip_prefix(',').unwrap_or("null")))
    }

    /// Returns the number and the answer of an acknowledgement; `None` for an event.
    pub fn acknowledgement(&self) -> Option<(u64, &str)> {
        let (number, answer) = self.text.strip_prefix("43")?.split_once('[')?;
        Some((number.parse().ok()?, answer.strip_suffix(']')?))
    }
}

/// Returns the answer to an event if it was accepted.
pub fn accepted(answer: Value) -> Result<Value, EventRefusal> {
    if answer["ok"] == true {
        return Ok(answer);
    }
    let refusal = EventRefusal::deserialize(&answer["error"]);
    Err(refusal.unwrap_or_else(|_| EventRefusal {
        code: "internal".to_owned(),
        message: "the answer has an unknown form".to_owned(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(text: &'static str) -> SocketIoPacket {
        SocketIoPacket { at: Instant::now(), text: Utf8Bytes::from_static(text) }
    }

    #[test]
    fn events_and_acknowledgements_are_told_apart() {
        let event = packet(r#"42["updates",[1,2,[["c",[3]]]]]"#);
        assert_eq!(event.event(), Some(("updates", r#"[1,2,[["c",[3]]]]"#)));
        assert_eq!(event.acknowledgement(), None);
        let answer = packet(r#"4317[{"ok":true}]"#);
        assert_eq!(answer.acknowledgement(), Some((17, r#"{"ok":true}"#)));
        assert_eq!(answer.event(), None);
        assert_eq!(answer.wire_bytes(), 19);
    }

    #[test]
    fn refusals_have_their_code_and_their_words() {
        let refused =
            json!({"ok": false, "error": {"code": "not_allowed", "message": "only read"}});
        assert_eq!(
            accepted(refused).unwrap_err().to_string(),
            "the server refused: only read (not_allowed)"
        );
        assert!(accepted(json!({"ok": true, "version": 3})).is_ok());
        assert!(accepted(json!({"version": 3})).is_err());
    }
}
