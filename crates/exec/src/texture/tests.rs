use super::*;
use std::convert::Infallible;

fn ramp(width: u32, height: u32) -> Texture {
    let bytes: Vec<u8> = (0..width * height).flat_map(|i| (i as f32).to_le_bytes()).collect();
    Texture { size: [width, height, 1], texels: Texels::copy(&bytes), ..Texture::default() }
}

fn nothing(_: u64, _: u32) -> Result<Raw, Infallible> {
    Ok([0; 16])
}

fn at(geometry: Geometry, values: [f32; 4]) -> Coords {
    Coords { geometry, is_float: true, values: values.map(f32::to_bits) }
}

fn whole(x: i32, y: i32) -> Coords {
    Coords { geometry: Geometry::D2, is_float: false, values: [x.cast_unsigned(), y.cast_unsigned(), 0, 0] }
}

fn x(texture: &Texture, [x, y]: [f32; 2]) -> f32 {
    let geometry = if texture.size[1] > 1 { Geometry::D2 } else { Geometry::D1 };
    let Ok(found) = texture.fetch(&at(geometry, [x, y, 0.0, 0.0]), true, nothing);
    f32::from_bits(found[0])
}

#[test]
fn points_and_edges() {
    let t = ramp(4, 1);
    assert_eq!([-1.0, 0.0, 1.99, 3.5, 9.0].map(|v| x(&t, [v, 0.0])), [0.0, 0.0, 1.0, 3.0, 3.0]);
    assert_eq!(t.fetch(&whole(2, 0), true, nothing).unwrap()[0], 2f32.to_bits());
    let t = Texture { address: [AddressMode::Border; 3], ..t };
    assert_eq!([-0.5, 3.5, 4.0].map(|v| x(&t, [v, 0.0])), [0.0, 3.0, 0.0]);
    let t = Texture { address: [AddressMode::Wrap; 3], normalized: true, ..t };
    assert_eq!([-0.25, 0.0, 0.5, 1.3].map(|v| x(&t, [v, 0.0])), [3.0, 0.0, 2.0, 1.0]);
    let t = Texture { address: [AddressMode::Mirror; 3], ..t };
    assert_eq!([-0.1, 0.9, 1.1, 1.9].map(|v| x(&t, [v, 0.0])), [0.0, 3.0, 3.0, 0.0]);
    assert_eq!(x(&t, [f32::NAN, 0.0]), 0.0);
    assert_eq!(x(&t, [f32::INFINITY, 0.0]), 0.0);
}

#[test]
fn texels_lie_in_blocks() {
    let place = |t: &Texture, x, y| t.address_of(3, &whole(x, y)).map(|at| at - APART - (3 << 32));
    assert_eq!(place(&ramp(4, 2), 3, 1), Some(4 * 11), "a block is eight words across and four down");
    let t = ramp(20, 8);
    let places = [(7, 3), (8, 0), (16, 0), (0, 4)].map(|(x, y)| place(&t, x, y));
    assert_eq!(places, [Some(4 * 31), Some(128), Some(256), Some(3 * 128)]);
    let t = Texture { channels: 4, address: [AddressMode::Border; 3], ..ramp(4, 2) };
    assert_eq!([1, 4].map(|x| place(&t, x, 0)), [Some(16), None]);
}

#[test]
fn views_are_read_where_they_are() {
    let texels = Texels::View { at: 0x1000, pitch: 64, plane: 512 };
    let t = Texture { size: [4, 4, 2], channel: Channel::U16, channels: 2, texels, ..Texture::default() };
    assert_eq!(t.extent(), Some((0x1000, 512 + 3 * 64 + 4 * 4)));
    let coords = Coords { geometry: Geometry::D3, is_float: false, values: [3, 2, 1, 0] };
    assert_eq!(t.address_of(0, &coords), Some(0x1000 + 512 + 2 * 64 + 3 * 4));
    let read = |address: u64, bytes: u32| {
        assert_eq!((address, bytes), (0x1000 + 512 + 2 * 64 + 3 * 4, 4));
        let mut raw = [0; 16];
        raw[..4].copy_from_slice(&[0xff, 0xff, 2, 1]);
        Ok::<_, Infallible>(raw)
    };
    assert_eq!(t.fetch(&coords, false, read).unwrap(), [0xffff, 0x0102, 0, 1]);
    assert_eq!(t.fetch(&coords, true, read).unwrap()[0], 1f32.to_bits());
    assert_eq!(t.fetch(&coords, true, |_, _| Err("gone")), Err("gone"));
}

