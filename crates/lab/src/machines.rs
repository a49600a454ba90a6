//! What pages say about machines: how large they were for each workload, how full, and which kernels count.

use crate::experiment::Experiment;
use crate::fill::Filled;
use crate::svg::escape;
use crate::table::{Table, TableRow};
use std::fmt::Write as _;

/// Behind the name of a row whose runs did not fill their machine.
pub(crate) const MARK: &str = "°";

/// The title of the table, which is folded away.
const SUMMARY: &str = "Machine of each workload";

const COLUMNS: [&str; 9] =
    ["workload", "size", "SMs", "channels", "DRAM MHz", "blocks", "places", "waves", "slots without a warp"];

/// A row of the table of machines.
#[must_use]
pub fn cells(filled: &Filled) -> [String; 9] {
    let of_fill =
        filled.fill.map(|fill| [fill.blocks.to_string(), fill.places().to_string(), format!("{:.2}", fill.waves())]);
    let [blocks, places, waves] = of_fill.unwrap_or_else(|| ["-", "-", "-"].map(str::to_owned));
    let part = &filled.part;
    [
        filled.workload.to_owned(),
        filled.size.to_string(),
        part.sms.to_string(),
        part.channels.to_string(),
        part.dram_mhz.to_string(),
        blocks,
        places,
        waves,
        filled.empty_slots.map_or("-".to_owned(), |share| format!("{:.0} %", share * 100.0)),
    ]
}

/// What there is to know about machines and kernels before looking at figures, a sentence each.
#[must_use]
pub fn about(experiment: &Experiment, machines: &[Filled]) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(rule) = &experiment.fill {
        let mut text = format!(
            "Machines differ in size from row to row: each workload runs on the most SMs for which it has at least {} blocks \
             per place (room for one block). DRAM bandwidth per SM is that of the whole machine. All bars of a row are of \
             the same machine.",
            rule.waves
        );
        let own: Vec<String> = rule.own.iter().map(|(workload, waves)| format!("{waves} for {workload}")).collect();
        if !own.is_empty() {
            let _ = write!(text, " Other numbers of blocks per place: {}.", own.join(", "));
        }
        lines.push(text);
    }
    for (workload, kernels) in &experiment.kernels {
        lines.push(format!("Only these kernels of {workload} count: {}.", kernels.join(", ")));
    }
    let empty = machines.iter().filter(|filled| filled.complaint().is_some()).count();
    if empty > 0 {
        lines.push(format!(
            "Rows with {MARK} are of runs that did not fill their machine ({empty} of {}): they had less than one block per \
             place, or no warp in more than a fifth of the issue slots. The table of machines lists them.",
            machines.len()
        ));
    }
    lines
}

/// Whether pages have the table of machines: when an experiment chooses them, or when they were not full.
fn is_shown(experiment: &Experiment, machines: &[Filled]) -> bool {
    experiment.fill.is_some() || machines.iter().any(|filled| filled.complaint().is_some())
}

/// [`about`] as paragraphs.
pub(crate) fn paragraphs(experiment: &Experiment, machines: &[Filled]) -> String {
    about(experiment, machines).iter().map(|line| format!("<p class=\"soft\">{}</p>\n", escape(line))).collect()
}

/// The section of a report about machines.
pub(crate) fn html(experiment: &Experiment, machines: &[Filled]) -> String {
    if !is_shown(experiment, machines) {
        return String::new();
    }
    let mut html = String::from("<h2 id=\"machines\">Machines</h2>\n");
    let complaints: Vec<String> =
        machines.iter().filter_map(Filled::complaint).map(|line| format!("<li>{}</li>\n", escape(&line))).collect();
    if !complaints.is_empty() {
        let _ = writeln!(html, "<p>Not filled:</p>\n<ul>\n{}</ul>", complaints.concat());
    }
    let _ = write!(html, "<details><summary>{SUMMARY}</summary>\n<div class=\"wide\"><table>\n<tr>");
    html.extend(COLUMNS.map(|name| format!("<th>{name}</th>")));
    html += "</tr>\n";
    for filled in machines {
        let cells = cells(filled).map(|cell| format!("<td>{}</td>", escape(&cell)));
        let _ = writeln!(html, "<tr>{}</tr>", cells.concat());
    }
    html + "</table></div></details>\n"
}

