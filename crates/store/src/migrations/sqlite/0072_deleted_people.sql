-- Users of people whose data was deleted, so that their names are not stored again. `person` is the user under whom a
-- person was deleted; other users of the same person have rows of their own. `body` is the state of the deletion, which
-- has the names to be replaced until `ended_ms`.
CREATE TABLE deleted_people (
    user_id TEXT NOT NULL PRIMARY KEY,
    person TEXT NOT NULL,
    begun_ms BIGINT NOT NULL,
    ended_ms BIGINT,
    body TEXT NOT NULL
) WITHOUT ROWID;

-- Decisions stay as they are, apart from the names of deleted people.
DROP TRIGGER decisions_stay;
CREATE TRIGGER decisions_stay BEFORE UPDATE ON decisions
WHEN NEW.seq IS NOT OLD.seq OR NEW.request IS NOT OLD.request OR NEW.hunk IS NOT OLD.hunk
    OR NEW.user_id IS NOT OLD.user_id OR NEW.at_ms IS NOT OLD.at_ms OR NEW.body IS NOT OLD.body
    OR NEW.name IS NOT 'Deleted person'
    OR NOT EXISTS (SELECT 1 FROM deleted_people WHERE user_id = OLD.user_id)
BEGIN SELECT RAISE(ABORT, 'decisions are append-only'); END;
