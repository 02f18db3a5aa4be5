//! HTTP request, as it came over a connection.

use std::sync::Arc;

use super::session::ClientSession;
use super::transport::{ConnectionTransport, RequestTurn};

/// Connection of a request, which counts as being answered until this is dropped; kept in the
/// request's extensions.
#[derive(Debug)]
pub struct ConnectionArrival {
    /// Connection that the request came over.
    pub transport: Arc<ConnectionTransport>,
    _turn: RequestTurn,
}

impl ConnectionArrival {
    /// Begins a request; called before anything after its head is read.
    pub fn begin(transport: &Arc<ConnectionTransport>) -> Self {
        Self { transport: Arc::clone(transport), _turn: transport.begin_request() }
    }
}

/// Long-polling [`ClientSession`] whose answer is on its way: when the client ends, so does the
/// connection.
#[derive(Debug)]
pub struct CarriedConnection {
    session: Arc<ClientSession>,
    arrival: Arc<ConnectionArrival>,
}

impl CarriedConnection {
    /// Marks the answer to this request as one for this client.
    pub fn new(session: Arc<ClientSession>, arrival: Arc<ConnectionArrival>) -> Self {
        session.attach(&arrival.transport);
        Self { session, arrival }
    }

    /// Returns the client.
    pub fn session(&self) -> &ClientSession {
        &self.session
    }
}

impl Drop for CarriedConnection {
    fn drop(&mut self) {
        self.session.detach(&self.arrival.transport);
    }
}
