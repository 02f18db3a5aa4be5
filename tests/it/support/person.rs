//! A person on a server, over a real socket.io client: what they do, and what they see.

use std::cell::RefCell;
use std::sync::Arc;

use serde_json::{Value, json};

use super::log::{Entry, Kind, Log};
use super::mirror::{Mirror, replacing};
use super::request::Request;
use super::socket_clients::socket_clients;
use super::test_server::TestServer;
use super::wire;

/// A connected person.
pub struct Person {
    /// The name others see.
    pub name: String,
    /// The secret of their token.
    pub token: String,
    url: String,
    socket: u64,
    log: Arc<Log>,
    registered: Value,
    page: RefCell<Option<Page>>,
}

/// The document in front of a person.
#[derive(Clone)]
struct Page {
    document: String,
    client: String,
}

/// The answer to one event.
#[derive(Clone, Debug)]
pub struct Ack {
    event: String,
    body: Value,
}

/// An event on its way.
#[derive(Clone, Copy, Debug)]
pub struct Pending(u64);

impl Ack {
    /// Its fields; the story fails if the event was refused.
    pub fn ok(self) -> Value {
        assert_eq!(self.body["ok"], true, "{} was refused: {}", self.event, self.body);
        self.body
    }

    /// The error; the story fails if the event was accepted.
    pub fn refused(self) -> Value {
        assert_eq!(self.body["ok"], false, "{} was accepted: {}", self.event, self.body);
        self.body["error"].clone()
    }

    /// The story fails unless the event was refused with this code.
    #[track_caller]
    pub fn refused_with(self, code: &str) -> Value {
        let event = self.event.clone();
        let error = self.refused();
        assert_eq!(error["code"], code, "{event}: {error}");
        error
    }

    /// As it came.
    pub fn body(&self) -> &Value {
        &self.body
    }
}

/// Connecting and coming back.
impl Person {
    /// Connects and waits for `sessionRegistered`.
    pub fn arrive(url: &str, token: &str, name: &str) -> Self {
        Self::connect(
            url,
            &json!({"auth": {"token": token, "name": name, "protocol": 1}, "transports": ["websocket"]}),
        )
    }

    /// As `arrive`, with a client that understands an addition to the protocol.
    pub fn arrive_with(url: &str, token: &str, capabilities: &[&str]) -> Self {
        let capabilities = [capabilities, &["unknown"]].concat();
        let auth = json!({"token": token, "protocol": 1, "capabilities": capabilities});
        Self::connect(url, &json!({"auth": auth, "transports": ["websocket"]}))
    }

    /// As `arrive`, with the client's own options.
    pub fn connect(url: &str, options: &Value) -> Self {
        let (socket, log) = socket_clients().connect(url, options);
        let entry = log.take("sessionRegistered", |it| {
            it.kind == Kind::Refused || it.name == "sessionRegistered"
        });
        assert_eq!(entry.kind, Kind::Event, "not let in: {} {}", entry.name, entry.body);
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (token, name) = (text(&options["auth"]["token"]), text(&options["auth"]["name"]));
        let registered = entry.body;
        Self { name, token, url: url.to_owned(), socket, log, registered, page: RefCell::default() }
    }

    /// A connection that must fail: code and words of its `connect_error`, whose message is `CODE:
    /// words`. Without a code: the transport failed.
    pub fn turned_away(url: &str, options: &Value) -> (String, String) {
        let (socket, log) = socket_clients().connect(url, options);
        let entry =
            log.take("connect_error", |it| matches!(it.kind, Kind::Refused | Kind::Connected));
        assert_eq!(entry.kind, Kind::Refused, "let in with {options}");
        socket_clients().leave(socket);
        let (code, words) = entry.name.split_once(": ").unwrap_or(("", &entry.name));
        (code.to_owned(), words.to_owned())
    }

