//! What can go wrong, each said in one to three lines.

/// Why there is no device to work with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoCuda {
    #[error("no CUDA device: the driver library `libcuda.so` is not installed")]
    NoDriver,
    #[error(
        "no CUDA device: the driver speaks CUDA {found}, and {needed} or newer is needed; update the driver"
    )]
    OldDriver { found: Version, needed: Version },
    #[error("no CUDA device: `CUDA_VISIBLE_DEVICES` is set and names none")]
    Hidden,
    #[error("no CUDA device: the driver is there and sees no card")]
    NoDevice,
    #[error("no CUDA device: the driver does not start: {reason}")]
    NotStarted { reason: String },
}

/// A version of CUDA, as the driver and the compiler say theirs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    pub major: u32,
    pub minor: u32,
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// What a call of this library can answer instead of a result.
#[derive(Debug, thiserror::Error)]
pub enum CudaError {
    #[error(transparent)]
    NoCuda(#[from] NoCuda),
    #[error("there is no device {ordinal}: {count} are there, counted from 0")]
    NoSuchDevice { ordinal: usize, count: usize },
    #[error("{doing}: {name}: {text}")]
    Driver { doing: &'static str, name: String, text: String },
    #[error(
        "no compiler: `libnvrtc.so.13` is not found; install the package `nvidia-cuda-nvrtc` or name the file in `ROOFLINE_NVRTC`"
    )]
    NoCompiler,
    #[error("the compiler does not do its part ({doing}): {reason}")]
    Compiler { doing: &'static str, reason: String },
    #[error("`{file}` does not compile for {architecture}:\n{log}")]
    Compile { file: String, architecture: String, log: String },
    #[error(
        "`{kernel}` was given {given} arguments of {given_bytes} bytes, and takes {taken} of {taken_bytes}"
    )]
    Arguments { kernel: String, given: usize, given_bytes: usize, taken: usize, taken_bytes: usize },
    #[error("{what} has {got} elements where {wanted} are needed")]
    Length { what: &'static str, got: usize, wanted: usize },
    #[error("{what} is {got}, and {most} is the most that one launch can do")]
    TooLarge { what: &'static str, got: usize, most: usize },
    #[error("memory of {bytes} bytes was asked for, which is more than can be addressed")]
    Overflow { bytes: usize },
    #[error("the plan does not hold rows of {cols} elements at these addresses: {plan}")]
    Plan { cols: usize, plan: String },
    #[error("this memory was mapped for reading alone")]
    ReadOnly,
    #[error("there is no {kind} `{name}`")]
    Missing { kind: &'static str, name: String },
    #[error("`{name}` has {bytes} bytes at address {address:#x}, which are no elements of {size} bytes")]
    Elements { name: String, bytes: usize, address: u64, size: usize },
    /// A case that this kernel does not take, and another may.
    #[error("{0}")]
    Unsupported(String),
}

pub type Result<T, E = CudaError> = std::result::Result<T, E>;
