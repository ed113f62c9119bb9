//! What it costs to have several threads: the least time of a call that uses them.

use crate::Pool;
use std::time::{Duration, Instant};

/// Seconds from the call of an empty job to its end on all threads, in a burst of calls.
///
/// ```
/// use roofline_lanes::{Pool, probe::fork_join};
///
/// assert!(fork_join(&Pool::new(2)) > 0.0);
/// ```
pub fn fork_join(pool: &Pool) -> f64 {
    // Several calls a sample, as reading the clock takes some tens of nanoseconds itself.
    const CALLS: u32 = 16;
    median::<65>(|| {
        let start = Instant::now();
        for _ in 0..CALLS {
            pool.run_each(|_| {});
        }
        start.elapsed() / CALLS
    })
}

/// Seconds of the same call when the other threads have gone to sleep.
pub fn wake_up(pool: &Pool) -> f64 {
    median::<9>(|| {
        // Many times as long as a thread of the pool looks for work before it sleeps.
        std::thread::sleep(Duration::from_millis(1));
        let start = Instant::now();
        pool.run_each(|_| {});
        start.elapsed()
    })
}

fn median<const SAMPLES: usize>(mut sample: impl FnMut() -> Duration) -> f64 {
    let mut samples: [Duration; SAMPLES] = std::array::from_fn(|_| sample());
    samples.sort();
    samples[SAMPLES / 2].as_secs_f64()
}
