//! An allocator that counts, so that a launch can say what it takes from the heap.

use roofline_protocol::messages::Allocations;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The system's allocator with two counters. A binary that hosts kernels installs it:
///
/// ```
/// #[global_allocator]
/// static HEAP: roofline_runner::Counting = roofline_runner::Counting;
/// ```
#[derive(Debug)]
pub struct Counting;

static COUNT: AtomicU64 = AtomicU64::new(0);
static BYTES: AtomicU64 = AtomicU64::new(0);

fn count(bytes: usize) {
    COUNT.fetch_add(1, Relaxed);
    BYTES.fetch_add(bytes as u64, Relaxed);
}

// SAFETY: every call is handed on to the system's allocator as it came; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller's promise is the system's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        // SAFETY: as above.
        unsafe { System.realloc(old, layout, size) }
    }

    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(old, layout) }
    }
}

/// What `launches` launches of `work` take from the heap, on average; `None` where nobody counts.
pub(crate) fn counted<T>(launches: u32, work: impl FnOnce() -> T) -> (T, Option<Allocations>) {
    let before = (COUNT.load(Relaxed), BYTES.load(Relaxed));
    let result = work();
    let each = |now: u64, then: u64| (now - then) as f64 / f64::from(launches.max(1));
    let allocations = Allocations {
        count: each(COUNT.load(Relaxed), before.0),
        bytes: each(BYTES.load(Relaxed), before.1),
    };
    // A program has allocated before its first launch, or its allocator is another one.
    (result, (before.0 > 0).then_some(allocations))
}
