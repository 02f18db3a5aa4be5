-- Cost of the calls of models, one row for each month (UTC), person, document and model. `document` is '' for calls about
-- none: part of the key, so it cannot be NULL. `cost` is in billionths of a US dollar and leaves out `unpriced` calls.
CREATE TABLE spending (
    month TEXT COLLATE "C" NOT NULL,
    user_id TEXT COLLATE "C" NOT NULL,
    document TEXT COLLATE "C" NOT NULL,
    model TEXT COLLATE "C" NOT NULL,
    calls BIGINT NOT NULL,
    unpriced BIGINT NOT NULL,
    tokens BIGINT NOT NULL,
    cost BIGINT NOT NULL,
    PRIMARY KEY (month, user_id, document, model)
);
CREATE INDEX spending_by_document ON spending (month, document);

-- Limits of a calendar month, in billionths of a US dollar. `subject` is a person or a document, or ''.
CREATE TABLE spending_limits (
    kind TEXT COLLATE "C" NOT NULL,
    subject TEXT COLLATE "C" NOT NULL,
    amount BIGINT NOT NULL,
    PRIMARY KEY (kind, subject)
);
