//! What pictures say of an instruction.

/// An instruction in words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Label {
    /// As the PTX has it.
    pub ptx: String,
    /// The source line it was compiled from, with its number, where the PTX says so.
    pub line: Option<String>,
}

impl Label {
    /// All that is known of an operation, for the pointer.
    #[must_use]
    pub fn whole(&self, pc: u32) -> String {
        match (&self.line, self.ptx.is_empty()) {
            (Some(line), _) => format!("{} ({line})", self.ptx),
            (None, false) => self.ptx.clone(),
            (None, true) => format!("operation {pc}"),
        }
    }

    /// The number of the source line, after the name of a file that is not the CUDA file.
    #[must_use]
    pub fn line_number(&self) -> Option<&str> {
        self.line.as_deref().map(|line| line.split(": ").next().unwrap_or(line))
    }
}

/// A text of so many letters at most.
#[must_use]
pub fn shortened(text: &str, most: usize) -> String {
    let text = text.trim_end_matches(';');
    if text.chars().count() > most { text.chars().take(most - 1).chain(['…']).collect() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_short() {
        assert_eq!(shortened("add.u32 %a, %b, 1;", 26), "add.u32 %a, %b, 1");
        assert_eq!(shortened("mad.lo.u32 %block, %ctaid, %ntid, %tid;", 26), "mad.lo.u32 %block, %ctaid…");
    }

    #[test]
    fn a_label_has_both() {
        let label = Label { ptx: "ret;".to_owned(), line: Some("12: return a ? b: c;".to_owned()) };
        assert_eq!((label.whole(3).as_str(), label.line_number()), ("ret; (12: return a ? b: c;)", Some("12")));
        assert_eq!((Label::default().whole(3).as_str(), Label::default().line_number()), ("operation 3", None));
    }
}
