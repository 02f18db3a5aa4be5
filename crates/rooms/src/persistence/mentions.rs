//! Unread mentions of people, announced to their own connections on all servers.

use copydesk_ids::{DocumentId, ThreadId, UserId};
use copydesk_macros::boxed;
use copydesk_placement::PeerMessage;

use crate::event::{ServerEvent, UnreadMentions};
use crate::{RoomRegistry, RoomResult};

impl RoomRegistry {
    /// Tells the connections of people, on all servers, how often a document mentions them in
    /// threads that they have not read. `read` are threads that they have just read, with the
    /// number of comments.
    ///
    /// # Errors
    /// [`RoomError::Store`](crate::RoomError::Store) if the mentions cannot be counted.
    #[boxed]
    pub async fn tell_mentions(
        &self,
        document: &DocumentId,
        people: Vec<UserId>,
        read: Vec<(ThreadId, u64)>,
    ) -> RoomResult<()> {
        if people.is_empty() {
            return Ok(());
        }
        self.announce_mentions(document, &people, &read).await?;
        let message = PeerMessage::Mentions(document.clone(), people, read);
        self.0.placement().tell(&message).await;
        Ok(())
    }

    /// Tells the connections on this server, as [`Self::tell_mentions`] does on all.
    ///
    /// # Errors
    /// As there.
    pub async fn announce_mentions(
        &self,
        document: &DocumentId,
        people: &[UserId],
        read: &[(ThreadId, u64)],
    ) -> RoomResult<()> {
        for user in people {
            let found = self.store().unread_mentions(user, Some(document)).await?;
            self.announce(&ServerEvent::Mentions(UnreadMentions {
                user: user.clone(),
                document: document.clone(),
                mentions: found.get(document).copied().unwrap_or(0),
                read: read.to_vec(),
            }));
        }
        Ok(())
    }
}
