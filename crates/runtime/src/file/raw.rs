//! Launch files as they are written: types that mirror the text, with the place of what may be wrong.

use serde::Deserialize;
use serde::de::{self, Deserializer, SeqAccess, Visitor};
use std::collections::BTreeMap;
use std::fmt;
use toml::Spanned;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RawFile {
    pub(super) module: String,
    #[serde(default)]
    pub(super) pack_buffers: bool,
    #[serde(default)]
    pub(super) buffers: BTreeMap<Spanned<String>, RawBuffer>,
    #[serde(default)]
    pub(super) textures: BTreeMap<Spanned<String>, RawTexture>,
    #[serde(default)]
    pub(super) launch: Vec<Spanned<RawLaunch>>,
    #[serde(default)]
    pub(super) r#loop: Vec<Spanned<RawLoop>>,
    #[serde(default)]
    pub(super) expect: Vec<Spanned<RawExpect>>,
    #[serde(default)]
    pub(super) output: Vec<Spanned<RawOutput>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RawBuffer {
    pub(super) r#type: Spanned<String>,
    pub(super) len: Option<u64>,
    pub(super) fill: Option<Spanned<String>>,
    pub(super) values: Option<Vec<Spanned<Word>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RawTexture {
    pub(super) buffer: Spanned<String>,
    #[serde(default = "one")]
    pub(super) channels: u32,
    pub(super) width: Option<u32>,
    #[serde(default = "one")]
    pub(super) height: u32,
    pub(super) address: Option<Address>,
    #[serde(default)]
    pub(super) filter: FilterName,
    #[serde(default)]
    pub(super) normalized: bool,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Address {
    Clamp,
    Wrap,
    Mirror,
    Border,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum FilterName {
    #[default]
    Point,
    Linear,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RawLaunch {
    pub(super) kernel: Option<String>,
    pub(super) grid: Shape,
    pub(super) block: Shape,
    #[serde(default)]
    pub(super) shared: u32,
    #[serde(default)]
    pub(super) args: Vec<Spanned<Word>>,
    #[serde(default = "one")]
    pub(super) repeat: u32,
    pub(super) r#if: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RawLoop {
    pub(super) r#while: Spanned<String>,
    #[serde(default)]
    pub(super) reset: Vec<Spanned<String>>,
    #[serde(default = "rounds")]
    pub(super) max_rounds: u32,
    #[serde(default)]
    pub(super) launch: Vec<Spanned<RawLaunch>>,
}

fn rounds() -> u32 {
    10_000
}

fn one() -> u32 {
    1
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RawExpect {
    pub(super) buffer: Spanned<String>,
    pub(super) npy: Option<String>,
    pub(super) raw: Option<String>,
    pub(super) values: Option<Vec<Spanned<Word>>>,
    pub(super) ulp: Option<u64>,
    pub(super) tolerance: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RawOutput {
    pub(super) buffer: Spanned<String>,
    pub(super) npy: Option<String>,
    pub(super) raw: Option<String>,
}

/// A number or string, as text.
pub(super) struct Word {
    pub(super) text: String,
    pub(super) is_string: bool,
}

impl<'de> Deserialize<'de> for Word {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct WordVisitor;
        impl Visitor<'_> for WordVisitor {
            type Value = Word;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number or a string")
            }
            fn visit_i64<E: de::Error>(self, v: i64) -> Result<Word, E> {
                Ok(Word { text: v.to_string(), is_string: false })
            }
            fn visit_u64<E: de::Error>(self, v: u64) -> Result<Word, E> {
                Ok(Word { text: v.to_string(), is_string: false })
            }
            fn visit_f64<E: de::Error>(self, v: f64) -> Result<Word, E> {
                Ok(Word { text: format!("{v:?}"), is_string: false })
            }
            fn visit_str<E: de::Error>(self, v: &str) -> Result<Word, E> {
                Ok(Word { text: v.to_owned(), is_string: true })
            }
        }
        deserializer.deserialize_any(WordVisitor)
    }
}

/// One to three dimensions; a number alone is x.
pub(super) struct Shape(pub(super) [u32; 3]);

impl<'de> Deserialize<'de> for Shape {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ShapeVisitor;
        impl<'de> Visitor<'de> for ShapeVisitor {
            type Value = Shape;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a size such as 256, or one to three of them such as [16, 16]")
            }
            fn visit_i64<E: de::Error>(self, v: i64) -> Result<Shape, E> {
                let x = u32::try_from(v).map_err(|_| E::invalid_value(de::Unexpected::Signed(v), &self))?;
                Ok(Shape([x, 1, 1]))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Shape, A::Error> {
                let mut shape = [1; 3];
                let mut given = 0;
                while let Some(size) = seq.next_element()? {
                    *shape.get_mut(given).ok_or_else(|| de::Error::invalid_length(given + 1, &self))? = size;
                    given += 1;
                }
                if given == 0 { Err(de::Error::invalid_length(0, &self)) } else { Ok(Shape(shape)) }
            }
        }
        deserializer.deserialize_any(ShapeVisitor)
    }
}
