//! A user's kernel without host code of its own: `--cuda mine.cu`, or a cubin with `mine.toml` beside it.
//!
//! A source says in comments at its top, lines that begin with `//!`, how its kernels are launched; for a cubin the same
//! text is a file of its own. It is TOML:
//!
//! ```toml
//! [[kernel]]
//! name = "fast"                            # the row is mine/fast
//! operation = "softmax"
//! dtypes = ["f32"]
//! entry = "softmax_fast"                   # an `extern "C" __global__` function
//! arguments = ["x", "y", "rows", "cols"]   # tensors, axes and parameters of the operation, by name
//! grid = ["rows"]                          # sizes of one launch: numbers, axes, + - * and /, which rounds up
//! block = ["256"]
//! ```
//!
//! The house launches it: no foreign host code lives in the process that is timed.

use super::kernels::Launch;
use super::refusal;
use crate::kernel::{failed, unsupported};
use roofline_core::operation::{self, Operation};
use roofline_core::protocol::{Offer, Place, Prepare, Refusal};
use roofline_cuda::{Argument, Device, Geometry, Kernel, SharedMemory, Source, Stream, Variant};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file with kernels, and what it says of them.
pub(super) struct CudaFile {
    path: PathBuf,
    pub(super) provider: String,
    kernels: Vec<Described>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Description {
    kernel: Vec<Described>,
}

/// How one kernel is launched.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Described {
    name: String,
    operation: String,
    dtypes: Vec<String>,
    entry: String,
    arguments: Vec<String>,
    grid: Vec<String>,
    block: Vec<String>,
    /// Bytes of shared memory beyond what it declares.
    #[serde(default)]
    shared: Option<String>,
    /// Neighbouring blocks that see each other's shared memory.
    #[serde(default)]
    cluster: Option<u32>,
    #[serde(default)]
    about: String,
    #[serde(default)]
    requires: String,
    #[serde(default)]
    params: Vec<String>,
}

impl CudaFile {
    pub(super) fn read(path: &Path) -> Result<CudaFile, String> {
        let show = |why: String| format!("{}: {why}", path.display());
        let provider = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let text = match path.extension().is_some_and(|extension| extension == "cubin") {
            true => std::fs::read_to_string(path.with_extension("toml")).map_err(|error| {
                show(format!("`{provider}.toml` beside it says how it is launched: {error}"))
            })?,
            false => header(&std::fs::read_to_string(path).map_err(|error| show(error.to_string()))?),
        };
        let described: Description =
            toml::from_str(&text).map_err(|error| show(format!("its launch description: {error}")))?;
        for kernel in &described.kernel {
            kernel.check().map_err(|why| show(format!("kernel `{}`: {why}", kernel.name)))?;
        }
        Ok(CudaFile { path: path.to_owned(), provider, kernels: described.kernel })
    }

    pub(super) fn offers(&self) -> Vec<Offer> {
        let offer = |kernel: &Described| Offer {
            about: kernel.about.clone(),
            devices: vec!["cuda".to_owned()],
            requires: kernel.requires.clone(),
            params: kernel.params.clone(),
            dtypes: kernel.dtypes.clone(),
            ..Offer::new(&format!("{}/{}", self.provider, kernel.name), &kernel.operation, &[])
        };
        self.kernels.iter().map(offer).collect()
    }

    /// The launches of a question, one for each set of its tensors.
    pub(super) fn prepare(
        &self,
        stream: &Stream,
        request: &Prepare,
        memory: &[SharedMemory],
    ) -> Result<Vec<Launch>, Refusal> {
        let form = operation::form(&request.operation, &request.variant);
        let name = request.implementation.split('/').next_back().unwrap_or_default();
        let is_meant = |kernel: &&Described| kernel.name == name && kernel.operation == form;
        let missing = || unsupported(format!("`{}` has no `{form}`", request.implementation));
        let described = self.kernels.iter().find(is_meant).ok_or_else(missing)?;
        if !described.dtypes.contains(&request.precision) {
            return Err(unsupported(format!("`{}` has no {}", request.implementation, request.precision)));
        }
        let kernel = self.load(stream.device(), &described.entry)?;
        let value = |text: &String| evaluate(text, &|name| request.axes.get(name).copied());
        let geometry = described.geometry(&value).map_err(failed)?;
        let sets = request.tensors.iter().map(Place::count).min().unwrap_or(1);
        let launch = |set: u64| -> Result<Launch, Refusal> {
            let sizes = kernel.parameters().to_vec();
            if sizes.len() != described.arguments.len() {
                let (entry, takes, given) = (&described.entry, sizes.len(), described.arguments.len());
                return Err(failed(format!("`{entry}` takes {takes} arguments; `arguments` names {given}")));
            }
            let argument = |(name, size): (&String, usize)| argument(request, memory, set, name, size);
            let arguments: Vec<Argument> =
                described.arguments.iter().zip(sizes).map(argument).collect::<Result<_, _>>()?;
            let kernel = kernel.clone();
            Ok(Box::new(move |stream: &Stream| kernel.run(stream, &geometry, &arguments)))
        };
        (0..sets).map(launch).collect()
    }

