//! Textures and surfaces of kernel files.

use super::directive::{fill, parse_type};
use raddle_exec::texture::{AddressMode, Channel, Filter, Texels, Texture};
use raddle_ptx::isa::Type;

/// A view of a buffer whose address is not known yet.
#[derive(Clone, Debug)]
pub(crate) struct View(Texture);

impl View {
    /// The same where the buffer is.
    pub(crate) fn starting_at(&self, start: u64) -> Texture {
        let mut texture = self.0.clone();
        if let Texels::View { at, .. } = &mut texture.texels {
            *at += start;
        }
        texture
    }
}

/// `NAME SIZE FORMAT key=value ... = VALUES`.
pub(super) fn parse(text: &str) -> Result<(String, Texture), String> {
    let (head, values) = text.split_once(" = ").ok_or("no ` = `")?;
    let words: Vec<&str> = head.split_whitespace().collect();
    let [name, ref about @ ..] = words[..] else { return Err("no name".to_owned()) };
    let (mut texture, ty) = described(about)?;
    let texels: u32 = texture.size.iter().product();
    let values = fill(values, ty, (texels * texture.channels) as usize)?;
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()[..ty.bytes() as usize].to_vec()).collect();
    texture.texels = Texels::copy(&bytes);
    Ok((name.to_owned(), texture))
}

/// `SIZE FORMAT key=value ...`.
pub(super) fn parse_view(words: &[&str]) -> Result<View, String> {
    Ok(View(described(words)?.0))
}

/// A texture and the type of its channels. As a view it has no gaps, unless `pitch`, `plane` and `offset` say so.
fn described(words: &[&str]) -> Result<(Texture, Type), String> {
    let [size, format, ref settings @ ..] = words[..] else { return Err("no size and format".to_owned()) };
    let (ty, channels) = match format.split_once('x') {
        Some((ty, n)) => (ty, n.parse().map_err(|_| format!("`{format}` is not a format"))?),
        None => (format, 1),
    };
    let ty = parse_type(ty)?;
    let mut texture = Texture { size: [1; 3], channel: channel(ty)?, channels, ..Texture::default() };
    for (place, number) in texture.size.iter_mut().zip(size.split('x')) {
        *place = number.parse().map_err(|_| format!("`{size}` is not a size"))?;
    }
    let (mut at, mut pitch, mut plane) = (0, None, None);
    for word in settings {
        let (key, value) = word.split_once('=').ok_or_else(|| format!("unknown setting `{word}`"))?;
        let number = || value.parse::<u64>().map_err(|_| format!("`{word}` has no number"));
        match key {
            "address" => texture.address = addresses(value)?,
            "border" => texture.border = [number()? as f32; 4],
            "filter" => texture.filter = if value == "linear" { Filter::Linear } else { Filter::Point },
            "normalized" => texture.normalized = value == "1",
            "offset" => at = number()?,
            "pitch" => pitch = Some(number()?),
            "plane" => plane = Some(number()?),
            _ => return Err(format!("unknown setting `{word}`")),
        }
    }
    let pitch = pitch.unwrap_or_else(|| u64::from(texture.size[0] * texture.texel_bytes()));
    let plane = plane.unwrap_or_else(|| pitch * u64::from(texture.size[1]));
    texture.texels = Texels::View { at, pitch, plane };
    Ok((texture, ty))
}

fn channel(ty: Type) -> Result<Channel, String> {
    Ok(match ty {
        Type::U8 => Channel::U8,
        Type::S8 => Channel::S8,
        Type::U16 => Channel::U16,
        Type::S16 => Channel::S16,
        Type::U32 => Channel::U32,
        Type::S32 => Channel::S32,
        Type::F16 => Channel::F16,
        Type::F32 => Channel::F32,
        other => return Err(format!("texels are not of type {other}")),
    })
}

/// One mode for all directions, or one for each.
fn addresses(text: &str) -> Result<[AddressMode; 3], String> {
    let mut modes = [AddressMode::Clamp; 3];
    let mut names = text.split(',').cycle();
    for mode in &mut modes {
        *mode = match names.next() {
            Some("clamp") => AddressMode::Clamp,
            Some("wrap") => AddressMode::Wrap,
            Some("mirror") => AddressMode::Mirror,
            Some("border") => AddressMode::Border,
            _ => return Err(format!("unknown setting `address={text}`")),
        };
    }
    Ok(modes)
}
