-- When each token was last used, to the minute: owners see which ones nobody needs any more.
ALTER TABLE tokens ADD COLUMN used_ms BIGINT;
