-- Threads of comments. `anchor` is the passage as JSON, in positions of `version`; `body` is everything else as JSON. A thread
-- whose comments are all deleted has no row.
CREATE TABLE comment_threads (
    id TEXT NOT NULL PRIMARY KEY,
    document TEXT NOT NULL REFERENCES documents (id),
    resolved BOOLEAN NOT NULL,
    version BIGINT NOT NULL,
    anchor TEXT NOT NULL,
    body TEXT NOT NULL
);
CREATE INDEX comment_threads_by_document ON comment_threads (document, id);
-- Number of comments of a thread that a person has read.
CREATE TABLE comment_reads (
    user_id TEXT NOT NULL,
    thread TEXT NOT NULL REFERENCES comment_threads (id),
    comments BIGINT NOT NULL,
    PRIMARY KEY (user_id, thread)
) WITHOUT ROWID;
CREATE INDEX comment_reads_by_thread ON comment_reads (thread);
