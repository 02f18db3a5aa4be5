-- When the session of a run was told how it ended; what ended before this was told as far as it could be.
ALTER TABLE runs ADD COLUMN heard_ms BIGINT;
UPDATE runs SET heard_ms = finished_ms;
CREATE INDEX runs_unheard ON runs (session) WHERE finished_ms IS NOT NULL AND heard_ms IS NULL;
