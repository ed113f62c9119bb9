//! NVRTC: CUDA C++ to machine code inside this process, without a toolkit and without a device.

use std::ffi::{CStr, CString, c_char};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use cudarc::nvrtc::sys::{self, nvrtcProgram, nvrtcResult};

use crate::error::{CudaError, Result, Version};

/// Where toolkits put it when it is not on the loader's path.
const TOOLKIT: &str = "/usr/local/cuda/lib64/libnvrtc.so.13";

/// Finds the compiler, once a process: the bindings panic without it. A library opened by its path
/// answers to its name afterwards, so it is opened here and kept.
fn present() -> bool {
    static PRESENT: OnceLock<bool> = OnceLock::new();
    *PRESENT.get_or_init(|| {
        let named = std::env::var_os("ROOFLINE_NVRTC").map(PathBuf::from);
        if let Some(path) = &named {
            return open(path);
        }
        // SAFETY: opens libraries by their usual names; their initialisers may run.
        let installed = unsafe { sys::is_culib_present() };
        installed || open(Path::new(TOOLKIT))
    })
}

fn open(path: &Path) -> bool {
    // SAFETY: the user or the toolkit names a library whose initialisers may run.
    match unsafe { libloading::Library::new(path) } {
        Ok(library) => {
            std::mem::forget(library);
            // SAFETY: as in `present`.
            unsafe { sys::is_culib_present() }
        }
        Err(_) => false,
    }
}

fn check(doing: &'static str, answer: nvrtcResult) -> Result<()> {
    if answer == nvrtcResult::NVRTC_SUCCESS {
        return Ok(());
    }
    // SAFETY: the string lives as long as the library, which is kept.
    let reason = unsafe { CStr::from_ptr(sys::nvrtcGetErrorString(answer)) };
    Err(CudaError::Compiler { doing, reason: reason.to_string_lossy().into_owned() })
}

/// The compiler's version, or that there is none.
pub(crate) fn compiler_version() -> Result<Version> {
    if !present() {
        return Err(CudaError::NoCompiler);
    }
    let (mut major, mut minor) = (0, 0);
    // SAFETY: writes two integers.
    check("nvrtcVersion", unsafe { sys::nvrtcVersion(&raw mut major, &raw mut minor) })?;
    Ok(Version { major: u32::try_from(major).unwrap_or(0), minor: u32::try_from(minor).unwrap_or(0) })
}

/// One translation unit.
pub(crate) struct Program(nvrtcProgram);

impl Program {
    /// `headers` are names and texts of what the source includes; no file is read.
    pub(crate) fn new(file: &str, source: &str, headers: &[(&str, &str)]) -> Result<Program> {
        compiler_version()?;
        let text = |what: &str| {
            CString::new(what).map_err(|_| CudaError::Compiler {
                doing: "reading the source",
                reason: format!("`{file}` or a header of it has a byte 0"),
            })
        };
        let (name, source) = (text(file)?, text(source)?);
        let names = headers.iter().map(|(name, _)| text(name)).collect::<Result<Vec<_>>>()?;
        let texts = headers.iter().map(|(_, body)| text(body)).collect::<Result<Vec<_>>>()?;
        let name_pointers: Vec<*const c_char> = names.iter().map(|name| name.as_ptr()).collect();
        let text_pointers: Vec<*const c_char> = texts.iter().map(|text| text.as_ptr()).collect();
        let mut raw: nvrtcProgram = std::ptr::null_mut();
        // SAFETY: every string ends with 0 and outlives the call, which copies them.
        let answer = unsafe {
            sys::nvrtcCreateProgram(
                &raw mut raw,
                source.as_ptr(),
                name.as_ptr(),
                i32::try_from(headers.len()).unwrap_or(0),
                text_pointers.as_ptr(),
                name_pointers.as_ptr(),
            )
        };
        check("nvrtcCreateProgram", answer)?;
        Ok(Program(raw))
    }

    /// Whether it compiled. [`Program::log`] says why not.
    pub(crate) fn compile(&self, options: &[String]) -> Result<bool> {
        let options: Vec<CString> =
            options.iter().map(|option| CString::new(option.as_str()).unwrap_or_default()).collect();
        let pointers: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        let count = i32::try_from(pointers.len()).unwrap_or(0);
        // SAFETY: the program is alive, every option ends with 0.
        let answer = unsafe { sys::nvrtcCompileProgram(self.0, count, pointers.as_ptr()) };
        if answer == nvrtcResult::NVRTC_ERROR_COMPILATION {
            return Ok(false);
        }
        check("nvrtcCompileProgram", answer)?;
        Ok(true)
    }

    pub(crate) fn log(&self) -> Result<String> {
        let mut size = 0;
        // SAFETY: writes one integer.
        check("nvrtcGetProgramLogSize", unsafe { sys::nvrtcGetProgramLogSize(self.0, &raw mut size) })?;
        let mut log = vec![0u8; size];
        // SAFETY: writes `size` bytes, which are there.
        check("nvrtcGetProgramLog", unsafe { sys::nvrtcGetProgramLog(self.0, log.as_mut_ptr().cast()) })?;
        let text = String::from_utf8_lossy(&log);
        Ok(text.trim_end_matches('\0').trim_end().to_string())
    }

    pub(crate) fn cubin(&self) -> Result<Vec<u8>> {
        let mut size = 0;
        // SAFETY: writes one integer.
        check("nvrtcGetCUBINSize", unsafe { sys::nvrtcGetCUBINSize(self.0, &raw mut size) })?;
        let mut cubin = vec![0u8; size];
        // SAFETY: writes `size` bytes, which are there.
        check("nvrtcGetCUBIN", unsafe { sys::nvrtcGetCUBIN(self.0, cubin.as_mut_ptr().cast()) })?;
        Ok(cubin)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: made once, destroyed once.
        _ = unsafe { sys::nvrtcDestroyProgram(&raw mut self.0) };
    }
}
