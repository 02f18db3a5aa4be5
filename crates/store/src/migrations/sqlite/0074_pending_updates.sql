-- Updates that are durable and not in the log yet: a row for each group of batches, an array of rows as
-- `updates` has them. A second later all of them are put into the log, and removed here, in one transaction.
CREATE TABLE pending_updates (
    number INTEGER PRIMARY KEY,
    body TEXT NOT NULL
);
