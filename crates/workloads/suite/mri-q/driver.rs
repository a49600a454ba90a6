//! The matrix Q of MRI reconstruction: two kernels, samples through constant memory chunk by chunk.

use crate::prelude::*;

const CHUNK: usize = 1024;
const PHI_BLOCK: usize = 512;
const Q_BLOCK: usize = 256;

pub fn run(run: &mut Run<'_>) -> Result {
    let (voxels, samples) = (run.size("voxels")?, run.size("samples")?);
    let [kx, ky, kz] = [(); 3].map(|()| run.rng.floats(samples, -1.0, 1.0));
    let [phi_real, phi_imaginary] = [(); 2].map(|()| run.rng.floats(samples, -1.0, 1.0));
    let [x, y, z] = [(); 3].map(|()| run.rng.floats(voxels, -0.5, 0.5));

    let real = run.upload("phi_real", &phi_real)?;
    let imaginary = run.upload("phi_imaginary", &phi_imaginary)?;
    let magnitude = run.zeros::<f32>("magnitude", samples)?;
    let args = [real.into(), imaginary.into(), magnitude.into(), (samples as i32).into()];
    run.launch("phi_mag", samples.div_ceil(PHI_BLOCK), PHI_BLOCK, &args)?;
    let squares = phi_real.iter().zip(&phi_imaginary).map(|(r, i)| r * r + i * i);
    run.check("magnitude", magnitude, &squares.collect::<Vec<_>>())?;

    let magnitudes = run.download(magnitude);
    let places = [("x", &x), ("y", &y), ("z", &z)].map(|(name, values)| run.upload(name, values));
    let [vx, vy, vz] = places;
    let (vx, vy, vz) = (vx?, vy?, vz?);
    let q_real = run.zeros::<f32>("q_real", voxels)?;
    let q_imaginary = run.zeros::<f32>("q_imaginary", voxels)?;
    let table: Vec<[f32; 4]> = (0..samples).map(|i| [kx[i], ky[i], kz[i], magnitudes[i]]).collect();
    for chunk in table.chunks(CHUNK) {
        run.set_variable("samples", chunk.as_flattened())?;
        let count = chunk.len() as i32;
        let args = [count.into(), vx.into(), vy.into(), vz.into(), q_real.into(), q_imaginary.into()];
        run.launch("compute_q", voxels / Q_BLOCK, Q_BLOCK, &args)?;
    }

    let mut want = [Vec::with_capacity(voxels), Vec::with_capacity(voxels)];
    for voxel in 0..voxels {
        let (mut real, mut imaginary) = (0.0, 0.0);
        for sample in &table {
            let [kx, ky, kz, magnitude] = sample.map(f64::from);
            let place = kx * f64::from(x[voxel]) + ky * f64::from(y[voxel]) + kz * f64::from(z[voxel]);
            let (sin, cos) = (std::f64::consts::TAU * place).sin_cos();
            real += magnitude * cos;
            imaginary += magnitude * sin;
        }
        want[0].push(real as f32);
        want[1].push(imaginary as f32);
    }
    run.check("q_real", q_real, &want[0])?;
    run.check("q_imaginary", q_imaginary, &want[1])
}
