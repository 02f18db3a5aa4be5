-- Term of a lease, another one each time that it is taken: a node that gives a lease back names the term, so that a statement
-- that arrives late ends no later term.
ALTER TABLE leases ADD COLUMN term BIGINT NOT NULL GENERATED ALWAYS AS IDENTITY;
