//! Parts of pages between marks, `<!-- results: PART -->` and `<!-- results: end -->`, which programs write.

use crate::Result;

/// A page in which every part has its marks: those that had none come behind the part before them, the first below the
/// title.
pub fn with_marks(page: &str, wanted: &[&str]) -> Result<String> {
    let mut text = page.to_owned();
    for (n, name) in wanted.iter().enumerate() {
        if parts(&text)?.iter().any(|(known, _)| known == name) {
            continue;
        }
        let marks = format!("\n{START}{name} -->\n{END}\n");
        let at = match n.checked_sub(1).map(|before| format!("{START}{} -->\n", wanted[before])) {
            None => text.find('\n').map_or(text.len(), |at| at + 1),
            Some(before) => {
                let from = text.find(&before).ok_or("a mark is missing")?;
                let end = text[from..].find(END).ok_or("a part has no end")?;
                (from + end + END.len() + 1).min(text.len())
            }
        };
        text.insert_str(at, &marks);
    }
    Ok(text)
}

const START: &str = "<!-- results: ";
const END: &str = "<!-- results: end -->";

/// The parts of a page: name and text.
pub fn parts(page: &str) -> std::result::Result<Vec<(&str, &str)>, String> {
    let mut parts = Vec::new();
    let mut rest = page;
    while let Some((_, behind)) = rest.split_once(START) {
        let (name, behind) = behind.split_once(" -->\n").ok_or("a mark has no end")?;
        let (text, behind) = behind.split_once(END).ok_or_else(|| format!("part `{name}` has no end"))?;
        if text.contains(START) {
            return Err(format!("part `{name}` has no end"));
        }
        parts.push((name, text));
        rest = behind;
    }
    Ok(parts)
}

/// A page with new texts in its parts, which must be these.
pub fn filled(page: &str, new: &[(String, String)]) -> Result<String> {
    let old = parts(page)?;
    let mut found: Vec<&str> = old.iter().map(|(name, _)| *name).collect();
    let mut wanted: Vec<&str> = new.iter().map(|(name, _)| name.as_str()).collect();
    found.sort_unstable();
    wanted.sort_unstable();
    if found != wanted {
        return Err(format!("its parts are {}, those to write are {}", found.join(", "), wanted.join(", ")).into());
    }
    let mut text = String::new();
    let mut rest = page;
    for (name, _) in old {
        let new = new.iter().find(|(known, _)| known == name).map_or("", |(_, text)| text);
        let (before, behind) = rest.split_once(START).ok_or("a mark is missing")?;
        let (_, behind) = behind.split_once(" -->\n").ok_or("a mark has no end")?;
        let (_, behind) = behind.split_once(END).ok_or("a part has no end")?;
        text += &format!("{before}{START}{name} -->\n\n{new}\n{END}");
        rest = behind;
    }
    Ok(text + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_between_the_marks_is_replaced() {
        let page = with_marks("# T\n\nWords stay.\n", &["run", "a"]).unwrap();
        let new = |a: &str| [("run".to_owned(), "x\n".to_owned()), ("a".to_owned(), a.to_owned())];
        let once = filled(&page, &new("y\n")).unwrap();
        let again = filled(&once, &new("z\n")).unwrap();
        assert_eq!(parts(&again).unwrap(), [("run", "\nx\n\n"), ("a", "\nz\n\n")]);
        assert!(again.contains("Words stay.\n"), "{again}");
        assert!(filled(&page, &new("y\n")[..1]).is_err());
        assert!(parts(&again.replacen(END, "", 1)).unwrap_err().contains("no end"));
    }
}
