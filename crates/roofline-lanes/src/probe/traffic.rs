//! The traffic of a case and nothing else: every byte of the inputs is read and every byte of the
//! output written, once.
//!
//! Inputs as long as the output walk beside it, line by line, and what is written is their
//! exclusive or, so that no read can be dropped: a copy for one, a triad for two. Other inputs are
//! read whole; where nothing walks beside the output, it is filled with what came of them.
//!
//! How fast memory answers depends on how it is asked. One stream is not the roof: several equal
//! parts, walked together, keep more misses under way. A store past the caches saves reading the
//! line that it overwrites, and is slow where a cache would have kept it. So there is a family, and
//! the fastest member is the limit.

use super::line::{LINE, Line};
use crate::lanes::Portable;
#[cfg(target_arch = "x86_64")]
use crate::lanes::{Avx2, Avx512};
use crate::{Cpu, Isa};
use std::hint::black_box;

/// A call is shared by as many threads as have this many bytes each to move: less is done before
/// another thread has heard of it.
const GRAIN: usize = 32 << 10;

/// With this many bytes a thread no cache keeps a part for the next call, and parts are dealt to whoever
/// is free: a thread that others hold up leaves more of them to the rest.
const DEALT: usize = 8 << 20;
const DEALT_PARTS: usize = 4;

/// An input of so many bytes may be copied again and again to fill an output.
const REPEATED: usize = 1 << 10;

/// A way to walk through memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// Equal parts that a thread walks together: 1, 4 or 8.
    pub streams: usize,
    /// Stores go past the caches.
    pub nontemporal: bool,
    /// One thread does it, whatever the pool has: what is small is done before others hear of it.
    pub alone: bool,
    /// On one thread, inputs that fit into the output are copied by the system's own function, which knows instructions
    /// for that.
    pub by_system: bool,
}

impl Way {
    /// Reads `inputs` and writes `output` on the threads of `cpu`.
    ///
    /// ```
    /// use roofline_lanes::{Cpu, probe::Way};
    ///
    /// let (x, y) = (vec![1u8; 1000], vec![2u8; 1000]);
    /// let mut z = vec![0; 1000];
    /// let way = Way { streams: 4, nontemporal: true, alone: false, by_system: false };
    /// way.walk(&Cpu::new(2), &[&x, &y], &mut z);
    /// assert_eq!(z, [3; 1000]);
    /// ```
    pub fn walk(self, cpu: &Cpu, inputs: &[&[u8]], output: &mut [u8]) {
        let beside: [&[u8]; 2] = {
            let mut same = inputs.iter().filter(|input| input.len() == output.len());
            std::array::from_fn(|_| same.next().copied().unwrap_or_default())
        };
        let read: usize = inputs.iter().map(|input| input.len()).sum();
        let bytes = read + output.len();
        let threads = if self.alone { 1 } else { cpu.pool.threads().min(bytes / GRAIN).max(1) };
        if self.by_system && threads == 1 && (1..=output.len()).contains(&read) {
            return copy(inputs, output);
        }
        let dealt = threads > 1 && bytes / threads >= DEALT;
        let parts = if dealt { DEALT_PARTS * threads } else { threads };
        let head = output.as_ptr().align_offset(LINE).min(output.len());
        let lines = (output.len() - head) / LINE;
        let first: u8 = inputs.iter().filter_map(|input| input.first()).fold(0, |xor, byte| xor ^ byte);
        for edge in [0..head, head + lines * LINE..output.len()] {
            fill_edge(&mut output[edge.clone()], beside.map(|input| input.get(edge.clone())), first);
        }
        let job = Job {
            way: self,
            inputs,
            beside: beside.map(|input| Start(input.get(head..).unwrap_or_default().as_ptr().cast_mut())),
            paired: beside.iter().filter(|input| !input.is_empty()).count(),
            output: Start(output[head..].as_mut_ptr()),
            output_bytes: output.len(),
            lines,
            parts,
        };
        if parts == 1 {
            job.part(cpu.isa, 0);
        } else if dealt {
            cpu.pool.run(parts, |part| job.part(cpu.isa, part));
        } else {
            // The same part on the same thread: its caches may still hold it.
            cpu.pool.run_each(|thread| {
                if thread < parts {
                    job.part(cpu.isa, thread);
                }
            });
        }
    }
}

