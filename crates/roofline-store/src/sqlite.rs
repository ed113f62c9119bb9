//! The store as one SQLite file.
//!
//! Rollback journal, not WAL: the store stays one file that can be copied, lies on a network share
//! and opens from a read-only folder, and a record a second needs no faster commit. `synchronous` is
//! EXTRA, so that a commit outlives a power cut as well as a kill. Readers hold the file for one
//! query; writers wait for them.
//!
//! The file is told by its `application_id`, its schema by `user_version`; both are written in the
//! transaction that makes the tables.

use crate::document::{self, Document};
use crate::error::{Doing, PATIENCE, StoreError, classify, folder, missing, of_folder};
use crate::{Filter, Reading};
use roofline_core::record::{Record, Run};
use roofline_core::turn::Turn;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, Row, params, params_from_iter};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Every migration, in order: the first makes schema 1 of an empty file. Never change one that was
/// released; add the next.
const MIGRATIONS: &[&str] = &[
    include_str!("../migrations/sqlite/0001-runs-and-records.sql"),
    include_str!("../migrations/sqlite/0002-look-up-rows.sql"),
    include_str!("../migrations/sqlite/0003-turns.sql"),
];

/// The schema that this crate writes.
const SCHEMA: u32 = MIGRATIONS.len() as u32;

/// "Rfln" in the header, where `file` and others look for whose SQLite file it is.
const APPLICATION_ID: i32 = 0x5266_6c6e;

/// The order of appending, backwards: a limit leaves the latest.
const LAST_FIRST: &str = "ORDER BY number DESC";

#[derive(Debug)]
pub(crate) struct Sqlite {
    path: PathBuf,
    connection: Connection,
    /// Device and number of the file that was opened.
    identity: Option<(u64, u64)>,
}

impl Sqlite {
    pub(crate) fn open(path: &Path) -> Result<Sqlite, StoreError> {
        let path = absolute(path)?;
        let there = fs::metadata(&path);
        match &there {
            Ok(metadata) => refuse_foreign(&path, metadata)?,
            Err(_) => make_folder(&path)?,
        }
        let connected = Sqlite::connect(path, OpenFlags::SQLITE_OPEN_CREATE);
        let mut store = connected.map_err(|error| match error {
            // The folder is there, so that a file could not be made in it.
            StoreError::Unopened { path, .. } if there.is_err() => StoreError::ReadOnly { path },
            error => error,
        })?;
        store.migrate()?;
        Ok(store)
    }