    /// Another connection of the same person, with a session of its own.
    pub fn second_window(&self) -> Self {
        Self::arrive(&self.url, &self.token, &self.name)
    }

    /// Loses the connection.
    pub fn loses_connection(&self) {
        socket_clients().say(&json!({"op": "drop", "socket": self.socket}));
        self.log.take("disconnect", |it| it.kind == Kind::Disconnected);
    }

    /// Connects again with the same session: the same page is open, at the version it was.
    pub fn comes_back(&self, copydesk: &TestServer) -> Self {
        self.comes_back_to(copydesk.url())
    }

    /// As `comes_back`, to a server at this address.
    pub fn comes_back_to(&self, url: &str) -> Self {
        let auth = json!({"token": self.token, "name": self.name, "sessionId": self.session()});
        let back = Self::connect(url, &json!({"auth": auth, "transports": ["websocket"]}));
        if let Some(page) = self.page.borrow().clone() {
            back.log.inherit(&page.document, self.mirror("its own page", |it| Some(it.clone())));
            back.page.replace(Some(page));
        }
        back
    }

    /// The server to which this connection goes: `http://127.0.0.1:PORT`.
    pub fn server(&self) -> &str {
        &self.url
    }

    /// Returns the content of `sessionRegistered`.
    pub fn registered(&self) -> &Value {
        &self.registered
    }

    /// The session.
    pub fn session(&self) -> String {
        self.registered["sessionId"].as_str().expect("a session has a name").to_owned()
    }

    /// The person behind the token.
    pub fn user(&self) -> Value {
        self.registered["user"].clone()
    }
}

/// Events as they are.
impl Person {
    /// Sends an event and waits for its ack.
    pub fn emit(&self, event: &str, payload: &Value) -> Ack {
        let pending = self.send(event, payload);
        self.ack(pending)
    }

    /// Sends an event; its ack is asked for later.
    pub fn send(&self, event: &str, payload: &Value) -> Pending {
        wire::check_sent(event, payload)
            .unwrap_or_else(|why| panic!("the story sends what no client does: {why}"));
        self.send_args(event, &json!([payload]))
    }

    /// Sends an event whatever its payload; `args` is an array of what follows the event's name.
    pub fn send_args(&self, event: &str, args: &Value) -> Pending {
        let ack = socket_clients().acks(1);
        let payload = &args[0];
        if let ("document:open" | "document:resync", Some(id)) =
            (event, payload["documentId"].as_str())
        {
            self.log.join(ack, id);
        }
        socket_clients().say(
            &json!({"op": "emit", "socket": self.socket, "event": event, "args": args, "ack": ack}),
        );
        Pending(ack)
    }

    /// Sends a packet as it stands: `["event", …]`, in JSON or what looks like it.
    pub fn send_raw(&self, packet: &str) -> Pending {
        let ack = socket_clients().acks(1);
        socket_clients().say(&json!({"op": "emit", "socket": self.socket, "event": "raw", "raw": packet, "ack": ack}));
        Pending(ack)
    }

    /// Sends the same event many times at once.
    pub fn sends_many(&self, event: &str, payload: &Value, count: u64) -> Vec<Ack> {
        let first = socket_clients().acks(count);
        let burst = json!({"op": "burst", "socket": self.socket, "event": event, "args": [payload], "first": first, "count": count});
        socket_clients().say(&burst);
        (first..first + count).map(|ack| self.ack(Pending(ack))).collect()
    }

    /// Waits for an ack.
    pub fn ack(&self, pending: Pending) -> Ack {
        let entry = self.log.take("an ack", |it| it.kind == Kind::Ack && it.ack == Some(pending.0));
        Ack { event: entry.name, body: entry.body }
    }

    /// As `emit`; nothing if the connection ends before the answer comes.
    pub fn tries(&self, event: &str, payload: &Value) -> Option<Ack> {
        let sent = self.send(event, payload);
        self.may_be_answered(sent)
    }

