//! The arguments of a launch against the parameters the kernel declares.

use crate::element::Element;
use crate::error::{At, Problem};
use crate::plan::ArgValue;
use raddle_exec::image::MAX_SHARED_BYTES;
use raddle_exec::{KernelLayout, Launch};
use raddle_ptx::ir::{Module, Var};
use raddle_ptx::isa::Kind;

/// Most threads a block may have.
const MAX_THREADS: u64 = 1024;

/// Name and address of the buffer an argument means.
pub type Pointer<'a> = &'a dyn Fn(usize) -> (&'a str, u64);

/// The parameter bytes of a launch. Arguments come with their place in the launch file.
///
/// # Errors
/// When the number of arguments is wrong, or one does not fit its parameter.
pub fn encode(
    module: &Module,
    layout: &KernelLayout,
    args: &[(&ArgValue, &At)],
    pointer: Pointer<'_>,
) -> Result<Vec<u8>, Problem> {
    let kernel = module.func(layout.kernel);
    let (given, wanted) = (args.len(), layout.params.len());
    if given != wanted {
        let list: Vec<_> = layout.params.iter().map(|p| declaration(module.var(p.var))).collect();
        let few = if given < wanted { "few" } else { "many" };
        let message = format!("too {few} arguments for kernel `{}`: {} given, {wanted} declared", kernel.name, given);
        let declared = if list.is_empty() { "none".to_owned() } else { list.join(", ") };
        return Err(Problem::new(message).help(format!("its parameters are: {declared}")));
    }
    let mut bytes = vec![0; layout.param_bytes as usize];
    for (i, ((arg, at), param)) in args.iter().zip(&layout.params).enumerate() {
        let var = module.var(param.var);
        let value = one(arg, var, module.address_size, pointer).map_err(|e| {
            let place = format!("argument {} of kernel `{}`, parameter `{}`", i + 1, kernel.name, declaration(var));
            Problem { message: format!("{place}: {}", e.message), ..e }.at((*at).clone())
        })?;
        bytes[param.offset as usize..][..value.len()].copy_from_slice(&value);
    }
    Ok(bytes)
}

/// A parameter as it is declared: `.u32 n`.
fn declaration(var: &Var) -> String {
    let dims: String =
        var.dims.iter().map(|d| format!("[{}]", d.map_or_else(String::new, |n| n.to_string()))).collect();
    format!(".{} {}{dims}", var.ty.name(), var.name)
}

/// The bytes of one argument, as many as the parameter has.
fn one(arg: &ArgValue, var: &Var, address_size: u32, pointer: Pointer<'_>) -> Result<Vec<u8>, Problem> {
    let size = var.size as usize;
    let is_scalar = var.dims.is_empty() && var.vector.is_none();
    let cut = |bits: u64| bits.to_le_bytes()[..size.min(8)].to_vec();
    let needs_bytes = || {
        Problem::new(format!("it takes {size} bytes by value"))
            .help(format!("pass them as bytes:HEX with {} hexadecimal digits", size * 2))
    };
    match arg {
        ArgValue::Bytes(bytes) if bytes.len() == size => Ok(bytes.clone()),
        ArgValue::Bytes(bytes) => Err(Problem::new(format!("it takes {size} bytes, {} were given", bytes.len()))),
        _ if !is_scalar => Err(needs_bytes()),
        ArgValue::Buffer(index) => {
            let (bytes, (name, address)) = (address_size as usize / 8, pointer(*index));
            if size != bytes || var.ty.kind() == Kind::Float {
                return Err(Problem::new(format!("buffer `{name}` is passed as a pointer of {bytes} bytes"))
                    .help(format!("pass a scalar, such as {}:1", scalar_name(var))));
            }
            Ok(cut(address))
        }
        ArgValue::Scalar(ty, bits) => {
            let kinds = [ty.ty().kind(), var.ty.kind()];
            let mixes = kinds.contains(&Kind::Float) && !kinds.contains(&Kind::Bits) && kinds[0] != kinds[1];
            let other_format = kinds == [Kind::Float; 2] && ty.ty() != var.ty;
            if ty.bytes() != size || mixes || other_format {
                let message = format!("a value of type {ty} ({} bytes) was given", ty.bytes());
                return Err(Problem::new(message).help(format!("pass a value of type {}", scalar_name(var))));
            }
            if is_pointer(var) && *bits != 0 && !matches!(ty.name(), "u64" | "b64" | "u32" | "b32") {
                return Err(pointer_wanted());
            }
            Ok(cut(*bits))
        }
        ArgValue::Number(text) => {
            if is_pointer(var) && text != "0" {
                return Err(pointer_wanted());
            }
            let element = Element::from_ptx(var.ty).ok_or_else(needs_bytes)?;
            let bits = element.parse(text).map_err(|e| {
                let problem = Problem::new(e.to_string());
                let is_float = text.parse::<f64>().is_ok() && var.ty.kind() == Kind::Bits && size >= 2;
                if is_float { problem.help(format!("say the type: f{}:{text}", size * 8)) } else { problem }
            })?;
            Ok(cut(bits))
        }
    }
}

fn pointer_wanted() -> Problem {
    Problem::new("a number was given for a pointer").help("pass a buffer; 0 is the null pointer")
}

fn is_pointer(var: &Var) -> bool {
    var.attributes.iter().any(|a| a.trim_start_matches('.') == "ptr")
}

fn scalar_name(var: &Var) -> &'static str {
    var.ty.name()
}

