//! One block of a language model out of this library: attention and a gated layer, each behind an RMS norm.
//!
//! ```sh
//! cargo run --release -p roofline-cpu --example transformer_block
//! ```
//!
//! Weights are drawn, not learned; what is shown is how the calls fit together. Products with weights go through
//! packed ones, which are made once.
#![expect(clippy::print_stdout, reason = "an example says what it found")]

use roofline_cpu::matmul::prepacked::Weights;
use roofline_cpu::rope::{Heads, Layout};
use roofline_cpu::{Cpu, Product, Rows};
use roofline_cpu::{add, matmul, matmul_nn, mul, rms_norm, rope, silu, softmax};
use std::time::Instant;

const SEQ: usize = 128;
const HEADS: usize = 8;
const DIM: usize = 64;
const WIDTH: usize = HEADS * DIM;
const INNER: usize = 4 * WIDTH;
const EPS: f64 = 1e-6;

/// The weights of a block.
struct Block {
    attention_norm: Vec<f32>,
    query: Weights<f32>,
    key: Weights<f32>,
    value: Weights<f32>,
    output: Weights<f32>,
    layer_norm: Vec<f32>,
    gate: Weights<f32>,
    up: Weights<f32>,
    down: Weights<f32>,
}

impl Block {
    fn new(cpu: &Cpu, numbers: &mut Numbers) -> Block {
        let mut weights = |n: usize, k: usize| {
            let scale = 1.0 / (k as f32).sqrt();
            let drawn: Vec<f32> = (0..n * k).map(|_| numbers.next() * scale).collect();
            Weights::new(cpu, &drawn, n, k)
        };
        Block {
            attention_norm: vec![1.0; WIDTH],
            query: weights(WIDTH, WIDTH),
            key: weights(WIDTH, WIDTH),
            value: weights(WIDTH, WIDTH),
            output: weights(WIDTH, WIDTH),
            layer_norm: vec![1.0; WIDTH],
            gate: weights(INNER, WIDTH),
            up: weights(INNER, WIDTH),
            down: weights(WIDTH, INNER),
        }
    }

    /// x \[SEQ, WIDTH\] through the block.
    fn forward(&self, cpu: &Cpu, x: &[f32]) -> Vec<f32> {
        let x = sum(cpu, x, &self.attend(cpu, &normalize(cpu, x, &self.attention_norm)));
        sum(cpu, &x, &self.feed(cpu, &normalize(cpu, &x, &self.layer_norm)))
    }

    /// Attention in which each position sees itself and what comes before it.
    fn attend(&self, cpu: &Cpu, x: &[f32]) -> Vec<f32> {
        let positions: Vec<i32> = (0..SEQ as i32).collect();
        let turned = |x: Vec<f32>| {
            let mut y = vec![0.0; x.len()];
            let shape = Heads { seq: SEQ, heads: HEADS, dim: DIM, layout: Layout::Half };
            rope(cpu, &x, &positions, &mut y, shape, 10_000.0);
            y
        };
        let q = turned(product(cpu, &self.query, x, WIDTH));
        let k = turned(product(cpu, &self.key, x, WIDTH));
        let v = product(cpu, &self.value, x, WIDTH);
        let mut joined = vec![0.0; SEQ * WIDTH];
        for head in 0..HEADS {
            let [q, k, v] = [&q, &k, &v].map(|x| columns(x, head * DIM));
            let mut scores = vec![0.0; SEQ * SEQ];
            matmul(cpu, &q, &k, &mut scores, Product { m: SEQ, n: SEQ, k: DIM });
            for (i, row) in scores.chunks_mut(SEQ).enumerate() {
                row[..=i].iter_mut().for_each(|score| *score /= (DIM as f32).sqrt());
                row[i + 1..].fill(f32::NEG_INFINITY);
            }
            let mut shares = vec![0.0; SEQ * SEQ];
            softmax(cpu, &scores, &mut shares, Rows { rows: SEQ, cols: SEQ });
            let mut out = vec![0.0; SEQ * DIM];
            matmul_nn(cpu, &shares, &v, &mut out, Product { m: SEQ, n: DIM, k: SEQ });
            for (joined, out) in joined.chunks_mut(WIDTH).zip(out.chunks(DIM)) {
                joined[head * DIM..][..DIM].copy_from_slice(out);
            }
        }
        product(cpu, &self.output, &joined, WIDTH)
    }

