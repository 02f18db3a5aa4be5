-- A deleted document can be recovered until it is removed from the trash.
ALTER TABLE documents ADD COLUMN purged BOOLEAN NOT NULL DEFAULT FALSE;
CREATE INDEX documents_in_trash ON documents (updated_ms, id) WHERE deleted AND NOT purged;
