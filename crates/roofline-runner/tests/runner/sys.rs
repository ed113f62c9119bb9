//! What the tests do on purpose and safe code cannot: touch memory beside a tensor, change the float mode.

/// Does what a kernel of this name would, at the edges of an input and an output.
pub fn touch(what: &str, x: &[f32], z: &mut [f32]) {
    let (first, last) = (z.as_mut_ptr(), x.len() - 1);
    // SAFETY: none of the accesses but the first two is allowed: the process is to be killed.
    unsafe {
        match what {
            "stays-inside-after" | "stays-inside-before" => {
                first.write_volatile(x.as_ptr().read_volatile());
                first.add(last).write_volatile(x.as_ptr().add(last).read_volatile());
            }
            "writes-after" => first.add(last + 1).write_volatile(0.0),
            "writes-before" => first.sub(1).write_volatile(0.0),
            "reads-after" => drop(x.as_ptr().add(last + 1).read_volatile()),
            "reads-before" => drop(x.as_ptr().sub(1).read_volatile()),
            "writes-input-after" => x.as_ptr().cast_mut().write_volatile(0.0),
            other => panic!("no such child: {other}"),
        }
    }
}

#[cfg(target_arch = "x86_64")]
pub fn flush_to_zero() {
    let (mut mode, flush) = (0u32, 1 << 15);
    // SAFETY: reads MXCSR and writes it back with one more control bit.
    unsafe {
        std::arch::asm!("stmxcsr [{}]", in(reg) &mut mode);
        mode |= flush;
        std::arch::asm!("ldmxcsr [{}]", in(reg) &mode);
    }
}
