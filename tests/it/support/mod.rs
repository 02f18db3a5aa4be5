//! The harness: the real server, real socket.io clients, and a small vocabulary for stories.

pub mod api;
mod bridge;
mod cli;
mod database;
mod hand;
pub mod http;
mod interpreter;
mod log;
pub mod mcp;
mod mirror;
mod person;
mod provider;
pub mod raw;
mod receiver;
mod request;
pub mod script;
mod sdk;
mod server;
mod test_server;
pub mod wire;

pub use bridge::{give_up, modules};
pub use cli::Cli;
pub use database::{PrivatePostgres, StoryDatabase};
pub use hand::{Answer, Hand};
pub use interpreter::interpreter;
pub use mirror::replacing;
pub use person::{Ack, Person};
pub use provider::Provider;
pub use receiver::Receiver;
pub use request::Request;
pub use script::Script;
pub use sdk::{node_22, packages, python};
pub use server::{Server, copydesk_command, output_of};
pub use test_server::{OWNER, Role, TestServer};
