//! The table of energies.

use serde::{Deserialize, Serialize};

/// The table that comes with Raddle; its comments say where the values are from.
const GTX480: &str = include_str!("../gtx480.toml");

/// What is wrong with a table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// Not TOML, an unknown key, or a value that is not a number.
    #[error("{0}")]
    Text(String),
    /// A value that cannot be an energy.
    #[error("`{key}` is {value}; an energy is a number that is not negative")]
    Value {
        /// The key.
        key: String,
        /// Its value.
        value: String,
    },
}

macro_rules! groups {
    ($($(#[$doc:meta])* $Group:ident { $($(#[$field_doc:meta])* $field:ident,)+ })+) => { $(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $Group { $($(#[$field_doc])* pub $field: f64,)+ }
    )+ };
}

groups! {
    /// Execution units.
    Execution {
        /// An integer instruction of a thread on an SP, in pJ.
        int,
        /// A floating-point instruction of a thread on an SP, in pJ.
        fp,
        /// An instruction of a thread on an SFU (special functions, division, double precision), in pJ.
        sfu,
        /// The address of a memory instruction of a thread, in pJ.
        address,
        /// Leakage of the integer or the floating-point pipeline of a lane, in mW.
        lane_leakage,
        /// Leakage of an SFU pipeline, in mW.
        sfu_leakage,
    }
    /// The register file.
    Registers {
        /// Reading one register of a thread, in pJ.
        read,
        /// Writing one register of a thread, in pJ.
        write,
        /// Leakage of one SM's register file, in mW.
        leakage,
    }
    /// Shared memory.
    Shared {
        /// A cycle of its banks, in pJ.
        access,
        /// Leakage of one SM's shared memory, in mW.
        leakage,
    }
    /// First-level caches.
    L1 {
        /// An access to any of them, in pJ.
        access,
        /// Leakage of one SM's first-level caches, in mW.
        leakage,
    }
    /// The L2.
    L2 {
        /// An access to a sector, in pJ.
        access,
        /// Leakage of a slice, in mW.
        leakage,
    }
    /// The interconnect.
    Interconnect {
        /// A flit, in pJ.
        flit,
        /// Leakage per SM, in mW.
        leakage,
    }
    /// DRAM.
    Dram {
        /// Moving one bit, in pJ.
        bit,
        /// Opening a row, in pJ.
        activate,
        /// Power of a channel, whether busy or idle, in mW.
        background,
    }
    /// Fetch, decode, scheduling.
    FrontEnd {
        /// A warp-instruction, or an instruction of a whole gang, in pJ.
        instruction,
    }
    /// Everything else.
    Rest {
        /// Power per SM, in mW.
        sm,
        /// One SM's share of what the GPU has only once, in mW.
        gpu,
    }
}

/// Energies of events in picojoules, powers in milliwatts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// Execution units.
    pub execution: Execution,
    /// Register file.
    pub registers: Registers,
    /// Shared memory.
    pub shared: Shared,
    /// First-level caches.
    pub l1: L1,
    /// L2.
    pub l2: L2,
    /// Interconnect.
    pub interconnect: Interconnect,
    /// DRAM.
    pub dram: Dram,
    /// Fetch, decode, scheduling.
    pub front_end: FrontEnd,
    /// The rest.
    pub rest: Rest,
}

impl Table {
    /// The table that comes with Raddle, of a GTX 480.
    ///
    /// # Panics
    /// Never: a test reads it.
    #[must_use]
    pub fn gtx480() -> Self {
        match Self::with("") {
            Ok(table) => table,
            Err(error) => unreachable!("the table that comes with Raddle: {error}"),
        }
    }

    /// The same table with the values that a TOML text gives; all other values stay.
    ///
    /// # Errors
    /// When the text is not TOML, names something that is not in the table, or has a value that cannot be an energy.
    pub fn with(overrides: &str) -> Result<Self, TableError> {
        let text = |e: toml::de::Error| TableError::Text(e.to_string().trim_end().to_owned());
        let mut table: toml::Table = toml::from_str(GTX480).map_err(text)?;
        let overrides: toml::Table = toml::from_str(overrides).map_err(text)?;
        for (group, values) in overrides {
            let unknown = || TableError::Text(format!("there is no `{group}` in the table of energies"));
            let own = table.get_mut(&group).and_then(toml::Value::as_table_mut).ok_or_else(unknown)?;
            let toml::Value::Table(values) = values else {
                return Err(TableError::Text(format!("`{group}` must be a table, written [{group}]")));
            };
            for (name, value) in values {
                let key = format!("{group}.{name}");
                if !own.contains_key(&name) {
                    let known = own.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
                    return Err(TableError::Text(format!("there is no `{key}`; `{group}` has {known}")));
                }
                let number = value.as_float().or_else(|| value.as_integer().map(|n| n as f64));
                match number {
                    Some(number) if number.is_finite() && number >= 0.0 => own.insert(name, number.into()),
                    _ => return Err(TableError::Value { key, value: value.to_string() }),
                };
            }
        }
        table.try_into().map_err(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_overrides_what_it_names() {
        let plain = Table::gtx480();
        let table = Table::with("[dram]\nbit = 7\n[execution]\nfp = 3.5").unwrap();
        assert_eq!((table.dram.bit, table.execution.fp), (7.0, 3.5));
        assert_eq!((table.dram.activate, table.execution.int), (plain.dram.activate, plain.execution.int));
    }

    #[test]
    fn mistakes_are_named() {
        let error = |text: &str| Table::with(text).unwrap_err().to_string();
        assert_eq!(error("[dram]\nbits = 7"), "there is no `dram.bits`; `dram` has activate, background, bit");
        assert_eq!(error("[drum]\nbit = 7"), "there is no `drum` in the table of energies");
        assert_eq!(error("dram = 7"), "`dram` must be a table, written [dram]");
        assert_eq!(error("[dram]\nbit = -1.0"), "`dram.bit` is -1.0; an energy is a number that is not negative");
        assert_eq!(error("[dram]\nbit = \"x\""), "`dram.bit` is \"x\"; an energy is a number that is not negative");
        assert_eq!(error("[dram]\nbit = nan"), "`dram.bit` is nan; an energy is a number that is not negative");
        assert!(error("[dram").contains("line 1"));
    }
}
