//! HTTP: the REST API and the Messages API, behind the checks of every request.

pub mod messages_api;
pub mod rest;
