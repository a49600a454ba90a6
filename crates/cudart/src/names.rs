//! How functions are exported that are others under another name, or that have nothing to do here.

/// Functions that are the same as others. They may leave out arguments at the end: who is called does not look at them.
macro_rules! alias {
    ($($other:ident = $name:ident($($arg:ident: $type:ty),*);)*) => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $other($($arg: $type),*) -> $crate::error::Code {
                $name($($arg),*)
            }
        )*
    };
}

/// Functions that do nothing here, with whatever arguments.
macro_rules! nothing {
    ($($name:ident)*) => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $name() -> $crate::error::Code {
                $crate::context::api(|_| Ok(()))
            }
        )*
    };
}

pub(crate) use {alias, nothing};

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;

    /// The text of all files in a folder and those in it.
    fn sources(folder: &Path) -> String {
        let mut text = String::new();
        for entry in folder.read_dir().unwrap() {
            let path = entry.unwrap().path();
            text += &if path.is_dir() { sources(&path) } else { std::fs::read_to_string(&path).unwrap() };
        }
        text
    }

    #[test]
    fn what_headers_declare_can_be_linked() {
        let own = Path::new(env!("CARGO_MANIFEST_DIR"));
        let source = sources(&own.join("src"));
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let words: std::collections::BTreeSet<&str> = source.split(|c| !is_word(c)).collect();
        let mut missing = Vec::new();
        for header in ["cuda.h", "cuda_runtime_api.h"] {
            let text = std::fs::read_to_string(own.join("../cuda/include").join(header)).unwrap();
            let renamed: BTreeMap<&str, &str> =
                text.lines().filter_map(|line| line.strip_prefix("#define ")?.split_once(' ')).collect();
            for part in text.split("RADDLE_API ").skip(1) {
                let name = part.split(|c| !is_word(c)).next().unwrap_or_default();
                let exported = renamed.get(name).copied().unwrap_or(name);
                if name.starts_with("cu") && !words.contains(exported) {
                    missing.push(exported.to_owned());
                }
            }
        }
        assert!(missing.is_empty(), "declared, and not in the library: {}", missing.join(" "));
    }
}