    /// down(silu(gate x) · up x).
    fn feed(&self, cpu: &Cpu, x: &[f32]) -> Vec<f32> {
        let shape = Rows { rows: SEQ, cols: INNER };
        let (gate, up) = (product(cpu, &self.gate, x, INNER), product(cpu, &self.up, x, INNER));
        let mut gated = vec![0.0; shape.len()];
        silu(cpu, &gate, &mut gated, shape);
        let mut inner = vec![0.0; shape.len()];
        mul(cpu, &gated, &up, &mut inner, shape);
        product(cpu, &self.down, &inner, WIDTH)
    }
}

fn product(cpu: &Cpu, weights: &Weights<f32>, x: &[f32], n: usize) -> Vec<f32> {
    let mut y = vec![0.0; SEQ * n];
    weights.matmul(cpu, x, &mut y, SEQ);
    y
}

fn normalize(cpu: &Cpu, x: &[f32], w: &[f32]) -> Vec<f32> {
    let mut y = vec![0.0; x.len()];
    rms_norm(cpu, x, w, &mut y, Rows { rows: SEQ, cols: WIDTH }, EPS);
    y
}

fn sum(cpu: &Cpu, x: &[f32], y: &[f32]) -> Vec<f32> {
    let mut z = vec![0.0; x.len()];
    add(cpu, x, y, &mut z, Rows { rows: SEQ, cols: WIDTH });
    z
}

/// The columns of one head.
fn columns(x: &[f32], first: usize) -> Vec<f32> {
    x.chunks(WIDTH).flat_map(|row| row[first..][..DIM].iter().copied()).collect()
}

/// Numbers in (−1, 1), the same on every machine.
struct Numbers(u32);

impl Numbers {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 8) as f32 / (1 << 23) as f32 - 1.0
    }
}

fn main() {
    let threads = std::thread::available_parallelism().map_or(1, Into::into);
    let cpu = Cpu::new(threads);
    let mut numbers = Numbers(7);
    let block = Block::new(&cpu, &mut numbers);
    let x: Vec<f32> = (0..SEQ * WIDTH).map(|_| numbers.next()).collect();
    block.forward(&cpu, &x);
    let start = Instant::now();
    let y = block.forward(&cpu, &x);
    let took = start.elapsed();
    let norm = (y.iter().map(|y| f64::from(*y) * f64::from(*y)).sum::<f64>() / y.len() as f64).sqrt();
    println!("{SEQ} tokens of width {WIDTH}, {HEADS} heads, on {threads} threads: {took:.1?} once warm");
    println!("root mean square of the result {norm:.4}, of the input {:.4}", (1.0f64 / 3.0).sqrt());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What comes later changes nothing before it, and what comes first changes all.
    #[test]
    fn a_position_sees_only_what_is_before_it() {
        let cpu = Cpu::new(2);
        let mut numbers = Numbers(7);
        let block = Block::new(&cpu, &mut numbers);
        let mut x: Vec<f32> = (0..SEQ * WIDTH).map(|_| numbers.next()).collect();
        let before = block.forward(&cpu, &x);
        x[(SEQ - 1) * WIDTH] += 1.0;
        let after = block.forward(&cpu, &x);
        let last = (SEQ - 1) * WIDTH;
        assert_eq!(before[..last], after[..last]);
        assert!(before[last..] != after[last..]);
    }
}
