use super::*;
use crate::{Cpu, Isa, Pool};

const SIZES: [usize; 9] = [0, 1, 63, 64, 65, 511, 4096, 70_001, 1_000_003];

fn ways() -> impl Iterator<Item = Way> {
    PROBES.iter().filter_map(|probe| match probe.entry {
        Entry::Traffic(way) => Some(way),
        Entry::Compute(_) => None,
    })
}

fn cpus() -> Vec<Cpu> {
    let levels = Isa::ALL.into_iter().filter(|isa| isa.is_available());
    levels.flat_map(|isa| (1..=3).map(move |threads| Cpu::with(isa, Pool::new(threads)))).collect()
}

fn bytes(length: usize, seed: usize) -> Vec<u8> {
    (0..length).map(|i| (i * 31 + i / 251 + seed) as u8).collect()
}

/// Of 0, 1 and 2 inputs beside the output, at every offset of a line that matters.
#[test]
fn every_byte_is_written_from_what_was_read() {
    for cpu in cpus() {
        for way in ways() {
            for size in SIZES {
                for offset in [0, 4, 60] {
                    let (x, y) = (bytes(size, 1), bytes(size, 7));
                    let mut memory = vec![0xa5; size + 64];
                    let z = &mut memory[offset..][..size];
                    way.walk(&cpu, &[&x], z);
                    assert!(z == x, "copy of {size} bytes by {way:?} on {cpu:?}");
                    way.walk(&cpu, &[&x, &y], z);
                    assert!(
                        z.iter().zip(&x).zip(&y).all(|((z, x), y)| *z == x ^ y),
                        "{size} {way:?} {cpu:?}"
                    );
                    // A line that repeats is what comes of inputs of another size.
                    way.walk(&cpu, &[&[3; 65]], z);
                    assert!(size == 65 || !z.contains(&0xa5), "{size} {way:?}");
                    let outside = memory[..offset].iter().chain(&memory[offset + size..]);
                    assert!(outside.into_iter().all(|byte| *byte == 0xa5), "{size} {way:?}");
                }
            }
        }
    }
}

/// Where parts are dealt to whoever is free.
#[test]
fn large_copies_are_whole() {
    let x = bytes((12 << 20) + 77, 3);
    let cpu = Cpu::new(2);
    for way in ways() {
        let mut z = vec![0xa5; x.len()];
        way.walk(&cpu, &[&x], &mut z);
        assert!(z == x, "{way:?}");
    }
}

/// Every line of an input of another size changes what is written.
#[test]
fn inputs_of_another_size_are_read_whole() {
    for cpu in cpus().iter().filter(|cpu| cpu.pool.threads() == 1) {
        for way in ways() {
            let mut x = vec![0; 64 * 67];
            let head = x.as_ptr().align_offset(64);
            for line in 0..66 {
                x[head + line * 64 + 5] = 1;
                let mut z = vec![9; 64 * 4];
                way.walk(cpu, &[&x], &mut z);
                assert!(z.contains(&1), "line {line} by {way:?} on {cpu:?}");
                x[head + line * 64 + 5] = 0;
            }
        }
    }
}

#[test]
fn every_available_unit_runs_any_amount() {
    for probe in PROBES.iter().filter(|probe| (probe.available)()) {
        let Entry::Compute(unit) = probe.entry else { continue };
        for threads in 1..=2 {
            let cpu = Cpu::new(threads);
            for count in [0, 1, 1000, 1 << 20] {
                unit.compute(&cpu, Amount { multiply_adds: count, ..Amount::default() });
                unit.compute(&cpu, Amount { simple: count, special: count / 4, ..Amount::default() });
            }
        }
    }
}

#[test]
fn names_are_unique_and_dtypes_are_bounded() {
    for (i, probe) in PROBES.iter().enumerate() {
        assert!(PROBES[..i].iter().all(|other| other.name != probe.name));
        assert!(find(probe.name).is_some());
    }
    let bounds = |dtype: &str| {
        let mut units = PROBES.iter().filter(|probe| matches!(probe.entry, Entry::Compute(_)));
        units.any(|probe| (probe.available)() && probe.dtypes.contains(&dtype))
    };
    assert!(["f64", "f32", "f16", "bf16"].into_iter().all(bounds));
}
