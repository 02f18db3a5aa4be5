//! A server that is the only one: it has every document and every task.

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, ready};
use tokio::sync::watch;

use super::{ClaimError, OtherServer, PeerMessage, Placement};
use copydesk_ids::DocumentId;
use copydesk_store::StoreResult;

/// Placement on a server that is the only one.
#[derive(Debug, Default)]
pub struct SingleServer {
    /// Never changes.
    departures: watch::Sender<u64>,
}

impl Placement for SingleServer {
    fn is_shared(&self) -> bool {
        false
    }

    fn claim<'a>(&'a self, _: &'a DocumentId) -> BoxFuture<'a, Result<(), ClaimError>> {
        ready(Ok(())).boxed()
    }

    fn claim_new<'a>(&'a self, _: &'a DocumentId) -> BoxFuture<'a, StoreResult<()>> {
        ready(Ok(())).boxed()
    }

    fn release<'a>(&'a self, _: &'a DocumentId) -> BoxFuture<'a, ()> {
        ready(()).boxed()
    }

    fn release_all(&self) -> BoxFuture<'_, ()> {
        ready(()).boxed()
    }

    fn other_server_of<'a>(
        &'a self,
        _: &'a DocumentId,
    ) -> BoxFuture<'a, StoreResult<Option<OtherServer>>> {
        ready(Ok(None)).boxed()
    }

    fn claim_task<'a>(&'a self, _: &'a str) -> BoxFuture<'a, StoreResult<bool>> {
        ready(Ok(true)).boxed()
    }

    fn await_task<'a>(&'a self, _: &'a str) -> BoxFuture<'a, ()> {
        ready(()).boxed()
    }

    fn has_task(&self, _: &str) -> bool {
        true
    }

    fn other_server_of_task<'a>(
        &'a self,
        _: &'a str,
    ) -> BoxFuture<'a, StoreResult<Option<OtherServer>>> {
        ready(Ok(None)).boxed()
    }

    fn tell<'a>(&'a self, _: &'a PeerMessage) -> BoxFuture<'a, ()> {
        ready(()).boxed()
    }

    fn departures(&self) -> watch::Receiver<u64> {
        self.departures.subscribe()
    }

    fn note_departure(&self) {}

    fn forget_server(&self, _: &OtherServer) {}

    fn measure(&self) -> BoxFuture<'_, StoreResult<()>> {
        ready(Ok(())).boxed()
    }
}
