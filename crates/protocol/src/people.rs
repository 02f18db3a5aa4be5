//! People as they are named on the wire.

use copydesk_macros::wire;

/// Person as others see them.
#[wire(Serialize, TS)]
pub struct Person {
    /// Identifier of the person, the same for all of their connections.
    pub id: String,
    /// Name that others see: the token's, and beside it the name of the handshake, where they
    /// differ.
    pub name: String,
}