/// What lies before the first whole line and behind the last: all there is of a small output, so it is done by slices
/// and not by bytes.
fn fill_edge(edge: &mut [u8], beside: [Option<&[u8]>; 2], first: u8) {
    let mut beside = beside.into_iter().flatten();
    match beside.next() {
        Some(input) => edge.copy_from_slice(input),
        None => edge.fill(first),
    }
    for input in beside {
        edge.iter_mut().zip(input).for_each(|(to, byte)| *to ^= byte);
    }
}

/// Copies inputs one after the other by the system's own function; what is left of the output is filled, or gets
/// copies of the first input again where that is long: the function that fills is the slower one in a near cache.
fn copy(inputs: &[&[u8]], output: &mut [u8]) {
    let mut rest = output;
    for input in inputs {
        let (part, after) = rest.split_at_mut(input.len());
        part.copy_from_slice(input);
        rest = after;
    }
    match inputs.iter().find(|input| input.len() >= REPEATED) {
        Some(input) => {
            rest.chunks_mut(input.len()).for_each(|part| part.copy_from_slice(&input[..part.len()]));
        }
        None => rest.fill(inputs.iter().find_map(|input| input.first()).copied().unwrap_or(0)),
    }
}

/// A pointer that threads may share: each uses lines of its own.
#[derive(Clone, Copy)]
struct Start(*mut u8);

// SAFETY: what is behind it is borrowed by `Way::walk` for as long as the threads work, and parts
// do not overlap.
unsafe impl Sync for Start {}

struct Job<'a> {
    way: Way,
    inputs: &'a [&'a [u8]],
    /// The inputs that walk beside the output, from its first whole line on; `paired` of them.
    beside: [Start; 2],
    paired: usize,
    output: Start,
    output_bytes: usize,
    /// Whole lines of the output.
    lines: usize,
    parts: usize,
}

impl Job<'_> {
    #[cfg_attr(not(target_arch = "x86_64"), expect(unused_variables, reason = "one level there"))]
    fn part(&self, isa: Isa, part: usize) {
        #[cfg(target_arch = "x86_64")]
        match isa {
            Isa::Portable => {}
            Isa::Avx2 => {
                if let Some(line) = Avx2::detect() {
                    // SAFETY: the token proves the features.
                    return unsafe { part_avx2(line, self, part) };
                }
            }
            Isa::Avx512 => {
                if let Some(line) = Avx512::detect() {
                    // SAFETY: the token proves the features.
                    return unsafe { part_avx512(line, self, part) };
                }
            }
        }
        self.part_with(Portable, part);
    }

    #[inline(always)]
    fn part_with<L: Line>(&self, line: L, part: usize) {
        match (self.way.streams, self.way.nontemporal) {
            (8, _) => self.part_in::<L, 8, 1>(line, part),
            // Past the caches a line of each in turn is faster.
            (4, true) => self.part_in::<L, 4, 1>(line, part),
            (4, false) => self.part_in::<L, 4, 2>(line, part),
            // More lines at once are a little faster in the first cache and slower in the second.
            _ => self.part_in::<L, 1, 4>(line, part),
        }
    }

    #[inline(always)]
    fn part_in<L: Line, const STREAMS: usize, const UNROLL: usize>(&self, line: L, part: usize) {
        let mut seen = line.zero();
        let mut left = self.paired;
        for input in self.inputs {
            if left > 0 && input.len() == self.output_bytes {
                left -= 1;
                continue;
            }
            seen = line.xor(seen, read::<L, STREAMS, UNROLL>(line, input, part, self.parts));
        }
        let (from, to) = share(self.lines, part, self.parts);
        let at = |start: Start| start.0.wrapping_add(from * LINE);
        let (x, y, z) = (at(self.beside[0]).cast_const(), at(self.beside[1]).cast_const(), at(self.output));
        let lines = to - from;
        // SAFETY: lines `from..to` lie in the output and in each of the `paired` inputs; they are
        // this part's alone; the output's first line is aligned.
        unsafe {
            match (self.paired, self.way.nontemporal) {
                (0, false) => write::<L, 0, STREAMS, UNROLL, false>(line, [x, y], z, lines, seen),
                (0, true) => write::<L, 0, STREAMS, UNROLL, true>(line, [x, y], z, lines, seen),
                (1, false) => write::<L, 1, STREAMS, UNROLL, false>(line, [x, y], z, lines, seen),
                (1, true) => write::<L, 1, STREAMS, UNROLL, true>(line, [x, y], z, lines, seen),
                (_, false) => write::<L, 2, STREAMS, UNROLL, false>(line, [x, y], z, lines, seen),
                (_, true) => write::<L, 2, STREAMS, UNROLL, true>(line, [x, y], z, lines, seen),
            }
        }
        // What was only read must be wanted by someone.
        black_box(seen);
    }
}

