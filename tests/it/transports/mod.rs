//! Connections: who is let in over which transport, and what each may hold.

mod admission;
mod connections;
mod limits;
mod proxies;
mod tls;
