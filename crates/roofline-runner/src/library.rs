//! The built-in runner over a user's shared library: `roofline runner lib ./mine.so`.
//!
//! The library declares what it has by `roofline.h`; a declaration that cannot be meant is refused with the
//! row and the word that are wrong, before anything is launched.

use crate::job::Job;
use crate::kernel::{Kernel, Ready, Runner, failed, out_of_memory, unsupported};
use crate::session::{refuse, serve as host};
use crate::sys::library::{self, DeclaredOffer, DeclaredOperation, Functions, Prepared, Words};
use roofline_core::dtype::Dtype;
use roofline_core::names::{is_implementation, is_provider};
use roofline_core::nearest::nearest;
use roofline_core::operation::Operation;
use roofline_core::operation::own::{Declarer, Own, Purpose};
use roofline_core::ops;
use roofline_core::protocol::{Hello, Offer, Refusal, VERSION, condition, cpu};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

/// The header that a library is built with.
pub const HEADER: &str = include_str!("../include/roofline.h");

/// Version of that header.
const INTERFACE: u32 = 4;

/// Hosts the kernels of a library until the conductor leaves.
pub fn serve(path: &Path) -> ExitCode {
    match LibraryRunner::open(path) {
        Ok(runner) => host(runner),
        Err(why) => refuse(failed(format!("`{}` {why}", path.display()))),
    }
}

/// The provider of a library's implementations: the name of its file as it is written, `mine` for `libmine.so.2`.
pub fn provider(path: &Path) -> Option<String> {
    let file = path.file_name()?.to_str()?;
    let stem = file.strip_suffix(".so").or_else(|| Some(file.rsplit_once(".so.")?.0)).unwrap_or(file);
    let name = stem.strip_prefix("lib").filter(|rest| !rest.is_empty()).unwrap_or(stem);
    is_provider(name).then(|| name.to_owned())
}

/// Offers what a library declares, as `FILE/NAME`.
struct LibraryRunner {
    provider: String,
    version: String,
    checksum: String,
    rows: Vec<(Offer, Functions)>,
    operations: Vec<DeclaredOperation>,
}

impl LibraryRunner {
    fn open(path: &Path) -> Result<LibraryRunner, String> {
        let provider = provider(path).ok_or("gives no name to its implementations; call it `mine.so`")?;
        let content = std::fs::read(path).map_err(|error| format!("cannot be read: {error}"))?;
        let declared = library::open(path, INTERFACE)?;
        bring(&declared.operations)?;
        let mut rows: Vec<(Offer, Functions)> = Vec::new();
        for (index, row) in declared.offers.iter().enumerate() {
            let (offer, functions) =
                check(row, &provider).map_err(|why| format!("declares a broken offer {index}: {why}"))?;
            let same = |(other, _): &&(Offer, Functions)| {
                other.implementation == offer.implementation
                    && other.operation == offer.operation
                    && other.dtypes.iter().any(|dtype| offer.dtypes.contains(dtype))
            };
            if rows.iter().find(same).is_some() {
                let (name, operation) = (offer.implementation, offer.operation);
                return Err(format!(
                    "declares `{name}` for `{operation}` twice in one dtype; name one of them otherwise"
                ));
            }
            rows.push((offer, functions));
        }
        if rows.is_empty() && declared.operations.is_empty() {
            return Err("offers nothing: its table has no rows".to_owned());
        }
        let checksum = format!("{:016x}", fnv(&content));
        let own = declared.version.filter(|version| !version.trim().is_empty());
        let version = own.unwrap_or_else(|| format!("file {checksum}"));
        Ok(LibraryRunner { provider, version, checksum, rows, operations: declared.operations })
    }

    /// The function that a purpose of an operation of its own is for.
    fn own(&self, operation: &str, purpose: Purpose) -> Result<Functions, Refusal> {
        let own = self.operations.iter().find(|own| own.texts.name == operation);
        let functions = own.and_then(|own| match purpose {
            Purpose::Reference => own.reference,
            Purpose::Evaluate => own.evaluate,
        });
        functions.ok_or_else(|| unsupported(format!("declares no such function of `{operation}`")))
    }
}

