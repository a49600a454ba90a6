//! What a workload is: the file `manifest.toml` in its folder.

use crate::error::Error;
use raddle_ptx::ir::Limits;
use raddle_runtime::plan::Within;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// What papers sort benchmarks by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Threads of a warp diverge often.
    Divergent,
    /// They stay together.
    Coherent,
    /// Warps wait for each other at barriers.
    Barrier,
}

impl Class {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Divergent => "divergent",
            Self::Coherent => "coherent",
            Self::Barrier => "barrier",
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// How large an input is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Size {
    /// For tests.
    Tiny,
    /// For experiments that are run often.
    Small,
    /// That of the original.
    Paper,
}

impl Size {
    /// Every size.
    pub const ALL: [Self; 3] = [Self::Tiny, Self::Small, Self::Paper];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Tiny => "tiny",
            Self::Small => "small",
            Self::Paper => "paper",
        }
    }

    /// The fewest and the most thread-instructions of a run.
    #[must_use]
    pub fn limits(self) -> [u64; 2] {
        match self {
            Self::Tiny => [1, 1_000_000],
            Self::Small => [1_000_000, 20_000_000],
            Self::Paper => [30_000_000, 2_000_000_000],
        }
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The papers whose benchmarks the workloads represent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Paper {
    /// Thread block compaction, HPCA 2011.
    Tbc,
    /// A variable warp size architecture, ISCA 2015.
    Vws,
    /// Taming warp divergence, CGO 2017.
    Vtw,
    /// Origami: folding warps, ICS 2016.
    Origami,
    /// Barrier-aware warp scheduling, ICS 2016.
    Baws,
}

impl Paper {
    /// Every one.
    pub const ALL: [Self; 5] = [Self::Tbc, Self::Vws, Self::Vtw, Self::Origami, Self::Baws];

    /// Its short name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Tbc => "tbc",
            Self::Vws => "vws",
            Self::Vtw => "vtw",
            Self::Origami => "origami",
            Self::Baws => "baws",
        }
    }
}

/// A benchmark of a paper.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StandsFor {
    /// Where it is used.
    pub paper: Paper,
    /// What it is called there.
    pub benchmark: String,
    /// Where the paper has it from.
    pub suite: String,
}

/// How close results must be.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Check {
    /// The same bits.
    Exact,
    /// At most this many units in the last place away.
    Ulp(u64),
    /// |got - want| at most this times max(1, |want|).
    Tolerance(f64),
}

impl Check {
    /// The same for comparisons.
    #[must_use]
    pub fn within(self) -> Within {
        match self {
            Self::Exact => Within::Ulp(0),
            Self::Ulp(n) => Within::Ulp(n),
            Self::Tolerance(t) => Within::Tolerance(t),
        }
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact => f.write_str("exact"),
            Self::Ulp(n) => write!(f, "within {n} ulp"),
            Self::Tolerance(t) => write!(f, "within {t:e}"),
        }
    }
}

/// A figure a paper prints.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Printed {
    /// Paper.
    pub paper: Paper,
    /// Kernel, by the paper's name; the whole benchmark when left out.
    pub kernel: Option<String>,
    /// What the figure says.
    pub metric: String,
    /// The figure.
    pub value: f64,
    /// Where it is printed.
    pub place: Option<String>,
}

/// How many blocks of a kernel an SM is to hold, as `__launch_bounds__` of its source says: a compiler keeps its registers
/// so few that they have room.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LaunchBounds {
    /// The most threads of a block: `.maxntid`.
    pub threads: u32,
    /// Blocks on an SM: `.minnctapersm`.
    pub blocks: u32,
    /// Where the number of blocks is from.
    pub source: String,
}

/// What is special about one kernel.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelInfo {
    /// Its name in the PTX.
    pub name: String,
    /// Its class, where it is not that of the workload.
    pub class: Option<Class>,
    /// What the paper calls it.
    pub stands_for: Option<String>,
    /// How many blocks of it an SM is to hold; required where its PTX has `.minnctapersm`.
    pub launch_bounds: Option<LaunchBounds>,
}

