-- Everything a server remembers. Times are milliseconds since the epoch; bodies are JSON text.
-- Statements against these tables are written so that PostgreSQL takes them too.

CREATE TABLE documents (
    id TEXT NOT NULL PRIMARY KEY,
    title TEXT NOT NULL,
    created_ms BIGINT NOT NULL,
    updated_ms BIGINT NOT NULL,
    version BIGINT NOT NULL,
    settings TEXT NOT NULL,
    unlisted_owner TEXT,
    deleted BOOLEAN NOT NULL
);
CREATE INDEX documents_by_owner ON documents (unlisted_owner);

CREATE TABLE snapshots (
    document TEXT NOT NULL REFERENCES documents (id),
    version BIGINT NOT NULL,
    content TEXT NOT NULL,
    PRIMARY KEY (document, version)
);

-- Clustered: loading a document reads one stretch of the file.
CREATE TABLE updates (
    document TEXT NOT NULL REFERENCES documents (id),
    version BIGINT NOT NULL,
    client TEXT NOT NULL,
    changes TEXT NOT NULL,
    author TEXT NOT NULL,
    at_ms BIGINT NOT NULL,
    origin TEXT,
    PRIMARY KEY (document, version)
) WITHOUT ROWID;

CREATE TABLE clients (
    document TEXT NOT NULL REFERENCES documents (id),
    client TEXT NOT NULL,
    user_id TEXT NOT NULL,
    PRIMARY KEY (document, client)
) WITHOUT ROWID;

CREATE TABLE sessions (
    id TEXT NOT NULL PRIMARY KEY,
    user_id TEXT NOT NULL,
    created_ms BIGINT NOT NULL,
    seen_ms BIGINT NOT NULL,
    permission_mode TEXT,
    body TEXT NOT NULL
);

-- document is '' for a conversation about none: part of the key, so it cannot be NULL.
CREATE TABLE messages (
    session TEXT NOT NULL,
    document TEXT NOT NULL,
    seq BIGINT NOT NULL,
    role TEXT NOT NULL,
    body TEXT NOT NULL,
    at_ms BIGINT NOT NULL,
    PRIMARY KEY (session, document, seq)
);

CREATE TABLE runs (
    id TEXT NOT NULL PRIMARY KEY,
    session TEXT NOT NULL,
    document TEXT,
    user_id TEXT NOT NULL,
    state TEXT NOT NULL,
    body TEXT NOT NULL,
    created_ms BIGINT NOT NULL,
    finished_ms BIGINT
);
CREATE INDEX runs_unfinished ON runs (created_ms) WHERE finished_ms IS NULL;

CREATE TABLE requests (
    id TEXT NOT NULL PRIMARY KEY,
    document TEXT,
    session TEXT NOT NULL,
    run TEXT NOT NULL,
    status TEXT NOT NULL,
    is_open BOOLEAN NOT NULL,
    created_ms BIGINT NOT NULL,
    expires_ms BIGINT,
    body TEXT NOT NULL
);
CREATE INDEX requests_by_document ON requests (document, id);
CREATE INDEX requests_open ON requests (id) WHERE is_open;

CREATE TABLE decisions (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    request TEXT NOT NULL REFERENCES requests (id),
    hunk TEXT,
    user_id TEXT NOT NULL,
    name TEXT NOT NULL,
    at_ms BIGINT NOT NULL,
    body TEXT NOT NULL
);
CREATE INDEX decisions_by_request ON decisions (request);

CREATE TABLE tokens (
    id TEXT NOT NULL PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    user_id TEXT NOT NULL,
    name TEXT NOT NULL,
    role TEXT NOT NULL,
    document TEXT,
    created_ms BIGINT NOT NULL,
    expires_ms BIGINT,
    revoked_ms BIGINT
);

CREATE TABLE settings (
    key TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
);

-- seq is given by the writer, without gaps, so that a removed line shows.
CREATE TABLE audit (
    seq INTEGER PRIMARY KEY,
    at_ms BIGINT NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    document TEXT,
    request TEXT,
    detail TEXT NOT NULL,
    prev_hash TEXT NOT NULL,
    hash TEXT NOT NULL
);
CREATE INDEX audit_by_document ON audit (document, seq);

-- The logs are append-only whatever the code above them does.
CREATE TRIGGER updates_stay BEFORE UPDATE ON updates
BEGIN SELECT RAISE(ABORT, 'the update log is append-only'); END;
CREATE TRIGGER updates_remain BEFORE DELETE ON updates
BEGIN SELECT RAISE(ABORT, 'the update log is append-only'); END;
CREATE TRIGGER decisions_stay BEFORE UPDATE ON decisions
BEGIN SELECT RAISE(ABORT, 'decisions are append-only'); END;
CREATE TRIGGER decisions_remain BEFORE DELETE ON decisions
BEGIN SELECT RAISE(ABORT, 'decisions are append-only'); END;
CREATE TRIGGER audit_stays BEFORE UPDATE ON audit
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER audit_remains BEFORE DELETE ON audit
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
