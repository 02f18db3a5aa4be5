-- What somebody may still do is looked up at every call they asked for, however many others have tokens.
CREATE INDEX tokens_by_user ON tokens (user_id);
