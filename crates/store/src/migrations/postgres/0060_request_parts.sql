-- Parts of open requests that changed since `requests.body` was written, so that a decision about one of many hunks does not
-- write all of them. `hunk` is '' for everything but the hunks; `version` is that of the positions.
CREATE TABLE request_parts (
    request TEXT COLLATE "C" NOT NULL REFERENCES requests (id),
    hunk TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (request, hunk)
);
