-- Users of people whose data was deleted, so that their names are not stored again. `person` is the user under whom a
-- person was deleted; other users of the same person have rows of their own. `body` is the state of the deletion, which
-- has the names to be replaced until `ended_ms`.
CREATE TABLE deleted_people (
    user_id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    person TEXT COLLATE "C" NOT NULL,
    begun_ms BIGINT NOT NULL,
    ended_ms BIGINT,
    body TEXT NOT NULL
);

-- Decisions stay as they are, apart from the names of deleted people.
CREATE FUNCTION refuse_other_change() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.seq IS DISTINCT FROM OLD.seq OR NEW.request IS DISTINCT FROM OLD.request
        OR NEW.hunk IS DISTINCT FROM OLD.hunk OR NEW.user_id IS DISTINCT FROM OLD.user_id
        OR NEW.at_ms IS DISTINCT FROM OLD.at_ms OR NEW.body IS DISTINCT FROM OLD.body
        OR NEW.name IS DISTINCT FROM 'Deleted person'
        OR NOT EXISTS (SELECT 1 FROM deleted_people WHERE user_id = OLD.user_id)
    THEN
        RAISE EXCEPTION '% is append-only', TG_ARGV[0] USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;
DROP TRIGGER decisions_stay ON decisions;
CREATE TRIGGER decisions_stay BEFORE UPDATE ON decisions
    FOR EACH ROW EXECUTE FUNCTION refuse_other_change('the log of decisions');
