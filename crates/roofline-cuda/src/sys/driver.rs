//! The driver: whether it is there, its devices, a context.

use std::ffi::{CStr, c_char, c_int};
use std::sync::OnceLock;

use cudarc::driver::sys::{self, CUcontext, CUdevice, CUdevice_attribute, CUresult};

use crate::error::{CudaError, NoCuda, Result, Version};

/// The bindings name calls of this version, and cubins of the compiler of 13 need a driver of 13.
const NEEDED: Version = Version { major: 13, minor: 0 };

/// Turns the driver's answer into ours. Only after [`start`] said yes.
pub(super) fn check(doing: &'static str, answer: CUresult) -> Result<()> {
    if answer == CUresult::CUDA_SUCCESS {
        return Ok(());
    }
    let (mut name, mut text): (*const c_char, *const c_char) = (std::ptr::null(), std::ptr::null());
    // SAFETY: both calls write one pointer to a string that lives as long as the driver, or null.
    let (name, text) = unsafe {
        _ = sys::cuGetErrorName(answer, &raw mut name);
        _ = sys::cuGetErrorString(answer, &raw mut text);
        (said(name), said(text))
    };
    Err(CudaError::Driver { doing, name, text })
}

/// # Safety
/// `text` is null or a string that ends with 0.
unsafe fn said(text: *const c_char) -> String {
    if text.is_null() {
        return "unknown error".to_string();
    }
    // SAFETY: not null, and the caller promises the rest.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// Starts the driver, once a process, and says its version or why there is none. Every other
/// function of this module may be called only after this one said yes: the bindings panic without
/// the library, and at a call that an older library lacks.
pub(crate) fn start() -> Result<Version, NoCuda> {
    static STARTED: OnceLock<Result<Version, NoCuda>> = OnceLock::new();
    STARTED.get_or_init(first_start).clone()
}

fn first_start() -> Result<Version, NoCuda> {
    // SAFETY: opens libraries by their usual names, and the driver's own initialisers may run.
    if !unsafe { sys::is_culib_present() } {
        return Err(NoCuda::NoDriver);
    }
    let mut version: c_int = 0;
    // SAFETY: writes one integer; this call is there since the first driver.
    let answer = unsafe { sys::cuDriverGetVersion(&raw mut version) };
    let version = u32::try_from(version).unwrap_or(0);
    let found = Version { major: version / 1000, minor: version % 1000 / 10 };
    if answer != CUresult::CUDA_SUCCESS || found < NEEDED {
        return Err(NoCuda::OldDriver { found, needed: NEEDED });
    }
    // SAFETY: no pointers.
    let answer = unsafe { sys::cuInit(0) };
    let hidden = std::env::var("CUDA_VISIBLE_DEVICES").is_ok_and(|names| hides_all(&names));
    match answer {
        CUresult::CUDA_SUCCESS => Ok(found),
        CUresult::CUDA_ERROR_NO_DEVICE if hidden => Err(NoCuda::Hidden),
        CUresult::CUDA_ERROR_NO_DEVICE => Err(NoCuda::NoDevice),
        other => {
            let reason = check("cuInit", other).err().map(|error| error.to_string()).unwrap_or_default();
            Err(NoCuda::NotStarted { reason })
        }
    }
}

/// The driver stops at the first name that it does not know.
fn hides_all(names: &str) -> bool {
    let first = names.split(',').next().unwrap_or_default().trim();
    first.is_empty() || first.starts_with('-') || first.eq_ignore_ascii_case("NoDevFiles")
}

pub(crate) fn device_count() -> Result<usize> {
    let mut count: c_int = 0;
    // SAFETY: writes one integer.
    check("cuDeviceGetCount", unsafe { sys::cuDeviceGetCount(&raw mut count) })?;
    Ok(usize::try_from(count).unwrap_or(0))
}

fn device(ordinal: usize) -> Result<CUdevice> {
    let mut device: CUdevice = 0;
    let ordinal = c_int::try_from(ordinal).unwrap_or(c_int::MAX);
    // SAFETY: writes one integer.
    check("cuDeviceGet", unsafe { sys::cuDeviceGet(&raw mut device, ordinal) })?;
    Ok(device)
}

pub(crate) fn device_name(ordinal: usize) -> Result<String> {
    let mut name = [0u8; 256];
    // SAFETY: the driver writes at most the 256 bytes that are there, with a 0 at the end.
    let answer = unsafe { sys::cuDeviceGetName(name.as_mut_ptr().cast(), 256, device(ordinal)?) };
    check("cuDeviceGetName", answer)?;
    let name = CStr::from_bytes_until_nul(&name).unwrap_or_default();
    Ok(name.to_string_lossy().into_owned())
}

pub(crate) fn device_uuid(ordinal: usize) -> Result<[u8; 16]> {
    let mut uuid = sys::CUuuid { bytes: [0; 16] };
    // SAFETY: writes sixteen bytes.
    check("cuDeviceGetUuid", unsafe { sys::cuDeviceGetUuid_v2(&raw mut uuid, device(ordinal)?) })?;
    Ok(uuid.bytes.map(|byte| byte as u8))
}

pub(crate) fn memory_bytes(ordinal: usize) -> Result<usize> {
    let mut bytes = 0;
    // SAFETY: writes one integer.
    check("cuDeviceTotalMem", unsafe { sys::cuDeviceTotalMem_v2(&raw mut bytes, device(ordinal)?) })?;
    Ok(bytes)
}

pub(crate) fn attribute(ordinal: usize, which: CUdevice_attribute) -> Result<usize> {
    let mut value: c_int = 0;
    // SAFETY: writes one integer.
    let answer = unsafe { sys::cuDeviceGetAttribute(&raw mut value, which, device(ordinal)?) };
    check("cuDeviceGetAttribute", answer)?;
    Ok(usize::try_from(value).unwrap_or(0))
}

/// The primary context of a device, the one that libraries in the same process share.
#[derive(Debug)]
pub(crate) struct Context {
    raw: CUcontext,
    device: CUdevice,
}

// SAFETY: a context may be used from any thread that made it current, and `bind` does.
unsafe impl Send for Context {}
// SAFETY: as above; the driver locks.
unsafe impl Sync for Context {}

impl Context {
    pub(crate) fn new(ordinal: usize) -> Result<Context> {
        let device = device(ordinal)?;
        let mut raw: CUcontext = std::ptr::null_mut();
        // SAFETY: writes one handle, which `drop` gives back.
        check("cuDevicePrimaryCtxRetain", unsafe { sys::cuDevicePrimaryCtxRetain(&raw mut raw, device) })?;
        Ok(Context { raw, device })
    }

    /// Makes it the current one of this thread, as every call that follows expects.
    pub(crate) fn forget_persisting(&self) -> Result<()> {
        self.bind()?;
        // SAFETY: no operands; the context is bound.
        check("cuCtxResetPersistingL2Cache", unsafe { sys::cuCtxResetPersistingL2Cache() })
    }

    pub(crate) fn bind(&self) -> Result<()> {
        // SAFETY: the context is retained as long as `self` lives.
        check("cuCtxSetCurrent", unsafe { sys::cuCtxSetCurrent(self.raw) })
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: retained once in `new`. An error here has nobody left to tell.
        _ = unsafe { sys::cuDevicePrimaryCtxRelease_v2(self.device) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_hide_every_device() {
        for (names, all) in [
            ("", true),
            (" ", true),
            ("-1", true),
            ("NoDevFiles", true),
            ("0", false),
            ("GPU-8f", false),
            ("1,-1", false),
        ] {
            assert_eq!(hides_all(names), all, "{names:?}");
        }
    }
}
