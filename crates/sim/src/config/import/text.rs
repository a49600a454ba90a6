//! The options of a configuration text.

/// An option with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The line it begins on, from 1.
    pub line: usize,
    /// Its name, with the hyphen.
    pub name: String,
    /// Its value, lines joined and quotes removed.
    pub value: String,
}

/// A word of the text.
struct Word {
    line: usize,
    text: String,
    is_quoted: bool,
}

/// Every option, in the order of the text.
pub fn options(text: &str) -> Vec<Setting> {
    let mut options: Vec<Setting> = Vec::new();
    for word in words(text) {
        let is_name = !word.is_quoted && word.text.starts_with('-') && !is_number(&word.text);
        match options.last_mut() {
            _ if is_name => options.push(Setting { line: word.line, name: word.text, value: String::new() }),
            Some(option) if option.value.is_empty() => option.value = word.text,
            Some(option) => option.value = format!("{} {}", option.value, word.text),
            // A value without an option: there is nothing it could belong to.
            None => options.push(Setting { line: word.line, name: word.text, value: String::new() }),
        }
    }
    options
}

fn is_number(word: &str) -> bool {
    word[1..].starts_with(|c: char| c.is_ascii_digit() || c == '.')
}

/// Words apart by white space; a quoted text is one word, without the line ends and blanks in it; `#` starts a comment.
fn words(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut chars = text.chars().peekable();
    let mut line = 1;
    while let Some(c) = chars.next() {
        match c {
            '\n' => line += 1,
            '#' => while chars.next_if(|c| *c != '\n').is_some() {},
            '"' => {
                let start = line;
                let mut quoted = String::new();
                for c in chars.by_ref().take_while(|c| *c != '"') {
                    line += usize::from(c == '\n');
                    if !c.is_whitespace() {
                        quoted.push(c);
                    }
                }
                words.push(Word { line: start, text: quoted, is_quoted: true });
            }
            c if c.is_whitespace() => {}
            c => {
                let mut word = String::from(c);
                while let Some(c) = chars.next_if(|c| !c.is_whitespace() && *c != '#' && *c != '"') {
                    word.push(c);
                }
                words.push(Word { line, text: word, is_quoted: false });
            }
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_comments_and_quotes() {
        let text = "# a comment\n-a 1 # more\n-b \"x=1:\n   y=2\"\n-c -1\n-d\n-e x y";
        let found: Vec<String> = options(text).iter().map(|o| format!("{} {}={}", o.line, o.name, o.value)).collect();
        assert_eq!(found, ["2 -a=1", "3 -b=x=1:y=2", "5 -c=-1", "6 -d=", "7 -e=x y"]);
    }

    #[test]
    fn anything_can_be_read() {
        for text in ["", "\"", "-", "- -", "a", "#", "-a \"", "é\n-é é"] {
            options(text);
        }
        assert_eq!(options("-")[0].name, "-");
    }
}
