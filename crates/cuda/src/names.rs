//! Names of C++ as people write them.

/// The name of a function without its parameters: `_Z5saxpyifPfS_` is `saxpy`. What is no name of C++ stays as it is.
#[must_use]
pub fn short(name: &str) -> String {
    let full = readable(name);
    // A template's arguments may hold parentheses; those of the function come after all angle brackets are closed.
    let mut depth = 0;
    let end = full.char_indices().find(|(_, c)| {
        match c {
            '<' => depth += 1,
            '>' => depth -= 1,
            _ => {}
        }
        *c == '(' && depth == 0
    });
    let cut = end.map_or(full.as_str(), |(at, _)| &full[..at]);
    // A template's name comes with what it returns.
    cut.strip_prefix("void ").unwrap_or(cut).to_owned()
}

/// The name with its parameters.
#[must_use]
pub fn readable(name: &str) -> String {
    let symbol = cpp_demangle::Symbol::new(name);
    symbol.ok().and_then(|symbol| symbol.demangle().ok()).unwrap_or_else(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short() {
        let want = [
            ("_Z5saxpyifPfS_", "saxpy"),
            ("_Z5twiceIfEvPT_i", "twice<float>"),
            ("plain", "plain"),
            ("_ZN3lib4stepEv", "lib::step"),
        ];
        want.iter().for_each(|(name, short_name)| assert_eq!(short(name), *short_name));
    }
}
