//! The workloads.

use crate::error::Error;
use crate::manifest::Manifest;
use crate::run::Run;
use raddle_ptx::diag::closest;
use raddle_runtime::{Problem, PtxFile};

/// A program with everything that belongs to it.
#[derive(Clone, Copy)]
pub struct Workload {
    /// Name of its folder.
    pub name: &'static str,
    /// The kernels in CUDA C++.
    pub source: &'static str,
    /// The same in PTX.
    pub ptx: &'static str,
    /// What it is, as text.
    pub manifest: &'static str,
    /// The driver, as text.
    pub driver_source: &'static str,
    pub(crate) driver: fn(&mut Run<'_>) -> Result<(), Error>,
}

/// Makes the modules of the drivers and the list. A line has the module, the name and the driver's path.
macro_rules! workloads {
    ($($module:ident $name:literal $path:literal,)*) => {
        $(#[path = $path]
        mod $module;)*

        // A constant would be in the program once for each unit of code that uses it.
        static ALL: &[Workload] = &[$(Workload {
            name: $name,
            source: include_str!(concat!("../suite/", $name, "/", $name, ".cu")),
            ptx: include_str!(concat!("../suite/", $name, "/", $name, ".ptx")),
            manifest: include_str!(concat!("../suite/", $name, "/manifest.toml")),
            driver_source: include_str!($path),
            driver: $module::run,
        },)*];
    };
}

// By name.
workloads! {
    aes "aes" "../suite/aes/driver.rs",
    b_plus_tree "b-plus-tree" "../suite/b-plus-tree/driver.rs",
    backprop "backprop" "../suite/backprop/driver.rs",
    bfs "bfs" "../suite/bfs/driver.rs",
    bitonic_sort "bitonic-sort" "../suite/bitonic-sort/driver.rs",
    black_scholes "black-scholes" "../suite/black-scholes/driver.rs",
    cfd "cfd" "../suite/cfd/driver.rs",
    colouring "colouring" "../suite/colouring/driver.rs",
    components "components" "../suite/components/driver.rs",
    convolution "convolution" "../suite/convolution/driver.rs",
    coulomb "coulomb" "../suite/coulomb/driver.rs",
    cutcp "cutcp" "../suite/cutcp/driver.rs",
    face_detection "face-detection" "../suite/face-detection/driver.rs",
    fft "fft" "../suite/fft/driver.rs",
    forest "forest" "../suite/forest/driver.rs",
    galerkin "galerkin" "../suite/galerkin/driver.rs",
    game_physics "game-physics" "../suite/game-physics/driver.rs",
    gaussian "gaussian" "../suite/gaussian/driver.rs",
    heart_wall "heart-wall" "../suite/heart-wall/driver.rs",
    histogram "histogram" "../suite/histogram/driver.rs",
    hotspot "hotspot" "../suite/hotspot/driver.rs",
    hybrid_sort "hybrid-sort" "../suite/hybrid-sort/driver.rs",
    kmeans "kmeans" "../suite/kmeans/driver.rs",
    laplace_3d "laplace-3d" "../suite/laplace-3d/driver.rs",
    lbm "lbm" "../suite/lbm/driver.rs",
    leukocyte "leukocyte" "../suite/leukocyte/driver.rs",
    libor "libor" "../suite/libor/driver.rs",
    lighting "lighting" "../suite/lighting/driver.rs",
    lud "lud" "../suite/lud/driver.rs",
    mandelbrot "mandelbrot" "../suite/mandelbrot/driver.rs",
    matmul "matmul" "../suite/matmul/driver.rs",
    merge_sort "merge-sort" "../suite/merge-sort/driver.rs",
    mri_gridding "mri-gridding" "../suite/mri-gridding/driver.rs",
    mri_q "mri-q" "../suite/mri-q/driver.rs",
    mum "mum" "../suite/mum/driver.rs",
    mum_plus "mum-plus" "../suite/mum-plus/driver.rs",
    nearest_neighbour "nearest-neighbour" "../suite/nearest-neighbour/driver.rs",
    needleman_wunsch "needleman-wunsch" "../suite/needleman-wunsch/driver.rs",
    neural_net "neural-net" "../suite/neural-net/driver.rs",
    nqueens "nqueens" "../suite/nqueens/driver.rs",
    octree "octree" "../suite/octree/driver.rs",
    page_view_count "page-view-count" "../suite/page-view-count/driver.rs",
    page_view_rank "page-view-rank" "../suite/page-view-rank/driver.rs",
    pair_forces "pair-forces" "../suite/pair-forces/driver.rs",
    pathfinder "pathfinder" "../suite/pathfinder/driver.rs",
    prefix_scan "prefix-scan" "../suite/prefix-scan/driver.rs",
    radix_sort "radix-sort" "../suite/radix-sort/driver.rs",
    ray_bvh "ray-bvh" "../suite/ray-bvh/driver.rs",
    ray_depth "ray-depth" "../suite/ray-depth/driver.rs",
    reduction "reduction" "../suite/reduction/driver.rs",
    sad "sad" "../suite/sad/driver.rs",
    scalar_prod "scalar-prod" "../suite/scalar-prod/driver.rs",
    sha1 "sha1" "../suite/sha1/driver.rs",
    similarity "similarity" "../suite/similarity/driver.rs",
    spmv "spmv" "../suite/spmv/driver.rs",
    srad_v1 "srad-v1" "../suite/srad-v1/driver.rs",
    srad_v2 "srad-v2" "../suite/srad-v2/driver.rs",
    stencil_sync "stencil-sync" "../suite/stencil-sync/driver.rs",
    stream_cluster "stream-cluster" "../suite/stream-cluster/driver.rs",
    stumps "stumps" "../suite/stumps/driver.rs",
    tpacf "tpacf" "../suite/tpacf/driver.rs",
    walsh "walsh" "../suite/walsh/driver.rs",
    weather "weather" "../suite/weather/driver.rs",
}

/// Every workload, by name.
#[must_use]
pub fn all() -> &'static [Workload] {
    ALL
}