    pub(crate) fn open_read_only(path: &Path) -> Result<Sqlite, StoreError> {
        let path = absolute(path)?;
        match fs::metadata(&path) {
            Ok(metadata) if metadata.is_file() && metadata.len() == 0 => {
                return Err(StoreError::Absent { path });
            }
            Ok(metadata) => refuse_foreign(&path, &metadata)?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(StoreError::Absent { path });
            }
            Err(error) => return Err(StoreError::Unopened { path, why: error.to_string() }),
        }
        // Writable to SQLite, which may have to roll back what a killed process left half done; closed
        // to us by `query_only`. Where the file cannot be written, SQLite opens it for reading.
        let store = Sqlite::connect(path, OpenFlags::empty())?;
        let reading = |error| classify(&store.path, Doing::Reading, &error);
        store.connection.pragma_update(None, "query_only", true).map_err(reading)?;
        // Older schemas lack only indexes, and turns, which no reader asks for.
        match store.schema()? {
            0 => Err(StoreError::Absent { path: store.path }),
            _ => Ok(store),
        }
    }

    fn connect(path: PathBuf, more: OpenFlags) -> Result<Sqlite, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | more;
        let opening = |error| classify(&path, Doing::Opening, &error);
        let connection = Connection::open_with_flags(&path, flags).map_err(opening)?;
        connection.busy_timeout(Duration::from_secs(PATIENCE)).map_err(opening)?;
        connection.pragma_update(None, "synchronous", "EXTRA").map_err(opening)?;
        connection.pragma_update(None, "foreign_keys", true).map_err(opening)?;
        // A schema of another's making shall not call functions when it is read.
        connection.pragma_update(None, "trusted_schema", false).map_err(opening)?;
        let identity = identity(&path);
        Ok(Sqlite { path, connection, identity })
    }

    /// The schema of the file; 0 for an empty one.
    fn schema(&self) -> Result<u32, StoreError> {
        let reading = |error| classify(&self.path, Doing::Reading, &error);
        let pragma = |name| self.connection.pragma_query_value(None, name, |row| row.get(0));
        let version: i32 = pragma("user_version").map_err(reading)?;
        let application_id: i32 = pragma("application_id").map_err(reading)?;
        let tables: i64 = self
            .connection
            .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
            .map_err(reading)?;
        if tables > 0 {
            is_ours(&self.path, application_id)?;
        }
        match u32::try_from(version) {
            Ok(version) if version > SCHEMA => {
                Err(StoreError::Newer { path: self.path.clone(), found: version, known: SCHEMA })
            }
            Ok(version) if (version == 0) == (tables == 0) => Ok(version),
            _ => {
                let why = format!("it says schema {version} and has {tables} tables and indexes");
                Err(StoreError::Corrupt { path: self.path.clone(), why })
            }
        }
    }

    /// Brings the schema up to date, all or nothing, and shows that the file can be written.
    fn migrate(&mut self) -> Result<(), StoreError> {
        let path = self.path.clone();
        let writing = |error| classify(&path, Doing::Writing, &error);
        if self.connection.is_readonly("main").map_err(writing)? {
            return Err(StoreError::ReadOnly { path });
        }
        // From here on no other process writes, so that two that start at once migrate once.
        self.connection.execute_batch("BEGIN IMMEDIATE").map_err(writing)?;
        let outcome = self.migrate_in_transaction();
        if outcome.is_err() && !self.connection.is_autocommit() {
            // The first error is the one to tell.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        outcome
    }

    fn migrate_in_transaction(&self) -> Result<(), StoreError> {
        let writing = |error| classify(&self.path, Doing::Writing, &error);
        let schema = self.schema()?;
        for migration in &MIGRATIONS[schema as usize..] {
            self.connection.execute_batch(migration).map_err(writing)?;
        }
        self.connection.pragma_update(None, "application_id", APPLICATION_ID).map_err(writing)?;
        self.connection.pragma_update(None, "user_version", SCHEMA).map_err(writing)?;
        // With nothing to migrate the two lines above opened the journal, which shows that appending
        // will work; there is nothing to keep.
        let end = if schema == SCHEMA { "ROLLBACK" } else { "COMMIT" };
        self.connection.execute_batch(end).map_err(writing)
    }

    /// Does all of it, or nothing.
    pub(crate) fn in_transaction(
        &self,
        work: impl FnOnce() -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let execute = |sql| {
            self.connection.execute_batch(sql).map_err(|error| classify(&self.path, Doing::Writing, &error))
        };
        execute("BEGIN IMMEDIATE")?;
        let outcome = work().and_then(|()| execute("COMMIT"));
        if outcome.is_err() && !self.connection.is_autocommit() {
            // The first error is the one to tell.
            let _ = execute("ROLLBACK");
        }
        outcome
    }

    /// Makes sure that whoever opens the path now finds these records of a run.
    ///
    /// A file that was removed or replaced stays open and takes all that is appended, for nobody.
    pub(crate) fn confirm(&self, run: &str, records: &[&str]) -> Result<(), StoreError> {
        let gone = |why: String| StoreError::Gone { path: self.path.clone(), why };
        if let Some(why) = missing(&self.path) {
            return Err(gone(why.to_owned()));
        }
        if identity(&self.path) != self.identity {
            return Err(gone("another file lies there".to_owned()));
        }
        let again = Sqlite::open_read_only(&self.path).map_err(|error| gone(error.to_string()))?;
        let reading = |error| classify(&self.path, Doing::Reading, &error);
        let mut ids = again.connection.prepare("SELECT id FROM records WHERE run = ?").map_err(reading)?;
        let found = ids
            .query_map([run], |row| row.get(0))
            .and_then(Iterator::collect::<Result<BTreeSet<String>, _>>)
            .map_err(reading)?;
        match records.iter().filter(|id| !found.contains(**id)).count() {
            0 => Ok(()),
            lost => Err(gone(format!("{lost} of {} records that it took are not there", records.len()))),
        }
    }

    pub(crate) fn append_run(&self, run: &Run, document: &str) -> Result<(), StoreError> {
        self.connection
            .prepare_cached("INSERT INTO runs (id, started, document) VALUES (?1, ?2, ?3)")
            .and_then(|mut insert| insert.execute(params![run.id, run.started, document]))
            .map_err(|error| self.of_append(&run.id, "", &error))?;
        Ok(())
    }

    pub(crate) fn append(&self, record: &Record, document: &str) -> Result<(), StoreError> {
        let sql = "INSERT INTO records (id, run, at, case_id, implementation, status, document) \
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        let Record { id, run, at, case, implementation, status, .. } = record;
        self.connection
            .prepare_cached(sql)
            .and_then(|mut insert| {
                insert.execute(params![id, run, at, case, implementation, status.name(), document])
            })
            .map_err(|error| self.of_append(id, run, &error))?;
        Ok(())
    }

    pub(crate) fn append_turn(&self, turn: &Turn, document: &str) -> Result<(), StoreError> {
        self.connection
            .prepare_cached("INSERT INTO turns (run, case_id, document) VALUES (?1, ?2, ?3)")
            .and_then(|mut insert| insert.execute(params![turn.run, turn.case, document]))
            .map_err(|error| self.of_append(&turn.case, &turn.run, &error))?;
        Ok(())
    }

    pub(crate) fn turns(&self, run: &str) -> Result<Reading<Turn>, StoreError> {
        self.read("turns", &format!("WHERE run = ? {LAST_FIRST}"), &[&run.to_owned()], None)
    }

    pub(crate) fn drop_turns(&self, run: &str, case: &str) -> Result<(), StoreError> {
        self.connection
            .prepare_cached("DELETE FROM turns WHERE run = ?1 AND case_id = ?2")
            .and_then(|mut delete| delete.execute(params![run, case]))
            .map_err(|error| classify(&self.path, Doing::Writing, &error))?;
        Ok(())
    }

    /// The document of an id in a table, if it is there.
    pub(crate) fn document(&self, table: &str, id: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.connection
            .prepare_cached(&format!("SELECT document FROM {table} WHERE id = ?"))
            .and_then(|mut select| {
                select.query_row([id], |row| row.get_ref(0).map(|value| text(value).into_bytes())).optional()
            })
            .map_err(|error| classify(&self.path, Doing::Reading, &error))
    }

    /// Removes a run, and says how many records it had.
    pub(crate) fn remove_run(&self, id: &str) -> Result<usize, StoreError> {
        let delete = |table: &str, column: &str| {
            self.connection
                .prepare_cached(&format!("DELETE FROM {table} WHERE {column} = ?"))
                .and_then(|mut delete| delete.execute([id]))
                .map_err(|error| classify(&self.path, Doing::Writing, &error))
        };
        delete("turns", "run")?;
        let records = delete("records", "run")?;
        delete("runs", "id")?;
        Ok(records)
    }

    pub(crate) fn compact(&self) -> Result<(), StoreError> {
        self.connection.execute_batch("VACUUM").map_err(|error| classify(&self.path, Doing::Writing, &error))
    }

    fn of_append(&self, id: &str, run: &str, error: &rusqlite::Error) -> StoreError {
        let code = error.sqlite_error().map(|error| error.extended_code);
        match code {
            Some(rusqlite::ffi::SQLITE_CONSTRAINT_UNIQUE) => StoreError::Duplicate { id: id.to_owned() },
            Some(rusqlite::ffi::SQLITE_CONSTRAINT_FOREIGNKEY) => {
                StoreError::UnknownRun { id: id.to_owned(), run: run.to_owned() }
            }
            Some(rusqlite::ffi::SQLITE_TOOBIG) => {
                StoreError::Unstorable { id: id.to_owned(), why: error.to_string() }
            }
            _ => classify(&self.path, Doing::Writing, error),
        }
    }

    pub(crate) fn records(&self, filter: &Filter) -> Result<Reading<Record>, StoreError> {
        let (condition, values) = condition(filter);
        self.read("records", &format!("{condition} {LAST_FIRST}"), &values, filter.latest)
    }

    pub(crate) fn rows(&self, filter: &Filter) -> Result<Vec<(String, String)>, StoreError> {
        let reading = |error| classify(&self.path, Doing::Reading, &error);
        let (condition, values) = condition(filter);
        // The index alone answers this: no document is read.
        let sql = format!("SELECT DISTINCT case_id, implementation FROM records {condition} ORDER BY 1, 2");
        let mut statement = self.connection.prepare_cached(&sql).map_err(reading)?;
        let row = |row: &Row| Ok((row.get_ref(0).map(text)?, row.get_ref(1).map(text)?));
        let rows = statement.query_map(params_from_iter(values), row).map_err(reading)?;
        rows.collect::<Result<_, _>>().map_err(reading)
    }

    pub(crate) fn past(
        &self,
        case: &str,
        implementation: &str,
        latest: usize,
    ) -> Result<Reading<Record>, StoreError> {
        // Which ones is decided by times and numbers before a document is read.
        let order = "ORDER BY rtrim(at, 'Z') DESC, number DESC";
        let most = i64::try_from(latest).unwrap_or(i64::MAX);
        let which = format!(
            "WHERE number IN (SELECT number FROM records WHERE case_id = ? AND implementation = ? {order} \
             LIMIT {most}) {order}"
        );
        self.read("records", &which, &[&case.to_owned(), &implementation.to_owned()], None)
    }

    pub(crate) fn runs(&self, latest: Option<usize>) -> Result<Reading<Run>, StoreError> {
        // Times end in a Z, before which a fraction may be left out.
        self.read("runs", "ORDER BY rtrim(started, 'Z') DESC, number DESC", &[], latest)
    }

    pub(crate) fn counts(&self) -> Result<BTreeMap<String, Vec<(String, u64)>>, StoreError> {
        let reading = |error| classify(&self.path, Doing::Reading, &error);
        let sql = "SELECT run, status, COUNT(*) FROM records WHERE implementation NOT LIKE 'limit/%' \
                   GROUP BY run, status ORDER BY run, MIN(number)";
        let mut statement = self.connection.prepare_cached(sql).map_err(reading)?;
        let mut rows = statement.query([]).map_err(reading)?;
        let mut counts: BTreeMap<String, Vec<(String, u64)>> = BTreeMap::new();
        while let Some(row) = rows.next().map_err(reading)? {
            let column = |index| row.get_ref(index).map(text).map_err(reading);
            let count: i64 = row.get(2).map_err(reading)?;
            counts.entry(column(0)?).or_default().push((column(1)?, u64::try_from(count).unwrap_or(0)));
        }
        Ok(counts)
    }

    fn read<T: Document>(
        &self,
        table: &str,
        which: &str,
        values: &[&String],
        latest: Option<usize>,
    ) -> Result<Reading<T>, StoreError> {
        let reading = |error| classify(&self.path, Doing::Reading, &error);
        let limit = latest.map_or(-1, |latest| i64::try_from(latest).unwrap_or(i64::MAX));
        let columns = T::COLUMNS.join(", ");
        let sql = format!("SELECT {columns}, document FROM {table} {which} LIMIT {limit}");
        let mut statement = self.connection.prepare_cached(&sql).map_err(reading)?;
        let mut rows = statement.query(params_from_iter(values)).map_err(reading)?;
        let (mut found, mut damaged) = (Vec::new(), Vec::new());
        while let Some(row) = rows.next().map_err(reading)? {
            match decode(row).map_err(reading)? {
                Ok(value) => found.push(value),
                Err(problem) => damaged.push(problem),
            }
        }
        found.reverse();
        damaged.reverse();
        Ok(Reading { found, damaged })
    }
}

