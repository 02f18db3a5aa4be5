-- People who sign in with an identity provider: each is one person, whatever their tokens.
CREATE TABLE logins (
    user_id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    issuer TEXT COLLATE "C" NOT NULL,
    subject TEXT COLLATE "C" NOT NULL,
    name TEXT NOT NULL,
    email TEXT,
    created_ms BIGINT NOT NULL,
    signed_in_ms BIGINT NOT NULL,
    UNIQUE (issuer, subject)
);
-- The login that a token belongs to; and, if it was issued by an owner and tied to the login later, its earlier person.
ALTER TABLE tokens ADD COLUMN login TEXT COLLATE "C" REFERENCES logins (user_id);
ALTER TABLE tokens ADD COLUMN former_user TEXT COLLATE "C";
-- When the person behind a token changed last: connections that came in before end.
ALTER TABLE tokens ADD COLUMN changed_ms BIGINT;
