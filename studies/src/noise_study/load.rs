//! Another load: a process that computes and moves memory in bursts of chance lengths.

use roofline_core::philox::Draws;
use std::hint::black_box;
use std::io;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The load, as long as this is held.
#[derive(Debug)]
pub struct Load(Child);

impl Load {
    /// Starts this program again, as `load`.
    pub fn start() -> io::Result<Load> {
        Command::new(std::env::current_exe()?).arg("load").stdin(Stdio::null()).spawn().map(Load)
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        // It may have ended by itself; either way nothing is left to do.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Computes, copies memory and sleeps by turns until whoever started it is gone.
pub fn run() {
    const ELEMENTS: usize = 8 << 20;
    let mut draws = Draws::new(u64::from(std::process::id()), 0);
    let (from, mut to) = (vec![1.0f64; ELEMENTS], vec![0.0f64; ELEMENTS]);
    let parent = std::os::unix::process::parent_id();
    while std::os::unix::process::parent_id() == parent {
        let burst = Duration::from_millis(2 + draws.below(200));
        let (start, copies) = (Instant::now(), draws.below(2) == 0);
        let mut sum = 1.0f64;
        while start.elapsed() < burst {
            if copies {
                to.copy_from_slice(black_box(&from));
                black_box(&mut to);
            } else {
                for _ in 0..10_000 {
                    sum = black_box(sum.mul_add(0.999, 0.5));
                }
            }
        }
        std::thread::sleep(Duration::from_millis(2 + draws.below(200)));
    }
}