/// A filter in SQL, with its values.
fn condition(filter: &Filter) -> (String, Vec<&String>) {
    let (mut conditions, mut values) = (Vec::new(), Vec::new());
    for (column, value) in
        [("run", &filter.run), ("case_id", &filter.case), ("implementation", &filter.implementation)]
    {
        let Some(value) = value else { continue };
        let glob = column != "run" && value.contains(['*', '?', '[']);
        conditions.push(format!("{column} {} ?", if glob { "GLOB" } else { "=" }));
        values.push(value);
    }
    let words = conditions.join(" AND ");
    (if words.is_empty() { words } else { format!("WHERE {words}") }, values)
}

/// Whatever stands in a column, as text.
fn text(value: ValueRef) -> String {
    match value {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => number.to_string(),
        ValueRef::Null => String::new(),
    }
}

fn decode<T: Document>(row: &Row) -> rusqlite::Result<Result<T, crate::Damaged>> {
    let mut columns = Vec::with_capacity(T::COLUMNS.len());
    for index in 0..T::COLUMNS.len() {
        columns.push(text(row.get_ref(index)?));
    }
    let document: &[u8] = match row.get_ref(T::COLUMNS.len())? {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes,
        _ => b"",
    };
    Ok(document::decode(&columns, document))
}

