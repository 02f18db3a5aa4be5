//! One HTTP request, as it came over a connection.

use std::sync::Arc;

use super::session::ClientSession;
use super::transport::{RequestTurn, Transport};

/// A request's connection, and that the request is being answered until this is dropped; found in the request's
/// extensions.
#[derive(Debug)]
pub struct Arrival {
    /// The connection.
    pub transport: Arc<Transport>,
    _turn: RequestTurn,
}

impl Arrival {
    /// A request begins; called before anything after its head is read.
    pub fn begin(transport: &Arc<Transport>) -> Self {
        Self { transport: Arc::clone(transport), _turn: transport.begin_request() }
    }
}

/// A client of long polling, while an answer for it is on its way: when the client ends, so does the connection.
#[derive(Debug)]
pub struct Carried {
    session: Arc<ClientSession>,
    arrival: Arc<Arrival>,
}

impl Carried {
    /// The answer to this request is for this client.
    pub fn new(session: Arc<ClientSession>, arrival: Arc<Arrival>) -> Self {
        session.attach(&arrival.transport);
        Self { session, arrival }
    }

    /// The client.
    pub fn session(&self) -> &ClientSession {
        &self.session
    }
}

impl Drop for Carried {
    fn drop(&mut self) {
        self.session.detach(&self.arrival.transport);
    }
}