/// The whole file.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// A few words.
    pub title: String,
    /// Class.
    pub class: Class,
    /// How results are compared.
    pub check: Check,
    /// The warp width it is written for; any when left out.
    pub warp_width: Option<u32>,
    /// Whether its blocks wait for each other, so that all of a launch must be resident at once.
    #[serde(default)]
    pub all_resident: bool,
    /// Why its threads race, where the published algorithm has them do so.
    pub races: Option<String>,
    /// How it differs from the benchmark that it represents.
    pub differs: String,
    /// Why it measures otherwise than its class says, where it does.
    pub unlike: Option<String>,
    /// Benchmarks that it represents; none when no paper names it.
    pub stands_for: Vec<StandsFor>,
    /// Parameters of its driver, for each size.
    pub sizes: BTreeMap<Size, BTreeMap<String, u64>>,
    /// Kernels about which there is something to say.
    #[serde(default, rename = "kernel")]
    pub kernels: Vec<KernelInfo>,
    /// What papers print about it.
    #[serde(default, rename = "paper")]
    pub printed: Vec<Printed>,
}

impl Printed {
    /// Whether it is about the kernel that a paper calls so; some are printed with the benchmark in front.
    #[must_use]
    pub fn is_about(&self, kernel: &str) -> bool {
        self.kernel.as_deref().and_then(|k| k.rsplit(' ').next()) == Some(kernel)
    }
}

impl Manifest {
    /// Reads the manifest of workload `name`, whose kernels are these, with the limits in their PTX.
    ///
    /// # Errors
    /// When it cannot be used.
    pub fn parse(name: &str, text: &str, kernels: &[(&str, Limits)]) -> Result<Self, Error> {
        let wrong = |reason: String| Error::Manifest { name: name.to_owned(), reason };
        let manifest: Self = toml::from_str(text).map_err(|e| wrong(e.to_string().trim_end().to_owned()))?;
        let problems = [
            (manifest.title.trim().is_empty(), "`title` is empty"),
            (manifest.differs.trim().is_empty(), "`differs` is empty"),
            (manifest.warp_width.is_some_and(|w| ![4, 8, 16, 32].contains(&w)), "`warp_width` is not 4, 8, 16 or 32"),
        ];
        if let Some((_, reason)) = problems.iter().find(|(is_wrong, _)| *is_wrong) {
            return Err(wrong((*reason).to_owned()));
        }
        let keys = |size| manifest.sizes.get(&size).map(|s| s.keys().collect::<Vec<_>>());
        for size in Size::ALL {
            let Some(own) = keys(size) else { return Err(wrong(format!("there is no [sizes.{size}]"))) };
            if Some(&own) != keys(Size::Tiny).as_ref() {
                return Err(wrong(format!("[sizes.{size}] has other keys than [sizes.tiny]")));
            }
        }
        let names: Vec<&str> = kernels.iter().map(|(kernel, _)| *kernel).collect();
        if let Some(unknown) = manifest.kernels.iter().find(|k| !names.contains(&k.name.as_str())) {
            return Err(wrong(format!("there is no kernel `{}`: {}", unknown.name, names.join(", "))));
        }
        match kernels.iter().find_map(|(kernel, limits)| manifest.wrong_bounds(kernel, *limits)) {
            Some(reason) => Err(wrong(reason)),
            None => Ok(manifest),
        }
    }

