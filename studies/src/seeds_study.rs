//! Everyday bugs through the gate, seed after seed: what is found by luck is found in some of them only.

use crate::bench::Bench;
use crate::page;
use roofline_conductor::checks::Checks;
use roofline_core::record::Status;
use std::io;
use std::ops::Range;

/// A saboteur that makes the bug, and the case that it makes it on.
pub type Bug = (&'static str, &'static str);

/// Bugs that once got a time, on cases that show them and on some that do not.
pub const EVERYDAY: &[Bug] = &[
    ("saboteur/maximum-from-zero", "softmax/f32/rows=64,cols=1000"),
    ("saboteur/maximum-of-magnitudes", "softmax/f32/rows=64,cols=1000"),
    ("saboteur/maximum-misses-tail", "softmax/f32/rows=64,cols=1000"),
    // No vector of 16 is left over here: only other shapes show it.
    ("saboteur/maximum-misses-tail", "softmax/f32/rows=64,cols=1024"),
    ("saboteur/maximum-misses-long-tail", "softmax/f32/rows=64,cols=1000"),
    ("saboteur/maximum-misses-long-tail", "softmax/f32/rows=1,cols=5000"),
    // Rows are sampled here.
    ("saboteur/maximum-misses-long-tail", "softmax/f32/rows=2048,cols=1030"),
    ("saboteur/dropped-remainder", "add/f32/rows=64,cols=1000"),
    ("saboteur/dropped-remainder", "add/f32/rows=63,cols=1001"),
    ("saboteur/copied-remainder", "add/f32/rows=64,cols=1000"),
    ("saboteur/dropped-terms", "matmul/f32/m=96,n=80,k=200"),
    ("saboteur/forgotten-epsilon", "rms-norm/f32/rows=64,cols=1000"),
    ("saboteur/epsilon-outside-the-root", "rms-norm/f32/rows=64,cols=1000"),
    // Rows and columns are sampled in both.
    ("saboteur/nearly-right-element", "matmul/f32/m=512,n=512,k=512"),
    ("saboteur/nearly-right-element", "matmul/f32/m=2048,n=2048,k=2048"),
    // A mask off by one, either way, and in a window.
    ("saboteur/mutant-a-key-too-many", "attention.causal/f32/batch=1,seq=12,heads=4,kv-heads=2,dim=16"),
    (
        "saboteur/mutant-the-last-key-left-out",
        "attention.causal/bf16/batch=1,seq=12,heads=4,kv-heads=2,dim=16",
    ),
    (
        "saboteur/mutant-a-window-too-long-by-one",
        "window-attention/f32/batch=1,seq=12,heads=2,dim=16,window=5",
    ),
    // The wrong group of heads.
    ("saboteur/mutant-heads-of-keys-in-turn", "attention/f32/batch=1,seq=8,heads=4,kv-heads=2,dim=16"),
    ("saboteur/mutant-variance-over-one-less", "layer-norm/f32/rows=8,cols=33"),
    ("saboteur/mutant-variance-over-one-less", "layer-norm/bf16/rows=8,cols=33"),
    // The order of gates.
    ("saboteur/mutant-the-gates-i-and-f-exchanged", "lstm/f32/seq=3,batch=2,input=8,hidden=8"),
    ("saboteur/mutant-the-gates-r-and-z-exchanged", "gru/f32/seq=3,batch=2,input=8,hidden=8"),
    // An inverse that is not normalised.
    ("saboteur/mutant-not-divided-by-n", "fft.inverse/f32/batch=4,n=24"),
    // Rows without a value, left as they were.
    ("saboteur/mutant-empty-rows-left-as-they-were", "spmv/f32/rows=40,cols=30,nnz=50"),
    ("saboteur/mutant-empty-rows-left-as-they-were", "spmm/f32/rows=40,cols=30,n=5,nnz=50"),
    // Padding at the right border.
    (
        "saboteur/mutant-the-next-row-beyond-the-right-border",
        "conv2d/f32/out=3,height=9,width=7,pad=1,channels=2",
    ),
    (
        "saboteur/mutant-the-last-element-again-beyond-the-right-border",
        "conv1d/f32/out=3,length=17,pad=1,channels=2",
    ),
    // Scales transposed, and those of the last block alone.
    ("saboteur/mutant-scales-of-w-transposed", "fp8-matmul/w8a8/m=8,n=40,block=16,k=48"),
    ("saboteur/mutant-the-last-block-s-scales-for-the-whole-sum", "fp8-matmul/w8a8/m=8,n=40,block=16,k=48"),
    // An exponential that ends at e to the -10, and one of another kind in the tail.
    ("saboteur/mutant-nothing-below-e-to-the-10", "softmax/f32/rows=16,cols=100"),
    ("saboteur/mutant-tail-by-another-exponential", "softmax/f32/rows=16,cols=100"),
];

/// How often one bug was found.
#[derive(Debug)]
pub struct Count {
    pub bug: Bug,
    pub tried: u64,
    /// Where it was not called wrong: the seed, and what became of the row.
    pub through: Vec<String>,
}

/// Takes each bug through the gate once for every seed.
pub fn study(
    bench: &Bench,
    bugs: &[Bug],
    seeds: Range<u64>,
    mut report: impl FnMut(&str),
) -> io::Result<Vec<Count>> {
    let mut counts = Vec::new();
    for bug in bugs {
        let (implementation, id) = *bug;
        let case = id.parse().map_err(io::Error::other)?;
        let mut count = Count { bug: *bug, tried: 0, through: Vec::new() };
        for seed in seeds.clone() {
            for record in bench.run(&case, &[implementation], seed, None, Checks::default())? {
                count.tried += 1;
                if record.status != Status::Wrong {
                    count.through.push(format!("seed {seed}: {} {}", record.status, record.why));
                }
            }
        }
        report(&line(&count));
        counts.push(count);
    }
    Ok(counts)
}

/// Writes the page under `results/` and returns it.
pub fn publish(counts: &[Count], command: &str) -> io::Result<String> {
    page::publish("seeds-study", "Everyday bugs, seed after seed", command, &describe(counts))
}

/// A row of the table.
fn line(count: &Count) -> String {
    let found = count.tried - count.through.len() as u64;
    let (implementation, case) = count.bug;
    format!("| {implementation} | {case} | {found} of {} |", count.tried)
}

/// The study as a table, and below it what got through.
pub fn describe(counts: &[Count]) -> String {
    let mut text = "| bug | case | found |\n|---|---|---:|\n".to_owned();
    for count in counts {
        text += &format!("{}\n", line(count));
    }
    let through = |count: &Count| -> Vec<String> {
        let (bug, case) = count.bug;
        count.through.iter().map(|line| format!("- {bug} on {case}: {}\n", line.trim_end())).collect()
    };
    let through: Vec<String> = counts.iter().flat_map(through).collect();
    let through = if through.is_empty() { "None got through.\n".to_owned() } else { through.concat() };
    text + "\n" + &through
}
