//! Export of spans over OTLP: what a server does, with the identifiers that are in its log, for a
//! collector of OpenTelemetry.
//!
//! Spans are sent as JSON over HTTP (OTLP 1.x, section "OTLP/HTTP"), which every collector takes
//! and which needs no other crate. They wait in a queue of a fixed length: whoever does the work
//! never waits for the collector, and what does not fit is dropped and counted.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use reqwest::{Client, Url};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Level, Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

use crate::http_client::http_client_builder;

/// Spans that may wait.
const QUEUE: usize = 8_192;
/// Spans in one message.
const BATCH: usize = 512;
/// Longest time for which spans are gathered.
const PAUSE: Duration = Duration::from_secs(2);
/// Longest wait for the collector's answer.
const ANSWER: Duration = Duration::from_secs(5);
/// Longest wait for it when the server stops.
const LAST_ANSWER: Duration = Duration::from_secs(1);
/// Least time between two warnings.
const QUIET: Duration = Duration::from_mins(5);
/// Path of a collector for spans.
const PATH: &str = "v1/traces";

/// Error of an address that is none of a collector.
#[derive(Debug, thiserror::Error)]
#[error("--otlp-endpoint is http://HOST:PORT or https://HOST:PORT, not `{0}`")]
pub struct EndpointError(String);

/// Span that is over.
#[derive(Debug)]
struct FinishedSpan {
    open: OpenSpan,
    name: &'static str,
    end: SystemTime,
}

/// Span that is not over, as it is kept with the span of the log.
#[derive(Clone, Debug)]
struct OpenSpan {
    trace: u128,
    number: u64,
    parent: Option<u64>,
    begin: SystemTime,
    attributes: Vec<(&'static str, Value)>,
}

/// Layer of the log that hands spans to a [`TraceExporter`], once there is one.
#[derive(Clone, Debug, Default)]
pub struct TraceLayer {
    queue: Arc<OnceLock<mpsc::Sender<FinishedSpan>>>,
    lost: Arc<AtomicU64>,
}

/// Sender of spans to a collector.
#[derive(Debug)]
pub struct TraceExporter {
    spans: mpsc::Receiver<FinishedSpan>,
    lost: Arc<AtomicU64>,
    client: Client,
    url: Url,
    /// Attributes of this server.
    resource: Value,
    warned: Option<Instant>,
}

/// Returns `true` for what is exported: the spans of this program.
pub(super) fn is_exported(metadata: &Metadata<'_>) -> bool {
    metadata.is_span()
        && *metadata.level() <= Level::DEBUG
        && metadata.target().starts_with("copydesk")
}

impl TraceLayer {
    /// Returns what sends the spans from now on to the collector at `endpoint`; `None` if another
    /// one does already.
    ///
    /// # Errors
    /// [`EndpointError`] if it is no address.
    pub fn export_to(&self, endpoint: &str) -> Result<Option<TraceExporter>, EndpointError> {
        let wrong = || EndpointError(endpoint.to_owned());
        let mut url = Url::parse(endpoint).map_err(|_| wrong())?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
            return Err(wrong());
        }
        if !url.path().ends_with(PATH) {
            let path = format!("{}/{PATH}", url.path().trim_end_matches('/'));
            url.set_path(&path);
        }
        let client = http_client_builder().timeout(ANSWER).build().map_err(|_| wrong())?;
        let (sender, spans) = mpsc::channel(QUEUE);
        if self.queue.set(sender).is_err() {
            return Ok(None);
        }
        let lost = Arc::clone(&self.lost);
        let instance = uuid::Uuid::new_v4().to_string();
        let resource = json!([
            attribute("service.name", &"copydesk".into()),
            attribute("service.version", &env!("CARGO_PKG_VERSION").into()),
            attribute("service.instance.id", &instance.into()),
        ]);
        Ok(Some(TraceExporter { spans, lost, client, url, resource, warned: None }))
    }
}

