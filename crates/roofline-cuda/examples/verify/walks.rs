//! Rows that blocks walk over, more of them than blocks: beside the plain rung, element by element.

use roofline_cuda::layer_norm::{Affine, Norm};
use roofline_cuda::{
    DeviceSlice, DeviceSliceMut, DeviceVec, Element, RowPlan, RowRung, Rows, Stream, Walk, Weight, bf16,
    layer_norm, rms_norm, softmax,
};

use crate::Outcome;

/// Few blocks, so that each has several rows.
const GRID: u32 = 8;

/// An operation by a rung: x, weights, a bias and y.
type Run<T> = fn(&Stream, RowRung, [DeviceSlice<'_, T>; 3], DeviceSliceMut<'_, T>, Rows) -> Outcome;

pub(crate) fn all(stream: &Stream) -> Outcome<usize> {
    Ok(of::<f32>(stream, |x| x, |x| x)? + of::<bf16>(stream, bf16::from_f32, bf16::to_f32)?)
}

fn of<T: Element>(stream: &Stream, from: fn(f32) -> T, to: fn(T) -> f32) -> Outcome<usize> {
    let runs: [(&str, Weight, Run<T>); 3] = [
        ("softmax", Weight::Light, |stream, rung, [x, ..], y, shape| {
            Ok(softmax::by_rung(stream, softmax::Of::Softmax, rung, x, y, shape)?)
        }),
        ("rms-norm", Weight::Light, |stream, rung, [x, w, _], y, shape| {
            Ok(rms_norm::by_rung(stream, rung, x, w, y, shape, rms_norm::EPSILON)?)
        }),
        ("layer-norm", Weight::Heavy, |stream, rung, [x, w, b], y, shape| {
            Ok(layer_norm::by_rung(stream, Norm::USUAL, rung, x, Some(Affine { w, b }), y, shape)?)
        }),
    ];
    let mut judged = 0;
    for (cols, shift) in [(8191, 0), (8191, 3), (8192, 0), (16_384, 0), (1000, 1), (3001, 2)] {
        let shape = Rows { rows: 45, cols };
        let all = shape.elements()?;
        let values = |count: usize, step: usize| -> Vec<f32> {
            (0..count).map(|i| ((i * step) % 1009) as f32 / 500.0 - 1.0).collect()
        };
        let inputs = [values(all, 7919), values(cols, 31), values(cols, 57)];
        // Behind some elements of nothing.
        let moved = |values: &Vec<f32>| {
            let zeros = std::iter::repeat_n(0.0, shift);
            DeviceVec::from_host(stream, &zeros.chain(values.iter().copied()).map(from).collect::<Vec<T>>())
        };
        let device: Vec<DeviceVec<T>> = inputs.iter().map(moved).collect::<Result<_, _>>()?;
        let slices = |which: usize| device[which].as_slice().slice(shift..shift + inputs[which].len());
        let inputs = [slices(0)?, slices(1)?, slices(2)?];
        for (name, weight, run) in &runs {
            let aligned = shift == 0 && cols.is_multiple_of(T::PER_PACK);
            let plan = RowPlan::new(cols, T::PER_PACK, aligned, 1, *weight).filter(|plan| plan.rows == 1);
            let Some(plan) = plan else { continue };
            let kept = if *weight == Weight::Heavy { 2 } else { 1 };
            let walks = [1, 2, 3].map(|depth| {
                let walk = Some(Walk { depth, kept, grid: GRID });
                RowRung::Registers(RowPlan { walk, blocks: 1, ..plan })
            });
            let result = |rung| -> Outcome<Vec<f32>> {
                let mut y = DeviceVec::<T>::new(stream.device(), all + shift)?;
                let address = y.as_slice_mut()?.address() + (shift * size_of::<T>()) as u64;
                // SAFETY: inside `y`, which is not used before the launch is over.
                run(stream, rung, inputs, unsafe { DeviceSliceMut::from_address(address, all) }, shape)?;
                Ok(y.as_slice().to_host(stream)?[shift..].iter().map(|&value| to(value)).collect())
            };
            let wanted = result(RowRung::Plain)?;
            for rung in walks {
                // Three rows of the longest in f32 and what is kept do not fit.
                let bytes = plan.threads as usize * plan.packs as usize * 16;
                let RowRung::Registers(RowPlan { walk: Some(walk), .. }) = rung else { continue };
                if bytes * (walk.depth + walk.kept) as usize > stream.device().info().shared_bytes - 2048 {
                    continue;
                }
                judged += 1;
                let got = result(rung)?;
                let near = |(got, wanted): (&f32, &f32)| (got - wanted).abs() <= 1e-5 + wanted.abs() / 100.0;
                if let Some(at) = got.iter().zip(&wanted).position(|pair| !near(pair)) {
                    let what = format!("{name} {shape:?} shift {shift} {rung:?}");
                    return Err(format!("{what}: at {at} {} and not {}", got[at], wanted[at]).into());
                }
            }
        }
    }
    Ok(judged)
}
