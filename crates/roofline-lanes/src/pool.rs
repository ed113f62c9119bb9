//! A small fork-join thread pool.
//!
//! [`Pool::run`] publishes a job by raising an epoch; workers that spin see it
//! at once, workers that sleep are woken. The caller takes part as worker 0.
//! Tasks are dealt by one atomic counter. A worker that finds nothing to do
//! spins for some tens of microseconds, so that calls in a burst find it awake,
//! and then sleeps until the next job: an idle pool costs no processor time.
//! In a burst there is no lock, allocation or system call on the way.

use std::any::Any;
use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};
use std::sync::{Arc, LazyLock, Mutex};
use std::thread::{self, JoinHandle, Thread};

/// Looks at the epoch before a worker goes to sleep; with a `pause` between
/// two of them this is about 50 µs.
const SPINS: u32 = 1 << 10;

/// Threads that run tasks together.
///
/// ```
/// use roofline_lanes::Pool;
/// use std::sync::atomic::{AtomicUsize, Ordering};
///
/// let pool = Pool::new(2);
/// let sum = AtomicUsize::new(0);
/// pool.run(100, |task| {
///     sum.fetch_add(task, Ordering::Relaxed);
/// });
/// assert_eq!(sum.into_inner(), 4950);
/// ```
pub struct Pool {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
}

impl Pool {
    /// A pool of `threads` threads, the caller of [`Pool::run`] among them.
    ///
    /// # Panics
    /// If the system refuses a thread.
    pub fn new(threads: usize) -> Self {
        Self::start(threads, |_| {})
    }

    /// A pool of one thread per core: the calling thread is pinned to the
    /// first core, worker i to the i-th. A core that cannot be pinned to (or
    /// a system without pinning) leaves its thread free.
    pub fn on_cores(cores: &[usize]) -> Self {
        if let Some(&first) = cores.first() {
            pin(first);
        }
        let cores: Arc<[usize]> = cores.into();
        Self::start(cores.len(), move |worker| pin(cores[worker]))
    }