/// The path from the root: SQLite gives names such as `:memory:` a meaning of their own.
fn absolute(path: &Path) -> Result<PathBuf, StoreError> {
    std::path::absolute(path)
        .map_err(|error| StoreError::Unopened { path: path.to_owned(), why: error.to_string() })
}

/// Refuses what is not ours before a connection could touch it.
///
/// Opened as `immutable`, SQLite takes no lock, rolls back no journal and folds in no log: the file of
/// another program stays as it is. It also keeps the locks that this process holds on the file, which
/// reading the header by hand would drop.
fn refuse_foreign(path: &Path, metadata: &fs::Metadata) -> Result<(), StoreError> {
    let foreign = |why: &str| StoreError::Foreign { path: path.to_owned(), why: why.to_owned() };
    if !metadata.is_file() {
        return Err(foreign(if metadata.is_dir() { "it is a folder" } else { "it is not a regular file" }));
    }
    if metadata.len() == 0 {
        return Ok(());
    }
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let id = Connection::open_with_flags(immutable(path), flags)
        .and_then(|connection| connection.pragma_query_value(None, "application_id", |row| row.get(0)));
    match id {
        Ok(id) => is_ours(path, id),
        // Without a lock a file that another process is just writing looks damaged; a connection with
        // locks will tell.
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt) => Ok(()),
        Err(error) => Err(classify(path, Doing::Opening, &error)),
    }
}

