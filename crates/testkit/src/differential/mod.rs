//! The same program on two machines: memory after the run must be the same.
//!
//! A program is generated from a seed as C++ text, compiled by clang twice, to PTX and for the
//! host, and run on the host here. What is left to the caller is to run the PTX and compare. The
//! host side shares no code with the simulator, so a mistake has to be made twice to go unseen.
//!
//! # Contract of a case
//!
//! The kernel takes `(u64 in, u64 out, u32 n)`. Before the launch the buffer behind `in` holds
//! [`Case::input`] and the one behind `out` [`Case::initial_out`]; both are aligned to at least
//! 16 bytes. No dynamic shared memory is needed. After the launch `out` must equal
//! [`Case::expected_out`], also where no thread writes.
//!
//! # What is left out
//!
//! Approximate functions (their results are not specified to the bit), textures, dynamic shared
//! memory, cooperation between blocks other than by commuting atomics, and whatever clang does
//! not emit: the mix of instructions is that of one compiler.

mod compile;
mod execute;
mod generate;

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

pub use compile::{COMPILER, HostMode, Target, compile_device, compile_host, find_compiler, run_host};
pub use generate::{Kind, Program, program};

/// Programs per host executable: one compiler start and one link for all of them.
const BATCH: usize = 25;

/// A program ready to run on the simulator, with the memory it must leave.
#[derive(Clone, Debug)]
pub struct Case {
    /// Kind, seed and target, for messages.
    pub name: String,
    /// What the program was made from.
    pub seed: u64,
    /// What the program is mostly made of.
    pub kind: Kind,
    /// How the device side was compiled.
    pub target: Target,
    /// A whole PTX module.
    pub ptx: String,
    /// Name of the entry function.
    pub kernel: String,
    /// Thread blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y, z.
    pub block: [u32; 3],
    /// Memory behind the first argument.
    pub input: Vec<u32>,
    /// Memory behind the second argument before the launch.
    pub initial_out: Vec<u32>,
    /// Third argument.
    pub n: i32,
    /// Memory behind the second argument after the launch.
    pub expected_out: Vec<u32>,
}

/// The first word that differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Index into the output.
    pub word: usize,
    /// What the host computed.
    pub expected: Option<u32>,
    /// What was found instead.
    pub actual: Option<u32>,
    /// How many words differ in all.
    pub count: usize,
}

impl Case {
    /// Compares the output memory of a run with what it must be.
    pub fn check(&self, actual: &[u32]) -> Result<(), Mismatch> {
        let length = self.expected_out.len().max(actual.len());
        let mut differing = (0..length).filter(|&i| self.expected_out.get(i) != actual.get(i));
        let Some(word) = differing.next() else {
            return Ok(());
        };
        Err(Mismatch {
            word,
            expected: self.expected_out.get(word).copied(),
            actual: actual.get(word).copied(),
            count: 1 + differing.count(),
        })
    }
}

/// Why cases could not be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The compiler is not installed.
    #[error("`{compiler}` is missing: install the Debian package `{package}`")]
    CompilerMissing {
        /// What was looked for.
        compiler: &'static str,
        /// Where it comes from.
        package: &'static str,
    },
    /// A compiler or a host program did not succeed.
    #[error("`{what}` failed ({status}):\n{stderr}")]
    Failed {
        /// The source file or the executable.
        what: String,
        /// How it ended.
        status: String,
        /// What it said.
        stderr: String,
    },
    /// A host program wrote less than it should.
    #[error("`{path}` is too short")]
    ShortOutput {
        /// The output file.
        path: PathBuf,
    },
    /// The result of a program depends on the order of its threads, or on the compiler.
    #[error("program {kernel} is not well defined: {how}")]
    IllDefined {
        /// The program.
        kernel: String,
        /// Which run differs from the plain one.
        how: &'static str,
    },
    /// A file could not be read or written.
    #[error("`{path}`")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

/// Generates the programs of the seeds, compiles both sides and runs the host side. Sources and
/// results stay in `work_dir`, which is made if it is missing.
pub fn build_cases(seeds: Range<u64>, work_dir: &Path) -> Result<Vec<Case>, Error> {
    let programs = prepare(seeds, work_dir)?;
    let batches: Vec<_> = programs.chunks(BATCH).collect();
    let expected = compile::parallel_map(&batches, |batch| {
        let executable = compile_host(batch, HostMode::Plain, work_dir)?;
        run_host(&executable, batch, false)
    })?;
    let ptx =
        compile::parallel_map(&programs, |program| compile_device(program, Target::of_seed(program.seed), work_dir))?;
    let memories = expected.into_iter().flatten();
    Ok(programs
        .into_iter()
        .zip(ptx)
        .zip(memories)
        .map(|((program, ptx), expected_out)| case(program, ptx, expected_out))
        .collect())
}

