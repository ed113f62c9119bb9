//! Kernels that take time or memory without end.

use crate::honest::{Problem, every_launch};
use crate::protocol::sleep_on;
use roofline_runner::{Job, Kernel, Ready, Refusal, Samples, Visit, out_of_memory};
use std::hint::black_box;

type Prepared = Result<Ready, Refusal>;

/// timeout: busy, as a lost loop is.
pub(crate) fn hangs_in_launch(job: &mut Job) -> Prepared {
    every_launch(job, |_| {
        loop {
            std::hint::spin_loop();
        }
    })
}

/// timeout.
pub(crate) fn hangs_in_prepare(_: &mut Job) -> Prepared {
    sleep_on()
}

/// timeout: passes the gate first.
pub(crate) fn hangs_in_visit(job: &mut Job) -> Prepared {
    struct Hangs(Problem);

    impl Kernel for Hangs {
        fn launch(&mut self) -> Result<(), Refusal> {
            self.0.solve();
            Ok(())
        }

        fn visit(&mut self, _: &Visit) -> Result<Samples, Refusal> {
            sleep_on()
        }
    }
    Ok(Ready::new(Hangs(Problem::new(job)?)))
}

/// out-of-memory: page by page, up to half of what the machine has to give, to spare the machine
/// when nobody sets a limit.
pub(crate) fn allocates_without_end(job: &mut Job) -> Prepared {
    every_launch(job, |_| {
        let most = available_memory() / 2;
        let mut blocks: Vec<Vec<u8>> = Vec::new();
        while blocks.len() << 24 < most {
            blocks.push(black_box(vec![1; 1 << 24]));
        }
        panic!("{} MiB were there to be taken", blocks.len() << 4);
    })
}

/// out-of-memory: the allocator says no, and the process aborts.
pub(crate) fn allocates_a_terabyte(job: &mut Job) -> Prepared {
    every_launch(job, |_| {
        let block: Vec<u8> = Vec::with_capacity(black_box(1 << 40));
        panic!("{} bytes were there to be taken", black_box(block).capacity());
    })
}

/// out-of-memory: a library that asks for memory and says so when there is none.
pub(crate) fn says_out_of_memory(job: &mut Job) -> Prepared {
    struct Says(Problem);

    impl Kernel for Says {
        fn launch(&mut self) -> Result<(), Refusal> {
            self.0.solve();
            Err(out_of_memory("no workspace of 1 TiB"))
        }
    }
    Ok(Ready::new(Says(Problem::new(job)?)))
}

fn available_memory() -> usize {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kibibytes = line.and_then(|line| line.split_whitespace().next()?.parse::<usize>().ok());
    kibibytes.map_or(1 << 30, |kibibytes| kibibytes << 10)
}
