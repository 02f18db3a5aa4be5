//! Export of spans over OTLP: what a server does, with the identifiers that are in its log, for a
//! collector of OpenTelemetry.
//!
//! The crates of OpenTelemetry gather the spans and send them as JSON over HTTP. Spans wait in a
//! queue of a fixed length: no work waits for the collector, and what does not fit is dropped.

use std::sync::Arc;
use std::time::{Duration, Instant};

use opentelemetry::trace::{SpanKind, Status, TracerProvider as _};
use opentelemetry::{KeyValue, Value};
use opentelemetry_otlp::{Protocol, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::{OTelSdkError, OTelSdkResult};
use opentelemetry_sdk::trace::{
    BatchConfigBuilder, BatchSpanProcessor, SdkTracer, SdkTracerProvider, SpanData, SpanExporter,
};
use parking_lot::Mutex;
use reqwest::Url;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use tracing::{Level, Metadata};
use tracing_opentelemetry::OpenTelemetryLayer;
use tracing_subscriber::{Registry, reload};

use copydesk_http_client::http_client_builder;

/// Maximum number of spans that wait.
const QUEUE_SPANS: usize = 8_192;
/// Maximum number of spans in one message.
const BATCH_SPANS: usize = 512;
/// Longest time for which spans are gathered.
const BATCH_DELAY: Duration = Duration::from_secs(2);
/// Longest wait for the collector's answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// Longest wait for it when the server stops.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(1);
/// Least time between two warnings.
const WARNING_PAUSE: Duration = Duration::from_mins(5);
/// Path of a collector for spans.
const PATH: &str = "v1/traces";

/// Error of an address that is none of a collector.
#[derive(Debug, thiserror::Error)]
#[error("--otlp-endpoint is http://HOST:PORT or https://HOST:PORT, not `{0}`")]
pub struct EndpointError(String);

/// Layer that makes spans of OpenTelemetry, once there is a collector for them.
type SpanLayer = Option<OpenTelemetryLayer<Registry, SdkTracer>>;

/// Handle to the layer of the log that hands over spans.
#[derive(Clone)]
pub struct TraceHandle(reload::Handle<SpanLayer, Registry>);

impl std::fmt::Debug for TraceHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("TraceHandle").finish_non_exhaustive()
    }
}

/// Sender of spans to a collector.
#[derive(Debug)]
pub struct TraceExporter(SdkTracerProvider);

/// Returns `true` for what is exported: the spans of this program.
pub(super) fn is_exported(metadata: &Metadata<'_>) -> bool {
    metadata.is_span()
        && *metadata.level() <= Level::DEBUG
        && metadata.target().starts_with("copydesk")
}

/// Returns a layer of the log that drops all spans until [`TraceHandle::export_to`].
pub(super) fn layer() -> (reload::Layer<SpanLayer, Registry>, TraceHandle) {
    let (layer, handle) = reload::Layer::new(None);
    (layer, TraceHandle(handle))
}

impl TraceHandle {
    /// Hands the spans from now on to the collector at `url`; returns `None` if there is one
    /// already.
    pub fn export_to(&self, url: &Url) -> Result<Option<TraceExporter>, EndpointError> {
        let wrong = || EndpointError(url.to_string());
        if self.0.with_current(Option::is_some).unwrap_or(true) {
            return Ok(None);
        }
        let provider = provider(exporter(url).ok_or_else(wrong)?);
        let layer = tracing_opentelemetry::layer()
            .with_tracer(provider.tracer("copydesk"))
            .with_level(false)
            .with_location(false)
            .with_target(false)
            .with_threads(false)
            .with_tracked_inactivity(false);
        Ok(self.0.reload(Some(layer)).is_ok().then_some(TraceExporter(provider)))
    }
}

/// Returns the address to which spans are sent for a collector.
pub(super) fn collector_url(endpoint: &str) -> Result<Url, EndpointError> {
    let wrong = || EndpointError(endpoint.to_owned());
    let mut url = Url::parse(endpoint).map_err(|_| wrong())?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(wrong());
    }
    if !url.path().ends_with(PATH) {
        let path = format!("{}/{PATH}", url.path().trim_end_matches('/'));
        url.set_path(&path);
    }
    Ok(url)
}

