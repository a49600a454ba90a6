//! Forces between water molecules in a box that repeats itself, with a cut-off.

use crate::prelude::*;
use raddle_runtime::device::Arg;

const BLOCK: usize = 64;
/// Oxygen and hydrogen: depth of the potential, and the distance at which it is deepest.
const TYPES: [(f64, f64); 2] = [(0.1521, 3.5364), (0.046, 0.449)];
/// Charges, in units that make forces kcal/mol/Å.
const CHARGES: [f64; 2] = [-0.834 * 18.2226, 0.417 * 18.2226];
/// Between oxygen atoms, on average.
const SPACING: f32 = 3.1;

#[derive(Clone)]
struct Atom {
    place: [f32; 3],
    kind: usize,
    molecule: usize,
}

/// Molecules near the points of a lattice, turned at random.
fn water(on_side: usize, side: f32, rng: &mut Rng) -> Vec<Atom> {
    let mut atoms = Vec::new();
    for molecule in 0..on_side.pow(3) {
        let lattice = [molecule % on_side, molecule / on_side % on_side, molecule / on_side / on_side];
        let centre = lattice.map(|i| (i as f32 + rng.between(0.4, 0.6)) * side / on_side as f32);
        let mut direction = || {
            let v: [f32; 3] = [(); 3].map(|()| rng.between(-1.0, 1.0));
            let length = v.iter().map(|c| c * c).sum::<f32>().sqrt().max(0.1);
            v.map(|c| c / length)
        };
        let (first, second) = (direction(), direction());
        for (kind, offset) in [(0, [0.0; 3]), (1, first), (1, second)] {
            let wrapped = |d: usize| (centre[d] + 0.9572 * offset[d]).rem_euclid(side).min(side * 0.999_999);
            atoms.push(Atom { place: [wrapped(0), wrapped(1), wrapped(2)], kind, molecule });
        }
    }
    atoms
}

/// The factors of r^-12 and r^-6 for two types.
fn mixing(a: usize, b: usize) -> (f64, f64) {
    let depth = (TYPES[a].0 * TYPES[b].0).sqrt();
    let deepest = f64::midpoint(TYPES[a].1, TYPES[b].1);
    (depth * deepest.powi(12), 2.0 * depth * deepest.powi(6))
}

pub fn run(run: &mut Run<'_>) -> Result {
    let (on_side, cells) = (run.size("molecules_on_side")?, run.size("cells_on_side")?);
    let side = on_side as f32 * SPACING;
    let cutoff = side / cells as f32;
    let switch = 0.8 * cutoff;
    let mut atoms = water(on_side, side, &mut run.rng);
    let cell = |atom: &Atom| {
        let [x, y, z] = atom.place.map(|c| ((c / cutoff) as usize).min(cells - 1));
        (z * cells + y) * cells + x
    };
    atoms.sort_by_key(cell);
    let first = (0..=cells.pow(3)).map(|c| atoms.partition_point(|a| cell(a) < c) as i32).collect::<Vec<_>>();

    let table = [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(a, b)| mixing(a, b));
    run.set_variable("mixing", table.map(|(a, b)| [a as f32, b as f32]).as_flattened())?;
    let places: Vec<[f32; 4]> =
        atoms.iter().map(|a| [a.place[0], a.place[1], a.place[2], CHARGES[a.kind] as f32]).collect();
    let kinds: Vec<[i32; 2]> = atoms.iter().map(|a| [a.kind as i32, a.molecule as i32]).collect();
    let place_buffer = run.upload("atoms", places.as_flattened())?;
    let kind_buffer = run.upload("kinds", kinds.as_flattened())?;
    let first_buffer = run.upload("first", &first)?;
    let forces = run.zeros::<f32>("forces", atoms.len() * 4)?;
    let (cutoff2, switch2) = (cutoff * cutoff, switch * switch);
    let numbers = [side, cutoff2, switch2, (cutoff2 - switch2).powi(-3), 1.0 / cutoff2];
    let mut shape = (cells as i32).to_le_bytes().to_vec();
    shape.extend(numbers.iter().flat_map(|n| n.to_le_bytes()));
    let args = [place_buffer.into(), kind_buffer.into(), first_buffer.into(), Arg::bytes(shape), forces.into()];
    run.launch("pair_forces", [cells as u32; 3], BLOCK, &args)?;

    let want = all_pairs(&atoms, f64::from(side), f64::from(cutoff), f64::from(switch));
    let want: Vec<f32> = want.as_flattened().iter().map(|v| *v as f32).collect();
    run.check("forces", forces, &want)
}

/// Every atom with every other, at the distance to its nearest image.
fn all_pairs(atoms: &[Atom], side: f64, cutoff: f64, switch: f64) -> Vec<[f64; 4]> {
    let mut sums = vec![[0.0; 4]; atoms.len()];
    for (i, a) in atoms.iter().enumerate() {
        for (j, b) in atoms.iter().enumerate().skip(i + 1) {
            if a.molecule == b.molecule {
                continue;
            }
            let mut apart = [0.0; 3];
            for (d, apart) in apart.iter_mut().enumerate() {
                let straight = f64::from(a.place[d]) - f64::from(b.place[d]);
                *apart = straight - side * (straight / side).round();
            }
            let distance = apart.iter().map(|d| d * d).sum::<f64>().sqrt();
            if distance >= cutoff {
                continue;
            }
            let (energy, force) = pair(a.kind, b.kind, distance, cutoff, switch);
            for (d, apart) in apart.iter().enumerate() {
                sums[i][d] += force * apart / distance;
                sums[j][d] -= force * apart / distance;
            }
            sums[i][3] += energy / 2.0;
            sums[j][3] += energy / 2.0;
        }
    }
    sums
}

/// Energy of two atoms and the force that drives them apart.
fn pair(a: usize, b: usize, r: f64, cutoff: f64, switch: f64) -> (f64, f64) {
    let (repel, attract) = mixing(a, b);
    let mut energy = repel / r.powi(12) - attract / r.powi(6);
    let mut force = (12.0 * repel / r.powi(12) - 6.0 * attract / r.powi(6)) / r;
    if r > switch {
        let (c, s, u) = (cutoff.powi(2), switch.powi(2), r * r);
        let weight = (c - u).powi(2) * (c + 2.0 * u - 3.0 * s) / (c - s).powi(3);
        let falls = 12.0 * r * (c - u) * (u - s) / (c - s).powi(3);
        force = force * weight + energy * falls;
        energy *= weight;
    }
    let charges = CHARGES[a] * CHARGES[b];
    let shield = 1.0 - (r / cutoff).powi(2);
    let electric = charges / r * shield.powi(2);
    let push = charges * shield * (shield / r.powi(2) + 4.0 / cutoff.powi(2));
    (energy + electric, force + push)
}