    /// As `ack`; nothing if the connection ends before.
    pub fn may_be_answered(&self, pending: Pending) -> Option<Ack> {
        let fits = |it: &Entry| it.kind == Kind::Ack && it.ack == Some(pending.0);
        let entry = self.log.take_before_the_end("an ack", fits)?;
        Some(Ack { event: entry.name, body: entry.body })
    }

    /// As `sees`; nothing if the connection ends before.
    pub fn may_see(&self, event: &str) -> Option<Value> {
        let fits = |it: &Entry| it.kind == Kind::Event && it.name == event;
        Some(self.log.take_before_the_end(event, fits)?.body)
    }

    /// Everything of that name that has come, whether or not the connection has ended.
    pub fn heard(&self, event: &str) -> Vec<Value> {
        let fits = |it: &Entry| it.kind == Kind::Event && it.name == event;
        self.log.entries().into_iter().filter(fits).map(|it| it.body).collect()
    }

    /// Waits for the next event of that name that was not asked for yet.
    pub fn sees(&self, event: &str) -> Value {
        self.sees_where(event, |_| true)
    }

    /// As `sees`, passing over those that do not fit.
    pub fn sees_where(&self, event: &str, fits: impl Fn(&Value) -> bool) -> Value {
        self.log.take(event, |it| it.kind == Kind::Event && it.name == event && fits(&it.body)).body
    }

    /// Everything of that name so far. What was caused by something the server has answered is in
    /// it.
    pub fn saw(&self, event: &str) -> Vec<Value> {
        self.catches_up();
        let fits = |it: &Entry| it.kind == Kind::Event && it.name == event;
        self.log.entries().into_iter().filter(fits).map(|it| it.body).collect()
    }

    /// Every event so far, in order: its name and its payload.
    pub fn events(&self) -> Vec<(String, Value)> {
        self.catches_up();
        let event = |it: &Entry| it.kind == Kind::Event;
        self.log.entries().into_iter().filter(event).map(|it| (it.name, it.body)).collect()
    }

    /// The names of the samples that anything so far was like.
    pub fn shapes_met(&self) -> Vec<&'static str> {
        self.catches_up();
        self.shapes_seen()
    }

    /// The same for a socket that gets no answers any more.
    pub fn shapes_seen(&self) -> Vec<&'static str> {
        let entries = self.log.entries();
        let is_like = |shape: &&wire::Shape| entries.iter().any(|it| it.is_like(shape));
        wire::shapes().iter().filter(is_like).map(|shape| shape.name.as_str()).collect()
    }

    /// Names of all events and acks (`ack NAME`) so far, in order.
    pub fn story(&self) -> Vec<String> {
        let name = |it: Entry| match it.kind {
            Kind::Ack => format!("ack {}", it.name),
            _ => it.name,
        };
        self.log.entries().into_iter().map(name).collect()
    }

    /// The story fails unless these were seen in this order (others may stand between them).
    #[track_caller]
    pub fn saw_in_order(&self, names: &[&str]) {
        let story = self.story();
        let mut rest = story.iter();
        for name in names {
            assert!(rest.any(|it| it == name), "{name} is missing or too early in {story:?}");
        }
    }

    /// Answered events are barriers: what the server sent before is here when the answer is.
    pub fn catches_up(&self) {
        self.emit("settings:get", &json!({})).ok();
    }

    /// Checks that the socket is still connected: it gets an answer.
    pub fn is_fine(&self) {
        self.catches_up();
        let gone = self.log.entries().iter().any(|it| it.kind == Kind::Disconnected);
        assert!(!gone, "{} was disconnected", self.name);
    }

    /// Waits until the server ends the connection.
    pub fn is_cut_off(&self) {
        self.log.take("the end of the connection", |it| it.kind == Kind::Disconnected);
    }
}

