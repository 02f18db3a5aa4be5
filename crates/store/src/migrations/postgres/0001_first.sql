-- Everything a server remembers, as in migrations/sqlite. Times are milliseconds since the epoch; bodies are JSON text.
-- Text is compared by its bytes, as in SQLite, whatever the database's own collation is.

-- Returns the elements of an array, as SQLite's function of this name does, so that statements about lists are written once.
CREATE FUNCTION json_each(list TEXT) RETURNS TABLE (value JSONB)
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT * FROM jsonb_array_elements(list::jsonb) $$;

-- The server that writes: a name for the time that it serves, and the number of its transactions. Each transaction is
-- written on the condition that nobody has served since, and it counts itself, so that its outcome can be looked up.
CREATE TABLE writer (
    only_row BOOLEAN NOT NULL PRIMARY KEY DEFAULT TRUE CHECK (only_row),
    term TEXT NOT NULL,
    transactions BIGINT NOT NULL
);

CREATE TABLE documents (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    title TEXT NOT NULL,
    created_ms BIGINT NOT NULL,
    updated_ms BIGINT NOT NULL,
    version BIGINT NOT NULL,
    settings TEXT NOT NULL,
    unlisted_owner TEXT COLLATE "C",
    deleted BOOLEAN NOT NULL
);
-- Only private documents have an owner; of the others it would lead to all.
CREATE INDEX documents_by_owner ON documents (unlisted_owner) WHERE unlisted_owner IS NOT NULL;
-- Lists of documents and of what waits, page by page.
CREATE INDEX documents_listed ON documents (updated_ms, id) WHERE unlisted_owner IS NULL AND deleted = FALSE;

-- The text of a document may contain NUL, which no TEXT of PostgreSQL can.
CREATE TABLE snapshots (
    document TEXT COLLATE "C" NOT NULL REFERENCES documents (id),
    version BIGINT NOT NULL,
    content BYTEA NOT NULL,
    PRIMARY KEY (document, version)
);

-- What it costs to get from one snapshot to the next, apart from the long texts: bytes of updates since the newest
-- permanent snapshot before it. Permanent ones are never thinned out, so that any version is near one.
CREATE TABLE snapshot_costs (
    document TEXT COLLATE "C" NOT NULL REFERENCES documents (id),
    version BIGINT NOT NULL,
    replayed_bytes BIGINT NOT NULL,
    permanent BOOLEAN NOT NULL,
    PRIMARY KEY (document, version)
);

CREATE TABLE updates (
    document TEXT COLLATE "C" NOT NULL REFERENCES documents (id),
    version BIGINT NOT NULL,
    client TEXT NOT NULL,
    changes TEXT NOT NULL,
    author TEXT NOT NULL,
    at_ms BIGINT NOT NULL,
    origin TEXT,
    PRIMARY KEY (document, version)
);

-- What updates made by the server put into the text, stretch by stretch: which change of a request, or words that had
-- stood there before. With the log it says who wrote every span.
CREATE TABLE placements (
    document TEXT COLLATE "C" NOT NULL REFERENCES documents (id),
    version BIGINT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (document, version)
);

-- Who wrote every span at a version: worked out from the log, kept so that it need not be worked out again.
CREATE TABLE provenance (
    document TEXT COLLATE "C" NOT NULL REFERENCES documents (id),
    version BIGINT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (document, version)
);

CREATE TABLE clients (
    document TEXT COLLATE "C" NOT NULL REFERENCES documents (id),
    client TEXT COLLATE "C" NOT NULL,
    user_id TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (document, client)
);

CREATE TABLE sessions (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    user_id TEXT COLLATE "C" NOT NULL,
    created_ms BIGINT NOT NULL,
    seen_ms BIGINT NOT NULL,
    permission_mode TEXT,
    body TEXT NOT NULL
);

-- document is '' for a conversation about none: part of the key, so it cannot be NULL.
CREATE TABLE messages (
    session TEXT COLLATE "C" NOT NULL,
    document TEXT COLLATE "C" NOT NULL,
    seq BIGINT NOT NULL,
    role TEXT NOT NULL,
    body TEXT NOT NULL,
    at_ms BIGINT NOT NULL,
    PRIMARY KEY (session, document, seq)
);
-- What all sessions said about a document, in the order in which it was said, without looking through all other conversations.
CREATE INDEX messages_about ON messages (document, at_ms, session, seq);

-- heard_ms: when the session of a run was told how it ended.
CREATE TABLE runs (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    session TEXT COLLATE "C" NOT NULL,
    document TEXT COLLATE "C",
    user_id TEXT COLLATE "C" NOT NULL,
    state TEXT NOT NULL,
    body TEXT NOT NULL,
    created_ms BIGINT NOT NULL,
    finished_ms BIGINT,
    heard_ms BIGINT
);
CREATE INDEX runs_unfinished ON runs (created_ms) WHERE finished_ms IS NULL;
CREATE INDEX runs_unheard ON runs (session) WHERE finished_ms IS NOT NULL AND heard_ms IS NULL;

CREATE TABLE requests (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    document TEXT COLLATE "C",
    session TEXT COLLATE "C" NOT NULL,
    run TEXT COLLATE "C" NOT NULL,
    status TEXT NOT NULL,
    is_open BOOLEAN NOT NULL,
    created_ms BIGINT NOT NULL,
    expires_ms BIGINT,
    body TEXT NOT NULL
);
CREATE INDEX requests_by_document ON requests (document, id);
CREATE INDEX requests_open ON requests (id) WHERE is_open;
CREATE INDEX requests_open_by_document ON requests (document, id) WHERE is_open;
CREATE INDEX requests_open_by_run ON requests (session, run, id) WHERE is_open;

