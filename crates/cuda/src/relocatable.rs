//! Objects whose kernels are linked together (`-rdc=true`). The compiler leaves a call to a function in each of them that
//! the vendor's linker would define; here one more object defines them all, and hands each fat binary to the runtime
//! library, which links their PTX when the program runs.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;

/// How the names of these functions begin.
const START: &[u8] = b"__cudaRegisterLinkedBinary";

/// The functions that objects and archives call.
#[must_use]
pub fn registrations(files: &[String]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for file in files.iter().filter(|file| file.ends_with(".o") || file.ends_with(".a") || file.ends_with(".obj")) {
        let Ok(bytes) = fs::read(file) else { continue };
        names.extend(names_in(&bytes));
    }
    names
}

/// The names in a table of symbols: each ends in a zero.
fn names_in(bytes: &[u8]) -> impl Iterator<Item = String> {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let starts = (0..bytes.len()).filter(|at| bytes[*at..].starts_with(START) && (*at == 0 || bytes[at - 1] == 0));
    starts.filter_map(move |at| {
        let length = bytes[at..].iter().take_while(|byte| is_name(byte)).count();
        let is_ended = bytes.get(at + length) == Some(&0);
        is_ended.then(|| String::from_utf8_lossy(&bytes[at..at + length]).into_owned())
    })
}

/// The source, in C, of the object that defines them.
#[must_use]
pub fn stub(names: &BTreeSet<String>) -> String {
    let params = "void (*globals)(void **), void *binary, void *id, void (*more)(void **)";
    let mut text = format!("void __raddleRegisterLinkedBinary({params});\n");
    // A library that is closed takes its kernels along.
    text += "__attribute__((weak)) void __raddleUnregisterLinkedBinary(void *place);\n\
        static __attribute__((destructor)) void leave(void) {\n\
        if (__raddleUnregisterLinkedBinary) __raddleUnregisterLinkedBinary((void *)leave);\n}\n";
    for name in names {
        let _ = writeln!(text, "void {name}({params}) {{ __raddleRegisterLinkedBinary(globals, binary, id, more); }}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_and_defined() {
        let bytes =
            b"\0x\0__cudaRegisterLinkedBinary_a1\0not__cudaRegisterLinkedBinary_b\0__cudaRegisterLinkedBinary_c";
        let names: BTreeSet<String> = names_in(bytes).collect();
        assert_eq!(names.iter().collect::<Vec<_>>(), ["__cudaRegisterLinkedBinary_a1"]);
        assert!(stub(&names).contains("void __cudaRegisterLinkedBinary_a1(void (*globals)"));
    }
}
