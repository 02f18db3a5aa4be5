-- Groups of a person, a JSON array of names, as the identity provider said them at the last sign-in.
ALTER TABLE logins ADD COLUMN group_names TEXT NOT NULL DEFAULT '[]';
-- Roles in single documents. `kind` says what `grantee` is: 'login' a person, 'email' a verified mail address in lower case,
-- 'group' a group of the identity provider.
CREATE TABLE document_roles (
    document TEXT COLLATE "C" NOT NULL REFERENCES documents (id),
    kind TEXT COLLATE "C" NOT NULL,
    grantee TEXT COLLATE "C" NOT NULL,
    role TEXT COLLATE "C" NOT NULL,
    given_by TEXT COLLATE "C" NOT NULL,
    given_ms BIGINT NOT NULL,
    PRIMARY KEY (document, kind, grantee)
);
CREATE INDEX document_roles_by_grantee ON document_roles (kind, grantee);