/// Checks grid and block against what hardware allows and the kernel demands.
///
/// # Errors
/// When they do not fit.
pub fn check_shape(module: &Module, layout: &KernelLayout, launch: &Launch) -> Result<(), Problem> {
    let kernel = module.func(layout.kernel);
    let threads = launch.block.iter().fold(1u64, |all, n| all.saturating_mul(u64::from(*n)));
    let shape = shape_text(launch.block);
    let problem = |message: String| Err(Problem::new(message));
    if launch.grid.contains(&0) || launch.block.contains(&0) {
        return problem("every dimension of grid and block must be at least 1".to_owned());
    }
    if launch.grid[1] > 65_535 || launch.grid[2] > 65_535 || launch.grid[0] > 0x7fff_ffff {
        return problem(format!("grid {} is too large: 2147483647,65535,65535 is the most", shape_text(launch.grid)));
    }
    if threads > MAX_THREADS || launch.block[2] > 64 {
        return problem(format!(
            "a block of {shape} has {threads} threads; at most {MAX_THREADS} are possible, 64 of them in z"
        ));
    }
    if let Some(required) = kernel.limits.required_block
        && required != launch.block
    {
        let wanted = shape_text(required);
        return problem(format!("kernel `{}` requires blocks of {wanted} (.reqntid), not {shape}", kernel.name));
    }
    if let Some(max) = kernel.limits.max_threads
        && threads > u64::from(max)
    {
        return problem(format!("kernel `{}` allows {max} threads per block (.maxntid), not {threads}", kernel.name));
    }
    if launch.shared_bytes(layout) > MAX_SHARED_BYTES {
        let (dynamic, fixed) = (launch.dynamic_shared, layout.static_shared);
        return problem(format!(
            "{dynamic} bytes of dynamic shared memory are too many: with the {fixed} of kernel `{}` at most \
             {MAX_SHARED_BYTES} are possible",
            kernel.name
        ));
    }
    Ok(())
}