/// The same for a page of the book.
#[must_use]
pub fn markdown(experiment: &Experiment, machines: &[Filled]) -> String {
    let mut text: String = about(experiment, machines).iter().map(|line| format!("\n{line}\n")).collect();
    if is_shown(experiment, machines) {
        let _ = write!(text, "\n<details><summary>{SUMMARY}</summary>\n\n| {} |\n| --- | --- |", COLUMNS.join(" | "));
        let _ = writeln!(text, "{}", " --: |".repeat(COLUMNS.len() - 2));
        text.extend(machines.iter().map(|filled| format!("| {} |\n", cells(filled).join(" | "))));
        text += "\n</details>\n";
    }
    text
}

/// A table whose rows say which runs did not fill their machine.
#[must_use]
pub fn marked(table: &Table, machines: &[Filled]) -> Table {
    let is_empty = |row: &TableRow| {
        let workload = row.name.split('/').next().unwrap_or_default();
        machines.iter().any(|filled| filled.workload == workload && filled.complaint().is_some())
    };
    let mut marked = table.clone();
    for row in marked.rows.iter_mut().filter(|row| is_empty(row)) {
        row.name += MARK;
    }
    marked
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_sim::fill::{Fill, Part};
    use raddle_workloads::Size;

    fn filled(blocks: u64, empty_slots: f64) -> Filled {
        let part = Part { sms: 15, channels: 6, dram_mhz: 924 };
        let fill = Some(Fill { blocks, per_sm: 4, sms: 15 });
        let all_resident = false;
        Filled { workload: "bfs", size: Size::Small, part, fill, all_resident, empty_slots: Some(empty_slots) }
    }

    #[test]
    fn what_is_not_full_is_marked_and_says_what_to_do() {
        let experiment = Experiment::parse("t", "title = 'T'\nworkloads = ['bfs']\n").unwrap();
        let table = crate::chart::tests::table();
        let full = [filled(600, 0.05)];
        assert_eq!(html(&experiment, &full), "");
        assert_eq!((about(&experiment, &full), marked(&table, &full)), (Vec::new(), table.clone()));
        let empty = [filled(30, 0.42)];
        let page = html(&experiment, &empty);
        let wanted = "bfs at size small on 15 SMs: 30 blocks for 60 places, 0.50 waves; 42 % of issue slots without a warp. \
            What helps: fewer SMs (`--set gpu.sms=3`, or [fill] in the experiment), a larger size";
        assert!(page.contains(wanted), "{page}");
        assert!(page.contains("<td>924</td><td>30</td><td>60</td><td>0.50</td><td>42 %</td>"), "{page}");
        let names: Vec<String> = marked(&table, &empty).rows.into_iter().map(|row| row.name).collect();
        assert!(
            names.contains(&"bfs°".to_owned()) && names.iter().filter(|n| n.contains('°')).count() == 1,
            "{names:?}"
        );
        let together = Filled { all_resident: true, ..empty[0].clone() };
        assert!(together.complaint().is_some_and(|text| text.ends_with("What helps: a larger size")), "{together:?}");
        assert!(about(&experiment, &empty)[0].starts_with("Rows with ° are of runs that did not fill"));
    }

    #[test]
    fn pages_say_how_machines_and_kernels_were_chosen() {
        let text = "title = 'T'\nworkloads = ['bfs', 'page-view-count']\n[kernels]\npage-view-count = ['sort_tiles']\n\
            [fill]\nwaves = 2\n[fill.workloads]\nbfs = 1.5\n";
        let experiment = Experiment::parse("t", text).unwrap();
        let machines = [filled(600, 0.0)];
        let page = markdown(&experiment, &machines);
        assert!(page.contains("at least 2 blocks per place") && page.contains("1.5 for bfs."), "{page}");
        assert!(page.contains("Only these kernels of page-view-count count: sort_tiles."), "{page}");
        assert!(page.ends_with("| bfs | small | 15 | 6 | 924 | 600 | 60 | 10.00 | 0 % |\n\n</details>\n"), "{page}");
        assert!(html(&experiment, &machines).contains("Machine of each workload"));
    }
}
