//! What a device tells of its host.

use crate::device::Device;
use raddle_exec::texture::{Texels, Texture};

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
        let Texture { size, channel, channels, address, filter, normalized, border, texels } = texture;
        let [width, height, depth] = size.map(u64::from);
        let about = format!("{name} {channel:?} {address:?} {filter:?} {normalized} {border:?}");
        self.act("bind", &[width, height, depth, (*channels).into()], about.as_bytes());
        match texels {
            Texels::Own { bytes, start } => self.act("texels", &[start.unwrap_or(0)], bytes),
            Texels::View { at, pitch, plane } => self.act("view", &[*at, *pitch, *plane], &[]),
        }
    }

    /// The host reads.
    pub(crate) fn read<'a>(&'a self, from: u64, now: &'a [u8]) -> &'a [u8] {
        self.keep.as_ref().map_or(now, |keep| keep.host.read(from, now))
    }
}
