//! CUDA C++ to machine code, through the cache.

use std::fmt;

use crate::cache::Cache;
use crate::element::Element;
use crate::error::{CudaError, Result};
use crate::sys::{Program, compiler_version};

/// What every source may include.
const HEADERS: &[(&str, &str)] = &[
    ("apart.cuh", include_str!("quantize/apart.cuh")),
    ("async.cuh", include_str!("async.cuh")),
    ("attention.cuh", include_str!("attention/attention.cuh")),
    ("codes.cuh", include_str!("quantize/codes.cuh")),
    ("coded.cuh", include_str!("thin/coded.cuh")),
    ("element.cuh", include_str!("element.cuh")),
    ("exp.cuh", include_str!("exp.cuh")),
    ("finish.cuh", include_str!("layer_norm/finish.cuh")),
    ("fp8.cuh", include_str!("quantize/fp8.cuh")),
    ("found.cuh", include_str!("reduce/found.cuh")),
    ("math.cuh", include_str!("math.cuh")),
    ("matrix.cuh", include_str!("matrix.cuh")),
    ("maps.cuh", include_str!("movement/maps.cuh")),
    ("norm_codes.cuh", include_str!("add_rms_norm/norm_codes.cuh")),
    ("philox.cuh", include_str!("dropout/philox.cuh")),
    ("rms.cuh", include_str!("rms_norm/rms.cuh")),
    ("rope.cuh", include_str!("rope/rope.cuh")),
    ("rows.cuh", include_str!("rows.cuh")),
    ("split.cuh", include_str!("attention/split.cuh")),
    ("stream.cuh", include_str!("stream.cuh")),
    ("thin.cuh", include_str!("thin/thin.cuh")),
    ("together.cuh", include_str!("together.cuh")),
    ("wide.cuh", include_str!("reduce/wide.cuh")),
];

/// A `.cu` file with one kernel.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    /// As messages of the compiler show it.
    pub file: &'static str,
    pub text: &'static str,
    /// The kernel's name.
    pub entry: &'static str,
}

/// One of the forms that a source compiles to: its number type and its constants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    element: Option<&'static str>,
    /// What is text to the compiler: the formula of a kernel that has room for any.
    texts: Vec<(&'static str, &'static str)>,
    constants: Vec<(&'static str, u32)>,
}

impl Variant {
    pub fn of<T: Element>(constants: &[(&'static str, u32)]) -> Variant {
        Variant { element: Some(T::DEFINE), texts: Vec::new(), constants: constants.to_vec() }
    }

    /// For sources that know no number type.
    pub fn bare(constants: &[(&'static str, u32)]) -> Variant {
        Variant { element: None, texts: Vec::new(), constants: constants.to_vec() }
    }

    /// With a name that stands for a text, such as an expression.
    pub fn with(mut self, name: &'static str, text: &'static str) -> Variant {
        self.texts.push((name, text));
        self
    }

    /// As the compiler is told.
    fn options(&self) -> impl Iterator<Item = String> {
        let constants = self.constants.iter().map(|(name, value)| format!("-D{name}={value}"));
        let texts = self.texts.iter().map(|(name, text)| format!("-D{name}={text}"));
        self.element.iter().map(|element| format!("-D{element}")).chain(texts).chain(constants)
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.options().collect::<Vec<_>>().join(" "))
    }
}

/// Where machine code came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    Compiled,
    Cache,
    /// By somebody else.
    Given,
}

/// Machine code for one architecture.
#[derive(Clone, Debug)]
pub struct Compiled {
    pub cubin: Vec<u8>,
    pub origin: Origin,
    /// What the assembler said about registers and spills; empty from the cache.
    pub log: String,
}

/// Compiles a source for an architecture (`sm_90a`), or takes it from the cache. The key is all that
/// the result depends on: texts, options, architecture, the compiler's version.
pub fn compile(source: &Source, variant: &Variant, architecture: &str, cache: &Cache) -> Result<Compiled> {
    let version = compiler_version()?;
    let options: Vec<String> = [
        format!("--gpu-architecture={architecture}"),
        "--std=c++17".to_string(),
        "-default-device".to_string(),
        "-lineinfo".to_string(),
        "--ptxas-options=-v".to_string(),
    ]
    .into_iter()
    .chain(variant.options())
    .collect();
    let key = key(source, &options, &version.to_string());
    if let Some(cubin) = cache.get(&key) {
        return Ok(Compiled { cubin, origin: Origin::Cache, log: String::new() });
    }
    let program = Program::new(source.file, source.text, HEADERS)?;
    let done = program.compile(&options)?;
    let log = program.log()?;
    if !done {
        return Err(CudaError::Compile {
            file: source.file.to_string(),
            architecture: architecture.to_string(),
            log,
        });
    }
    let cubin = program.cubin()?;
    // A cache that cannot be written costs time and nothing else.
    _ = cache.put(&key, &cubin);
    Ok(Compiled { cubin, origin: Origin::Compiled, log })
}

fn key(source: &Source, options: &[String], version: &str) -> String {
    let mut key = format!("nvrtc {version}\n{}\n", options.join(" "));
    for (name, text) in HEADERS.iter().chain([&(source.file, source.text)]) {
        key.push_str(&format!("{name} {}\n{text}\n", text.len()));
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: Source = Source { file: "a.cu", text: "x", entry: "a" };

    #[test]
    fn the_key_knows_source_options_and_compiler() {
        let options = ["-DA=1".to_string()];
        let one = key(&SOURCE, &options, "13.2");
        assert_eq!(one, key(&SOURCE, &options, "13.2"));
        let others = [
            key(&Source { text: "y", ..SOURCE }, &options, "13.2"),
            key(&SOURCE, &["-DA=2".to_string()], "13.2"),
            key(&SOURCE, &options, "13.3"),
        ];
        assert!(!others.contains(&one));
    }

    #[test]
    fn a_variant_is_its_options() {
        assert_eq!(Variant::of::<f32>(&[("THREADS", 32)]).to_string(), "-DELEMENT_F32 -DTHREADS=32");
    }
}
