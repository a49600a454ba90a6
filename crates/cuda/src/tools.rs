//! What clang calls when it compiles CUDA: `ptxas`, which has nothing to do because PTX is what runs, and `fatbinary`.

use crate::fat_binary;
use raddle_runtime::Problem;
use std::fs;

/// Stands for `ptxas`: its output is its input.
///
/// # Errors
/// When a file is missing or cannot be written.
pub fn ptxas(args: &[String]) -> Result<(), Problem> {
    let (mut output, mut inputs) = (None, Vec::new());
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "-o" | "--output-file" => output = args.next(),
            "--gpu-name" | "-arch" | "--maxrregcount" | "-maxrregcount" | "-O" | "--opt-level" => _ = args.next(),
            _ if arg.starts_with('-') => {}
            _ => inputs.push(arg),
        }
    }
    let (Some(output), [input]) = (output, &inputs[..]) else {
        return Err(Problem::new("ptxas takes one PTX file, and the output file after --output-file"));
    };
    fs::copy(input, output).map(drop).map_err(|e| Problem::new(format!("cannot copy {input} to {output}: {e}")))
}

/// Stands for `fatbinary`: puts PTX into a container.
///
/// # Errors
/// When a file is missing or cannot be written.
pub fn fatbinary(args: &[String]) -> Result<(), Problem> {
    let (mut output, mut images) = (None, Vec::<(String, u32)>::new());
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        if let Some(image) = arg.strip_prefix("--image=").or_else(|| arg.strip_prefix("--image3=")) {
            let (file, sm) = image_option(image)?;
            let text = fs::read_to_string(file).map_err(|e| Problem::new(format!("cannot read {file}: {e}")))?;
            // Machine code and PTX for the same machine are the same text here.
            if !images.contains(&(text.clone(), sm)) {
                images.push((text, sm));
            }
        } else if let Some(path) = arg.strip_prefix("--create=") {
            output = Some(path);
        } else if arg == "--create" {
            output = args.next().map(String::as_str);
        }
    }
    let output = output.ok_or_else(|| Problem::new("fatbinary needs --create FILE"))?;
    fs::write(output, fat_binary::write(&images)).map_err(|e| Problem::new(format!("cannot write {output}: {e}")))
}

/// File and machine of `profile=sm_70,file=a.o` or `kind=ptx,sm=70,file=a.s`.
fn image_option(text: &str) -> Result<(&str, u32), Problem> {
    let field = |name: &str| text.split(',').find_map(|part| part.strip_prefix(name)?.strip_prefix('='));
    let file = text.split_once(",file=").map(|(_, file)| file);
    let machine = field("sm").or_else(|| field("profile").and_then(|p| p.split_once('_').map(|(_, sm)| sm)));
    let digits = machine.map(|sm| sm.trim_end_matches(|c: char| !c.is_ascii_digit()));
    match (file, digits.and_then(|sm| sm.parse().ok())) {
        (Some(file), Some(sm)) => Ok((file, sm)),
        _ => Err(Problem::new(format!("fatbinary does not understand --image={text}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_named_in_two_ways() {
        assert_eq!(image_option("profile=sm_70,file=/tmp/a.o").unwrap(), ("/tmp/a.o", 70));
        assert_eq!(image_option("profile=compute_90a,file=a,b.s").unwrap(), ("a,b.s", 90));
        assert_eq!(image_option("kind=ptx,sm=80,file=a.s").unwrap(), ("a.s", 80));
        assert!(image_option("file=a.s").is_err());
    }
}
