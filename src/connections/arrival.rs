//! One HTTP request, as it came over a connection.

use std::sync::Arc;

use super::session::ClientSession;
use super::transport::{ConnectionTransport, RequestTurn};

/// A request's connection, and that the request is being answered until this is dropped; found in the request's
/// extensions.
#[derive(Debug)]
pub struct ConnectionArrival {
    /// The connection.
    pub transport: Arc<ConnectionTransport>,
    _turn: RequestTurn,
}

impl ConnectionArrival {
    /// A request begins; called before anything after its head is read.
    pub fn begin(transport: &Arc<ConnectionTransport>) -> Self {
        Self { transport: Arc::clone(transport), _turn: transport.begin_request() }
    }
}

/// A client of long polling, while an answer for it is on its way: when the client ends, so does the connection.
#[derive(Debug)]
pub struct CarriedConnection {
    session: Arc<ClientSession>,
    arrival: Arc<ConnectionArrival>,
}

impl CarriedConnection {
    /// The answer to this request is for this client.
    pub fn new(session: Arc<ClientSession>, arrival: Arc<ConnectionArrival>) -> Self {
        session.attach(&arrival.transport);
        Self { session, arrival }
    }

    /// The client.
    pub fn session(&self) -> &ClientSession {
        &self.session
    }
}

impl Drop for CarriedConnection {
    fn drop(&mut self) {
        self.session.detach(&self.arrival.transport);
    }
}