/// Returns the exporter to a collector; `None` if nothing can be sent there.
fn exporter(url: &Url) -> Option<CollectorExporter> {
    let client = http_client_builder().timeout(ANSWER_TIMEOUT).build().ok()?;
    let exporter = opentelemetry_otlp::SpanExporter::builder()
        .with_http()
        .with_http_client(client)
        .with_endpoint(url.as_str())
        .with_protocol(Protocol::HttpJson)
        .with_timeout(ANSWER_TIMEOUT);
    let exporter = Arc::new(exporter.build().ok()?);
    Some(CollectorExporter { exporter, runtime: Handle::current(), lost: Mutex::default() })
}

/// Returns the provider of spans that are sent with `exporter`.
fn provider(exporter: CollectorExporter) -> SdkTracerProvider {
    let batches = BatchConfigBuilder::default()
        .with_max_queue_size(QUEUE_SPANS)
        .with_max_export_batch_size(BATCH_SPANS)
        .with_scheduled_delay(BATCH_DELAY);
    let processor =
        BatchSpanProcessor::builder(exporter).with_batch_config(batches.build()).build();
    let resource = Resource::builder_empty().with_service_name("copydesk").with_attributes([
        KeyValue::new("service.version", env!("CARGO_PKG_VERSION")),
        KeyValue::new("service.instance.id", uuid::Uuid::new_v4().to_string()),
    ]);
    SdkTracerProvider::builder()
        .with_span_processor(processor)
        .with_resource(resource.build())
        .build()
}

impl TraceExporter {
    /// Sends spans until `stop`, and then those that wait.
    pub async fn run(self, stop: CancellationToken) {
        stop.cancelled().await;
        let last = move || self.0.shutdown_with_timeout(SHUTDOWN_TIMEOUT);
        if let Ok(Err(error)) = tokio::task::spawn_blocking(last).await {
            tracing::debug!(%error, "cannot send the last spans");
        }
    }
}

/// Number of spans that were lost since the last warning, and the time of that warning.
type LostSpans = (usize, Option<Instant>);

/// Exporter that adds what OpenTelemetry cannot know of the spans, and sends them in the server's
/// runtime; warns of losses now and then.
#[derive(Debug)]
struct CollectorExporter {
    exporter: Arc<opentelemetry_otlp::SpanExporter>,
    runtime: Handle,
    lost: Mutex<LostSpans>,
}

impl SpanExporter for CollectorExporter {
    async fn export(&self, mut batch: Vec<SpanData>) -> OTelSdkResult {
        batch.iter_mut().for_each(classify);
        let (exporter, spans) = (Arc::clone(&self.exporter), batch.len());
        let sending = self.runtime.spawn(async move { exporter.export(batch).await });
        let sent = sending.await;
        if let Err(error) =
            sent.unwrap_or_else(|error| Err(OTelSdkError::InternalFailure(error.to_string())))
        {
            self.note_lost(spans, &error);
        }
        Ok(())
    }

    fn set_resource(&mut self, resource: &Resource) {
        if let Some(exporter) = Arc::get_mut(&mut self.exporter) {
            exporter.set_resource(resource);
        }
    }
}

impl CollectorExporter {
    fn note_lost(&self, spans: usize, reason: &OTelSdkError) {
        let (lost, warned) = &mut *self.lost.lock();
        *lost += spans;
        if warned.is_none_or(|warned| warned.elapsed() >= WARNING_PAUSE) {
            tracing::warn!(%reason, lost, "cannot send spans to the collector; they are dropped");
            (*lost, *warned) = (0, Some(Instant::now()));
        }
    }
}

/// Sets the kind and the status of a span, as its name and its attributes say.
fn classify(span: &mut SpanData) {
    span.span_kind = match &*span.name {
        "request" => SpanKind::Server,
        "model_call" => SpanKind::Client,
        _ => SpanKind::Internal,
    };
    let has_failed = span.attributes.iter().any(|it| match (it.key.as_str(), &it.value) {
        ("failed", Value::Bool(failed)) => *failed,
        ("http.status", Value::I64(status)) => *status >= 500,
        _ => false,
    });
    if has_failed {
        span.status = Status::error("");
    }
}

#[cfg(test)]
mod tests {
    use axum::extract::State;
    use axum::http::StatusCode;
    use axum::routing::post;
    use axum::{Json, Router};
    use serde_json::{Value, json};
    use tokio::net::TcpListener;
    use tokio::sync::mpsc;
    use tracing::Dispatch;
    use tracing_subscriber::filter::filter_fn;
    use tracing_subscriber::prelude::*;

    use super::*;

