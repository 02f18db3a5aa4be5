//! Events over socket.io about documents that other servers have.

mod answers;
mod decisions;
mod relay;

pub use relay::client_relays;
