//! Stores of results, also those that the command line made.

use crate::error;
use pyo3::prelude::*;
use raddle_lab::export::export;
use raddle_lab::store::Store;
use raddle_runtime::Problem;
use raddle_runtime::stats_table::Format;
use std::path::{Path, PathBuf};

fn wrong(error: raddle_lab::Error) -> PyErr {
    error::lab(error, "")
}

/// Writes the results of a store to a CSV, JSON or Parquet file, and says how many there are.
#[pyfunction]
pub fn export_store(py: Python<'_>, folder: PathBuf, file: PathBuf) -> PyResult<usize> {
    py.detach(|| {
        let format = Format::of(&file).map_err(error::of)?;
        export(&open(&folder)?, &file, format).map_err(wrong)
    })
}

fn open(folder: &Path) -> PyResult<Store> {
    Store::open(folder).map_err(wrong)
}

/// Every record of a store, as JSON.
#[pyfunction]
pub fn store_records(py: Python<'_>, folder: PathBuf) -> PyResult<Vec<String>> {
    py.detach(|| {
        let store = open(&folder)?;
        let mut records = Vec::new();
        for key in store.keys() {
            if let Some(record) = store.get(&key).map_err(wrong)? {
                let text = serde_json::to_string(&record);
                records.push(text.map_err(|e| error::problem(Problem::new(e.to_string())))?);
            }
        }
        Ok(records)
    })
}
