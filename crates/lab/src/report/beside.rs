//! The numbers of a paper beside ours, as HTML.

use crate::agreement::RULES;
use crate::numbers::{Counts, Number};
use crate::svg::escape;
use std::fmt::Write as _;

/// When a value agrees with a paper's, as HTML.
pub(crate) fn rules() -> String {
    let mut parts = RULES.split('*');
    let mut html = escape(parts.next().unwrap_or_default());
    for (n, part) in parts.enumerate() {
        html += if n % 2 == 0 { "<em>" } else { "</em>" };
        html += &escape(part);
    }
    html
}

/// The numbers of a paper beside ours: means, and the others where one looks for them.
pub(crate) fn beside_paper(numbers: &[Number]) -> String {
    let [means, others] = Counts::of_means_and_others(numbers);
    let mut html = String::new();
    if means.all() > 0 {
        let _ = writeln!(html, "<p>Means of the paper, {}.</p>", means.text());
        html += &table_of_numbers(numbers.iter().filter(|number| number.is_mean));
    }
    if others.all() > 0 {
        let _ = writeln!(html, "<details><summary>Rows of single programs, {}</summary>", others.text());
        html += &table_of_numbers(numbers.iter().filter(|number| !number.is_mean));
        html += "</details>\n";
    }
    html
}

fn table_of_numbers<'n>(numbers: impl Iterator<Item = &'n Number> + Clone) -> String {
    let has_other = numbers.clone().any(|number| number.other.is_some());
    let has_why = numbers.clone().any(|number| !number.reason().is_empty());
    let why = if has_why { "<th class=\"why\">why</th>" } else { "" };
    let other = if has_other { "<th>other reading</th>" } else { "" };
    let mut html = format!(
        "<div class=\"wide\"><table class=\"numbers\">\n<tr><th>what</th><th>paper</th><th>Raddle</th>{other}<th></th>\
         {why}</tr>\n"
    );
    for number in numbers {
        let dash = |value: &Option<String>| value.clone().unwrap_or_else(|| "–".to_owned());
        let other = if has_other { format!("<td>{}</td>", dash(&number.other)) } else { String::new() };
        let why = if has_why { format!("<td class=\"why\">{}</td>", escape(number.reason())) } else { String::new() };
        let _ = writeln!(
            html,
            "<tr><td>{}: {}</td><td>{}</td><td>{}</td>{other}<td>{}</td>{why}</tr>",
            escape(&number.figure),
            escape(&number.what),
            escape(&number.paper),
            dash(&number.ours),
            number.verdict()
        );
    }
    html + "</table></div>\n"
}
