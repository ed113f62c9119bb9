//! Recurrent cells and their layers: known numbers, and bounds that stay of use.

use super::*;

/// A step from given states, in the formulas of PyTorch's documentation.
#[test]
fn cells_of_known_numbers() {
    let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
    let (x, h, c) = (0.7, -0.3, 0.4);
    let (w, u): (&[f64], &[f64]) = (&[0.1, -0.2, 0.3, 0.5], &[-0.6, 0.4, 0.2, 0.9]);
    let (b, d): (&[f64], &[f64]) = (&[0.05, 0.15, -0.25, 0.35], &[0.45, -0.55, 0.65, -0.75]);
    let given = |gate: usize| w[gate] * x + b[gate];
    let recalled = |gate: usize| u[gate] * h + d[gate];
    let gate = |gate: usize| given(gate) + recalled(gate);
    let weights = |gates: usize| [&w[..gates], &u[..gates], &b[..gates], &d[..gates]];
    let states: [&[f64]; 3] = [&[x], &[h], &[c]];
    let sizes = "f64/seq=1,hidden=1,input=1";
    near(value(&format!("rnn/{sizes}"), &[&states[..2], &weights(1)].concat())[0], gate(0).tanh());
    let cell = sigmoid(gate(1)) * c + sigmoid(gate(0)) * gate(2).tanh();
    near(
        value(&format!("lstm/{sizes}"), &[&states[..], &weights(4)].concat())[0],
        sigmoid(gate(3)) * cell.tanh(),
    );
    let n = (given(2) + sigmoid(gate(0)) * recalled(2)).tanh();
    let z = sigmoid(gate(1));
    near(value(&format!("gru/{sizes}"), &[&states[..2], &weights(3)].concat())[0], (1.0 - z) * n + z * h);
}

/// Two layers that go both ways, of one unit each: both cells of the second read both states of the first.
#[test]
fn layers_of_known_numbers() {
    let (x, h, w, u) = ([0.7, -0.4], [0.1, 0.2, 0.3, 0.4], [0.5, -0.6], [0.9, 0.8, 0.7, 0.6]);
    let (b, d): (&[f64], &[f64]) = (&[0.11, 0.12, 0.13, 0.14], &[0.21, 0.22, 0.23, 0.24]);
    let up = [0.31, 0.32, -0.33, 0.34];
    for (form, of) in
        [("rnn.bidirectional", f64::tanh as fn(f64) -> f64), ("rnn.relu-bidirectional", |x| x.max(0.0))]
    {
        let step = |cell: usize, read: f64, h: f64| of(read + b[cell] + u[cell] * h + d[cell]);
        let onward = [0, 1].map(|t| w[0] * x[t]);
        let (first, back) = (step(0, onward[0], h[0]), step(1, w[1] * x[1], h[1]));
        let low = [[first, step(1, w[1] * x[0], back)], [step(0, onward[1], first), back]];
        let read = |cell: usize, t: usize| up[2 * cell] * low[t][0] + up[2 * cell + 1] * low[t][1];
        let (first, back) = (step(2, read(0, 0), h[2]), step(3, read(1, 1), h[3]));
        let high = [[first, step(3, read(1, 0), back)], [step(2, read(0, 1), first), back]];
        let found =
            value(&format!("{form}/f64/seq=2,layers=2,hidden=1,input=1"), &[&x, &h, &w, &u, b, d, &up]);
        found.iter().zip(high.as_flattened()).for_each(|(y, right)| near(*y, *right));
    }
}

/// The bound of a state after many steps is that after a few: what a step was off by is forgotten, here as in kernels.
#[test]
fn bounds_of_a_recurrence_do_not_grow() {
    for form in ["rnn", "rnn.relu", "lstm", "gru"] {
        for (fill, hidden, layers) in [
            (Fill::Normal, 16, 1),
            (Fill::Extreme, 16, 1),
            (Fill::Planted, 3, 1),
            (Fill::Normal, 64, 1),
            (Fill::Normal, 16, 2),
            (Fill::Normal, 64, 2),
        ] {
            let id = format!("{form}/f32/seq=512,layers={layers},hidden={hidden},input=8");
            let expected = Filled::new(&id, fill, 1).reference();
            let most = |steps: std::ops::Range<usize>| {
                let steps = &expected[steps.start * hidden..steps.end * hidden];
                steps.iter().map(|expected| expected.soft).fold(0.0, f64::max)
            };
            let (early, late) = (most(16..48), most(480..512));
            let most = if layers > 1 { 2e-4 } else { 2e-5 };
            assert!(late < 2.0 * early && late < most, "{id} {fill}: {early} and {late}");
        }
    }
}