/// Dimensions as the command line takes them, trailing ones left out: `16,16`.
#[must_use]
pub fn shape_text(shape: [u32; 3]) -> String {
    match shape {
        [x, 1, 1] => x.to_string(),
        [x, y, 1] => format!("{x},{y}"),
        [x, y, z] => format!("{x},{y},{z}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_exec::{DeviceMemory, Image};
    use std::sync::Arc;

    const PTX: &str = ".version 6.0\n.target sm_50\n.address_size 64\n\
        .visible .entry k(.param .u64 p, .param .u32 n, .param .f32 x, .param .align 4 .b8 s[12])\n\
        .maxntid 64, 1, 1\n{\n\tret;\n}\n";

    fn encoded(args: &[ArgValue]) -> Result<Vec<u8>, String> {
        let (module, diagnostics) = raddle_ptx::load(PTX);
        assert!(diagnostics.is_empty(), "{diagnostics:?}");
        let image = Image::load(Arc::new(module), &mut DeviceMemory::new()).unwrap();
        let layout = image.kernel("k").unwrap();
        let args: Vec<_> = args.iter().map(|v| (v, &None)).collect();
        encode(&image.module, &layout, &args, &|_| ("a", 0x1234))
            .map_err(|p| format!("{} [{}]", p.message, p.help.unwrap_or_default()))
    }

    fn scalar(ty: &str, value: &str) -> ArgValue {
        let ty = Element::from_name(ty).unwrap();
        ArgValue::Scalar(ty, ty.parse(value).unwrap())
    }

    fn number(text: &str) -> ArgValue {
        ArgValue::Number(text.to_owned())
    }

    #[test]
    fn good_arguments_are_laid_out() {
        let bytes = encoded(&[ArgValue::Buffer(0), scalar("s32", "-1"), number("1"), ArgValue::Bytes(vec![7; 12])]);
        let bytes = bytes.unwrap();
        assert_eq!(bytes[..8], 0x1234u64.to_le_bytes());
        assert_eq!(bytes[8..12], [0xff; 4]);
        assert_eq!(bytes[12..16], 1f32.to_le_bytes());
        assert_eq!(bytes[16..], [7; 12]);
    }

    #[test]
    fn bad_arguments_name_the_parameter_its_type_and_what_was_given() {
        let rest = [number("1"), ArgValue::Bytes(vec![0; 12])];
        let first_two = |a: ArgValue, b: ArgValue| encoded(&[&[a, b], &rest[..]].concat()).unwrap_err();
        assert_eq!(
            first_two(ArgValue::Buffer(0), ArgValue::Buffer(0)),
            "argument 2 of kernel `k`, parameter `.u32 n`: buffer `a` is passed as a pointer of 8 bytes \
             [pass a scalar, such as u32:1]"
        );
        assert_eq!(
            first_two(ArgValue::Buffer(0), scalar("f32", "1")),
            "argument 2 of kernel `k`, parameter `.u32 n`: a value of type f32 (4 bytes) was given \
             [pass a value of type u32]"
        );
        assert_eq!(
            first_two(scalar("u32", "1"), number("1")),
            "argument 1 of kernel `k`, parameter `.u64 p`: a value of type u32 (4 bytes) was given \
             [pass a value of type u64]"
        );
        assert_eq!(
            first_two(number("0"), number("1.5")),
            "argument 2 of kernel `k`, parameter `.u32 n`: `1.5` is not a value of type u32: it is not an integer []"
        );
        assert_eq!(
            encoded(&[number("0"), number("1"), number("1"), number("1")]).unwrap_err(),
            "argument 4 of kernel `k`, parameter `.b8 s[12]`: it takes 12 bytes by value \
             [pass them as bytes:HEX with 24 hexadecimal digits]"
        );
        assert_eq!(
            encoded(&[]).unwrap_err(),
            "too few arguments for kernel `k`: 0 given, 4 declared \
             [its parameters are: .u64 p, .u32 n, .f32 x, .b8 s[12]]"
        );
    }

    #[test]
    fn shapes_are_checked() {
        let (module, _) = raddle_ptx::load(PTX);
        let image = Image::load(Arc::new(module), &mut DeviceMemory::new()).unwrap();
        let layout = image.kernel("k").unwrap();
        let check = |grid, block| {
            let launch = Launch { grid, block, ..Launch::default() };
            check_shape(&image.module, &layout, &launch).map_err(|p| p.message)
        };
        assert_eq!(check([1, 1, 1], [64, 1, 1]), Ok(()));
        assert_eq!(
            check([1, 1, 1], [65, 1, 1]).unwrap_err(),
            "kernel `k` allows 64 threads per block (.maxntid), not 65"
        );
        assert!(check([1, 1, 1], [32, 33, 1]).unwrap_err().starts_with("a block of 32,33 has 1056 threads"));
        assert!(check([0, 1, 1], [32, 1, 1]).unwrap_err().contains("at least 1"));
        assert!(check([1, 65_536, 1], [32, 1, 1]).unwrap_err().starts_with("grid 1,65536 is too large"));
    }
}