    fn load(&self, device: &Device, entry: &str) -> Result<Arc<Kernel>, Refusal> {
        let unreadable = |error: std::io::Error| failed(format!("{}: {error}", self.path.display()));
        if self.path.extension().is_some_and(|extension| extension == "cubin") {
            let cubin = std::fs::read(&self.path).map_err(unreadable)?;
            return device.load(&cubin, entry).map_err(refusal);
        }
        let text = std::fs::read_to_string(&self.path).map_err(unreadable)?;
        // A process has one file, whose text lives as long as it.
        let source = Source {
            file: Box::leak(self.path.display().to_string().into_boxed_str()),
            text: Box::leak(text.into_boxed_str()),
            entry: Box::leak(entry.to_owned().into_boxed_str()),
        };
        device.kernel(&source, &Variant::bare(&[])).map_err(refusal)
    }
}

/// The lines at the top of a source that describe its launches.
fn header(text: &str) -> String {
    let lines = text.lines().take_while(|line| line.trim().is_empty() || line.starts_with("//"));
    lines.filter_map(|line| line.strip_prefix("//!")).fold(String::new(), |all, line| all + line + "\n")
}

/// A tensor's address, or an axis or a parameter in as many bytes as the kernel takes.
fn argument(
    request: &Prepare,
    memory: &[SharedMemory],
    set: u64,
    name: &str,
    size: usize,
) -> Result<Argument, Refusal> {
    if let Some(index) = request.tensors.iter().position(|place| place.name == name) {
        let place = request.tensors[index].of_set(set);
        let bytes =
            memory[index].elements::<u8>(place.offset as usize, place.bytes as usize).map_err(refusal)?;
        return Ok(Argument::Address(bytes.as_slice().address()));
    }
    let axis = request.axes.get(name).map(|value| *value as i64);
    match (axis, request.params.get(name), size) {
        (Some(value), _, 8) => Ok(Argument::I64(value)),
        (Some(value), _, 4) => {
            let narrow =
                i32::try_from(value).map_err(|_| unsupported(format!("`{name}` of {value} is too large")))?;
            Ok(Argument::I32(narrow))
        }
        (None, Some(value), 4) => Ok(Argument::F32(*value as f32)),
        (None, None, _) => {
            Err(failed(format!("`{name}` is no tensor, axis or parameter of `{}`", request.case)))
        }
        _ => Err(failed(format!("`{name}` is taken in {size} bytes, which nothing of its kind has"))),
    }
}

impl Described {
    /// What can be seen without a case.
    fn check(&self) -> Result<(), String> {
        let name = self.operation.split('.').next().unwrap_or_default();
        let known = Operation::find(name).map_err(|near| match near {
            Some(near) => format!("there is no operation `{name}`; did you mean `{near}`?"),
            None => format!("there is no operation `{name}`"),
        })?;
        let axes = known.axis_names();
        let is_axis = |name: &str| axes.contains(&name).then_some(1);
        let sizes = self.grid.iter().chain(&self.block).chain(&self.shared);
        for text in sizes {
            evaluate(text, &is_axis)
                .map_err(|why| format!("`{text}`: {why}; the axes are {}", axes.join(", ")))?;
        }
        if !(1..=3).contains(&self.grid.len()) || !(1..=3).contains(&self.block.len()) {
            return Err("`grid` and `block` have one to three sizes".to_owned());
        }
        Ok(())
    }

    fn geometry(&self, value: &dyn Fn(&String) -> Result<u64, String>) -> Result<Geometry, String> {
        let sizes = |texts: &[String]| -> Result<[u32; 3], String> {
            let mut sizes = [1; 3];
            for (size, text) in sizes.iter_mut().zip(texts) {
                let number = value(text)?;
                *size = u32::try_from(number).map_err(|_| format!("`{text}` is {number}: too large"))?;
            }
            Ok(sizes)
        };
        let shared = self.shared.as_ref().map(value).transpose()?.unwrap_or(0);
        Ok(Geometry {
            grid: sizes(&self.grid)?,
            block: sizes(&self.block)?,
            shared_bytes: u32::try_from(shared).map_err(|_| format!("{shared} bytes of shared memory"))?,
            cluster: self.cluster.unwrap_or(1),
        })
    }
}

