-- Requests whose effect on a file is being taken back: begun, and nobody has said yet what came of it.
CREATE TABLE undos (
    request TEXT NOT NULL PRIMARY KEY REFERENCES requests (id)
);