/// Documents.
impl Person {
    /// Makes a document and opens it.
    pub fn creates(&self, text: &str) -> String {
        let ack = self.emit("document:create", &json!({"title": "A story", "text": text})).ok();
        let document = ack["document"]["id"].as_str().expect("a document has an id").to_owned();
        self.opens(&document);
        document
    }

    /// Opens a document; the ack.
    pub fn opens(&self, document: &str) -> Value {
        let ack = self.emit("document:open", &json!({"documentId": document})).ok();
        let client = ack["clientID"].as_str().expect("a clientID").to_owned();
        self.page.replace(Some(Page { document: document.to_owned(), client }));
        ack
    }

    /// Opens a file of the workspace as a document; its id.
    pub fn opens_file(&self, path: &str) -> String {
        let ack = self.emit("document:open", &json!({"path": path})).ok();
        assert_eq!(ack["file"]["path"], path);
        let document = ack["document"]["id"].as_str().expect("a document has an id").to_owned();
        self.opens(&document);
        document
    }

    /// Opens the page again with what is new since.
    pub fn opens_again(&self) -> Value {
        let since = self.version();
        self.emit("document:open", &json!({"documentId": self.document(), "since": since})).ok()
    }

    /// The document in front of the person.
    pub fn document(&self) -> String {
        self.opened().document
    }

    /// The name of the person's editor instance.
    pub fn client(&self) -> String {
        self.opened().client
    }

    /// The text in front of the person.
    pub fn text(&self) -> String {
        self.catches_up();
        self.mirror("the text", |it| Some(it.text()))
    }

    /// The version in front of the person.
    pub fn version(&self) -> u64 {
        self.mirror("the version", |it| Some(it.version))
    }

    /// Waits until the text in front of the person is this.
    pub fn comes_to_read(&self, text: &str) {
        self.mirror(&format!("the text {text:?}"), |it| (it.text() == text).then_some(()));
    }

    /// Waits until the version in front of the person is at least this.
    pub fn comes_to_version(&self, version: u64) {
        self.mirror(&format!("version {version}"), |it| (it.version >= version).then_some(()));
    }

    /// Types at a position; the version afterwards.
    pub fn types(&self, at: usize, text: &str) -> u64 {
        self.replaces(at, at, text)
    }

    /// Replaces a range; the version afterwards.
    pub fn replaces(&self, from: usize, to: usize, text: &str) -> u64 {
        let (version, len) = self.page();
        let changes = replacing(len, from, to, text);
        self.pushes(version, &[changes]).ok()["version"].as_u64().expect("a version")
    }

    /// Replaces the first occurrence of some words.
    pub fn overwrites(&self, words: &str, text: &str) -> u64 {
        let here = self.text();
        let at = here.find(words).unwrap_or_else(|| panic!("{words:?} is not in {here:?}"));
        let from = here[..at].encode_utf16().count();
        self.replaces(from, from + words.encode_utf16().count(), text)
    }

    /// Pushes changes made on a version.
    pub fn pushes(&self, version: u64, changes: &[Value]) -> Ack {
        self.pushes_as(&self.client(), version, changes)
    }

    /// As `pushes`, under the name of some editor instance.
    pub fn pushes_as(&self, client: &str, version: u64, changes: &[Value]) -> Ack {
        let updates: Vec<_> =
            changes.iter().map(|it| json!({"clientID": client, "changes": it})).collect();
        self.emit(
            "document:push",
            &json!({"documentId": self.document(), "version": version, "updates": updates}),
        )
    }

    /// From now on, gaps in this document's updates are its own business.
    pub fn closes(&self) {
        self.emit("document:close", &json!({"documentId": self.document()})).ok();
        self.log.forget(&self.document());
    }

    /// Version and length of the text in front of the person, at one moment.
    pub fn page(&self) -> (u64, usize) {
        self.mirror("the page", |it| Some((it.version, it.len())))
    }

    fn opened(&self) -> Page {
        self.page.borrow().clone().expect("a document is open")
    }

