//! State that all handlers of HTTP requests share.

use std::time::Duration;

use crate::messages_api::Conversations;
use copydesk_api::Application;
use copydesk_connections::body_quota::BodyQuota;
use copydesk_operation_table::OperationTable;

use super::metrics::MetricsAccess;
use super::middleware::request_limit::RequestLimits;

/// Shared state of the HTTP handlers, given to [`router`](super::router).
#[derive(Clone)]
pub struct HttpState {
    /// Application that does what is asked.
    pub application: Application,
    /// Declared operations, most of which have a [`Route`](copydesk_operation_table::Route).
    pub operations: &'static OperationTable,
    /// Conversations of the Messages API.
    pub conversations: Conversations,
    /// Memory quota of request bodies.
    pub reading: BodyQuota,
    /// Limits on the requests of each person.
    pub limits: RequestLimits,
    /// Silence after which a stream of the Messages API is sent a ping.
    pub stream_ping: Duration,
    /// Measurements, and who may read them.
    pub metrics: MetricsAccess,
}
