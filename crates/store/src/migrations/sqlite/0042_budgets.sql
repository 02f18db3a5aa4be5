-- What it costs to get from one snapshot to the next, apart from the long texts: bytes of updates since the newest
-- permanent snapshot before it. Permanent ones are never thinned out, so that any version is near one.
CREATE TABLE snapshot_costs (
    document TEXT NOT NULL REFERENCES documents (id),
    version BIGINT NOT NULL,
    replayed_bytes BIGINT NOT NULL,
    permanent BOOLEAN NOT NULL,
    PRIMARY KEY (document, version)
) WITHOUT ROWID;
-- Lists of documents and of what waits, page by page.
CREATE INDEX documents_listed ON documents (updated_ms, id)
    WHERE unlisted_owner IS NULL AND deleted = FALSE;
-- Only private documents have an owner; of the others it would lead to all.
DROP INDEX documents_by_owner;
CREATE INDEX documents_by_owner ON documents (unlisted_owner)
    WHERE unlisted_owner IS NOT NULL;
CREATE INDEX requests_open_by_document ON requests (document, id) WHERE is_open;
CREATE INDEX requests_open_by_run ON requests (session, run, id) WHERE is_open;
-- Who may come in is looked up without those whose tokens ended long ago.
CREATE INDEX tokens_not_revoked ON tokens (created_ms, id) WHERE revoked_ms IS NULL;
-- Which tokens have run out since the last look, asked each second.
CREATE INDEX tokens_running_out ON tokens (expires_ms) WHERE revoked_ms IS NULL AND expires_ms IS NOT NULL;