CREATE TABLE decisions (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    request TEXT COLLATE "C" NOT NULL REFERENCES requests (id),
    hunk TEXT,
    user_id TEXT COLLATE "C" NOT NULL,
    name TEXT NOT NULL,
    at_ms BIGINT NOT NULL,
    body TEXT NOT NULL
);
CREATE INDEX decisions_by_request ON decisions (request);

-- Requests whose effect on a file is being taken back: begun, and nobody has said yet what came of it.
CREATE TABLE undos (
    request TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES requests (id)
);

-- Rules that people made together with an approval; body is the whole rule, ended ones too.
CREATE TABLE rules (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    document TEXT COLLATE "C",
    session TEXT COLLATE "C" NOT NULL,
    created_ms BIGINT NOT NULL,
    ended_ms BIGINT,
    body TEXT NOT NULL
);
CREATE INDEX rules_in_force ON rules (document, id) WHERE ended_ms IS NULL;

-- used_ms: when each token was last used, to the minute: owners see which ones nobody needs any more.
CREATE TABLE tokens (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    hash TEXT COLLATE "C" NOT NULL UNIQUE,
    user_id TEXT COLLATE "C" NOT NULL,
    name TEXT NOT NULL,
    role TEXT NOT NULL,
    document TEXT COLLATE "C",
    created_ms BIGINT NOT NULL,
    expires_ms BIGINT,
    revoked_ms BIGINT,
    used_ms BIGINT
);
-- What somebody may still do is looked up at every call they asked for, however many others have tokens.
CREATE INDEX tokens_by_user ON tokens (user_id);
-- Who may come in is looked up without those whose tokens ended long ago.
CREATE INDEX tokens_not_revoked ON tokens (created_ms, id) WHERE revoked_ms IS NULL;
-- Which tokens have run out since the last look, asked each second.
CREATE INDEX tokens_running_out ON tokens (expires_ms) WHERE revoked_ms IS NULL AND expires_ms IS NOT NULL;

CREATE TABLE settings (
    key TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
);

-- seq is given by the writer, without gaps, so that a removed line shows.
CREATE TABLE audit (
    seq BIGINT NOT NULL PRIMARY KEY,
    at_ms BIGINT NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    document TEXT COLLATE "C",
    request TEXT COLLATE "C",
    detail TEXT NOT NULL,
    prev_hash TEXT NOT NULL,
    hash TEXT NOT NULL
);
CREATE INDEX audit_by_document ON audit (document, seq);

-- Text files of a workspace that are documents too, and how far both agree. `disk` is what the file reads where that is not
-- the text of `version`; `next_*` is a write that is under way. A path whose document was deleted may get a new one.
CREATE TABLE live_files (
    path TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    document TEXT COLLATE "C" NOT NULL UNIQUE REFERENCES documents (id),
    version BIGINT NOT NULL,
    stamp TEXT NOT NULL,
    disk TEXT,
    form TEXT NOT NULL,
    next_version BIGINT,
    next_stamp TEXT
);

-- Writes over REST that named a key: begun (answer is NULL), or answered. Kept for a day.
CREATE TABLE idempotency (
    user_id TEXT COLLATE "C" NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    fingerprint TEXT NOT NULL,
    at_ms BIGINT NOT NULL,
    answer TEXT,
    PRIMARY KEY (user_id, key)
);
CREATE INDEX idempotency_by_age ON idempotency (at_ms);

-- Who wants to be told of requests. The secret signs what is sent, so it is kept as it is.
CREATE TABLE webhooks (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    url TEXT NOT NULL,
    document TEXT COLLATE "C",
    secret TEXT NOT NULL,
    active BOOLEAN NOT NULL,
    created_ms BIGINT NOT NULL,
    delivered_ms BIGINT,
    failing_ms BIGINT,
    error TEXT,
    dropped BIGINT NOT NULL
);

-- What is still to be told, written in the transaction of the request it is about. since_ms: the first try.
CREATE TABLE outbox (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL,
    hook TEXT COLLATE "C" NOT NULL REFERENCES webhooks (id),
    event TEXT NOT NULL,
    body TEXT NOT NULL,
    attempts BIGINT NOT NULL,
    since_ms BIGINT,
    next_ms BIGINT NOT NULL
);
CREATE INDEX outbox_by_hook ON outbox (hook, seq);

-- Answers over the Messages API of which their programs were not shown everything. Kept for a day after their last use.
CREATE TABLE answers (
    user_id TEXT COLLATE "C" NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    used_ms BIGINT NOT NULL,
    bytes BIGINT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (user_id, key)
);
CREATE INDEX answers_by_use ON answers (used_ms);

-- The logs are append-only whatever the code above them does.
CREATE FUNCTION refuse_change() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only', TG_ARGV[0] USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER updates_stay BEFORE UPDATE ON updates
    FOR EACH ROW EXECUTE FUNCTION refuse_change('the update log');
CREATE TRIGGER updates_remain BEFORE DELETE OR TRUNCATE ON updates
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('the update log');
CREATE TRIGGER placements_stay BEFORE UPDATE ON placements
    FOR EACH ROW EXECUTE FUNCTION refuse_change('the update log');
CREATE TRIGGER placements_remain BEFORE DELETE OR TRUNCATE ON placements
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('the update log');
CREATE TRIGGER decisions_stay BEFORE UPDATE ON decisions
    FOR EACH ROW EXECUTE FUNCTION refuse_change('the log of decisions');
CREATE TRIGGER decisions_remain BEFORE DELETE OR TRUNCATE ON decisions
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('the log of decisions');
CREATE TRIGGER audit_stays BEFORE UPDATE ON audit
    FOR EACH ROW EXECUTE FUNCTION refuse_change('the audit log');
CREATE TRIGGER audit_remains BEFORE DELETE OR TRUNCATE ON audit
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('the audit log');
