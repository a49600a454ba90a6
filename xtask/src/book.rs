//! The book as a site.

use std::fs;
use std::process::Command;

use crate::Result;
use crate::files::{root, run_command, target};

/// Builds the site in the build folder and looks whether it has every page and a search.
pub fn run() -> Result {
    let mdbook = || Command::new("mdbook");
    if !mdbook().arg("--version").output().is_ok_and(|output| output.status.success()) {
        return Err("mdbook is not there: install it with `cargo install mdbook`".into());
    }
    let site = target().join("book");
    run_command(mdbook().arg("build").arg(root().join("docs")).arg("--dest-dir").arg(&site))?;
    let summary = fs::read_to_string(root().join("docs/src/SUMMARY.md"))?;
    let pages = pages(&summary);
    let missing = pages.iter().find(|page| !site.join(page).is_file());
    if let Some(page) = missing {
        return Err(format!("the site has no {page}").into());
    }
    let mut names = fs::read_dir(&site)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
    if !names.any(|name: std::io::Result<String>| name.is_ok_and(|name| name.starts_with("searchindex"))) {
        return Err("the site has no search: mdbook was built without it".into());
    }
    println!("book: {} pages in {}", pages.len(), site.display());
    Ok(())
}

/// The pages of the site that a table of contents lists.
fn pages(summary: &str) -> Vec<String> {
    let links = summary.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    links.filter_map(|link| link.strip_suffix(".md")).map(|page| format!("{page}.html")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listed_pages_become_files_of_the_site() {
        let summary =
            "# A\n\n[Introduction](introduction.md)\n\n- [B](guide/b.md)\n- [Elsewhere](https://example.org)\n";
        assert_eq!(pages(summary), ["introduction.html", "guide/b.html"]);
    }
}
