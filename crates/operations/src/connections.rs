//! Operations on a connection: what its handlers in `socketio` do to documents that are open there.

use copydesk_ids::permissions::Action::{Read, Write};
use copydesk_operation_table::{Anyone, OnDocument, Operation, socket_handled};
use copydesk_protocol::client::{MoveCaret, NameDocument, OpenDocument, PushUpdates, Resync};
use copydesk_protocol::rest::NewVersion;
use copydesk_protocol::server::Opened;

/// Operations of this file.
#[rustfmt::skip]
pub(crate) fn operations() -> Vec<Operation> {
    vec![
        socket_handled::<_, OpenDocument, Opened>("Open a document: its text, or the updates since a version; its events follow", OnDocument(Read)).event("document:open").only_reads(),
        socket_handled::<_, Resync, Opened>("Catch up with a document", OnDocument(Read)).event("document:resync").only_reads(),
        socket_handled::<_, PushUpdates, NewVersion>("Change the text", OnDocument(Write)).event("document:push"),
        socket_handled::<_, NameDocument, ()>("Leave a document", Anyone).event("document:close"),
        socket_handled::<_, MoveCaret, ()>("Show others in an open document where your caret is", Anyone).event("presence:update").only_reads(),
    ]
}
