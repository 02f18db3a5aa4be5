-- Writes over REST that named a key: begun (answer is NULL), or answered. Kept for a day.
CREATE TABLE idempotency (
    user_id TEXT NOT NULL,
    key TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    at_ms BIGINT NOT NULL,
    answer TEXT,
    PRIMARY KEY (user_id, key)
) WITHOUT ROWID;
CREATE INDEX idempotency_by_age ON idempotency (at_ms);