#[test]
fn channels_are_integers_or_fractions() {
    let value = |channel: Channel, bits, float| channel.value(bits, float);
    assert_eq!(value(Channel::S8, 0x80, false), 0xffff_ff80);
    assert_eq!(f32::from_bits(value(Channel::S8, 0x80, true)), -1.0);
    assert_eq!(f32::from_bits(value(Channel::S16, 0x7fff, true)), 1.0);
    assert_eq!(f32::from_bits(value(Channel::U8, 51, true)), 0.2);
    assert_eq!(f32::from_bits(value(Channel::F16, 0xc000, false)), -2.0);
    assert_eq!(value(Channel::S32, 0x8000_0000, true), 0x8000_0000);
}

#[test]
fn linear_weights_have_eight_bits() {
    let t = Texture { filter: Filter::Linear, ..ramp(4, 1) };
    assert_eq!(x(&t, [1.0, 0.5]), 0.5);
    assert_eq!(x(&t, [1.5, 0.5]), 1.0);
    assert_eq!(x(&t, [0.2, 0.5]), 0.0);
    assert_eq!(x(&t, [1.501, 0.5]), 1.0);
    let t = Texture { filter: Filter::Linear, ..ramp(2, 2) };
    assert_eq!(x(&t, [1.0, 1.0]), 1.5);
}

#[test]
fn gather_goes_round() {
    let found = ramp(3, 3).gather(0, &at(Geometry::D2, [1.0, 1.0, 0.0, 0.0]), true, nothing);
    assert_eq!(found.unwrap().map(f32::from_bits), [3.0, 4.0, 1.0, 0.0]);
}

#[test]
fn directions_meet_the_faces_of_a_cube() {
    let bytes: Vec<u8> = (0..24).flat_map(|i| (i as f32).to_le_bytes()).collect();
    let t = Texture { size: [2, 2, 6], texels: Texels::copy(&bytes), ..Texture::default() };
    let met = |d: [f32; 3]| {
        let Ok(found) = t.fetch(&at(Geometry::Cube, [d[0], d[1], d[2], 0.0]), true, nothing);
        f32::from_bits(found[0])
    };
    let axes = [[1., 0., 0.], [-1., 0., 0.], [0., 1., 0.], [0., -1., 0.], [0., 0., 1.], [0., 0., -1.]];
    // The middle of a face belongs to its last texel.
    assert_eq!(axes.map(met), [3.0, 7.0, 11.0, 15.0, 19.0, 23.0]);
    assert_eq!(met([2.0, 0.5, 0.5]), 0.0, "on +x columns run against z, rows against y");
    assert_eq!(met([-0.5, 0.5, -2.0]), 21.0, "on -z columns run against x");
}

#[test]
fn handles_say_what_they_are() {
    let mut objects = Objects::default();
    let (t, s) = (objects.add_texture(ramp(1, 1)), objects.add_surface(ramp(2, 1)));
    assert_eq!(objects.find(t, false).unwrap().size[0], 1);
    assert_eq!(objects.find(s, true).unwrap().size[0], 2);
    let wrong = |handle, surface| objects.find(handle, surface).unwrap_err();
    assert_eq!(wrong(0, false), "0x0 is not the handle of a texture");
    assert_eq!(wrong(t + 1, false), format!("{:#x} is not the handle of a texture", t + 1));
    assert_eq!(wrong(t, true), format!("{t:#x} is the handle of a texture, not of a surface"));
    assert!(objects.remove(t) && !objects.remove(t) && !objects.remove(7));
    assert_eq!(objects.find(t, false).unwrap_err(), format!("the texture of handle {t:#x} was destroyed"));
}