/// Visitor that keeps the fields of a span as attributes.
struct FieldVisitor<'a>(&'a mut Vec<(&'static str, Value)>);

impl FieldVisitor<'_> {
    fn set(&mut self, field: &Field, value: Value) {
        self.0.retain(|(name, _)| *name != field.name());
        self.0.push((field.name(), value));
    }
}

impl Visit for FieldVisitor<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.set(field, format!("{value:?}").into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.set(field, value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.set(field, value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.set(field, value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.set(field, value.into());
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for TraceLayer {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id).filter(|_| self.queue.get().is_some()) else { return };
        let parent = span.parent().and_then(|it| it.extensions().get::<OpenSpan>().cloned());
        let number = uuid::Uuid::new_v4().as_u64_pair().0;
        let mut open = OpenSpan {
            trace: parent.as_ref().map_or_else(|| uuid::Uuid::new_v4().as_u128(), |it| it.trace),
            number,
            parent: parent.map(|it| it.number),
            begin: SystemTime::now(),
            attributes: Vec::new(),
        };
        attributes.record(&mut FieldVisitor(&mut open.attributes));
        span.extensions_mut().insert(open);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        if let Some(open) = span.extensions_mut().get_mut::<OpenSpan>() {
            values.record(&mut FieldVisitor(&mut open.attributes));
        }
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let (Some(queue), Some(span)) = (self.queue.get(), context.span(&id)) else { return };
        let Some(open) = span.extensions_mut().remove::<OpenSpan>() else { return };
        let finished = FinishedSpan { open, name: span.name(), end: SystemTime::now() };
        if queue.try_send(finished).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl TraceExporter {
    /// Sends spans until `stop`, and then those that wait.
    pub async fn run(mut self, stop: CancellationToken) {
        let mut batch = Vec::with_capacity(BATCH);
        while !stop.is_cancelled() {
            tokio::select! {
                () = stop.cancelled() => {}
                () = gather(&mut self.spans, &mut batch) => {}
            }
            if !batch.is_empty() && !stop.is_cancelled() {
                let no_longer = async {
                    stop.cancelled().await;
                    tokio::time::sleep(LAST_ANSWER).await;
                };
                // Not cut off, or it would have to be sent again.
                let sent = tokio::select! {
                    sent = self.send(&batch) => sent,
                    () = no_longer => return,
                };
                self.note(sent, batch.len());
                batch.clear();
            }
        }
        let last = async {
            while self.spans.try_recv().map(|span| batch.push(span)).is_ok() {}
            for piece in batch.chunks(BATCH) {
                if self.send(piece).await.is_err() {
                    return;
                }
            }
        };
        drop(timeout(LAST_ANSWER, last).await);
    }

    async fn send(&self, batch: &[FinishedSpan]) -> Result<(), String> {
        let spans: Vec<_> = batch.iter().map(FinishedSpan::to_json).collect();
        let message = json!({"resourceSpans": [{
            "resource": {"attributes": self.resource},
            "scopeSpans": [{"scope": {"name": "copydesk"}, "spans": spans}],
        }]});
        let answered = self.client.post(self.url.clone()).json(&message).send().await;
        let answer = answered.map_err(|error| error.without_url().to_string())?;
        if answer.status().is_success() {
            Ok(())
        } else {
            Err(format!("it answers {}", answer.status()))
        }
    }

    /// Warns now and then if spans were lost.
    fn note(&mut self, sent: Result<(), String>, spans: usize) {
        let reason = match sent {
            Ok(()) if self.lost.load(Ordering::Relaxed) == 0 => return,
            Ok(()) => "it takes them too slowly".to_owned(),
            Err(reason) => {
                self.lost.fetch_add(spans as u64, Ordering::Relaxed);
                reason
            }
        };
        if self.warned.is_none_or(|warned| warned.elapsed() >= QUIET) {
            self.warned = Some(Instant::now());
            let lost = self.lost.swap(0, Ordering::Relaxed);
            tracing::warn!(%reason, lost, "cannot send spans to the collector; they are dropped");
        }
    }
}

/// Waits for spans until there are enough for a message, or some have waited long enough.
async fn gather(spans: &mut mpsc::Receiver<FinishedSpan>, batch: &mut Vec<FinishedSpan>) {
    if batch.is_empty() && spans.recv_many(batch, BATCH).await == 0 {
        return std::future::pending().await;
    }
    let more = async {
        while batch.len() < BATCH && spans.recv_many(batch, BATCH - batch.len()).await > 0 {}
    };
    drop(timeout(PAUSE, more).await);
}

impl FinishedSpan {
    fn to_json(&self) -> Value {
        let OpenSpan { trace, number, parent, begin, attributes } = &self.open;
        let nanos = |time: &SystemTime| {
            let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
            since.as_nanos().to_string()
        };
        let found = |name: &str| attributes.iter().find(|(known, _)| *known == name);
        let has_failed = found("failed").is_some_and(|(_, value)| *value == true)
            || found("http.status").is_some_and(|(_, value)| value.as_u64() >= Some(500));
        // Those of the protocol: a request that is answered, one that is made, and anything else.
        let kind = match self.name {
            "request" => 2,
            "model_call" => 3,
            _ => 1,
        };
        let mut span = json!({
            "traceId": format!("{trace:032x}"),
            "spanId": format!("{number:016x}"),
            "name": self.name,
            "kind": kind,
            "startTimeUnixNano": nanos(begin),
            "endTimeUnixNano": nanos(&self.end),
            "attributes": attributes.iter().map(|(name, it)| attribute(name, it)).collect::<Vec<_>>(),
        });
        if let Some(parent) = parent {
            span["parentSpanId"] = format!("{parent:016x}").into();
        }
        if has_failed {
            span["status"] = json!({"code": 2});
        }
        span
    }
}

/// Returns an attribute as the protocol has it: numbers are strings, because they have 64 bits.
fn attribute(name: &str, value: &Value) -> Value {
    let value = match value {
        Value::Bool(value) => json!({"boolValue": value}),
        Value::Number(number) => json!({"intValue": number.to_string()}),
        Value::String(text) => json!({"stringValue": text}),
        other => json!({"stringValue": other.to_string()}),
    };
    json!({"key": name, "value": value})
}

#[cfg(test)]
mod tests {
    use axum::extract::State;
    use axum::http::StatusCode;
    use axum::routing::post;
    use axum::{Json, Router};
    use tokio::net::TcpListener;
    use tracing_subscriber::filter::filter_fn;
    use tracing_subscriber::prelude::*;

    use super::*;

    /// Collector that passes on what it is sent.
    async fn collector() -> (String, mpsc::UnboundedReceiver<Value>) {
        let (sender, received) = mpsc::unbounded_channel();
        let take = async |State(sender): State<mpsc::UnboundedSender<Value>>, Json(it): Json<_>| {
            sender.send(it).unwrap();
            StatusCode::OK
        };
        let router = Router::new().route("/v1/traces", post(take)).with_state(sender);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await });
        (url, received)
    }

    fn subscriber(layer: &TraceLayer) -> impl Subscriber + Send + Sync + 'static {
        tracing_subscriber::registry().with(layer.clone().with_filter(filter_fn(is_exported)))
    }

    /// What a server does, as far as the log knows.
    fn works() {
        let request =
            tracing::info_span!("request", id = "req_1", http.status = tracing::field::Empty);
        request.in_scope(|| {
            let call = tracing::debug_span!("model_call", model = "harper", failed = true);
            call.in_scope(|| drop(tracing::trace_span!("too_fine")));
            drop(tracing::info_span!(target: "hyper", "of_another"));
        });
        request.record("http.status", 200);
    }

    fn spans(message: &Value) -> Vec<Value> {
        let spans = &message["resourceSpans"][0]["scopeSpans"][0]["spans"];
        spans.as_array().unwrap().clone()
    }

    #[tokio::test]
    async fn spans_arrive_with_their_identifiers_their_parents_and_nothing_else() {
        let (url, mut received) = collector().await;
        let layer = TraceLayer::default();
        tracing::subscriber::with_default(subscriber(&layer), works);
        let exporter = layer.export_to(&url).unwrap().unwrap();
        assert!(layer.export_to(&url).unwrap().is_none());
        let stop = CancellationToken::new();
        let exporting = tokio::spawn(exporter.run(stop.clone()));
        tracing::subscriber::with_default(subscriber(&layer), works);
        let message = received.recv().await.unwrap();
        let service = json!({"key": "service.name", "value": {"stringValue": "copydesk"}});
        assert_eq!(message["resourceSpans"][0]["resource"]["attributes"][0], service);
        let sent = spans(&message);
        let names: Vec<_> = sent.iter().map(|it| it["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["model_call", "request"], "those before the exporter are not kept");
        let (call, request) = (&sent[0], &sent[1]);
        assert_eq!(call["parentSpanId"], request["spanId"]);
        assert_eq!(call["traceId"], request["traceId"]);
        assert_eq!(request["traceId"].as_str().unwrap().len(), 32);
        assert_eq!((&request["kind"], &call["kind"]), (&json!(2), &json!(3)));
        assert_eq!((&request["status"], &call["status"]), (&Value::Null, &json!({"code": 2})));
        let expected = json!([
            {"key": "id", "value": {"stringValue": "req_1"}},
            {"key": "http.status", "value": {"intValue": "200"}},
        ]);
        assert_eq!(request["attributes"], expected);
        let time = |name: &str| request[name].as_str().unwrap().parse::<u128>().unwrap();
        assert!(time("startTimeUnixNano") <= time("endTimeUnixNano"));
        // What waits when the server stops is sent.
        tracing::subscriber::with_default(subscriber(&layer), works);
        stop.cancel();
        exporting.await.unwrap();
        assert_eq!(spans(&received.recv().await.unwrap()).len(), 2);
    }

    #[tokio::test]
    async fn a_collector_that_is_down_holds_nobody_up() {
        let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", silent.local_addr().unwrap());
        let layer = TraceLayer::default();
        let exporter = layer.export_to(&url).unwrap().unwrap();
        // It does not even take what waits.
        tracing::subscriber::with_default(subscriber(&layer), || {
            for _ in 0..QUEUE {
                works();
            }
        });
        assert_eq!(layer.lost.load(Ordering::Relaxed), QUEUE as u64, "half of them fitted");
        let stop = CancellationToken::new();
        let exporting = tokio::spawn(exporter.run(stop.clone()));
        tokio::task::yield_now().await;
        stop.cancel();
        exporting.await.unwrap();
    }

    #[tokio::test]
    async fn lost_spans_are_warned_of_now_and_then() {
        let layer = TraceLayer::default();
        let mut exporter = layer.export_to("http://127.0.0.1:1/base/").unwrap().unwrap();
        assert_eq!(exporter.url.path(), "/base/v1/traces");
        let sent = exporter.send(&[]).await;
        assert!(sent.is_err());
        exporter.note(sent, 3);
        assert!(exporter.warned.is_some());
        assert_eq!(layer.lost.load(Ordering::Relaxed), 0, "it has told how many");
        exporter.note(Err("again".to_owned()), 4);
        assert_eq!(layer.lost.load(Ordering::Relaxed), 4, "it says so later");
    }

    #[test]
    fn only_addresses_of_collectors_are_taken() {
        for wrong in ["", "collector:4318", "grpc://collector:4317", "http://"] {
            assert!(TraceLayer::default().export_to(wrong).is_err(), "{wrong}");
        }
    }
}
