//! Where an access to a surface goes.

use super::{Geometry, Texels, Texture};

impl Texture {
    /// The address of so many bytes of a surface. Of the coordinates x counts bytes, the others rows, planes and layers.
    ///
    /// # Errors
    /// A text, when they are outside and are not to be moved to the nearest place inside.
    pub(crate) fn surface_place(
        &self,
        geometry: Geometry,
        [a, b, c, _]: [i32; 4],
        bytes: u32,
        clamps: bool,
    ) -> Result<u64, String> {
        let at @ [x, y, z] = match geometry {
            Geometry::D1 => [a, 0, 0],
            Geometry::D2 => [a, b, 0],
            Geometry::A1 => [b, 0, a],
            Geometry::A2 => [b, c, a],
            Geometry::D3 | Geometry::Cube | Geometry::ACube => [a, b, c],
        };
        let Texels::View { at: start, pitch, plane } = self.texels else {
            return Err("a texture that is a copy cannot be a surface".to_owned());
        };
        let [width, height, depth] = self.size;
        let row = u64::from(width) * u64::from(self.texel_bytes());
        let places = [row.saturating_sub(u64::from(bytes) - 1), height.into(), depth.into()];
        let mut inside = [0; 3];
        for ((inside, at), places) in inside.iter_mut().zip(at).zip(places) {
            *inside = match u64::try_from(at) {
                Ok(at) if at < places => at,
                _ if !clamps => {
                    let size = format!("{width} x {height} x {depth}");
                    return Err(format!("access of {bytes} bytes at ({x}, {y}, {z}) is outside a surface of {size}"));
                }
                Ok(_) => places.saturating_sub(1),
                Err(_) => 0,
            };
        }
        let [x, y, z] = inside;
        Ok(start.wrapping_add(z.wrapping_mul(plane)).wrapping_add(y.wrapping_mul(pitch)).wrapping_add(x))
    }
}
