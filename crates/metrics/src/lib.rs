//! Metrics of this process, for Prometheus: each made once, in one table.
//!
//! Recording adds to atomic numbers, without an allocation, a lock or a look-up. No metric has a
//! label, so nothing of a document, a person or a token can be in one.

use std::sync::LazyLock;
use std::time::Duration;

use prometheus::core::Collector as _;
use prometheus::{HistogramOpts, TextEncoder};

/// Upper bounds of the buckets for work that people wait for, in seconds: 0.25 ms to 8 s.
const FAST_S: &[f64] = &[
    0.000_25, 0.000_5, 0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.125, 0.25, 0.5, 1.0, 2.0,
    4.0, 8.0,
];
/// Upper bounds of the buckets for answers of models, in seconds: 50 ms to 17 minutes.
const SLOW_S: &[f64] =
    &[0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0];
/// Upper bounds of the buckets for batches in one transaction, of which there are at most 256.
const BATCHES: &[f64] = &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0];

/// Number that only grows.
#[derive(Debug)]
pub struct CounterMetric(prometheus::Counter);

/// Number that grows and shrinks.
#[derive(Debug)]
pub struct GaugeMetric(prometheus::Gauge);

/// Distribution of durations or sizes.
#[derive(Debug)]
pub struct HistogramMetric(prometheus::Histogram);

/// Measurement that is recorded when it is dropped, however the work has ended.
#[derive(Debug)]
#[must_use]
pub struct RunningTimer {
    _recorded_on_drop: prometheus::HistogramTimer,
}

impl CounterMetric {
    fn new(name: &str, help: &str, _: &[f64]) -> prometheus::Result<Self> {
        prometheus::Counter::new(name, help).map(Self)
    }

    /// Adds one.
    pub fn count(&self) {
        self.0.inc();
    }

    /// Adds `more`.
    pub fn count_many(&self, more: usize) {
        self.0.inc_by(more as f64);
    }

    /// Raises the number to one that is counted elsewhere. One task at a time may do this.
    pub fn raise_to(&self, total: f64) {
        self.0.inc_by((total - self.0.get()).max(0.0));
    }
}

impl GaugeMetric {
    fn new(name: &str, help: &str, _: &[f64]) -> prometheus::Result<Self> {
        prometheus::Gauge::new(name, help).map(Self)
    }

    /// Sets the number.
    pub fn set(&self, value: f64) {
        self.0.set(value);
    }

    /// Sets the number to a count.
    pub fn set_count(&self, count: usize) {
        self.0.set(count as f64);
    }

    /// Adds one.
    pub fn grow(&self) {
        self.0.inc();
    }

    /// Takes one away.
    pub fn shrink(&self) {
        self.0.dec();
    }
}

impl HistogramMetric {
    fn new(name: &str, help: &str, bounds: &[f64]) -> prometheus::Result<Self> {
        let options = HistogramOpts::new(name, help).buckets(bounds.to_vec());
        prometheus::Histogram::with_opts(options).map(Self)
    }

    /// Records a duration.
    pub fn took(&self, duration: Duration) {
        self.0.observe(duration.as_secs_f64());
    }

    /// Records a size.
    pub fn had(&self, size: usize) {
        self.0.observe(size as f64);
    }

    /// Starts to measure work.
    pub fn start(&self) -> RunningTimer {
        RunningTimer { _recorded_on_drop: self.0.start_timer() }
    }
}

