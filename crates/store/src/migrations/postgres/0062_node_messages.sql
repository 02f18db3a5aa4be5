-- What nodes have told each other in the last seconds: `number` counts the messages of a node. A node reads here what did not reach it
-- otherwise. Without a reference to `nodes`: what a node has told outlives it.
CREATE TABLE node_messages (
    node BIGINT NOT NULL,
    number BIGINT NOT NULL,
    message TEXT NOT NULL,
    told_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    PRIMARY KEY (node, number)
);

-- Name under which the nodes of this database meet where others meet too.
INSERT INTO settings (key, value) VALUES ('node_channel', gen_random_uuid()::text);
