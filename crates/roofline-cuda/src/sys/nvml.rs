//! What a card does right now, told by the driver's management library: loaded where it is, and missed by nobody.

use std::ffi::{CString, c_char, c_int, c_uint, c_ulonglong, c_void};

use libloading::Library;

/// A card whose state can be asked for.
#[derive(Debug)]
pub struct Monitor {
    library: Library,
    card: *mut c_void,
}

/// What a card does at one moment, as far as it says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CardState {
    /// The clock of its multiprocessors.
    pub megahertz: Option<u32>,
    pub milliwatts: Option<u32>,
    /// Why the clock is not higher, where there is a reason.
    pub held_back_by: Vec<&'static str>,
    /// Bytes in use, whoever uses them.
    pub used: Option<u64>,
}

/// Bits of the library's reasons, but for that of a card which has nothing to do.
const REASONS: [(u64, &str); 8] = [
    (0x2, "clocks of the user"),
    (0x4, "power cap"),
    (0x8, "hardware slowdown"),
    (0x10, "other cards"),
    (0x20, "heat"),
    (0x40, "heat, by hardware"),
    (0x80, "power supply"),
    (0x100, "display"),
];

const SUCCESS: c_int = 0;
const CLOCK_OF_MULTIPROCESSORS: c_int = 1;

#[repr(C)]
#[derive(Default)]
struct Memory {
    total: c_ulonglong,
    free: c_ulonglong,
    used: c_ulonglong,
}

impl Monitor {
    /// The card of this UUID; `None` where the library does not know it, or is not there.
    pub fn of(uuid: &str) -> Option<Monitor> {
        // SAFETY: the driver's own library, whose initialisers may run.
        let library = unsafe { Library::new("libnvidia-ml.so.1") }.ok()?;
        let mut monitor = Monitor { library, card: std::ptr::null_mut() };
        // SAFETY: no parameters.
        monitor.call("nvmlInit_v2", |f: unsafe extern "C" fn() -> c_int| unsafe { f() })?;
        let uuid = CString::new(uuid).ok()?;
        let mut card = std::ptr::null_mut();
        type Find = unsafe extern "C" fn(*const c_char, *mut *mut c_void) -> c_int;
        // SAFETY: reads a string that ends with 0, and writes one handle, which stays good as long as the library.
        monitor.call("nvmlDeviceGetHandleByUUID", |f: Find| unsafe { f(uuid.as_ptr(), &raw mut card) })?;
        monitor.card = card;
        Some(monitor)
    }

    pub fn look(&self) -> CardState {
        type Number = unsafe extern "C" fn(*mut c_void, *mut c_uint) -> c_int;
        type Clock = unsafe extern "C" fn(*mut c_void, c_int, *mut c_uint) -> c_int;
        type Bits = unsafe extern "C" fn(*mut c_void, *mut c_ulonglong) -> c_int;
        type Bytes = unsafe extern "C" fn(*mut c_void, *mut Memory) -> c_int;
        let (mut clock, mut power, mut reasons, mut memory) = (0, 0, 0, Memory::default());
        let asked = self.call("nvmlDeviceGetClockInfo", |f: Clock| {
            // SAFETY: the handle is the library's; writes one number.
            unsafe { f(self.card, CLOCK_OF_MULTIPROCESSORS, &raw mut clock) }
        });
        let megahertz = asked.map(|()| clock);
        // SAFETY: as above.
        let asked = self.call("nvmlDeviceGetPowerUsage", |f: Number| unsafe { f(self.card, &raw mut power) });
        let milliwatts = asked.map(|()| power);
        // SAFETY: as above.
        let asked = self.call("nvmlDeviceGetCurrentClocksThrottleReasons", |f: Bits| unsafe {
            f(self.card, &raw mut reasons)
        });
        let held_back_by = asked.map_or(Vec::new(), |()| named(reasons));
        // SAFETY: as above; a struct of three numbers.
        let asked = self.call("nvmlDeviceGetMemoryInfo", |f: Bytes| unsafe { f(self.card, &raw mut memory) });
        let used = asked.map(|()| memory.used);
        CardState { megahertz, milliwatts, held_back_by, used }
    }

    /// Calls a function of the library, of the type that its header gives this name; `None` where it is not there, or says no.
    fn call<F: Copy>(&self, name: &str, call: impl FnOnce(F) -> c_int) -> Option<()> {
        // SAFETY: the callers name functions by the types of the library's header; the library is kept.
        let function = unsafe { self.library.get::<F>(name.as_bytes()) }.ok()?;
        (call(*function) == SUCCESS).then_some(())
    }
}

fn named(reasons: u64) -> Vec<&'static str> {
    REASONS.iter().filter(|(bit, _)| reasons & bit != 0).map(|(_, name)| *name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_have_names() {
        assert_eq!(named(0), [""; 0]);
        assert_eq!(named(1), [""; 0], "nothing to do is no reason");
        assert_eq!(named(0x24), ["power cap", "heat"]);
    }

    #[test]
    fn an_unknown_card_has_no_monitor() {
        assert!(Monitor::of("GPU-no-such-card").is_none());
        assert!(Monitor::of("GPU-\0").is_none());
    }
}