/// The value of an expression over numbers and axes: + - * and /, which rounds up, and parentheses.
fn evaluate(text: &str, axis: &dyn Fn(&str) -> Option<u64>) -> Result<u64, String> {
    let mut words = Words { rest: text, axis };
    let value = words.sum()?;
    if words.next().is_empty() { Ok(value) } else { Err(format!("`{}` is left over", words.rest)) }
}

struct Words<'a> {
    rest: &'a str,
    axis: &'a dyn Fn(&str) -> Option<u64>,
}

impl Words<'_> {
    /// The next word, which stays where it is.
    fn next(&mut self) -> &str {
        self.rest = self.rest.trim_start();
        let is_part = |byte: char| byte.is_ascii_alphanumeric() || byte == '_';
        let length = self.rest.find(|byte: char| !is_part(byte)).unwrap_or(self.rest.len());
        &self.rest[..length.max(usize::from(!self.rest.is_empty()))]
    }

    fn take(&mut self, word: &str) -> bool {
        let is_it = self.next() == word;
        if is_it {
            self.rest = &self.rest[word.len()..];
        }
        is_it
    }

    fn sum(&mut self) -> Result<u64, String> {
        let mut value = self.product()?;
        loop {
            let overflow = "it is too large, or below zero".to_owned();
            if self.take("+") {
                value = value.checked_add(self.product()?).ok_or(overflow)?;
            } else if self.take("-") {
                value = value.checked_sub(self.product()?).ok_or(overflow)?;
            } else {
                return Ok(value);
            }
        }
    }

    fn product(&mut self) -> Result<u64, String> {
        let mut value = self.factor()?;
        loop {
            if self.take("*") {
                value = value.checked_mul(self.factor()?).ok_or("it is too large")?;
            } else if self.take("/") {
                value = match self.factor()? {
                    0 => return Err("it divides by zero".to_owned()),
                    divisor => value.div_ceil(divisor),
                };
            } else {
                return Ok(value);
            }
        }
    }

    fn factor(&mut self) -> Result<u64, String> {
        if self.take("(") {
            let value = self.sum()?;
            return if self.take(")") { Ok(value) } else { Err("a parenthesis stays open".to_owned()) };
        }
        let word = self.next().to_owned();
        self.rest = &self.rest[word.len()..];
        let value = word.parse().ok().or_else(|| (self.axis)(&word));
        value.ok_or_else(|| format!("`{word}` is no number and no axis"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_computed_from_axes() {
        let axis =
            |name: &str| [("rows", 10), ("cols", 1000)].into_iter().find(|(n, _)| *n == name).map(|(_, v)| v);
        let value = |text: &str| evaluate(text, &axis);
        assert_eq!(value("rows"), Ok(10));
        assert_eq!(value("cols / 256"), Ok(4), "rounded up");
        assert_eq!(value("(rows + 2) * 3 - 1"), Ok(35));
        assert_eq!(value("rows * cols / 4096"), Ok(3));
        for text in ["", "row", "rows /", "rows / 0", "(rows", "rows cols", "1 - rows", "rows; 1"] {
            assert!(value(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_file_says_how_it_is_launched() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("my_own.cu");
        let text = |more: &str| {
            format!(
                "//! [[kernel]]\n//! name = \"fast\"\n//! operation = \"softmax\"\n//! dtypes = [\"f32\"]\n\
                 //! entry = \"fast\"\n//! arguments = [\"x\", \"y\", \"rows\", \"cols\"]\n//! grid = [\"rows\"]\n\
                 {more}\n// A word about it.\nextern \"C\" __global__ void fast() {{}}\n//! not = \"here\"\n"
            )
        };
        std::fs::write(&path, text("//! block = [\"256\"]")).unwrap();
        let file = CudaFile::read(&path).unwrap();
        let offers = file.offers();
        assert_eq!(offers.len(), 1);
        assert_eq!(
            (offers[0].implementation.as_str(), offers[0].operation.as_str()),
            ("my_own/fast", "softmax")
        );
        assert_eq!(
            (&offers[0].devices[..], &offers[0].dtypes[..]),
            (&["cuda".to_owned()][..], &["f32".to_owned()][..])
        );
        for (more, why) in [
            ("", "missing field `block`"),
            ("//! block = [\"256\"]\n//! blocks = 3", "unknown field"),
            ("//! block = [\"lines\"]", "no number and no axis; the axes are rows, cols"),
            ("//! block = []", "one to three sizes"),
        ] {
            std::fs::write(&path, text(more)).unwrap();
            let told = CudaFile::read(&path).err().unwrap();
            assert!(told.contains("my_own.cu") && told.contains(why), "{told}");
        }
    }
}
