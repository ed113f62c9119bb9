//! One element too far is a fault: before, after, and written into an input. Each fault happens in
//! a process of its own, this test started again.

use crate::conductor::{PAGE, add, memory};
use roofline_runner::Job;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;

const CHILD: &str = "ROOFLINE_GUARD_PAGES_CHILD";
const SIGSEGV: i32 = 11;

/// The job of an `add` whose data lies flush against the end, or the start, of its pages.
fn job(at_end: bool) -> Job {
    let mut request = add("test/sum", 1000);
    let mut files = Vec::new();
    for place in &mut request.tensors {
        place.size = 2 * PAGE;
        place.offset = if at_end { place.size - place.bytes } else { 0 };
        files.push(memory(place.size, place.offset, &[1.0; 1000], place.role).into());
    }
    Job::new(request, files).unwrap_or_else(|refusal| panic!("{}", refusal.message))
}

#[test]
fn child() {
    let Ok(what) = std::env::var(CHILD) else { return };
    if what == GIVES_BACK {
        return give_back();
    }
    let mut job = job(what.ends_with("after"));
    let x = job.input::<f32>("x").unwrap();
    let mut z = job.output::<f32>("z").unwrap();
    crate::sys::touch(&what, &x, &mut z);
}

/// How a process ends that does what is asked, alone: a signal, or success.
fn run(what: &str) -> (Option<i32>, bool) {
    let this = std::env::current_exe().unwrap();
    let child = Command::new(this).args(["--exact", "guard_pages::child"]).env(CHILD, what).output().unwrap();
    (child.status.signal(), child.status.success())
}

#[test]
fn faults() {
    for what in ["stays-inside-after", "stays-inside-before"] {
        assert_eq!(run(what), (None, true), "{what}");
    }
    for what in ["writes-after", "writes-before", "reads-after", "reads-before", "writes-input-after"] {
        assert_eq!(run(what), (Some(SIGSEGV), false), "{what}");
    }
}

#[test]
fn files_start_at_two_mebibytes() {
    let mut job = job(false);
    let (x, z) = (job.input::<f32>("x").unwrap(), job.output::<f32>("z").unwrap());
    assert_eq!((x.as_ptr().addr() % (2 << 20), z.as_ptr().addr() % (2 << 20)), (0, 0));
}

const GIVES_BACK: &str = "gives-back";

/// In a process of its own: other tests map tensors as well.
#[test]
fn memory_is_given_back() {
    assert_eq!(run(GIVES_BACK), (None, true));
}

fn give_back() {
    let mapped = || std::fs::read_to_string("/proc/self/maps").unwrap().matches("memfd:tensor").count();
    let before = mapped();
    let job = job(true);
    let x = job.input::<f32>("x").unwrap();
    drop(job);
    assert_eq!((mapped(), x[0]), (before + 1, 1.0));
    drop(x);
    assert_eq!(mapped(), before);
}