/// Makes the operations of a library known to this process, so that its offers can be read; the conductor brings them
/// along itself.
fn bring(operations: &[DeclaredOperation]) -> Result<(), String> {
    let mut rows: Vec<Operation> = Vec::new();
    for (index, DeclaredOperation { texts, reference, evaluate }) in operations.iter().enumerate() {
        let of_row = |why: String| {
            format!("declares a broken operation {index}, `{}`: {why}", texts.name.escape_debug())
        };
        if reference.is_none() {
            return Err(of_row("`reference` is NULL".to_owned()));
        }
        let own =
            Own::parse(texts.clone(), Declarer::default(), |_, _, _| Err("is asked elsewhere".to_owned()));
        let own = own.map_err(of_row)?;
        if own.model.evaluates() && evaluate.is_none() {
            return Err(of_row("`evaluate` is NULL, which a calibrated bound needs".to_owned()));
        }
        rows.push(own.row());
    }
    if rows.is_empty() { Ok(()) } else { ops::bring(rows).map_err(|why| format!("declares a broken {why}")) }
}

/// An offer that can be meant, or what is wrong with it.
fn check(row: &DeclaredOffer, provider: &str) -> Result<(Offer, Functions), String> {
    let name = row.name.as_deref().ok_or("`name` is NULL")?;
    let implementation = format!("{provider}/{name}");
    if !is_implementation(&implementation) {
        return Err(format!(
            "`name` is \"{}\"; write letters, digits, `-`, `_` and `.`, such as \"fast\"",
            name.escape_debug()
        ));
    }
    let of_row = |why: String| format!("`{name}`: {why}");
    let operation = row.operation.as_deref().ok_or_else(|| of_row("`operation` is NULL".to_owned()))?;
    let forms: Vec<String> = ops::operations().flat_map(|operation| operation.forms()).collect();
    let Some(known) = ops::operations().find(|known| known.forms().any(|form| form == operation)) else {
        let known = match nearest(operation, forms.iter().map(String::as_str)) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => format!("there are {}", forms.join(", ")),
        };
        return Err(of_row(format!("there is no operation \"{}\"; {known}", operation.escape_debug())));
    };
    let words = |text: &Option<String>| -> Vec<String> {
        let text = text.as_deref().unwrap_or_default();
        text.split(',').map(|word| word.trim().to_owned()).collect()
    };
    let dtypes = words(&row.dtypes);
    let is_known = |id: &str| id.parse::<Dtype>().is_ok() || known.precision(id).is_some();
    if let Some(dtype) = dtypes.iter().find(|id| !is_known(id)) {
        let near = nearest(dtype, Dtype::ALL.iter().map(|known| known.name())).unwrap_or("f32,bf16");
        let why = format!("`dtypes` has \"{}\"; write for example \"{near}\"", dtype.escape_debug());
        return Err(of_row(why));
    }
    let params: Vec<String> = words(&row.params).into_iter().filter(|name| !name.is_empty()).collect();
    if let Some(name) = params.iter().find(|name| !known.params.iter().any(|param| param.name == **name)) {
        let all: Vec<&str> = known.params.iter().map(|param| param.name).collect();
        let why = format!("`params` has \"{}\"; `{operation}` has: {}", name.escape_debug(), all.join(", "));
        return Err(of_row(why));
    }
    let functions = row.functions.ok_or_else(|| of_row("`launch` is NULL".to_owned()))?;
    let offer = Offer {
        dtypes,
        params,
        about: row.about.clone().unwrap_or_default(),
        parallel: row.parallel,
        requires: row.condition.clone().unwrap_or_default(),
        ..Offer::new(&implementation, operation, &[])
    };
    condition(&offer).map_err(|breach| of_row(breach.to_string()))?;
    Ok((offer, functions))
}

