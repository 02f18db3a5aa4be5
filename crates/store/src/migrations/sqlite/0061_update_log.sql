-- The log names a document, an editor and a person with each update, which took more space than the updates. Each name is
-- stored once now, and the log has its number. `updates` reads and is written as before.
CREATE TABLE names (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
);
INSERT INTO names (name)
SELECT document FROM updates UNION SELECT client FROM updates UNION SELECT author FROM updates;

-- Clustered: loading a document reads one stretch of the file.
CREATE TABLE update_log (
    document BIGINT NOT NULL REFERENCES names (number),
    version BIGINT NOT NULL,
    client BIGINT NOT NULL REFERENCES names (number),
    changes TEXT NOT NULL,
    author BIGINT NOT NULL REFERENCES names (number),
    at_ms BIGINT NOT NULL,
    origin TEXT,
    PRIMARY KEY (document, version)
) WITHOUT ROWID;
INSERT INTO update_log (document, version, client, changes, author, at_ms, origin)
SELECT documents.number, version, clients.number, changes, authors.number, at_ms, origin
FROM updates
    JOIN names AS documents ON documents.name = updates.document
    JOIN names AS clients ON clients.name = updates.client
    JOIN names AS authors ON authors.name = updates.author
ORDER BY documents.number, version;
DROP TABLE updates;

-- In this order always: the document first, then its stretch of the log.
CREATE VIEW updates AS
SELECT documents.name AS document, log.version AS version, clients.name AS client, log.changes AS changes,
    authors.name AS author, log.at_ms AS at_ms, log.origin AS origin
FROM names AS documents
    CROSS JOIN update_log AS log ON log.document = documents.number
    CROSS JOIN names AS clients ON clients.number = log.client
    CROSS JOIN names AS authors ON authors.number = log.author;
CREATE TRIGGER updates_arrive INSTEAD OF INSERT ON updates
BEGIN
    INSERT INTO names (name) VALUES (NEW.document), (NEW.client), (NEW.author) ON CONFLICT (name) DO NOTHING;
    INSERT INTO update_log (document, version, client, changes, author, at_ms, origin)
    VALUES (
        (SELECT number FROM names WHERE name = NEW.document), NEW.version,
        (SELECT number FROM names WHERE name = NEW.client), NEW.changes,
        (SELECT number FROM names WHERE name = NEW.author), NEW.at_ms, NEW.origin
    );
END;

-- The log is append-only whatever the code above it does, and a name stays what it is.
CREATE TRIGGER updates_stay BEFORE UPDATE ON update_log
BEGIN SELECT RAISE(ABORT, 'the update log is append-only'); END;
CREATE TRIGGER updates_remain BEFORE DELETE ON update_log
BEGIN SELECT RAISE(ABORT, 'the update log is append-only'); END;
CREATE TRIGGER updates_stay_in_view INSTEAD OF UPDATE ON updates
BEGIN SELECT RAISE(ABORT, 'the update log is append-only'); END;
CREATE TRIGGER updates_remain_in_view INSTEAD OF DELETE ON updates
BEGIN SELECT RAISE(ABORT, 'the update log is append-only'); END;
CREATE TRIGGER names_stay BEFORE UPDATE ON names
BEGIN SELECT RAISE(ABORT, 'the update log is append-only'); END;
CREATE TRIGGER names_remain BEFORE DELETE ON names
BEGIN SELECT RAISE(ABORT, 'the update log is append-only'); END;
