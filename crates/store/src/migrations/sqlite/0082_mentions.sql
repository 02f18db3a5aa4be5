-- People whom a thread of comments mentions, and for each the number of the newest comment that does.
CREATE TABLE comment_mentions (
    user_id TEXT NOT NULL,
    thread TEXT NOT NULL REFERENCES comment_threads (id),
    comments BIGINT NOT NULL,
    PRIMARY KEY (user_id, thread)
) WITHOUT ROWID;
CREATE INDEX comment_mentions_by_thread ON comment_mentions (thread);
INSERT INTO comment_mentions
SELECT mention.value, thread.id, MAX(comment.key + 1)
FROM comment_threads AS thread, json_each(thread.body, '$.comments') AS comment,
    json_each(comment.value, '$.mentions') AS mention
WHERE mention.value <> 'ai' AND mention.value <> comment.value ->> '$.author.user'
    AND mention.value NOT IN (SELECT user_id FROM deleted_people)
GROUP BY mention.value, thread.id;