    /// Collector that passes on what it is sent.
    async fn collector() -> (Url, mpsc::UnboundedReceiver<Value>) {
        let (sender, received) = mpsc::unbounded_channel();
        let take = async |State(sender): State<mpsc::UnboundedSender<Value>>, Json(it): Json<_>| {
            sender.send(it).unwrap();
            StatusCode::OK
        };
        let router = Router::new().route("/v1/traces", post(take)).with_state(sender);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await });
        (collector_url(&url).unwrap(), received)
    }

    /// A log that only exports.
    fn log() -> (Dispatch, TraceHandle) {
        let (layer, traces) = layer();
        let spans = layer.with_filter(filter_fn(is_exported));
        (Dispatch::new(tracing_subscriber::registry().with(spans)), traces)
    }

    /// Logs the work of a server.
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
        let (log, traces) = log();
        tracing::dispatcher::with_default(&log, works);
        let exporter = traces.export_to(&url).unwrap().unwrap();
        assert!(traces.export_to(&url).unwrap().is_none());
        let stop = CancellationToken::new();
        let exporting = tokio::spawn(exporter.run(stop.clone()));
        tracing::dispatcher::with_default(&log, works);
        let message = received.recv().await.unwrap();
        let service = json!({"key": "service.name", "value": {"stringValue": "copydesk"}});
        let resource = message["resourceSpans"][0]["resource"]["attributes"].as_array().unwrap();
        assert!(resource.contains(&service), "{resource:?}");
        let sent = spans(&message);
        let names: Vec<_> = sent.iter().map(|it| it["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["model_call", "request"], "those before the exporter are not kept");
        let (call, request) = (&sent[0], &sent[1]);
        assert_eq!(call["parentSpanId"], request["spanId"]);
        assert_eq!(call["traceId"], request["traceId"]);
        assert_eq!(request["traceId"].as_str().unwrap().len(), 32);
        assert_eq!((&request["kind"], &call["kind"]), (&json!(2), &json!(3)));
        let code = |span: &Value| span["status"]["code"].as_u64().unwrap_or(0);
        assert_eq!((code(request), code(call)), (0, 2));
        let expected = json!([
            {"key": "id", "value": {"stringValue": "req_1"}},
            {"key": "http.status", "value": {"intValue": "200"}},
        ]);
        assert_eq!(request["attributes"], expected);
        let time = |name: &str| request[name].as_str().unwrap().parse::<u128>().unwrap();
        assert!(time("startTimeUnixNano") <= time("endTimeUnixNano"));
        // What waits when the server stops is sent.
        tracing::dispatcher::with_default(&log, works);
        stop.cancel();
        exporting.await.unwrap();
        assert_eq!(spans(&received.recv().await.unwrap()).len(), 2);
    }

    #[tokio::test]
    async fn a_collector_that_is_down_holds_no_one_up() {
        let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", silent.local_addr().unwrap());
        let (log, traces) = log();
        let exporter = traces.export_to(&collector_url(&url).unwrap()).unwrap().unwrap();
        // It does not even take what waits, and twice as much is made as fits.
        let began = Instant::now();
        tracing::dispatcher::with_default(&log, || {
            for _ in 0..QUEUE_SPANS {
                works();
            }
        });
        let stop = CancellationToken::new();
        let exporting = tokio::spawn(exporter.run(stop.clone()));
        tokio::task::yield_now().await;
        stop.cancel();
        exporting.await.unwrap();
        assert!(began.elapsed() < ANSWER_TIMEOUT, "no answer was waited for");
    }

    #[tokio::test]
    async fn lost_spans_are_warned_of_now_and_then() {
        let url = collector_url("http://127.0.0.1:1/base/").unwrap();
        assert_eq!(url.path(), "/base/v1/traces");
        let exporter = exporter(&url).unwrap();
        let reason = OTelSdkError::InternalFailure("it is down".to_owned());
        exporter.note_lost(3, &reason);
        let (lost, warned) = *exporter.lost.lock();
        assert_eq!((lost, warned.is_some()), (0, true), "it has said how many");
        exporter.note_lost(4, &reason);
        assert_eq!(exporter.lost.lock().0, 4, "it says so later");
    }

    #[test]
    fn only_addresses_of_collectors_are_taken() {
        for wrong in ["", "collector:4318", "grpc://collector:4317", "http://"] {
            assert!(collector_url(wrong).is_err(), "{wrong}");
        }
    }
}
