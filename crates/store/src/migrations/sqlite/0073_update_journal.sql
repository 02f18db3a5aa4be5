-- Changes no table: it only makes the data one of this version. A program of before does not know the journal of
-- updates beside the database, and would begin without what is in it.
SELECT 1;