    /// The calling thread alone: for kernels that use one thread whatever the
    /// caller has.
    pub fn alone() -> &'static Self {
        static ALONE: LazyLock<Pool> = LazyLock::new(|| Pool::new(1));
        &ALONE
    }

    /// The number of threads, the caller included.
    pub fn threads(&self) -> usize {
        self.workers.len() + 1
    }

    /// Calls `work(0)` to `work(tasks - 1)`, on all threads, and returns when
    /// all are done. A call from inside a task, or while another thread uses
    /// the pool, runs its tasks on the calling thread alone.
    ///
    /// # Panics
    /// With the payload of the first task that panicked; tasks that had not
    /// begun by then are dropped.
    pub fn run(&self, tasks: usize, work: impl Fn(usize) + Sync) {
        self.fork(tasks, false, &work);
    }

    /// Calls `work(i)` on thread i, for every thread: a part that comes again
    /// in the next call finds its data in the caches of the same core.
    pub fn run_each(&self, work: impl Fn(usize) + Sync) {
        self.fork(self.threads(), true, &work);
    }

    /// Not generic, so that the code of a task is compiled once, and not once more for the calling thread alone.
    fn fork(&self, tasks: usize, each: bool, work: &(dyn Fn(usize) + Sync)) {
        let shared = &*self.shared;
        let alone = self.workers.is_empty() || tasks <= 1;
        if alone || shared.busy.swap(true, Acquire) {
            return (0..tasks).for_each(work);
        }
        // SAFETY: only the lifetime changes. Workers use the reference between
        // the new epoch and their decrement of `running`, and this function
        // does not return or unwind before `running` is zero.
        let work: &'static (dyn Fn(usize) + Sync) = unsafe { std::mem::transmute(work) };
        // SAFETY: `busy` makes this the only writer, and all workers are between
        // jobs: `running` was zero when the last owner of `busy` let go.
        unsafe { *shared.job.get() = Some(Job { work, tasks, each }) };
        shared.next.0.store(0, Relaxed);
        shared.running.0.store(self.workers.len(), Relaxed);
        // SeqCst here and at `asleep`: either a worker that falls asleep sees
        // the new epoch, or its flag is seen below.
        shared.epoch.0.fetch_add(1, SeqCst);
        for (worker, asleep) in self.workers.iter().zip(&shared.asleep) {
            if asleep.0.load(SeqCst) {
                worker.thread().unpark();
            }
        }
        shared.work_on(Job { work, tasks, each }, 0);
        shared.wait_for_workers();
        let panicked = shared.panicked.0.swap(false, Relaxed);
        let payload = if panicked { shared.lock_panic().take() } else { None };
        shared.busy.store(false, Release);
        if let Some(payload) = payload {
            resume_unwind(payload);
        }
    }

    /// Cuts `data` into pieces of whole `unit`s, four for each thread but at
    /// least `least` elements each, and calls `work(offset, piece)` on them,
    /// `offset` being the index of the piece's first element.
    pub fn run_pieces<T: Send>(
        &self,
        data: &mut [T],
        unit: usize,
        least: usize,
        work: impl Fn(usize, &mut [T]) + Sync,
    ) {
        self.run_alike([data], unit, least, |first, [piece]| work(first, piece));
    }

    /// The same with slices as long as each other, cut at the same places.
    pub fn run_alike<T: Send, const N: usize>(
        &self,
        data: [&mut [T]; N],
        unit: usize,
        least: usize,
        work: impl Fn(usize, [&mut [T]; N]) + Sync,
    ) {
        let most_pieces = if self.threads() == 1 { 1 } else { 4 * self.threads() };
        let (unit, length) = (unit.max(1), data.first().map_or(0, |data| data.len()));
        assert!(data.iter().all(|data| data.len() == length), "slices of different lengths");
        let per_piece = length.div_ceil(unit).div_ceil(most_pieces).max(least.div_ceil(unit)).max(1) * unit;
        let pieces = data.map(|data| Pieces::new(data, per_piece));
        self.run(length.div_ceil(per_piece), |index| {
            // SAFETY: `run` deals every index once.
            let cut = pieces.each_ref().map(|pieces| unsafe { pieces.get(index) });
            work(index * per_piece, cut);
        });
    }

    /// Cuts 0..length into parts of whole `unit`s, one for each thread but at least `least` long, and calls
    /// `work(part)` on them: part i on thread i, every time, so that its data stays in the caches of that core.
    pub fn run_parts(&self, length: usize, unit: usize, least: usize, work: impl Fn(Range<usize>) + Sync) {
        let parts = self.threads().min(length / least.max(1)).max(1);
        let unit = unit.max(1);
        let per_part = length.div_ceil(unit).div_ceil(parts) * unit;
        let threads = if parts == 1 { 1 } else { self.threads() };
        self.fork(threads, true, &|part| {
            let from = length.min(part * per_part);
            let to = length.min(from + per_part);
            if from < to || parts == 1 {
                work(from..to);
            }
        });
    }

    /// `run_parts` of a slice: calls `work(offset, part)`, `offset` being the index of the part's first element.
    pub fn run_parts_of<T: Send>(
        &self,
        data: &mut [T],
        unit: usize,
        least: usize,
        work: impl Fn(usize, &mut [T]) + Sync,
    ) {
        let length = data.len();
        let whole = Pieces::new(data, 1);
        self.run_parts(length, unit, least, |part| {
            // SAFETY: parts do not overlap, and each is handed out once.
            let data = unsafe { whole.range(part.clone()) };
            work(part.start, data);
        });
    }

    fn start(threads: usize, prepare: impl Fn(usize) + Send + Clone + 'static) -> Self {
        let others = threads.saturating_sub(1);
        let shared = Arc::new(Shared {
            epoch: Line::default(),
            next: Line::default(),
            running: Line::default(),
            asleep: (0..others).map(|_| Line::default()).collect(),
            job: UnsafeCell::new(None),
            busy: AtomicBool::new(false),
            stop: AtomicBool::new(false),
            panicked: Line::default(),
            panic: Mutex::new(None),
            waiting: Line::default(),
            caller: Mutex::new(None),
        });
        let workers = (0..others).map(|index| {
            let shared = Arc::clone(&shared);
            let prepare = prepare.clone();
            let body = move || {
                prepare(index + 1);
                shared.serve(index);
            };
            let thread = thread::Builder::new().name(format!("roofline-{}", index + 1));
            thread.spawn(body).expect("the system refused a thread")
        });
        let workers = workers.collect();
        Self { shared, workers }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.stop.store(true, Relaxed);
        self.shared.epoch.0.fetch_add(1, SeqCst);
        for worker in self.workers.drain(..) {
            worker.thread().unpark();
            // A worker catches the panics of tasks, so it ends in peace.
            let _ = worker.join();
        }
    }
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Pool({} threads)", self.threads())
    }
}

/// Its own pair of cache lines (they are fetched in pairs).
#[derive(Default)]
#[repr(align(128))]
struct Line<T>(T);

#[derive(Clone, Copy)]
struct Job {
    work: &'static (dyn Fn(usize) + Sync),
    tasks: usize,
    /// Task i belongs to thread i; otherwise whoever comes first takes it.
    each: bool,
}

