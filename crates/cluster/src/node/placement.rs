//! Placement by the leases of nodes.

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tokio::sync::watch;

use super::{ClusterNode, LeaseHolder, document_lease, task_lease};
use copydesk_ids::DocumentId;
use copydesk_placement::{ClaimError, NotHere, OtherServer, PeerMessage, Placement};
use copydesk_store::StoreResult;

impl Placement for ClusterNode {
    fn is_shared(&self) -> bool {
        true
    }

    fn claim<'a>(&'a self, document: &'a DocumentId) -> BoxFuture<'a, Result<(), ClaimError>> {
        async {
            match self.lease_document(document).await? {
                Some(LeaseHolder::Here) => Ok(()),
                Some(LeaseHolder::Elsewhere(node)) => Err(NotHere::OtherServer(node).into()),
                None => Err(ClaimError::NoDocument),
            }
        }
        .boxed()
    }

    fn claim_new<'a>(&'a self, document: &'a DocumentId) -> BoxFuture<'a, StoreResult<()>> {
        ClusterNode::lease_new(self, document).boxed()
    }

    fn release<'a>(&'a self, document: &'a DocumentId) -> BoxFuture<'a, ()> {
        ClusterNode::release(self, document).boxed()
    }

    fn release_all(&self) -> BoxFuture<'_, ()> {
        ClusterNode::release_all(self).boxed()
    }

    fn other_server_of<'a>(
        &'a self,
        document: &'a DocumentId,
    ) -> BoxFuture<'a, StoreResult<Option<OtherServer>>> {
        self.other_node(document_lease(document)).boxed()
    }

    fn claim_task<'a>(&'a self, task: &'a str) -> BoxFuture<'a, StoreResult<bool>> {
        async { Ok(self.lease_task(task).await? == LeaseHolder::Here) }.boxed()
    }

    fn await_task<'a>(&'a self, task: &'a str) -> BoxFuture<'a, ()> {
        ClusterNode::await_task(self, task).boxed()
    }

    fn has_task(&self, task: &str) -> bool {
        ClusterNode::has_task(self, task)
    }

    fn other_server_of_task<'a>(
        &'a self,
        task: &'a str,
    ) -> BoxFuture<'a, StoreResult<Option<OtherServer>>> {
        self.other_node(task_lease(task)).boxed()
    }

    fn tell<'a>(&'a self, message: &'a PeerMessage) -> BoxFuture<'a, ()> {
        ClusterNode::tell(self, message).boxed()
    }

    fn departures(&self) -> watch::Receiver<u64> {
        ClusterNode::departures(self)
    }

    fn note_departure(&self) {
        ClusterNode::note_departure(self);
    }

    fn forget_server(&self, server: &OtherServer) {
        self.forget_node(server.number);
    }

    fn measure(&self) -> BoxFuture<'_, StoreResult<()>> {
        ClusterNode::measure(self).boxed()
    }
}
