//! Middleware and extractors of HTTP requests: authentication, identifiers, limits, idempotency,
//! pagination.

pub(crate) mod api_middleware;
pub(crate) mod auth_session;
pub(crate) mod body;
pub mod guard;
pub(crate) mod idempotency;
pub(crate) mod pagination;
pub mod request_id;
pub(crate) mod request_limit;
mod unknown_fields;
pub(crate) mod unread_body;
