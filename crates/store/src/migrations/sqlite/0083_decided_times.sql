-- When an ended request was last decided, so that a long one need not be read to see that nothing is new. NULL: its body says it.
ALTER TABLE requests ADD COLUMN decided_ms BIGINT;