/// Part `part` of `parts` of `count` things, as even as can be.
fn share(count: usize, part: usize, parts: usize) -> (usize, usize) {
    (count * part / parts, count * (part + 1) / parts)
}

/// The exclusive or of a part of `input`, walked in `STREAMS` streams, `UNROLL` lines of each in turn.
#[inline(always)]
fn read<L: Line, const STREAMS: usize, const UNROLL: usize>(
    line: L,
    input: &[u8],
    part: usize,
    parts: usize,
) -> L::Value {
    let head = input.as_ptr().align_offset(LINE).min(input.len());
    let lines = (input.len() - head) / LINE;
    if part == 0 {
        let edges = [&input[..head], &input[head + lines * LINE..]];
        black_box(edges.into_iter().flatten().fold(0, |xor, byte| xor ^ byte));
    }
    let (from, to) = share(lines, part, parts);
    let start = input[head + from * LINE..].as_ptr();
    let stream = (to - from) / (STREAMS * UNROLL) * UNROLL;
    let mut seen = [[line.zero(); UNROLL]; STREAMS];
    for i in (0..stream).step_by(UNROLL) {
        for (s, seen) in seen.iter_mut().enumerate() {
            for (u, seen) in seen.iter_mut().enumerate() {
                // SAFETY: line s * stream + i + u is one of this part.
                let value = unsafe { line.load(start.add((s * stream + i + u) * LINE)) };
                *seen = line.xor(*seen, value);
            }
        }
    }
    for i in stream * STREAMS..to - from {
        // SAFETY: a line of this part.
        seen[0][0] = line.xor(seen[0][0], unsafe { line.load(start.add(i * LINE)) });
    }
    let mut all = line.zero();
    for value in seen.into_iter().flatten() {
        all = line.xor(all, value);
    }
    all
}

/// Writes lines of `z` from the first `PAIRED` of `inputs`, or `fill` where there is none.
///
/// # Safety
/// `lines` lines at `z` can be written, at each used input they can be read; `z` is aligned.
#[inline(always)]
unsafe fn write<L: Line, const PAIRED: usize, const STREAMS: usize, const UNROLL: usize, const PAST: bool>(
    line: L,
    inputs: [*const u8; 2],
    z: *mut u8,
    lines: usize,
    fill: L::Value,
) {
    let take = |i: usize| {
        let at = i * LINE;
        // SAFETY: the caller's promise, for every i below `lines`.
        unsafe {
            match PAIRED {
                0 => fill,
                1 => line.load(inputs[0].add(at)),
                _ => line.xor(line.load(inputs[0].add(at)), line.load(inputs[1].add(at))),
            }
        }
    };
    let put = |i: usize, value: L::Value| {
        // SAFETY: as above.
        unsafe { if PAST { line.stream(value, z.add(i * LINE)) } else { line.store(value, z.add(i * LINE)) } }
    };
    let stream = lines / (STREAMS * UNROLL) * UNROLL;
    for i in (0..stream).step_by(UNROLL) {
        let at = |s: usize, u: usize| s * stream + i + u;
        if PAST {
            // Memory turns from reading to writing less often: a tenth faster than line by line.
            let mut values = [[fill; UNROLL]; STREAMS];
            for (s, values) in values.iter_mut().enumerate() {
                for (u, value) in values.iter_mut().enumerate() {
                    *value = take(at(s, u));
                }
            }
            for (s, values) in values.into_iter().enumerate() {
                for (u, value) in values.into_iter().enumerate() {
                    put(at(s, u), value);
                }
            }
        } else {
            for s in 0..STREAMS {
                for u in 0..UNROLL {
                    put(at(s, u), take(at(s, u)));
                }
            }
        }
    }
    for i in stream * STREAMS..lines {
        put(i, take(i));
    }
    if PAST {
        line.fence();
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,f16c")]
fn part_avx2(line: Avx2, job: &Job<'_>, part: usize) {
    job.part_with(line, part);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx2,fma,f16c")]
fn part_avx512(line: Avx512, job: &Job<'_>, part: usize) {
    job.part_with(line, part);
}
