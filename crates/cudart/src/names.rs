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
    use std::collections::{BTreeMap, BTreeSet};
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
        let words: BTreeSet<&str> = source.split(|c| !is_word(c)).collect();
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

    /// The names of functions that take a stream: in our headers, and in the library under the names of programs with a
    /// default stream per thread.
    fn names_with_streams(own: &Path) -> BTreeSet<String> {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let mut names = BTreeSet::new();
        for header in ["cuda.h", "cuda_runtime_api.h"] {
            let text = std::fs::read_to_string(own.join("../cuda/include").join(header)).unwrap();
            for part in text.split("RADDLE_API ").skip(1) {
                let (name, rest) = part.split_once('(').unwrap_or_default();
                let args = rest.split(';').next().unwrap_or_default().replace("stream,", "stream, ");
                let is_stream = |arg: &str| {
                    let words: Vec<&str> = arg.split(|c| !is_word(c)).filter(|word| !word.is_empty()).collect();
                    !arg.contains('*') && words.iter().any(|word| ["cudaStream_t", "CUstream"].contains(word))
                };
                if args.split(',').any(is_stream) || name == "cudaLaunchKernelExC" {
                    names.insert(name.to_owned());
                }
            }
        }
        let source = sources(&own.join("src"));
        let second = source.split(|c| !is_word(c)).filter(|word| word.ends_with("_ptsz") && word.len() > 8);
        names.extend(second.map(str::to_owned));
        names
    }

    /// The program `capture.cu` captures each of them, or says what it returns in a captured stream.
    #[test]
    fn every_function_that_takes_a_stream_is_captured_by_a_test() {
        let own = Path::new(env!("CARGO_MANIFEST_DIR"));
        let program = std::fs::read_to_string(own.join("tests/capture.cu")).unwrap();
        let calls = &program[program.find("void copies()").unwrap()..];
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let words: BTreeSet<&str> = calls.split(|c| !is_word(c)).collect();
        // `CAPTURED` and `FIXED` call both names.
        let both = |name: &str| {
            let first = name.strip_suffix("_ptsz").map(|first| first.strip_suffix("_v2").unwrap_or(first));
            first
                .is_some_and(|first| ["CAPTURED", "FIXED"].iter().any(|how| calls.contains(&format!("{how}({first},"))))
        };
        let names = names_with_streams(own);
        assert!(names.len() > 90 && names.contains("cudaMemcpy2DAsync") && names.contains("cuMemsetD32Async"));
        let missing: Vec<&String> = names.iter().filter(|name| !words.contains(name.as_str()) && !both(name)).collect();
        assert!(missing.is_empty(), "take a stream, and are not in capture.cu: {missing:?}");
    }
}
