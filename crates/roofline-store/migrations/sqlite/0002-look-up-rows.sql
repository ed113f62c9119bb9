-- A table of one run and the history of one row must not read every document that there is.

CREATE INDEX records_by_run ON records (run);
CREATE INDEX records_by_row ON records (case_id, implementation);
