-- Who wants to be told of requests. The secret signs what is sent, so it is kept as it is.
CREATE TABLE webhooks (
    id TEXT NOT NULL PRIMARY KEY,
    url TEXT NOT NULL,
    document TEXT,
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
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL,
    hook TEXT NOT NULL REFERENCES webhooks (id),
    event TEXT NOT NULL,
    body TEXT NOT NULL,
    attempts BIGINT NOT NULL,
    since_ms BIGINT,
    next_ms BIGINT NOT NULL
);
CREATE INDEX outbox_by_hook ON outbox (hook, seq);