fn is_ours(path: &Path, application_id: i32) -> Result<(), StoreError> {
    let why = match application_id {
        APPLICATION_ID => return Ok(()),
        0 => "it is a SQLite file that another program made".to_owned(),
        id => format!("it is a SQLite file of another program (application id {id:#010x})"),
    };
    Err(StoreError::Foreign { path: path.to_owned(), why })
}

/// The path as a URI that SQLite opens without touching the file.
fn immutable(path: &Path) -> String {
    let mut uri = "file://".to_owned();
    for &byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'-' | b'_' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => uri.push(byte.into()),
            _ => write!(uri, "%{byte:02X}").expect("a string takes all text"),
        }
    }
    uri + "?immutable=1"
}

/// What tells a file from another that has its path; `None` where there is none.
fn identity(path: &Path) -> Option<(u64, u64)> {
    fs::metadata(path).ok().map(|metadata| (metadata.dev(), metadata.ino()))
}

/// Makes the folder of a new store, durable itself.
fn make_folder(path: &Path) -> Result<(), StoreError> {
    let folder = folder(path);
    if folder.is_dir() {
        return Ok(());
    }
    fs::create_dir_all(folder).map_err(|error| of_folder(path, &error))?;
    // Not every file system lets a folder be synced; those that need it do.
    if let Some(Ok(above)) = folder.parent().map(fs::File::open) {
        let _ = above.sync_all();
    }
    Ok(())
}

#[cfg(test)]
mod tests;
