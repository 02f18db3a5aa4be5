//! HTTP request, as it came over a connection.

use std::sync::{Arc, OnceLock};

use copydesk_ids::permissions::Principal;

use super::memory_accounts::{MemoryAccounts, PersonAccount};
use super::socket_client::SocketClient;
use super::tcp_connection::{AnsweringGuard, TcpConnection, TooManyConnections};

/// Connection of an HTTP request, in its extensions; the request is being answered until the drop.
#[derive(Debug)]
pub struct ConnectionArrival {
    /// Connection that the request came over.
    pub transport: Arc<TcpConnection>,
    _answering: AnsweringGuard,
}

impl ConnectionArrival {
    /// Begins a request; called before anything after its head is read.
    pub fn begin(transport: &Arc<TcpConnection>) -> Self {
        Self { transport: Arc::clone(transport), _answering: transport.begin_request() }
    }
}

/// Long-polling [`SocketClient`] whose answer is on its way: its end also ends the connection.
#[derive(Debug)]
pub struct CarriedConnection {
    /// Client that is answered.
    pub session: Arc<SocketClient>,
    arrival: Arc<ConnectionArrival>,
}

impl CarriedConnection {
    /// Marks the answer to this request as one for this client.
    pub fn new(session: Arc<SocketClient>, arrival: Arc<ConnectionArrival>) -> Self {
        session.attach(&arrival.transport);
        Self { session, arrival }
    }
}

impl Drop for CarriedConnection {
    fn drop(&mut self) {
        self.session.detach(&self.arrival.transport);
    }
}

/// Person who makes an HTTP request, once known; kept in the request's extensions.
#[derive(Clone, Debug)]
pub struct RequestOwner {
    accounts: MemoryAccounts,
    /// Connection that the request came over.
    pub transport: Arc<TcpConnection>,
    account: Arc<OnceLock<Arc<PersonAccount>>>,
}

impl RequestOwner {
    /// Returns the owner, not known yet, of a request over this connection.
    pub fn unauthenticated(accounts: MemoryAccounts, transport: Arc<TcpConnection>) -> Self {
        Self { accounts, transport, account: Arc::default() }
    }

    /// Sets the person whose token the request has shown.
    pub fn is(&self, principal: &Principal) -> Result<(), TooManyConnections> {
        let account = self.account.get_or_init(|| self.accounts.of(principal));
        self.transport.belong_to(account)
    }

    /// Returns the account of the person, once known.
    pub fn account(&self) -> Option<&Arc<PersonAccount>> {
        self.account.get()
    }
}