struct Shared {
    /// Raised once per job.
    epoch: Line<AtomicUsize>,
    /// The next task of the job.
    next: Line<AtomicUsize>,
    /// Workers that have not finished the job.
    running: Line<AtomicUsize>,
    /// Per worker: it sleeps, or is about to.
    asleep: Vec<Line<AtomicBool>>,
    job: UnsafeCell<Option<Job>>,
    /// Someone is inside `run`.
    busy: AtomicBool,
    stop: AtomicBool,
    panicked: Line<AtomicBool>,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
    /// The caller sleeps, or is about to, until `running` is zero.
    waiting: Line<AtomicBool>,
    caller: Mutex<Option<Thread>>,
}

// SAFETY: `job` is the only field that is not Sync. It is written by the owner
// of `busy` while no worker reads it, and read by workers after they have seen
// the epoch that was raised after the write.
unsafe impl Sync for Shared {}

impl Shared {
    /// The life of a worker.
    fn serve(&self, index: usize) {
        let mut seen = 0;
        loop {
            seen = self.wait_for_epoch(index, seen);
            if self.stop.load(Relaxed) {
                return;
            }
            // SAFETY: the epoch was read with Acquire after the job was written,
            // and the next write waits for this worker's decrement below.
            if let Some(job) = unsafe { *self.job.get() } {
                self.work_on(job, index + 1);
            }
            if self.running.0.fetch_sub(1, SeqCst) == 1 && self.waiting.0.load(SeqCst) {
                let caller = self.caller.lock().unwrap_or_else(|e| e.into_inner());
                caller.iter().for_each(Thread::unpark);
            }
        }
    }

    fn wait_for_epoch(&self, index: usize, seen: usize) -> usize {
        for _ in 0..SPINS {
            let epoch = self.epoch.0.load(Acquire);
            if epoch != seen {
                return epoch;
            }
            std::hint::spin_loop();
        }
        let asleep = &self.asleep[index].0;
        asleep.store(true, SeqCst);
        loop {
            let epoch = self.epoch.0.load(SeqCst);
            if epoch != seen {
                asleep.store(false, Relaxed);
                return epoch;
            }
            thread::park();
        }
    }

    /// Takes tasks until none is left, or the one that belongs to this thread.
    fn work_on(&self, job: Job, thread: usize) {
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            if job.each {
                return (job.work)(thread);
            }
            loop {
                let task = self.next.0.fetch_add(1, Relaxed);
                if task >= job.tasks {
                    return;
                }
                (job.work)(task);
            }
        }));
        if let Err(payload) = outcome {
            self.next.0.store(job.tasks, Relaxed);
            self.lock_panic().get_or_insert(payload);
            self.panicked.0.store(true, Relaxed);
        }
    }

    fn wait_for_workers(&self) {
        for _ in 0..SPINS {
            if self.running.0.load(Acquire) == 0 {
                return;
            }
            std::hint::spin_loop();
        }
        *self.caller.lock().unwrap_or_else(|e| e.into_inner()) = Some(thread::current());
        self.waiting.0.store(true, SeqCst);
        while self.running.0.load(SeqCst) != 0 {
            thread::park();
        }
        self.waiting.0.store(false, Relaxed);
    }

    fn lock_panic(&self) -> std::sync::MutexGuard<'_, Option<Box<dyn Any + Send>>> {
        self.panic.lock().unwrap_or_else(|e| e.into_inner())
    }
}

/// A slice cut into pieces of `length` elements that threads take by index.
pub struct Pieces<'a, T> {
    start: *mut T,
    total: usize,
    length: usize,
    owner: PhantomData<&'a mut [T]>,
}

// SAFETY: a piece is handed to one thread only (the contract of `get`), so
// sharing the table moves `&mut [T]` between threads, which `T: Send` allows.
unsafe impl<T: Send> Sync for Pieces<'_, T> {}

impl<'a, T> Pieces<'a, T> {
    pub fn new(data: &'a mut [T], length: usize) -> Self {
        let (start, total) = (data.as_mut_ptr(), data.len());
        Self { start, total, length, owner: PhantomData }
    }

    fn count(&self) -> usize {
        self.total.div_ceil(self.length)
    }

    /// # Safety
    /// Each index may be asked for once.
    #[expect(clippy::mut_from_ref, reason = "each piece is handed out once")]
    unsafe fn get(&self, index: usize) -> &mut [T] {
        assert!(index < self.count());
        let from = index * self.length;
        // SAFETY: pieces of different indices do not overlap.
        unsafe { self.range(from..self.total.min(from + self.length)) }
    }

    /// # Safety
    /// Ranges in use at the same time may not overlap.
    #[expect(clippy::mut_from_ref, reason = "each element is handed out once")]
    pub unsafe fn range(&self, range: Range<usize>) -> &mut [T] {
        assert!(range.start <= range.end && range.end <= self.total);
        // SAFETY: the range lies in the slice that `owner` borrows.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(range.start), range.len()) }
    }
}