    fn mirror<T>(&self, what: &str, read: impl Fn(&Mirror) -> Option<T>) -> T {
        self.log.mirror(&self.document(), what, read)
    }
}

/// Asking and deciding.
impl Person {
    /// Asks about the open document; the run.
    pub fn asks(&self, prompt: &str) -> String {
        self.asks_about(prompt, &json!({"documentId": self.document()}))
    }

    /// Asks in a context of one's own; the run.
    pub fn asks_about(&self, prompt: &str, context: &Value) -> String {
        let ask = json!({"sessionId": self.session(), "prompt": prompt, "context": context});
        let ack = self.emit("askClaudeCode", &ask).ok();
        ack["requestId"].as_str().expect("a run has a name").to_owned()
    }

    /// Waits for the answer to a run.
    pub fn answer(&self, run: &str) -> Value {
        self.sees_where("claudeResponse", |it| it["requestId"] == run)
    }

    /// Asks, and waits for the answer.
    pub fn is_answered(&self, prompt: &str, context: &Value) -> Value {
        let run = self.asks_about(prompt, context);
        self.answer(&run)
    }

    /// Waits for a change to decide.
    pub fn sees_request(&self) -> Request {
        Request(self.sees("tool_approval_request"))
    }

    /// Waits for a change that this run wants.
    pub fn sees_request_of(&self, run: &str) -> Request {
        Request(self.sees_where("tool_approval_request", |it| it["requestId"] == run))
    }

    /// Waits until a request is resolved.
    pub fn sees_resolved(&self, request: &Request) -> Value {
        self.sees_where("tool_approval_resolved", |it| it["request_id"] == request.id())
    }

    /// The tool results of a run that were seen, in order, once the run is over.
    pub fn tool_results(&self, run: &str) -> Vec<Value> {
        self.saw("agent_event")
            .into_iter()
            .filter(|it| it["requestId"] == run && it["subtype"] == "tool_result")
            .map(|it| it["content"].clone())
            .collect()
    }

    /// Accepts everything that can be accepted.
    pub fn accepts_all(&self, request: &Request) -> Value {
        self.decides(request, json!({"approved": true})).ok()
    }

    /// Accepts some changes, counted from 1; the others stay open.
    pub fn accepts(&self, request: &Request, numbers: &[usize]) -> Value {
        self.decides(request, json!({"approved": true, "hunks": request.each(numbers, "accept")}))
            .ok()
    }

    /// Rejects everything, with a reason.
    pub fn rejects(&self, request: &Request, why: &str) -> Value {
        self.decides(request, json!({"approved": false, "feedback": why})).ok()
    }

    /// Rejects some changes, counted from 1; the others stay open.
    pub fn rejects_some(&self, request: &Request, numbers: &[usize], why: &str) -> Value {
        self.decides(
            request,
            json!({"approved": false, "hunks": request.each(numbers, "reject"), "feedback": why}),
        )
        .ok()
    }

    /// Decides, having seen the preview of `request`.
    pub fn decides(&self, request: &Request, decision: Value) -> Ack {
        self.emit("tool_approval_response", &request.decision(decision))
    }

    /// The requests that can still be decided in the open document. Their changes must fit the text
    /// in front of the person, unless that has gone on meanwhile.
    pub fn pending(&self) -> Vec<Request> {
        let payload = json!({"documentId": self.document()});
        let ack = self.emit("list_pending_approvals", &payload).ok();
        let requests: Vec<_> =
            ack["requests"].as_array().expect("requests").iter().cloned().map(Request).collect();
        let page = self.mirror("the page", |it| Some(it.clone()));
        for request in requests.iter().filter(|it| it["version"] == page.version) {
            request.fits(&page);
        }
        requests
    }
}

impl Drop for Person {
    fn drop(&mut self) {
        socket_clients().leave(self.socket);
    }
}
