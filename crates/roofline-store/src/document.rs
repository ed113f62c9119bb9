//! Runs and records as JSON documents, alike for every engine.

use crate::error::{Damaged, StoreError};
use roofline_core::record::{Record, Run, SCHEMA};
use roofline_core::turn::Turn;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A run or a record: what is kept as a document with its id beside it.
pub(crate) trait Document: Serialize + DeserializeOwned + PartialEq {
    const KIND: &'static str;
    /// Names of the columns beside the document, the id first.
    const COLUMNS: &'static [&'static str];

    fn schema(&self) -> u32;
    /// What those columns must hold.
    fn columns(&self) -> Vec<&str>;
}

impl Document for Run {
    const KIND: &'static str = "run";
    const COLUMNS: &'static [&'static str] = &["id", "started"];

    fn schema(&self) -> u32 {
        self.schema
    }

    fn columns(&self) -> Vec<&str> {
        vec![&self.id, &self.started]
    }
}

impl Document for Record {
    const KIND: &'static str = "record";
    const COLUMNS: &'static [&'static str] = &["id", "run", "at", "case_id", "implementation", "status"];

    fn schema(&self) -> u32 {
        self.schema
    }

    fn columns(&self) -> Vec<&str> {
        vec![&self.id, &self.run, &self.at, &self.case, &self.implementation, self.status.name()]
    }
}

impl Document for Turn {
    const KIND: &'static str = "turn";
    const COLUMNS: &'static [&'static str] = &["case_id", "run"];

    fn schema(&self) -> u32 {
        self.schema
    }

    fn columns(&self) -> Vec<&str> {
        vec![&self.case, &self.run]
    }
}

/// The document of `value`, after making sure that it reads back as the same.
pub(crate) fn encode<T: Document>(id: &str, value: &T) -> Result<String, StoreError> {
    let unstorable = |why: String| StoreError::Unstorable { id: id.to_owned(), why };
    let document = serde_json::to_string(value).map_err(|error| unstorable(error.to_string()))?;
    match serde_json::from_str::<T>(&document) {
        Ok(read) if read == *value => Ok(document),
        Ok(_) => Err(unstorable("it would read back as another one".to_owned())),
        Err(error) => Err(unstorable(error.to_string())),
    }
}

/// Reads a document whose columns hold `columns`; nothing about either is trusted.
pub(crate) fn decode<T: Document>(columns: &[String], document: &[u8]) -> Result<T, Damaged> {
    let damaged =
        |why: String| Damaged { kind: T::KIND, id: columns.first().cloned().unwrap_or_default(), why };
    let newer = |schema: u64| format!("it has schema {schema}, this Roofline reads schemas up to {SCHEMA}");
    let value: T = serde_json::from_slice(document).map_err(|error| {
        // A newer document may well lack what an older reader asks for: say that first.
        let schema = serde_json::from_slice::<serde_json::Value>(document)
            .ok()
            .and_then(|value| value.get("schema")?.as_u64());
        match schema {
            Some(schema) if schema > u64::from(SCHEMA) => damaged(newer(schema)),
            _ => damaged(error.to_string()),
        }
    })?;
    if value.schema() > SCHEMA {
        return Err(damaged(newer(value.schema().into())));
    }
    let wanted = value.columns();
    match T::COLUMNS.iter().zip(&wanted).zip(columns).find(|((_, wanted), column)| **wanted != *column) {
        Some(((name, _), _)) => Err(damaged(format!("its column `{name}` and its document disagree"))),
        None => Ok(value),
    }
}