#[cfg(target_os = "linux")]
fn pin(core: usize) {
    use rustix::thread::{CpuSet, sched_setaffinity};
    if core < CpuSet::MAX_CPU {
        let mut set = CpuSet::new();
        set.set(core);
        // Refusal leaves the thread where it may run, which is documented.
        let _ = sched_setaffinity(None, &set);
    }
}

#[cfg(not(target_os = "linux"))]
fn pin(_core: usize) {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    fn count(pool: &Pool, tasks: usize) {
        let done: Vec<AtomicUsize> = (0..tasks).map(|_| AtomicUsize::new(0)).collect();
        pool.run(tasks, |task| {
            done[task].fetch_add(1, Relaxed);
        });
        assert!(done.iter().all(|count| count.load(Relaxed) == 1));
    }

    #[test]
    fn every_task_runs_once_in_a_long_burst() {
        for threads in [1, 2, 3, 5] {
            let pool = Pool::new(threads);
            for round in 0..2000 {
                count(&pool, round % 17);
            }
        }
    }

    #[test]
    fn each_thread_gets_its_own_part() {
        for threads in [1, 2, 3] {
            let pool = Pool::new(threads);
            let seen: Vec<Mutex<Vec<thread::ThreadId>>> = (0..threads).map(|_| Mutex::default()).collect();
            for _ in 0..100 {
                pool.run_each(|part| seen[part].lock().unwrap().push(thread::current().id()));
            }
            let seen: Vec<_> = seen.into_iter().map(|part| part.into_inner().unwrap()).collect();
            assert!(seen.iter().all(|ids| ids.len() == 100 && ids.iter().all(|id| *id == ids[0])));
        }
    }

    #[test]
    fn parts_cover_everything_once_and_stay_with_their_thread() {
        for threads in [1, 2, 3] {
            let pool = Pool::new(threads);
            for (length, unit, least) in
                [(0, 4, 1), (1, 4, 1), (7, 4, 1), (64, 4, 8), (100, 16, 1), (100, 16, 80)]
            {
                let seen: Vec<Mutex<Vec<thread::ThreadId>>> = (0..length).map(|_| Mutex::default()).collect();
                for _ in 0..10 {
                    pool.run_parts(length, unit, least, |part| {
                        assert!(part.start.is_multiple_of(unit));
                        part.for_each(|at| seen[at].lock().unwrap().push(thread::current().id()));
                    });
                }
                let seen = seen.into_iter().map(|at| at.into_inner().unwrap());
                for ids in seen {
                    assert!(ids.len() == 10 && ids.iter().all(|id| *id == ids[0]), "{length} by {unit}");
                }
            }
        }
    }

    #[test]
    fn sleeping_workers_are_woken() {
        let pool = Pool::new(3);
        for _ in 0..20 {
            thread::sleep(Duration::from_millis(2));
            let asleep = || pool.shared.asleep.iter().all(|flag| flag.0.load(SeqCst));
            // A loaded machine may give the workers no time to fall asleep at once, but some in a minute.
            let start = Instant::now();
            while !asleep() {
                assert!(start.elapsed() < Duration::from_secs(60), "the workers do not fall asleep");
                thread::sleep(Duration::from_millis(1));
            }
            count(&pool, 50);
        }
    }

    #[test]
    fn a_caller_waits_asleep_for_a_long_task() {
        let pool = Pool::new(2);
        for _ in 0..5 {
            pool.run(2, |task| thread::sleep(Duration::from_millis(1 + 4 * task as u64)));
        }
    }

    #[test]
    fn a_panic_reaches_the_caller_and_the_pool_lives_on() {
        let pool = Pool::new(2);
        for bad in 0..10 {
            let outcome = catch_unwind(AssertUnwindSafe(|| {
                pool.run(10, |task| assert!(task != bad, "task {task} fails"));
            }));
            let payload = outcome.expect_err("the panic is propagated");
            let message = payload.downcast::<String>().expect("a message");
            assert_eq!(*message, format!("task {bad} fails"));
            count(&pool, 10);
        }
    }

    #[test]
    fn nested_and_concurrent_calls_run_alone() {
        let pool = Pool::new(2);
        pool.run(4, |_| count(&pool, 3));
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| (0..200).for_each(|_| count(&pool, 5)));
            }
        });
    }

    #[test]
    fn pieces_cover_the_data_once() {
        let pool = Pool::new(3);
        for length in [0, 1, 7, 8, 9, 1000] {
            let mut data = vec![0; length];
            pool.run_pieces(&mut data, 4, 0, |offset, piece| {
                for (index, value) in piece.iter_mut().enumerate() {
                    *value += offset + index + 1;
                }
            });
            assert!(data.iter().enumerate().all(|(index, &value)| value == index + 1));
        }
    }

    #[test]
    fn pinned_pools_work_even_with_cores_that_do_not_exist() {
        thread::spawn(|| count(&Pool::on_cores(&[0, 9999]), 10)).join().expect("no panic");
    }
}
