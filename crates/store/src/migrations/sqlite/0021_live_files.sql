-- Text files of a workspace that are documents too, and how far both agree. `disk` is what the file reads where that is not
-- the text of `version`; `next_*` is a write that is under way. A path whose document was deleted may get a new one.
CREATE TABLE live_files (
    path TEXT NOT NULL PRIMARY KEY,
    document TEXT NOT NULL UNIQUE REFERENCES documents (id),
    version BIGINT NOT NULL,
    stamp TEXT NOT NULL,
    disk TEXT,
    form TEXT NOT NULL,
    next_version BIGINT,
    next_stamp TEXT
);
