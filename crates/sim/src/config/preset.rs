//! The machines that come with Raddle.

/// A machine that comes with Raddle: a complete, commented file.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// Its name.
    pub name: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
    /// The text of its file.
    pub text: &'static str,
}

/// Every preset.
pub static PRESETS: &[Preset] = &[
    Preset {
        name: "gtx480",
        about: "GeForce GTX 480 (Fermi), as GPGPU-Sim 4 models it",
        text: include_str!("../../presets/gtx480.toml"),
    },
    Preset {
        name: "gtx480-v3",
        about: "GeForce GTX 480 (Fermi), as GPGPU-Sim 3.2.2 models it",
        text: include_str!("../../presets/gtx480-v3.toml"),
    },
    Preset {
        name: "fx5800",
        about: "Quadro FX 5800 (GT200), the baseline of thread block compaction",
        text: include_str!("../../presets/fx5800.toml"),
    },
    Preset {
        name: "fx5800-deep",
        about: "Quadro FX 5800 with a pipeline of 20 cycles instead of 8",
        text: include_str!("../../presets/fx5800-deep.toml"),
    },
    Preset {
        name: "vws-sm",
        about: "One SM with its share of memory, the baseline of variable warp sizing",
        text: include_str!("../../presets/vws-sm.toml"),
    },
    Preset {
        name: "v100",
        about: "Quadro V100 (Volta), as GPGPU-Sim 4.2 models it",
        text: include_str!("../../presets/v100.toml"),
    },
    Preset {
        name: "rtx3070",
        about: "GeForce RTX 3070 (Ampere), as GPGPU-Sim 4.2 models it",
        text: include_str!("../../presets/rtx3070.toml"),
    },
    Preset {
        name: "v100-chip",
        about: "Tesla V100 (Volta), as published measurements of the chip have it",
        text: include_str!("../../presets/v100-chip.toml"),
    },
];

/// The preset of this name.
#[must_use]
pub fn preset(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.name == name)
}

/// The preset used when nothing else is said.
pub const DEFAULT_PRESET: &str = "gtx480";
