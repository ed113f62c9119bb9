//! Devices: which are there, what they are, and one at work.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use cudarc::driver::sys::CUdevice_attribute as Attribute;

use crate::cache::Cache;
use crate::compile::{Origin, Source, Variant, compile};
use crate::error::{CudaError, NoCuda, Result, Version};
use crate::kernel::Kernel;
use crate::sys::{self, Context, Function, Module};

/// What a device is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceInfo {
    /// Its number among those that this process may see.
    pub ordinal: usize,
    pub name: String,
    /// `GPU-…`, the same in every process and after every start.
    pub uuid: String,
    pub multiprocessors: usize,
    /// The most threads that one of them holds.
    pub threads: usize,
    /// The most shared memory that a block can ask for.
    pub shared_bytes: usize,
    pub memory_bytes: usize,
    /// The second level of cache.
    pub cache_bytes: usize,
    /// 9.0 for Hopper.
    pub capability: Version,
    /// The version of CUDA that the driver speaks.
    pub driver: Version,
}

/// The devices that this process may see, or in one line why there is none.
///
/// ```no_run
/// match roofline_cuda::devices() {
///     Ok(devices) => devices.iter().for_each(|device| println!("{} {}", device.name, device.uuid)),
///     Err(why) => println!("{why}"),
/// }
/// ```
pub fn devices() -> Result<Vec<DeviceInfo>, NoCuda> {
    let driver = sys::start()?;
    let not_started = |error: CudaError| NoCuda::NotStarted { reason: error.to_string() };
    let count = sys::device_count().map_err(not_started)?;
    if count == 0 {
        return Err(NoCuda::NoDevice);
    }
    (0..count).map(|ordinal| info(ordinal, driver).map_err(not_started)).collect()
}

fn info(ordinal: usize, driver: Version) -> Result<DeviceInfo> {
    let number = |which| sys::attribute(ordinal, which);
    let part = |which| number(which).map(|value| u32::try_from(value).unwrap_or(0));
    Ok(DeviceInfo {
        ordinal,
        name: sys::device_name(ordinal)?,
        uuid: uuid_text(sys::device_uuid(ordinal)?),
        multiprocessors: number(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
        threads: number(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)?,
        shared_bytes: number(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?,
        memory_bytes: sys::memory_bytes(ordinal)?,
        cache_bytes: number(Attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)?,
        capability: Version {
            major: part(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
            minor: part(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
        },
        driver,
    })
}

/// As the driver's own tools write it.
fn uuid_text(bytes: [u8; 16]) -> String {
    let hex = |part: &[u8]| part.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let parts =
        [hex(&bytes[..4]), hex(&bytes[4..6]), hex(&bytes[6..8]), hex(&bytes[8..10]), hex(&bytes[10..])];
    format!("GPU-{}", parts.join("-"))
}

/// A device at work: its context, and the kernels that were compiled for it. Clones are the same
/// device.
#[derive(Clone, Debug)]
pub struct Device(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    info: DeviceInfo,
    context: Arc<Context>,
    cache: Cache,
    kernels: Mutex<HashMap<String, Arc<Kernel>>>,
    /// The name of the kernel that was asked for last.
    last: Mutex<String>,
}

impl Device {
    /// Opens a device, with the user's cache of compiled kernels.
    pub fn open(ordinal: usize) -> Result<Device> {
        Device::with_cache(ordinal, Cache::of_user())
    }

    /// Opens a device with a cache of one's own.
    pub fn with_cache(ordinal: usize, cache: Cache) -> Result<Device> {
        let mut all = devices()?;
        if ordinal >= all.len() {
            return Err(CudaError::NoSuchDevice { ordinal, count: all.len() });
        }
        let info = all.swap_remove(ordinal);
        let context = Arc::new(Context::new(ordinal)?);
        Ok(Device(Arc::new(Inner {
            info,
            context,
            cache,
            kernels: Mutex::default(),
            last: Mutex::default(),
        })))
    }

    pub fn info(&self) -> &DeviceInfo {
        &self.0.info
    }

    /// What the compiler is told to compile for.
    pub fn architecture(&self) -> String {
        architecture(self.0.info.capability)
    }

    /// Blocks that can work on one row together: none before Hopper.
    pub fn largest_cluster(&self) -> u32 {
        if self.0.info.capability.major >= 9 { 8 } else { 1 }
    }

    /// Lets go of what the second level of cache was told to keep.
    pub fn forget_persisting(&self) -> Result<()> {
        self.0.context.forget_persisting()
    }

    pub(crate) fn context(&self) -> &Arc<Context> {
        &self.0.context
    }

    /// The kernel that was asked for last, with its name and variant: what a launcher chose.
    pub fn last_kernel(&self) -> Option<(String, Arc<Kernel>)> {
        let name = self.0.last.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let kernels = self.0.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        kernels.get(&name).map(|kernel| (name, kernel.clone()))
    }

    /// A kernel of machine code that somebody else compiled.
    pub fn load(&self, cubin: &[u8], entry: &str) -> Result<Arc<Kernel>> {
        const MAGIC: &[u8] = b"\x7fELF";
        if !cubin.starts_with(MAGIC) {
            return Err(CudaError::Compiler { doing: "loading", reason: "this is no cubin".to_owned() });
        }
        let began = Instant::now();
        let module = Arc::new(Module::load(&self.0.context, cubin)?);
        let kernel = Arc::new(Kernel::new(Function::new(&module, entry)?, Origin::Given, began)?);
        entry.clone_into(&mut self.0.last.lock().unwrap_or_else(PoisonError::into_inner));
        self.0
            .kernels
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(entry.to_owned(), kernel.clone());
        Ok(kernel)
    }

    /// The kernel of a source in one of its variants: from memory, from the disk, or compiled.
    pub fn kernel(&self, source: &Source, variant: &Variant) -> Result<Arc<Kernel>> {
        let name = format!("{} {variant}", source.entry);
        name.clone_into(&mut self.0.last.lock().unwrap_or_else(PoisonError::into_inner));
        let mut kernels = self.0.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kernel) = kernels.get(&name) {
            return Ok(kernel.clone());
        }
        let began = Instant::now();
        let compiled = compile(source, variant, &self.architecture(), &self.0.cache)?;
        let module = Arc::new(Module::load(&self.0.context, &compiled.cubin)?);
        let kernel = Arc::new(Kernel::new(Function::new(&module, source.entry)?, compiled.origin, began)?);
        kernels.insert(name, kernel.clone());
        Ok(kernel)
    }
}

/// Hopper's own instructions need the `a`; every other name is the plain one.
fn architecture(capability: Version) -> String {
    let hopper = if capability == (Version { major: 9, minor: 0 }) { "a" } else { "" };
    format!("sm_{}{}{hopper}", capability.major, capability.minor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_architectures() {
        for (major, minor, name) in [(8, 0, "sm_80"), (9, 0, "sm_90a"), (10, 0, "sm_100"), (12, 0, "sm_120")]
        {
            assert_eq!(architecture(Version { major, minor }), name);
        }
    }

    #[test]
    fn a_uuid_is_written_as_tools_write_it() {
        let bytes = std::array::from_fn(|i| i as u8);
        assert_eq!(uuid_text(bytes), "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f");
    }

    #[test]
    fn without_a_device_the_reason_is_one_line() {
        if let Err(why) = devices() {
            let text = why.to_string();
            assert!(text.starts_with("no CUDA device: ") && !text.contains('\n'), "{text}");
            let error = Device::open(0).unwrap_err();
            assert_eq!(error.to_string(), text);
        }
    }
}