/// Declares metrics: a static of each, and the functions that go through all of them.
macro_rules! metrics {
    ($($(#[$doc:meta])* $metric:ident: $kind:ident($name:literal, $help:literal, $bounds:expr);)+) => {
        $(
            $(#[$doc])*
            pub static $metric: LazyLock<$kind> =
                LazyLock::new(|| $kind::new($name, $help, $bounds).expect("a valid name"));
        )+

        /// Names of all metrics, as Prometheus knows them.
        pub const NAMES: &[&str] = &[$($name),+];

        /// Returns all metrics in Prometheus' text format. Those that nothing was recorded in are
        /// 0.
        ///
        /// # Errors
        /// The encoder's error.
        pub fn encode() -> Result<String, String> {
            let families = [$($metric.0.collect()),+].concat();
            TextEncoder::new().encode_to_string(&families).map_err(|error| error.to_string())
        }
    };
}

metrics! {
    /// Time of a push of updates, recorded once it is acknowledged.
    KEYSTROKE_SECONDS: HistogramMetric(
        "copydesk_keystroke_seconds",
        "Time from the arrival of a push of updates to its acknowledgement, after it is durable.",
        FAST_S
    );
    /// Pushes that were refused.
    KEYSTROKES_REFUSED: CounterMetric(
        "copydesk_keystrokes_refused_total",
        "Pushes of updates that were refused: out of date, not allowed, or not stored.",
        &[]
    );
    /// Time of a decision, recorded once it is durable.
    DECISION_SECONDS: HistogramMetric(
        "copydesk_decision_seconds",
        "Time of a decision about a request, from the check of its person until it is durable.",
        FAST_S
    );
    /// Decisions that were refused.
    DECISIONS_REFUSED: CounterMetric(
        "copydesk_decisions_refused_total",
        "Decisions that were refused: not allowed, already resolved, stale preview, or not stored.",
        &[]
    );
    /// Time of an answer of a model, whatever came of it.
    MODEL_CALL_SECONDS: HistogramMetric(
        "copydesk_model_call_seconds",
        "Time of a call of a model until its answer is complete, has failed or was stopped.",
        SLOW_S
    );
    /// Answers of models that failed.
    MODEL_CALLS_FAILED: CounterMetric(
        "copydesk_model_calls_failed_total",
        "Calls of a model that failed; those that people stopped are not counted.",
        &[]
    );
    /// Time of a transaction that was committed.
    COMMIT_SECONDS: HistogramMetric(
        "copydesk_commit_seconds",
        "Time of a transaction of the database from its begin until it is durable.",
        FAST_S
    );
    /// Batches that were committed by one transaction.
    COMMIT_BATCHES: HistogramMetric(
        "copydesk_commit_batches",
        "Number of changes that one transaction made durable together.",
        BATCHES
    );
    /// Batches that could not be stored.
    COMMITS_FAILED: CounterMetric(
        "copydesk_commits_failed_total",
        "Changes that were not stored, such as those that conflict with another one.",
        &[]
    );
    /// Transactions that were repeated.
    COMMIT_RETRIES: CounterMetric(
        "copydesk_commit_retries_total",
        "Transactions that were repeated: another process had written, or the connection was lost.",
        &[]
    );
    /// Groups of batches that failed together.
    SPLIT_GROUPS: CounterMetric(
        "copydesk_split_groups_total",
        "Transactions that failed and whose changes were then stored one by one.",
        &[]
    );
    /// Lost connections of the writer.
    DATABASE_LOSSES: CounterMetric(
        "copydesk_database_losses_total",
        "Times that the connection that writes to the database was lost.",
        &[]
    );
    /// 1 if the database was read for this scrape, otherwise 0.
    DATABASE_UP: GaugeMetric(
        "copydesk_database_up",
        "1 if the database answered within two seconds; if 0, numbers from it are older.",
        &[]
    );
    /// Batches that wait for the writer.
    COMMIT_QUEUE: GaugeMetric(
        "copydesk_commit_queue",
        "Changes that wait to be stored.",
        &[]
    );
    /// Open rooms.
    ROOMS: GaugeMetric(
        "copydesk_rooms",
        "Documents that are open on this server, the workspace inbox included.",
        &[]
    );
    /// Members of all rooms.
    ROOM_MEMBERS: GaugeMetric(
        "copydesk_room_members",
        "Connections that have a document open; one with two documents counts twice.",
        &[]
    );
    /// Commands that wait for their rooms.
    ROOM_QUEUE: GaugeMetric(
        "copydesk_room_queue",
        "Commands that wait for the tasks of their documents.",
        &[]
    );
    /// Open requests.
    PENDING_REQUESTS: GaugeMetric(
        "copydesk_pending_requests",
        "Requests in the database that wait for people.",
        &[]
    );
    /// Runs that are not over.
    RUNS: GaugeMetric(
        "copydesk_runs",
        "Runs of the agent on this server that are not over.",
        &[]
    );
    /// Runs that wait.
    RUN_QUEUE: GaugeMetric(
        "copydesk_run_queue",
        "Runs that wait for an earlier one of their conversation.",
        &[]
    );
    /// Jobs that wait for a thread of the CPU pool.
    CPU_QUEUE: GaugeMetric(
        "copydesk_cpu_queue",
        "Long computations that wait for a thread.",
        &[]
    );
    /// Deliveries of webhooks that wait.
    WEBHOOK_QUEUE: GaugeMetric(
        "copydesk_webhook_queue",
        "Deliveries of webhooks in the database that were not taken by their receivers yet.",
        &[]
    );
    /// Open connections.
    CONNECTIONS: GaugeMetric(
        "copydesk_connections",
        "TCP connections that are open.",
        &[]
    );
    /// Clients of socket.io.
    SOCKETS: GaugeMetric(
        "copydesk_sockets",
        "Clients of socket.io that are connected with a valid token.",
        &[]
    );
    /// Memory held for connections.
    CONNECTION_MEMORY_BYTES: GaugeMetric(
        "copydesk_connection_memory_bytes",
        "Memory held for what connections send and have not read; --connection-memory limits it.",
        &[]
    );
    /// Servers that share the database.
    NODES: GaugeMetric(
        "copydesk_nodes",
        "Servers that share the database, this one included; 1 without --cluster.",
        &[]
    );
    /// Documents of this server.
    NODE_DOCUMENTS: GaugeMetric(
        "copydesk_node_documents",
        "With --cluster: documents that this server has, and the others relay to it.",
        &[]
    );
    /// Time since the last look at the other servers.
    NODE_LAG_SECONDS: GaugeMetric(
        "copydesk_node_lag_seconds",
        "With --cluster: time since this server last gave a sign of life and saw the others.",
        &[]
    );
    /// Lost servers.
    NODES_LOST: CounterMetric(
        "copydesk_nodes_lost_total",
        "With --cluster: other servers that this one has removed because they gave no sign of life.",
        &[]
    );
    /// Events that were passed on.
    RELAYED_EVENTS: CounterMetric(
        "copydesk_relayed_events_total",
        "With --cluster: events of clients that were passed on to the server that has the document.",
        &[]
    );
    /// Time of a push that was passed on.
    RELAYED_KEYSTROKE_SECONDS: HistogramMetric(
        "copydesk_relayed_keystroke_seconds",
        "With --cluster: time from the arrival of a push of updates here to the answer of the other server.",
        FAST_S
    );
    /// Requests over HTTP that were passed on.
    RELAYED_HTTP_REQUESTS: CounterMetric(
        "copydesk_relayed_http_requests_total",
        "With --cluster: HTTP requests that were passed on to the server that has the document.",
        &[]
    );
    /// Processor time of the process.
    PROCESS_CPU_SECONDS: CounterMetric(
        "process_cpu_seconds_total",
        "Processor time that the server has used.",
        &[]
    );
    /// Memory of the process.
    PROCESS_MEMORY_BYTES: GaugeMetric(
        "process_resident_memory_bytes",
        "Memory that the server has in use.",
        &[]
    );
    /// Start of the process.
    PROCESS_START_SECONDS: GaugeMetric(
        "process_start_time_seconds",
        "Time at which the server was started, in seconds since the epoch.",
        &[]
    );
    /// Open files of the process.
    PROCESS_OPEN_FILES: GaugeMetric(
        "process_open_fds",
        "Files and connections that the server has open.",
        &[]
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_is_there_from_the_beginning() {
        let text = encode().unwrap();
        for name in NAMES {
            assert!(text.contains(&format!("# HELP {name} ")), "{name}\n{text}");
            assert!(text.contains(&format!("# TYPE {name} ")), "{name}\n{text}");
        }
    }

    #[test]
    fn a_number_that_is_counted_elsewhere_never_shrinks() {
        let counter = CounterMetric::new("test_total", "A test.", &[]).unwrap();
        counter.raise_to(2.5);
        counter.raise_to(1.0);
        counter.count_many(2);
        assert!((counter.0.get() - 4.5).abs() < f64::EPSILON, "{counter:?}");
    }
}
