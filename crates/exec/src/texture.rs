//! Textures and samplers, as far as compute kernels use them: 1D and 2D.

/// What lies outside the texture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AddressMode {
    /// The nearest texel.
    #[default]
    Clamp,
    /// The texture again; normalised coordinates only.
    Wrap,
    /// The texture mirrored; normalised coordinates only.
    Mirror,
    /// Zero.
    Border,
}

/// How a value between texels is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Filter {
    /// The texel it falls into.
    #[default]
    Point,
    /// Linear interpolation with weights of 8 fractional bits.
    Linear,
}

/// What a texel channel is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Channel {
    /// Single precision.
    #[default]
    F32,
    /// Integer, signed or not: 32 bits handed on as they are.
    Int,
}

/// A texture with its sampler.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Texture {
    /// Texels per row.
    pub width: u32,
    /// Rows; 1 for 1D.
    pub height: u32,
    /// Channel type.
    pub channel: Channel,
    /// Row-major texels, four channels each; channels the format lacks are 0, 0, 1.
    pub texels: Vec<[u32; 4]>,
    /// Outside the texture.
    pub address: AddressMode,
    /// Between texels.
    pub filter: Filter,
    /// Coordinates run from 0 to 1.
    pub normalized: bool,
}