/// Proves what the comparison rests on: the programs have no undefined behaviour that the
/// sanitizer knows, and neither the order of threads and blocks nor the sanitizer's different
/// code changes a result. Linking needs the Debian package `libclang-rt-19-dev`.
pub fn self_check(seeds: Range<u64>, work_dir: &Path) -> Result<(), Error> {
    let programs = prepare(seeds, work_dir)?;
    let batches: Vec<_> = programs.chunks(BATCH).collect();
    compile::parallel_map(&batches, |batch| check_batch(batch, work_dir))?;
    Ok(())
}

fn check_batch(batch: &[Program], work_dir: &Path) -> Result<(), Error> {
    let plain = run_host(&compile_host(batch, HostMode::Plain, work_dir)?, batch, false)?;
    let sanitized = compile_host(batch, HostMode::Sanitized, work_dir)?;
    for (reversed, how) in [(false, "with the sanitizer"), (true, "with threads in reverse")] {
        let other = run_host(&sanitized, batch, reversed)?;
        if let Some(i) = (0..batch.len()).find(|&i| plain[i] != other[i]) {
            return Err(Error::IllDefined { kernel: batch[i].kernel.clone(), how });
        }
    }
    Ok(())
}

fn prepare(seeds: Range<u64>, work_dir: &Path) -> Result<Vec<Program>, Error> {
    find_compiler()?;
    fs::create_dir_all(work_dir).map_err(|source| Error::Io { path: work_dir.to_owned(), source })?;
    Ok(seeds.map(program).collect())
}

fn case(program: Program, ptx: String, expected_out: Vec<u32>) -> Case {
    let target = Target::of_seed(program.seed);
    Case {
        name: format!("{}-{}-sm_{}{}", program.kind.name(), program.seed, target.sm, target.level),
        seed: program.seed,
        kind: program.kind,
        target,
        ptx,
        kernel: program.kernel,
        grid: program.grid,
        block: program.block,
        input: program.input,
        initial_out: program.initial_out,
        n: program.n,
        expected_out,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory that goes away with the test.
    struct Directory(PathBuf);

    impl Directory {
        fn new(name: &str) -> Self {
            Self(std::env::temp_dir().join(format!("raddle-{name}-{}", std::process::id())))
        }
    }

    impl Drop for Directory {
        fn drop(&mut self) {
            // Nothing to do about it if it fails.
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    /// Without the compiler there is nothing to test here.
    fn compiler_is_missing() -> bool {
        find_compiler().is_err()
    }

    #[test]
    fn cases_are_complete() {
        if compiler_is_missing() {
            return;
        }
        let directory = Directory::new("cases");
        let cases = build_cases(0..8, &directory.0).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(cases.len(), 8);
        for case in &cases {
            assert!(case.ptx.contains(&format!(".entry {}(", case.kernel)), "{}", case.name);
            assert!(!case.ptx.contains(".extern"), "{} calls what nobody defines", case.name);
            assert_eq!(case.initial_out.len(), case.expected_out.len());
            assert!(case.check(&case.initial_out).is_err(), "{} does nothing", case.name);
            assert_eq!(case.check(&case.expected_out), Ok(()));
        }
    }

    #[test]
    fn programs_have_no_undefined_behaviour() {
        if compiler_is_missing() {
            return;
        }
        let directory = Directory::new("undefined");
        self_check(0..8, &directory.0).unwrap_or_else(|error| panic!("{error}"));
    }

    /// Checks a program whose threads run `body`.
    fn check_body(seed: u64, body: &str) -> Result<(), Error> {
        let directory = Directory::new(&format!("body-{seed}"));
        fs::create_dir_all(&directory.0).expect("the temporary directory is writable");
        let mut bad = program(seed);
        bad.source = format!(
            "namespace p_{seed} {{\nstruct State {{}};\n\
             FN void body(State&, const u32* in, u32* out, int n) {{ {body} }}\n\
             ENTRY_BEGIN(k_{seed}, )\nPHASE(body)\nENTRY_END\n}}\n"
        );
        check_batch(&[bad], &directory.0)
    }

    #[test]
    fn the_self_check_finds_undefined_behaviour_and_races() {
        if compiler_is_missing() {
            return;
        }
        let fine = check_body(0, "out[gid()] = in[0] + gid();");
        assert!(fine.is_ok(), "{fine:?}");
        let overflow = check_body(1, "out[0] = (u32)(n * 0x7fffffff);");
        assert!(matches!(overflow, Err(Error::Failed { .. })), "{overflow:?}");
        let race = check_body(2, "out[0] = gid();");
        assert!(matches!(race, Err(Error::IllDefined { .. })), "{race:?}");
    }

    #[test]
    fn a_mismatch_names_the_first_word() {
        let mut case = case(program(0), String::new(), vec![1, 2, 3]);
        case.expected_out = vec![1, 2, 3];
        let mismatch = case.check(&[1, 5, 4]).unwrap_err();
        assert_eq!((mismatch.word, mismatch.count), (1, 2));
        assert_eq!((mismatch.expected, mismatch.actual), (Some(2), Some(5)));
        assert_eq!(case.check(&[1, 2]).unwrap_err().actual, None);
    }
}
