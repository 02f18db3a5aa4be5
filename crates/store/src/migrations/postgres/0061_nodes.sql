-- Servers that share the database ("nodes"), while they run: the address at which others reach each, and the number of
-- its transactions. A node writes on the condition that its row is there; whoever removes the row ends its right to write.
CREATE TABLE nodes (
    number BIGINT NOT NULL PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    url TEXT NOT NULL,
    transactions BIGINT NOT NULL
);

-- Signs of life, which need not survive a crash of the database. Apart from the row above, which every commit locks.
CREATE TABLE node_beats (
    node BIGINT NOT NULL PRIMARY KEY REFERENCES nodes (number) ON DELETE CASCADE,
    beat BIGINT NOT NULL
);

-- What one node at a time has: `document/ID`, `task/NAME`. A lease ends when its node gives it back, or with the node.
CREATE TABLE leases (
    name TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    node BIGINT NOT NULL REFERENCES nodes (number) ON DELETE CASCADE
);
CREATE INDEX leases_by_node ON leases (node);
