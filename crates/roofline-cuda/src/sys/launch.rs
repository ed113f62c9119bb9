//! Modules of machine code, their kernels, and how one is launched.

use std::ffi::{CString, c_void};
use std::sync::Arc;

use cudarc::driver::sys::{
    self, CUfunction, CUfunction_attribute as Attribute, CUlaunchAttribute, CUlaunchAttributeID,
    CUlaunchAttributeValue, CUlaunchConfig, CUmodule, CUresult,
};

use super::driver::{Context, check};
use super::stream::RawStream;
use crate::error::{CudaError, Result};
use crate::kernel::{Argument, Geometry, Resources};

/// Machine code on the device.
#[derive(Debug)]
pub(crate) struct Module {
    raw: CUmodule,
    context: Arc<Context>,
}

// SAFETY: modules may be used from any thread; the driver locks.
unsafe impl Send for Module {}
// SAFETY: as above.
unsafe impl Sync for Module {}

impl Module {
    /// Loads a cubin. The driver reads its length out of the file itself, so the bytes must be a
    /// whole one: they come from the compiler or from a cache entry whose checksum held.
    pub(crate) fn load(context: &Arc<Context>, cubin: &[u8]) -> Result<Module> {
        context.bind()?;
        let mut raw: CUmodule = std::ptr::null_mut();
        // SAFETY: a whole cubin, see above; the driver copies it.
        check("cuModuleLoadData", unsafe { sys::cuModuleLoadData(&raw mut raw, cubin.as_ptr().cast()) })?;
        Ok(Module { raw, context: context.clone() })
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        if self.context.bind().is_ok() {
            // SAFETY: loaded once, unloaded once; every `Function` keeps its module alive.
            _ = unsafe { sys::cuModuleUnload(self.raw) };
        }
    }
}

/// A kernel of a module, with the size of each of its parameters.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    raw: CUfunction,
    name: String,
    parameters: Vec<usize>,
    module: Arc<Module>,
}

// SAFETY: functions may be used from any thread; the driver locks.
unsafe impl Send for Function {}
// SAFETY: as above.
unsafe impl Sync for Function {}

impl Function {
    pub(crate) fn new(module: &Arc<Module>, name: &str) -> Result<Function> {
        module.context.bind()?;
        let text = CString::new(name).unwrap_or_default();
        let mut raw: CUfunction = std::ptr::null_mut();
        // SAFETY: writes one handle; the name ends with 0.
        let answer = unsafe { sys::cuModuleGetFunction(&raw mut raw, module.raw, text.as_ptr()) };
        check("cuModuleGetFunction", answer)?;
        let mut parameters = Vec::new();
        loop {
            let (mut offset, mut size) = (0, 0);
            // SAFETY: writes two integers; beyond the last parameter it answers "invalid value".
            let answer =
                unsafe { sys::cuFuncGetParamInfo(raw, parameters.len(), &raw mut offset, &raw mut size) };
            match answer {
                CUresult::CUDA_ERROR_INVALID_VALUE => break,
                answer => check("cuFuncGetParamInfo", answer)?,
            }
            parameters.push(size);
        }
        Ok(Function { raw, name: name.to_string(), parameters, module: module.clone() })
    }

    pub(crate) fn resources(&self) -> Result<Resources> {
        Ok(Resources {
            registers: self.attribute(Attribute::CU_FUNC_ATTRIBUTE_NUM_REGS)?,
            shared_bytes: self.attribute(Attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?,
            local_bytes: self.attribute(Attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?,
            constant_bytes: self.attribute(Attribute::CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES)?,
            max_threads: self.attribute(Attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
        })
    }

    pub(crate) fn parameters(&self) -> &[usize] {
        &self.parameters
    }

    /// Lets a launch have so much shared memory beyond what the kernel declares.
    pub(crate) fn allow_shared(&self, bytes: u32) -> Result<()> {
        self.module.context.bind()?;
        let (which, bytes) = (
            Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
            i32::try_from(bytes).unwrap_or(i32::MAX),
        );
        // SAFETY: the function is alive as its module is.
        check("cuFuncSetAttribute", unsafe { sys::cuFuncSetAttribute(self.raw, which, bytes) })
    }

    fn attribute(&self, which: Attribute) -> Result<usize> {
        self.module.context.bind()?;
        let mut value = 0;
        // SAFETY: writes one integer; the function is alive as its module is.
        check("cuFuncGetAttribute", unsafe { sys::cuFuncGetAttribute(&raw mut value, which, self.raw) })?;
        Ok(usize::try_from(value).unwrap_or(0))
    }

    /// Blocks of this geometry that one multiprocessor holds at a time.
    pub(crate) fn blocks_per_multiprocessor(&self, geometry: &Geometry) -> Result<usize> {
        self.module.context.bind()?;
        let mut blocks = 0;
        let threads = i32::try_from(geometry.threads_per_block()).unwrap_or(i32::MAX);
        // SAFETY: writes one integer.
        let answer = unsafe {
            sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(
                &raw mut blocks,
                self.raw,
                threads,
                geometry.shared_bytes as usize,
            )
        };
        check("cuOccupancyMaxActiveBlocksPerMultiprocessor", answer)?;
        Ok(usize::try_from(blocks).unwrap_or(0))
    }

    /// Queues one launch. Number and sizes of the arguments are checked; that addresses among them
    /// are good for what the kernel does with them is for the launcher to see to.
    pub(crate) fn launch(
        &self,
        stream: &RawStream,
        geometry: &Geometry,
        arguments: &[Argument],
    ) -> Result<()> {
        let sizes = arguments.iter().map(Argument::size);
        if !sizes.clone().eq(self.parameters.iter().copied()) {
            return Err(CudaError::Arguments {
                kernel: self.name.clone(),
                given: arguments.len(),
                given_bytes: sizes.sum(),
                taken: self.parameters.len(),
                taken_bytes: self.parameters.iter().sum(),
            });
        }
        self.module.context.bind()?;
        let mut pointers: Vec<*mut c_void> =
            arguments.iter().map(|argument| argument.address().cast_mut()).collect();
        let mut cluster = CUlaunchAttribute {
            id: CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
            pad: [0; 4],
            value: CUlaunchAttributeValue { pad: [0; 64] },
        };
        cluster.value.clusterDim.x = geometry.cluster;
        cluster.value.clusterDim.y = 1;
        cluster.value.clusterDim.z = 1;
        let config = CUlaunchConfig {
            gridDimX: geometry.grid[0],
            gridDimY: geometry.grid[1],
            gridDimZ: geometry.grid[2],
            blockDimX: geometry.block[0],
            blockDimY: geometry.block[1],
            blockDimZ: geometry.block[2],
            sharedMemBytes: geometry.shared_bytes,
            hStream: stream.raw(),
            attrs: &raw mut cluster,
            // A cluster of one is no cluster, and older devices know none.
            numAttrs: u32::from(geometry.cluster > 1),
        };
        // SAFETY: as many pointers as the kernel has parameters, each to a value of that size; the
        // driver copies values and configuration before it returns.
        let answer = unsafe {
            sys::cuLaunchKernelEx(&raw const config, self.raw, pointers.as_mut_ptr(), std::ptr::null_mut())
        };
        check("cuLaunchKernel", answer)
    }
}
