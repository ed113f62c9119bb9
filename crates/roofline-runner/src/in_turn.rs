//! Several sets of tensors, one kernel on each: the launches of a question take turns with them.
//!
//! So no launch of a batch works on what the last one did, and none finds its tensors in a cache that all sets
//! together do not fit in.

use crate::clock;
use crate::kernel::{Kernel, Samples, Visit};
use roofline_core::protocol::Refusal;

pub(crate) struct InTurn {
    kernels: Vec<Box<dyn Kernel>>,
    next: usize,
    /// Kernels that were launched since the last settling.
    launched: usize,
}

impl InTurn {
    pub(crate) fn new(kernels: Vec<Box<dyn Kernel>>) -> InTurn {
        InTurn { kernels, next: 0, launched: 0 }
    }
}

impl Kernel for InTurn {
    fn begin(&mut self) {
        (self.next, self.launched) = (0, 0);
        self.kernels.iter_mut().for_each(|kernel| kernel.begin());
    }

    fn launch(&mut self) -> Result<(), Refusal> {
        let count = self.kernels.len();
        let kernel = &mut self.kernels[self.next % count];
        self.next += 1;
        self.launched = self.launched.max(self.next.min(count));
        kernel.repeat(1)
    }

    fn visit(&mut self, visit: &Visit) -> Result<Samples, Refusal> {
        clock::samples(visit, self)
    }

    fn settle(&mut self) -> Result<(), Refusal> {
        self.kernels.iter_mut().take(self.launched).try_for_each(|kernel| kernel.settle())
    }

    fn uses_our_heap(&self) -> bool {
        self.kernels.iter().all(|kernel| kernel.uses_our_heap())
    }
}
