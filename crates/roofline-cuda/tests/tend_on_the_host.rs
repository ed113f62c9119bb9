//! What `tend.cu` computes, compiled for the host: a grid of one thread does all the work.
//!
//! Needs no device and no NVRTC, only a C++ compiler; what it says is what the stand-in of the device process does.
#![expect(clippy::print_stdout, reason = "a test that is skipped says so")]

use std::process::Command;

use libloading::{Library, Symbol};
use roofline_cuda::tend::TEXT;

/// CUDA's words as C++ knows them, for a launch of one thread.
const SHIM: &str = "
#define __device__
#define __global__
#define __forceinline__ inline
struct Index { int x, y, z; };
static const Index blockIdx = {0, 0, 0}, threadIdx = {0, 0, 0}, gridDim = {1, 1, 1}, blockDim = {1, 1, 1};
static inline void atomicAdd(unsigned long long *to, unsigned long long more) { *to += more; }
static inline unsigned long long time_now() { static unsigned long long turns; return 100 * turns++ % 5000; }
static inline void atomicMin(unsigned long long *to, unsigned long long other) { if (other < *to) *to = other; }
";

fn compiled(folder: &tempfile::TempDir) -> Option<Library> {
    let (source, library) = (folder.path().join("tend.cpp"), folder.path().join("tend.so"));
    std::fs::write(&source, format!("{SHIM}{TEXT}")).unwrap();
    let mut compiler = Command::new("c++");
    compiler.args(["-O1", "-shared", "-fPIC", "-o"]).arg(&library).arg(&source);
    let output = compiler.output().ok()?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // SAFETY: our own code, without initialisers.
    Some(unsafe { Library::new(library) }.unwrap())
}

type Spots = unsafe extern "C" fn(*mut u8, *const u64, *mut u64, i64, i64);
type Repeat = unsafe extern "C" fn(*mut u8, u64, i64, i64);
type Hash = unsafe extern "C" fn(*const u8, *mut u64, i64);
type Sleep = unsafe extern "C" fn(i64);
type Find = unsafe extern "C" fn(*const u8, *mut u64, u64, i64, i64);

#[test]
fn kernels_of_the_owner_do_what_they_say() {
    let folder = tempfile::tempdir().unwrap();
    let Some(library) = compiled(&folder) else {
        println!("skipped: no C++ compiler");
        return;
    };
    let there = "every kernel is in the file";
    // SAFETY: the signature in the file.
    let scatter: Symbol<Spots> = unsafe { library.get(b"tend_scatter") }.expect(there);
    // SAFETY: as above.
    let gather: Symbol<Spots> = unsafe { library.get(b"tend_gather") }.expect(there);
    // SAFETY: as above.
    let repeat: Symbol<Repeat> = unsafe { library.get(b"tend_repeat") }.expect(there);
    // SAFETY: as above.
    let hash: Symbol<Hash> = unsafe { library.get(b"tend_hash") }.expect(there);
    // SAFETY: as above.
    let find: Symbol<Find> = unsafe { library.get(b"tend_find") }.expect(there);
    // SAFETY: as above.
    let sleep: Symbol<Sleep> = unsafe { library.get(b"tend_sleep") }.expect(there);
    // By a clock that starts anew before it is over: the number of turns ends it.
    for nanoseconds in [-1, 0, 1, 1_000, 1_000_000] {
        // SAFETY: no memory.
        unsafe { sleep(nanoseconds) };
    }
    // Words, so that elements of every size lie well.
    let mut words = vec![0u64; 32];
    let memory = words.as_mut_ptr().cast::<u8>();
    let (places, mut values) = ([16u64, 40, 8], [0x0102_0304_u64, 0xa0b0_c0d0, 7]);
    let mut back = [0u64; 3];
    // SAFETY: places and sizes lie inside the memory; counts are those of the arrays.
    unsafe {
        scatter(memory, places.as_ptr(), values.as_mut_ptr(), 4, 3);
        gather(memory, places.as_ptr(), back.as_mut_ptr(), 4, 3);
    }
    assert_eq!(back, values);
    assert_eq!(words[2], 0x0102_0304, "low bytes first, and nothing beside them");
    for (size, code) in [(1i64, 0xabu64), (2, 0xabcd), (4, 0xdead_beef), (8, 0x0123_4567_89ab_cdef)] {
        let mut words = vec![0u64; 8];
        let memory = words.as_mut_ptr().cast::<u8>();
        let (mut first, mut none) = (u64::MAX, u64::MAX);
        // SAFETY: as above, from the second word on.
        unsafe {
            repeat(memory.add(8), code, size, 24 / size);
            find(memory, &raw mut first, code, size, 64 / size);
            find(memory, &raw mut none, code ^ 1, size, 64 / size);
        }
        assert_eq!((words[0], words[4]), (0, 0), "{size}");
        assert_eq!((first, none), (8 / size as u64, u64::MAX), "{size}");
    }
    let bytes: Vec<u8> = (0..61).collect();
    for offset in [0, 1] {
        let mut moved = vec![0u8; offset];
        moved.extend(&bytes);
        let mut sum = bytes.len() as u64;
        // SAFETY: the last 61 bytes of the vector.
        unsafe { hash(moved.as_ptr().add(offset), &raw mut sum, 61) };
        assert_eq!(sum, HASH_OF_BYTES, "wherever they lie");
    }
}

/// As the conductor computes it.
const HASH_OF_BYTES: u64 = 0x0030_eee1_507b_f09a;
