-- Rules that people made together with an approval; body is the whole rule, ended ones too.
CREATE TABLE rules (
    id TEXT NOT NULL PRIMARY KEY,
    document TEXT,
    session TEXT NOT NULL,
    created_ms BIGINT NOT NULL,
    ended_ms BIGINT,
    body TEXT NOT NULL
);
CREATE INDEX rules_in_force ON rules (document, id) WHERE ended_ms IS NULL;
