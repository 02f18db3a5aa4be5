//! Operations on a connection: what its handlers in `socketio` do to documents that are open there.

use copydesk_ids::permissions::Action::{Read, Write};
use copydesk_protocol::client::{MoveCaret, NameDocument, OpenDocument, PushUpdates, Resync};
use copydesk_protocol::rest::NewVersion;
use copydesk_protocol::server::Opened;

use crate::operation::{Operation, live};
use crate::right::{Anyone, OneDocument};

/// Operations of this file.
#[rustfmt::skip]
pub(crate) fn operations() -> Vec<Operation> {
    vec![
        live::<_, OpenDocument, Opened>("Open a document: its text, or the updates since a version; its events follow", OneDocument(Read)).event("document:open").only_reads(),
        live::<_, Resync, Opened>("Catch up with a document", OneDocument(Read)).event("document:resync").only_reads(),
        live::<_, PushUpdates, NewVersion>("Change the text", OneDocument(Write)).event("document:push"),
        live::<_, NameDocument, ()>("Leave a document", Anyone).event("document:close"),
        live::<_, MoveCaret, ()>("Show others in an open document where your caret is", Anyone).event("presence:update").only_reads(),
    ]
}
