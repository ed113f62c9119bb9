-- What was seen, appended and never changed. `document` is the run or record as JSON, whole, samples
-- included: it alone is the truth, and a new field of a record needs no migration. The other columns
-- repeat what rows are looked up by. `number` is the order of appending.

CREATE TABLE runs (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    started TEXT NOT NULL,
    document TEXT NOT NULL
) STRICT;

CREATE TABLE records (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    run TEXT NOT NULL REFERENCES runs (id),
    at TEXT NOT NULL,
    case_id TEXT NOT NULL,
    implementation TEXT NOT NULL,
    status TEXT NOT NULL,
    document TEXT NOT NULL
) STRICT;
