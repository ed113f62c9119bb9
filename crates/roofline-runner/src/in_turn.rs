//! Several sets of tensors, one kernel on each: launches take turns with them.
//!
//! So no launch of a sample works on what the last one did, and none finds its tensors in a cache that all sets
//! together do not fit in.

use crate::clock;
use crate::kernel::{Kernel, Samples, Visit};
use roofline_protocol::messages::Refusal;

pub(crate) struct InTurn {
    kernels: Vec<Box<dyn Kernel>>,
    /// How many of them were launched since the last settling.
    launched: usize,
}

impl InTurn {
    pub(crate) fn new(kernels: Vec<Box<dyn Kernel>>) -> InTurn {
        InTurn { kernels, launched: 0 }
    }
}

impl Kernel for InTurn {
    fn launch(&mut self) -> Result<(), Refusal> {
        self.repeat(1)
    }

    /// Begins with the first set every time.
    fn repeat(&mut self, count: u32) -> Result<(), Refusal> {
        let sets = self.kernels.len();
        self.launched = self.launched.max(sets.min(count as usize));
        (0..count as usize).try_for_each(|number| self.kernels[number % sets].repeat(1))
    }

    fn visit(&mut self, visit: &Visit) -> Result<Samples, Refusal> {
        clock::samples(visit, self)
    }

    fn settle(&mut self) -> Result<(), Refusal> {
        let launched = std::mem::take(&mut self.launched);
        self.kernels.iter_mut().take(launched).try_for_each(|kernel| kernel.settle())
    }

    fn uses_our_heap(&self) -> bool {
        self.kernels.iter().all(|kernel| kernel.uses_our_heap())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::rc::Rc;

    #[test]
    fn every_sample_begins_with_the_first_set() {
        let log: Rc<RefCell<Vec<usize>>> = Rc::default();
        let kernel = |set: usize| -> Box<dyn Kernel> {
            let log = log.clone();
            Box::new(move || log.borrow_mut().push(set))
        };
        let mut kernel = InTurn::new((0..3).map(kernel).collect());
        kernel.visit(&Visit { warmup: 2, samples: 2, batch: 4 }).unwrap();
        assert_eq!(*log.borrow(), [0, 1, 0, 1, 2, 0, 0, 1, 2, 0]);
    }
}