/// The workload of this name.
///
/// # Errors
/// When there is none; the help names a close one, or where to find all.
pub fn find(name: &str) -> Result<&'static Workload, Problem> {
    ALL.iter().find(|w| w.name == name).ok_or_else(|| {
        let same = by_benchmark(name);
        let close = same.is_empty().then(|| closest(name, ALL.iter().map(|w| w.name))).flatten();
        let help = match (same.as_slice(), close) {
            ([], None) => "`raddle list workloads` lists all of them".to_owned(),
            ([], Some(close)) => format!("did you mean `{close}`?"),
            (same, _) => format!("papers use this name for a benchmark; modelled on it: {}", same.join(", ")),
        };
        Problem::new(format!("there is no workload `{name}`")).help(help)
    })
}

/// The workloads modelled on a benchmark of this name, whatever its case, each in backquotes.
fn by_benchmark(name: &str) -> Vec<String> {
    let is_name = |benchmark: &str| {
        let mut words = benchmark.split(|c: char| !c.is_alphanumeric()).chain([benchmark]);
        words.any(|word| word.eq_ignore_ascii_case(name))
    };
    let is_meant = |workload: &&Workload| {
        let manifest = workload.module().and_then(|module| workload.manifest(&module));
        manifest.is_ok_and(|manifest| manifest.stands_for.iter().any(|s| is_name(&s.benchmark)))
    };
    ALL.iter().filter(is_meant).map(|workload| format!("`{}`", workload.name)).collect()
}

impl Workload {
    /// Its module.
    ///
    /// # Errors
    /// When the PTX has errors.
    pub fn module(&self) -> Result<PtxFile, Error> {
        Ok(PtxFile::parse(&format!("{}.ptx", self.name), self.ptx.to_owned())?)
    }

    /// Its manifest, read.
    ///
    /// # Errors
    /// When it cannot be used.
    pub fn manifest(&self, module: &PtxFile) -> Result<Manifest, Error> {
        let kernels: Vec<_> = module.module.kernels().map(|(_, f)| (f.name.as_str(), f.limits)).collect();
        Manifest::parse(self.name, self.manifest, &kernels)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_and_look_alike() {
        assert!(ALL.windows(2).all(|pair| pair[0].name < pair[1].name));
        let is_good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        assert!(ALL.iter().all(|w| w.name.chars().all(is_good)));
    }

    #[test]
    fn an_unknown_name_gets_advice() {
        let help = |name: &str| find(name).err().and_then(|p| p.help).unwrap_or_default();
        assert_eq!(help("coulom"), "did you mean `coulomb`?");
        assert_eq!(help("zebra"), "`raddle list workloads` lists all of them");
        let modelled = |name: &str| help(name).rsplit_once(": ").map_or(String::new(), |(_, names)| names.to_owned());
        assert_eq!([modelled("nw"), modelled("LPS")], ["`needleman-wunsch`", "`laplace-3d`"]);
    }
}