impl Runner for LibraryRunner {
    fn hello(&self) -> Hello {
        Hello {
            protocol: VERSION,
            runner: self.provider.clone(),
            version: self.version.clone(),
            devices: cpu(),
            offers: self.rows.iter().map(|(offer, _)| offer.clone()).collect(),
            operations: self.operations.iter().map(|own| own.texts.clone()).collect(),
            notes: BTreeMap::from([("file".to_owned(), self.checksum.clone())]),
        }
    }

    fn prepare(&mut self, mut job: Job) -> Result<Ready, Refusal> {
        let form = job.form();
        let is_meant = |offer: &Offer| offer.operation == form && offer.implementation == job.implementation;
        let rows = || self.rows.iter().filter(|(offer, _)| is_meant(offer));
        let own = job.precision();
        let (name, functions, is_parallel) = match job.purpose {
            Some(purpose) => (format!("the reference of {form}"), self.own(&form, purpose)?, false),
            None => {
                let row = rows().find(|(offer, _)| offer.dtypes.contains(&own)).or_else(|| rows().next());
                let (offer, functions) =
                    row.ok_or_else(|| unsupported(format!("`{}` has no `{form}`", job.implementation)))?;
                job.require(&offer.dtypes)?;
                (offer.implementation.clone(), *functions, offer.parallel)
            }
        };
        let (inputs, outputs) = job.bytes()?;
        let words = Words {
            case: &job.case,
            operation: &form,
            dtype: job.dtype,
            accumulator: &job.accumulator,
            precision: &own,
            params: job.params.iter().map(|(name, value)| (name.as_str(), *value)).collect(),
            axes: job.axes.iter().map(|(name, size)| (name.as_str(), *size)).collect(),
            threads: if is_parallel { job.threads } else { 1 },
        };
        let mut prepared = Prepared::new(functions, &words, &job.tensors, inputs, outputs);
        let code = prepared.prepare();
        if code != 0 {
            return Err(refusal(&format!("prepare of {name}"), code, prepared.message()));
        }
        let used = u32::try_from(prepared.threads()).unwrap_or(1).clamp(1, words.threads);
        let bytes = prepared.workspace_bytes();
        let kernel = LibraryKernel { name, prepared };
        Ok(Ready::new(kernel).threads(used).workspace(bytes))
    }
}

/// A kernel of a library, ready to launch.
struct LibraryKernel {
    name: String,
    prepared: Prepared,
}

impl Kernel for LibraryKernel {
    fn launch(&mut self) -> Result<(), Refusal> {
        match self.prepared.launch() {
            0 => Ok(()),
            code => Err(refusal(&self.name, code, self.prepared.message())),
        }
    }

    fn uses_our_heap(&self) -> bool {
        false
    }
}

fn refusal(who: &str, code: i32, message: Option<String>) -> Refusal {
    let message = message.unwrap_or_else(|| "it left no `message` in the job".to_owned());
    match code {
        1 => unsupported(message),
        2 => out_of_memory(format!("{who}: {message}")),
        code => failed(format!("{who} returned {code}: {message}")),
    }
}

/// FNV-1a: tells one build of a file from another, for the record.
fn fnv(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_names_the_provider() {
        for (file, name) in [
            ("mine.so", Some("mine")),
            ("/a/libmine.so.2", Some("mine")),
            ("My_Kernels.v2.so", Some("My_Kernels.v2")),
            ("mine.sorted.so", Some("mine.sorted")),
            ("my kernels.so", None),
            ("lib.so", Some("lib")),
            (".so", None),
            ("/", None),
        ] {
            assert_eq!(provider(Path::new(file)).as_deref(), name, "{file}");
        }
    }

    #[test]
    fn the_header_and_the_runner_have_one_version() {
        assert!(HEADER.contains(&format!("#define ROOFLINE_INTERFACE {INTERFACE}\n")));
    }
}
