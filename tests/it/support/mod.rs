//! The harness: the real server, real socket.io clients, and a small vocabulary for stories.

mod bridge;
mod cli;
mod desk;
pub mod http;
mod log;
pub mod mcp;
mod mirror;
mod person;
mod provider;
mod request;
pub mod script;
mod server;
pub mod wire;

pub use bridge::{give_up, modules};
pub use cli::Cli;
pub use desk::{Desk, OWNER, Role};
pub use mirror::replacing;
pub use person::{Ack, Person};
pub use provider::Provider;
pub use request::Request;
pub use script::Script;
pub use server::{Server, copydesk};
