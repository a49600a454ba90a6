//! A convolutional network on pictures of strokes, layer after layer.

use crate::prelude::*;

const IMAGE: usize = 29;
const KERNEL: usize = 5;
const MAP1: usize = 13;
const MAP2: usize = 5;
const DIGITS: usize = 10;
const CONNECTED_BLOCK: usize = 128;

pub fn run(run: &mut Run<'_>) -> Result {
    let (images, maps1, maps2) = (run.size("images")?, run.size("maps1")?, run.size("maps2")?);
    let hidden = run.size("hidden")?;
    let pictures: Vec<f32> = (0..images).flat_map(|_| picture(&mut run.rng)).collect();
    // Inputs of a unit or map, and how many of them there are.
    let layers =
        [(KERNEL * KERNEL, maps1), (maps1 * KERNEL * KERNEL, maps2), (maps2 * MAP2 * MAP2, hidden), (hidden, DIGITS)];
    let mut weights = |(inputs, units): (usize, usize)| {
        let scale = 1.7 / (inputs as f32).sqrt();
        run.rng.floats((1 + inputs) * units, -scale, scale)
    };
    let [weights1, weights2, weights3, weights4] = layers.map(&mut weights);

    let input = run.upload("images", &pictures)?;
    let output1 = run.zeros::<f32>("maps1", images * maps1 * MAP1 * MAP1)?;
    let w = run.upload("weights1", &weights1)?;
    run.launch("first_layer", (maps1, images), (MAP1, MAP1), &[input.into(), w.into(), output1.into()])?;
    let output2 = run.zeros::<f32>("maps2", images * maps2 * MAP2 * MAP2)?;
    let w = run.upload("weights2", &weights2)?;
    let args = [output1.into(), w.into(), output2.into(), (maps1 as i32).into()];
    run.launch("second_layer", (maps2, images), (MAP2, MAP2), &args)?;
    let output3 = run.zeros::<f32>("hidden", images * hidden)?;
    let w = run.upload("weights3", &weights3)?;
    let args = [output2.into(), w.into(), output3.into(), (layers[2].0 as i32).into()];
    run.launch("third_layer", (hidden, images), CONNECTED_BLOCK, &args)?;
    let output4 = run.zeros::<f32>("digits", images * DIGITS)?;
    let w = run.upload("weights4", &weights4)?;
    let args = [output3.into(), w.into(), output4.into(), (hidden as i32).into()];
    run.launch("fourth_layer", (DIGITS, images), CONNECTED_BLOCK, &args)?;

    let want1 = convolution(&pictures, images, IMAGE, &weights1, maps1);
    let want2 = convolution(&want1, images, MAP1, &weights2, maps2);
    let want3 = connected(&want2, images, &weights3, hidden);
    let want4 = connected(&want3, images, &weights4, DIGITS);
    run.check("maps1", output1, &want1)?;
    run.check("maps2", output2, &want2)?;
    run.check("hidden", output3, &want3)?;
    run.check("digits", output4, &want4)
}

/// Three strokes: ink is 1, paper -1.
fn picture(rng: &mut Rng) -> Vec<f32> {
    let size = IMAGE as f32;
    let points: [[f32; 2]; 4] = std::array::from_fn(|_| [(); 2].map(|()| rng.between(0.2 * size, 0.8 * size)));
    let to_stroke = |x: f32, y: f32, ends: &[[f32; 2]]| {
        let ([ax, ay], [bx, by]) = (ends[0], ends[1]);
        let (dx, dy) = (bx - ax, by - ay);
        let along = (((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy + 1e-3)).clamp(0.0, 1.0);
        let (ex, ey) = (x - ax - along * dx, y - ay - along * dy);
        (ex * ex + ey * ey).sqrt()
    };
    let pixel = |i: usize| {
        let (x, y) = ((i % IMAGE) as f32, (i / IMAGE) as f32);
        let distance = points.windows(2).map(|ends| to_stroke(x, y, ends)).fold(size, f32::min);
        (2.0 - distance).clamp(-1.0, 1.0)
    };
    (0..IMAGE * IMAGE).map(pixel).collect()
}

fn squash(sum: f64) -> f32 {
    (1.7159 * (sum * 2.0 / 3.0).tanh()) as f32
}

/// Every second place of square maps, through kernels over all of an image's maps.
fn convolution(inputs: &[f32], images: usize, width: usize, weights: &[f32], maps: usize) -> Vec<f32> {
    let from = inputs.len() / images / (width * width);
    let to = (width - KERNEL) / 2 + 1;
    let mut outputs = Vec::with_capacity(images * maps * to * to);
    for image in inputs.chunks(from * width * width) {
        for weights in weights.chunks(1 + from * KERNEL * KERNEL) {
            for place in 0..to * to {
                let (row, column) = (2 * (place / to), 2 * (place % to));
                let term = |(i, w): (usize, &f32)| {
                    let (map, y, x) = (i / (KERNEL * KERNEL), i / KERNEL % KERNEL, i % KERNEL);
                    f64::from(*w) * f64::from(image[(map * width + row + y) * width + column + x])
                };
                let sum: f64 = weights[1..].iter().enumerate().map(term).sum();
                outputs.push(squash(f64::from(weights[0]) + sum));
            }
        }
    }
    outputs
}

fn connected(inputs: &[f32], images: usize, weights: &[f32], units: usize) -> Vec<f32> {
    let count = inputs.len() / images;
    let mut outputs = Vec::with_capacity(images * units);
    for image in inputs.chunks(count) {
        for weights in weights.chunks(1 + count) {
            let sum: f64 = image.iter().zip(&weights[1..]).map(|(x, w)| f64::from(*x) * f64::from(*w)).sum();
            outputs.push(squash(f64::from(weights[0]) + sum));
        }
    }
    outputs
}
