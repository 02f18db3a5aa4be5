-- Answers over the Messages API of which their programs were not shown everything. Kept for a day after their last use.
CREATE TABLE answers (
    user_id TEXT NOT NULL,
    key TEXT NOT NULL,
    used_ms BIGINT NOT NULL,
    bytes BIGINT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (user_id, key)
);
CREATE INDEX answers_by_use ON answers (used_ms);
