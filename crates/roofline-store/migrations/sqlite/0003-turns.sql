-- What sets have found of cases whose records are not complete, so that a run that was stopped can go
-- on. Unlike records, turns are dropped when their case is done: its records then hold all of it.

CREATE TABLE turns (
    number INTEGER PRIMARY KEY,
    run TEXT NOT NULL REFERENCES runs (id),
    case_id TEXT NOT NULL,
    document TEXT NOT NULL
) STRICT;

CREATE INDEX turns_by_case ON turns (run, case_id);
