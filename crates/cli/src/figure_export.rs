//! How commands export figures: as wide as a column of a paper, and as numbers with a script that draws them.

use crate::exit::Failure;
use crate::out;
use raddle_lab::picture::Width;
use raddle_lab::plot_data;
use raddle_lab::table::Table;
use std::path::{Path, PathBuf};

/// The options of figures.
#[derive(clap::Args)]
pub struct FigureArgs {
    /// Draw figures for a paper, this wide: ieee, ieee-two, acm, acm-two (columns), or millimetres
    #[arg(long, value_name = "WIDTH", help_heading = "Figures")]
    pub width: Option<Width>,
    /// Write the numbers of each figure to this folder, as CSV, with a matplotlib script that draws them
    #[arg(long, value_name = "FOLDER", help_heading = "Figures")]
    pub data: Option<PathBuf>,
}

/// Writes the numbers of figures to a folder, which is made if there is none.
pub fn write_data(folder: &Path, tables: &[Table]) -> Result<(), Failure> {
    let wrong = |source| raddle_lab::Error::Write { path: folder.display().to_string(), source };
    std::fs::create_dir_all(folder).map_err(wrong)?;
    for (name, text) in tables.iter().flat_map(plot_data::files) {
        out::file(&folder.join(name), text)?;
    }
    Ok(())
}
