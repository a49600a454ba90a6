//! What a device tells of its host.

use crate::device::Device;
use raddle_exec::texture::Texture;

impl Device<'_> {
    /// The host does something, which it has to do again to go on from a checkpoint.
    pub(crate) fn act(&mut self, what: &str, numbers: &[u64], bytes: &[u8]) {
        if let Some(keep) = &mut self.keep {
            keep.host.act(what, numbers, bytes);
        }
    }

    /// The host binds a texture.
    pub(crate) fn act_on_texture(&mut self, name: &str, texture: &Texture) {
        if self.keep.is_none() {
            return;
        }
        let Texture { width, height, channel, texels, texel_bytes, address, filter, normalized, start } = texture;
        let about = format!("{name} {channel:?} {address:?} {filter:?} {normalized} {start:?}");
        self.act("bind", &[(*width).into(), (*height).into(), (*texel_bytes).into()], about.as_bytes());
        let texels: Vec<u8> = texels.iter().flatten().flat_map(|word| word.to_le_bytes()).collect();
        self.act("texels", &[], &texels);
    }

    /// The host reads.
    pub(crate) fn read<'a>(&'a self, from: u64, now: &'a [u8]) -> &'a [u8] {
        self.keep.as_ref().map_or(now, |keep| keep.host.read(from, now))
    }
}
