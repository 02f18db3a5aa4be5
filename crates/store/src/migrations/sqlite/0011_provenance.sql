-- What updates made by the server put into the text, stretch by stretch: which change of a request, or words that had
-- stood there before. With the log it says who wrote every span.
CREATE TABLE placements (
    document TEXT NOT NULL REFERENCES documents (id),
    version BIGINT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (document, version)
) WITHOUT ROWID;
CREATE TRIGGER placements_stay BEFORE UPDATE ON placements
BEGIN SELECT RAISE(ABORT, 'the update log is append-only'); END;
CREATE TRIGGER placements_remain BEFORE DELETE ON placements
BEGIN SELECT RAISE(ABORT, 'the update log is append-only'); END;

-- Who wrote every span at a version: worked out from the log, kept so that it need not be worked out again.
CREATE TABLE provenance (
    document TEXT NOT NULL REFERENCES documents (id),
    version BIGINT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (document, version)
) WITHOUT ROWID;