    /// How `launch_bounds` of a kernel differ from what its PTX says.
    fn wrong_bounds(&self, kernel: &str, limits: Limits) -> Option<String> {
        let said = self.kernels.iter().find(|k| k.name == kernel).and_then(|k| k.launch_bounds.as_ref());
        match (said, limits.min_ctas_per_sm) {
            (None, None) => None,
            (None, Some(blocks)) => Some(format!(
                "kernel `{kernel}` has .minnctapersm {blocks}: `launch_bounds` must say where that is from"
            )),
            (Some(said), _) if said.source.trim().is_empty() => {
                Some(format!("`source` of the `launch_bounds` of kernel `{kernel}` is empty"))
            }
            (Some(said), blocks) => {
                let is_same = (limits.max_threads, blocks) == (Some(said.threads), Some(said.blocks));
                let number = |n: Option<u32>| n.map_or_else(|| "none".to_owned(), |n| n.to_string());
                let has = format!(".maxntid {}, .minnctapersm {}", number(limits.max_threads), number(blocks));
                let message = format!("`launch_bounds` of kernel `{kernel}` are {} and {}", said.threads, said.blocks);
                (!is_same).then(|| format!("{message}, but its PTX has {has}"))
            }
        }
    }

    /// The class of a kernel.
    #[must_use]
    pub fn class_of(&self, kernel: &str) -> Class {
        self.kernels.iter().find(|k| k.name == kernel).and_then(|k| k.class).unwrap_or(self.class)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "title = 'T'\nclass = 'divergent'\ncheck = { tolerance = 1e-5 }\ndiffers = 'no'\n\
        stands_for = [{ paper = 'tbc', benchmark = 'BFS', suite = 'Rodinia' }]\n\
        [sizes]\ntiny = { n = 1 }\nsmall = { n = 2 }\npaper = { n = 3 }\n[[kernel]]\nname = 'k'\nclass = 'barrier'\n";

    fn parse(text: &str) -> Result<Manifest, String> {
        Manifest::parse("w", text, &[("k", Limits::default())]).map_err(|e| e.to_string())
    }

    #[test]
    fn a_manifest_is_read() {
        let manifest = parse(GOOD).unwrap();
        assert_eq!(manifest.check, Check::Tolerance(1e-5));
        assert_eq!((manifest.class_of("k"), manifest.class_of("other")), (Class::Barrier, Class::Divergent));
        assert_eq!(manifest.sizes[&Size::Small]["n"], 2);
    }

    #[test]
    fn mistakes_are_named() {
        let with = |from: &str, to: &str| parse(&GOOD.replace(from, to)).unwrap_err();
        assert!(with("title", "titel").contains("unknown field `titel`"));
        assert!(with("small = { n = 2 }\n", "").contains("there is no [sizes.small]"));
        assert!(with("n = 3", "m = 3").contains("[sizes.paper] has other keys than [sizes.tiny]"));
        assert!(with("'k'", "'l'").contains("there is no kernel `l`: k"));
        assert!(with("'divergent'", "'odd'").contains("unknown variant `odd`"));
    }

    #[test]
    fn launch_bounds_are_those_of_the_ptx_and_have_a_source() {
        let bounds = "launch_bounds = { threads = 256, blocks = 4, source = 'TBC Table 1' }\n";
        let parse = |text: &str, limits| Manifest::parse("w", text, &[("k", limits)]).map_err(|e| e.to_string());
        let limits = |threads, blocks| Limits { max_threads: threads, min_ctas_per_sm: blocks, ..Limits::default() };
        let with = GOOD.to_owned() + bounds;
        assert!(parse(&with, limits(Some(256), Some(4))).is_ok());
        assert!(parse(GOOD, limits(Some(256), None)).is_ok());
        let unsaid = parse(GOOD, limits(Some(256), Some(4))).unwrap_err();
        assert!(unsaid.contains(".minnctapersm 4: `launch_bounds` must say where"), "{unsaid}");
        let other = parse(&with, limits(Some(192), None)).unwrap_err();
        assert!(other.contains("are 256 and 4, but its PTX has .maxntid 192, .minnctapersm none"), "{other}");
        let empty = parse(&with.replace("TBC Table 1", " "), limits(Some(256), Some(4))).unwrap_err();
        assert!(empty.contains("`source` of the `launch_bounds`"), "{empty}");
    }
}
