-- What all sessions said about a document, in the order in which it was said, without looking through all other conversations.
CREATE INDEX messages_about ON messages (document, at_ms, session, seq);
