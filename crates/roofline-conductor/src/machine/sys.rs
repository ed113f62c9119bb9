//! Questions that only the processor or the kernel itself can answer: CPUID, XCR0, permissions.
#![allow(unsafe_code, reason = "XCR0 and the kernel's permissions have no safe reading")]

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod answers {
    use raw_cpuid::{CpuId, Hypervisor};

    pub(in super::super) fn hypervisor_vendor() -> Option<String> {
        let cpuid = CpuId::new();
        let is_guest = cpuid.get_feature_info()?.has_hypervisor();
        if !is_guest {
            // Without the bit, leaf 0x4000_0000 answers with something unrelated.
            return None;
        }
        match cpuid.get_hypervisor_info()?.identify() {
            Hypervisor::Unknown(..) => None,
            named => Some(format!("{named:?}")),
        }
    }

    pub(in super::super) fn has_tiles() -> Option<bool> {
        Some(CpuId::new().get_extended_feature_info()?.has_amx_tile())
    }

    pub(in super::super) fn enabled_states() -> Option<u64> {
        if !CpuId::new().get_feature_info()?.has_oxsave() {
            return None;
        }
        // SAFETY: OSXSAVE is set, so the processor has XGETBV and the kernel lets programs use it.
        Some(unsafe { xcr0() })
    }

    #[target_feature(enable = "xsave")]
    fn xcr0() -> u64 {
        // SAFETY: register 0 exists wherever XGETBV does; reading it has no effect.
        unsafe { std::arch::x86_64::_xgetbv(0) }
    }

    pub(in super::super) fn permitted_states() -> Option<u64> {
        const ARCH_GET_XCOMP_SUPP: libc::c_long = 0x1021;
        let mut states = 0_u64;
        // SAFETY: the call writes one u64 to the given address, which lives until it returns.
        let rc = unsafe { libc::syscall(libc::SYS_arch_prctl, ARCH_GET_XCOMP_SUPP, &raw mut states) };
        (rc == 0).then_some(states)
    }
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
mod answers {
    pub(in super::super) fn hypervisor_vendor() -> Option<String> {
        None
    }

    pub(in super::super) fn has_tiles() -> Option<bool> {
        None
    }

    pub(in super::super) fn enabled_states() -> Option<u64> {
        None
    }

    pub(in super::super) fn permitted_states() -> Option<u64> {
        None
    }
}

pub(super) use answers::{enabled_states, has_tiles, hypervisor_vendor, permitted_states};
