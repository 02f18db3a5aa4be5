-- People whom a thread of comments mentions, and for each the number of the newest comment that does.
CREATE TABLE comment_mentions (
    user_id TEXT COLLATE "C" NOT NULL,
    thread TEXT COLLATE "C" NOT NULL REFERENCES comment_threads (id),
    comments BIGINT NOT NULL,
    PRIMARY KEY (user_id, thread)
);
CREATE INDEX comment_mentions_by_thread ON comment_mentions (thread);
INSERT INTO comment_mentions
SELECT mention.value, thread.id, MAX(comment.number)
FROM comment_threads AS thread,
    jsonb_array_elements(thread.body::jsonb -> 'comments') WITH ORDINALITY AS comment (value, number),
    jsonb_array_elements_text(COALESCE(comment.value -> 'mentions', '[]'::jsonb)) AS mention (value)
WHERE mention.value <> 'ai' AND mention.value <> comment.value -> 'author' ->> 'user'
    AND mention.value NOT IN (SELECT user_id FROM deleted_people)
GROUP BY mention.value, thread.id;
