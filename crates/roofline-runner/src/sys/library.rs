//! A user's shared library: the types of `roofline.h`, and the calls across it.
//!
//! What the library says and does cannot be checked by anyone; it is why a runner is a process. A library
//! once opened stays open, so its functions and texts last as long as the process.

use super::tensor::{Input, Output};
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use roofline_protocol::declaration::Declaration;
use roofline_protocol::dtype::Dtype;
use roofline_protocol::messages::Place;
use std::error::Error;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::mem::ManuallyDrop;
use std::path::Path;
use std::ptr::{null, null_mut};

/// `DLTensor` of DLPack.
#[repr(C)]
struct DlTensor {
    data: *mut c_void,
    device_type: i32,
    device_id: i32,
    axes: i32,
    dtype: DlDtype,
    shape: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct DlDtype {
    code: u8,
    bits: u8,
    lanes: u16,
}

const _: () = assert!(size_of::<DlTensor>() == 48 && size_of::<DlDtype>() == 4);

/// Of `DLDeviceType`.
const CPU: i32 = 1;

#[repr(C)]
struct RawAxis {
    name: *const c_char,
    size: i64,
}

#[repr(C)]
struct RawParam {
    name: *const c_char,
    value: f64,
}

#[repr(C)]
struct RawJob {
    case: *const c_char,
    operation: *const c_char,
    dtype: *const c_char,
    accumulator: *const c_char,
    axes: *const RawAxis,
    axis_count: usize,
    threads: i32,
    workspace_bytes: u64,
    workspace: *mut c_void,
    message: *const c_char,
    // Since interface 3.
    precision: *const c_char,
    params: *const RawParam,
    param_count: usize,
}

// A C++ kernel may throw: that ends the process, by the rules of the ABI and not by accident.
type Compute = unsafe extern "C-unwind" fn(*const DlTensor, *const DlTensor, *mut RawJob) -> c_int;
type Release = unsafe extern "C-unwind" fn(*mut RawJob);

/// A row of interface 1.
#[repr(C)]
struct RawOffer {
    name: *const c_char,
    operation: *const c_char,
    dtypes: *const c_char,
    launch: Option<Compute>,
    about: *const c_char,
    parallel: i32,
    prepare: Option<Compute>,
    release: Option<Release>,
}

/// A row of interface 2: that of interface 1, and what has come since.
#[repr(C)]
struct RawOfferTwo {
    one: RawOffer,
    condition: *const c_char,
}

/// A row of interface 3.
#[repr(C)]
struct RawOfferThree {
    two: RawOfferTwo,
    params: *const c_char,
}

#[repr(C)]
struct RawLibrary {
    interface: u32,
    version: *const c_char,
    /// Rows of the interface's own length.
    offers: *const c_void,
    offer_count: usize,
}

/// An operation of interface 4.
#[repr(C)]
struct RawOperation {
    name: *const c_char,
    signature: *const c_char,
    bound: *const c_char,
    reference: Option<Compute>,
    about: *const c_char,
    dtypes: *const c_char,
    independent: *const c_char,
    legal: *const c_char,
    params: *const c_char,
    flops: *const c_char,
    evaluate: Option<Compute>,
    may_be_nan: i32,
}

/// What a library declares, copied and not yet checked.
#[derive(Debug)]
pub(crate) struct Declared {
    pub(crate) version: Option<String>,
    pub(crate) offers: Vec<DeclaredOffer>,
    pub(crate) operations: Vec<DeclaredOperation>,
}

/// An operation of the library's own.
#[derive(Debug)]
pub(crate) struct DeclaredOperation {
    pub(crate) texts: Declaration,
    pub(crate) reference: Option<Functions>,
    pub(crate) evaluate: Option<Functions>,
}

#[derive(Debug)]
pub(crate) struct DeclaredOffer {
    pub(crate) name: Option<String>,
    pub(crate) operation: Option<String>,
    pub(crate) dtypes: Option<String>,
    pub(crate) about: Option<String>,
    pub(crate) parallel: bool,
    pub(crate) condition: Option<String>,
    pub(crate) params: Option<String>,
    pub(crate) functions: Option<Functions>,
}

/// The functions of an offer that has a `launch`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Functions {
    launch: Compute,
    prepare: Option<Compute>,
    release: Option<Release>,
}

/// More rows than that are a count that was never written.
const MOST_OFFERS: usize = 1000;

/// The functions of `roofline.h` that a library exports.
type Offers = unsafe extern "C-unwind" fn() -> *const RawLibrary;
type Operations = unsafe extern "C-unwind" fn(*mut usize) -> *const RawOperation;

/// Opens a library and reads its table; the version of the interface comes first, as the rest depends on it.
pub(crate) fn open(path: &Path, interface: u32) -> Result<Declared, String> {
    // A name without a slash would be looked for where the system keeps its libraries.
    let path = path.canonicalize().map_err(|error| format!("cannot be read: {error}"))?;
    // What is missing is missing now, and not in the first launch that calls it.
    // SAFETY: initialisers of the library run, which is what its user asked for.
    let library = unsafe { Library::open(Some(&path), RTLD_NOW | RTLD_LOCAL) };
    // It is never closed.
    let library = ManuallyDrop::new(library.map_err(|error| {
        let why = error.source().map_or_else(|| error.to_string(), ToString::to_string);
        let why = why.strip_prefix(&format!("{}: ", path.display())).unwrap_or(&why);
        format!("cannot be loaded as a shared library: {why}")
    })?);
    // SAFETY: the name belongs to the interface, which gives it this type.
    let offers = unsafe { library.get::<Offers>(c"roofline_offers") }.map_err(|_| {
        "does not export `roofline_offers`; define the function of that name from roofline.h, in C++ as `extern \"C\"`"
    })?;
    // SAFETY: takes nothing; what it does is the library's.
    let table = unsafe { offers() };
    if table.is_null() {
        return Err("`roofline_offers` returned NULL".to_owned());
    }
    // SAFETY: the interface promises a table that lasts; of all versions this is the first field.
    let theirs = unsafe { (&raw const (*table).interface).read() };
    if !(1..=interface).contains(&theirs) {
        return Err(format!(
            "was built for interface {theirs} of roofline.h, this roofline has {interface} and takes older ones; \
             `roofline header` prints the one to build with"
        ));
    }
    // SAFETY: a table of a known version, by the line above; the table itself is the same in all of them.
    let table = unsafe { &*table };
    let count = table.offer_count;
    if count > MOST_OFFERS || (table.offers.is_null() && count > 0) {
        return Err(format!("its table of offers is broken: {count} rows at {:p}", table.offers));
    }
    let offers = match (count, theirs) {
        (0, _) => Vec::new(),
        // SAFETY: not null; the library promises that many rows of its version, which last.
        (_, 1) => unsafe { std::slice::from_raw_parts(table.offers.cast::<RawOffer>(), count) }
            .iter()
            .map(|row| declared(row, null(), null()))
            .collect(),
        // SAFETY: as above.
        (_, 2) => unsafe { std::slice::from_raw_parts(table.offers.cast::<RawOfferTwo>(), count) }
            .iter()
            .map(|row| declared(&row.one, row.condition, null()))
            .collect(),
        // SAFETY: as above.
        _ => unsafe { std::slice::from_raw_parts(table.offers.cast::<RawOfferThree>(), count) }
            .iter()
            .map(|row| declared(&row.two.one, row.two.condition, row.params))
            .collect(),
    };
    let operations = if theirs >= 4 { operations(&library)? } else { Vec::new() };
    Ok(Declared { version: text(table.version), offers, operations })
}

/// What `roofline_operations` of an open library returns, where it has one.
fn operations(library: &Library) -> Result<Vec<DeclaredOperation>, String> {
    // SAFETY: the name belongs to the interface, which gives it this type.
    let Ok(operations) = (unsafe { library.get::<Operations>(c"roofline_operations") }) else {
        return Ok(Vec::new());
    };
    let mut count = 0;
    // SAFETY: a place for the count, as the interface says; what else it does is the library's.
    let rows = unsafe { operations(&raw mut count) };
    if count > MOST_OFFERS || (rows.is_null() && count > 0) {
        return Err(format!("its table of operations is broken: {count} rows at {rows:p}"));
    }
    if count == 0 {
        return Ok(Vec::new());
    }
    // SAFETY: not null, by the lines above; the library promises that many rows, which last.
    Ok(unsafe { std::slice::from_raw_parts(rows, count) }.iter().map(declared_operation).collect())
}

fn declared_operation(row: &RawOperation) -> DeclaredOperation {
    let or_empty = |pointer| text(pointer).unwrap_or_default();
    let list = |pointer| -> Vec<String> {
        let words = or_empty(pointer);
        words.split(',').map(|word| word.trim().to_owned()).filter(|word| !word.is_empty()).collect()
    };
    let functions = |launch| Functions { launch, prepare: None, release: None };
    DeclaredOperation {
        texts: Declaration {
            name: or_empty(row.name),
            about: or_empty(row.about),
            signature: or_empty(row.signature),
            bound: or_empty(row.bound),
            dtypes: list(row.dtypes),
            independent: list(row.independent),
            legal: or_empty(row.legal),
            params: or_empty(row.params),
            flops: or_empty(row.flops),
            may_be_nan: row.may_be_nan != 0,
        },
        reference: row.reference.map(functions),
        evaluate: row.evaluate.map(functions),
    }
}

fn declared(row: &RawOffer, condition: *const c_char, params: *const c_char) -> DeclaredOffer {
    let functions = |launch| Functions { launch, prepare: row.prepare, release: row.release };
    DeclaredOffer {
        name: text(row.name),
        operation: text(row.operation),
        dtypes: text(row.dtypes),
        about: text(row.about),
        parallel: row.parallel != 0,
        condition: text(condition),
        params: text(params),
        functions: row.launch.map(functions),
    }
}

/// A text of the library, of which a table needs no more than this.
fn text(pointer: *const c_char) -> Option<String> {
    const MOST: usize = 1000;
    if pointer.is_null() {
        return None;
    }
    // SAFETY: not null; the interface promises a text that ends in a zero.
    let text = unsafe { CStr::from_ptr(pointer) }.to_string_lossy();
    Some(text.chars().take(MOST).collect())
}

/// Texts of a case as the library gets them.
pub(crate) struct Words<'a> {
    pub(crate) case: &'a str,
    pub(crate) operation: &'a str,
    pub(crate) dtype: Dtype,
    pub(crate) accumulator: &'a str,
    pub(crate) precision: &'a str,
    pub(crate) params: Vec<(&'a str, f64)>,
    pub(crate) axes: Vec<(&'a str, u64)>,
    pub(crate) threads: u32,
}

/// A kernel of a library with its tensors, from `prepare` to `release`.
pub(crate) struct Prepared {
    functions: Functions,
    job: Box<RawJob>,
    inputs: Vec<DlTensor>,
    outputs: Vec<DlTensor>,
    is_ready: bool,
    /// What the job and the tensors point into.
    _kept: Kept,
}

#[expect(dead_code, reason = "held, so that what points into it stays valid")]
struct Kept {
    texts: Vec<CString>,
    axes: Vec<RawAxis>,
    params: Vec<RawParam>,
    extents: Vec<Vec<i64>>,
    inputs: Vec<Input<u8>>,
    outputs: Vec<Output<u8>>,
}

impl Prepared {
    /// `places` are those of the inputs, then those of the outputs.
    pub(crate) fn new(
        functions: Functions,
        words: &Words,
        places: &[Place],
        inputs: Vec<Input<u8>>,
        mut outputs: Vec<Output<u8>>,
    ) -> Prepared {
        // Names of the conductor have no zero inside; one that had would be cut there.
        let c_text =
            |text: &str| CString::new(text.split('\0').next().unwrap_or_default()).unwrap_or_default();
        let mut texts: Vec<CString> =
            [words.case, words.operation, words.dtype.name(), words.accumulator, words.precision]
                .map(c_text)
                .into();
        texts.extend(words.axes.iter().map(|(name, _)| c_text(name)));
        texts.extend(words.params.iter().map(|(name, _)| c_text(name)));
        let (sizes, values) = texts[5..].split_at(words.axes.len());
        let sizes = sizes.iter().zip(&words.axes);
        let axes: Vec<RawAxis> =
            sizes.map(|(name, (_, size))| RawAxis { name: name.as_ptr(), size: *size as i64 }).collect();
        let values = values.iter().zip(&words.params);
        let params: Vec<RawParam> =
            values.map(|(name, (_, value))| RawParam { name: name.as_ptr(), value: *value }).collect();
        let job = RawJob {
            case: texts[0].as_ptr(),
            operation: texts[1].as_ptr(),
            dtype: texts[2].as_ptr(),
            accumulator: texts[3].as_ptr(),
            axes: axes.as_ptr(),
            axis_count: axes.len(),
            threads: i32::try_from(words.threads).unwrap_or(i32::MAX),
            workspace_bytes: 0,
            workspace: null_mut(),
            message: null(),
            precision: texts[4].as_ptr(),
            params: params.as_ptr(),
            param_count: params.len(),
        };
        let mut extents = Vec::new();
        let mut memory: Vec<*mut c_void> =
            inputs.iter().map(|input| input.as_ptr().cast_mut().cast()).collect();
        memory.extend(outputs.iter_mut().map(|output| output.as_mut_ptr().cast::<c_void>()));
        let mut tensors: Vec<DlTensor> =
            places.iter().zip(memory).map(|(place, data)| tensor(place, data, &mut extents)).collect();
        let written = tensors.split_off(inputs.len());
        let kept = Kept { texts, axes, params, extents, inputs, outputs };
        Prepared {
            functions,
            job: Box::new(job),
            inputs: tensors,
            outputs: written,
            is_ready: false,
            _kept: kept,
        }
    }

    pub(crate) fn prepare(&mut self) -> c_int {
        let code = self.functions.prepare.map_or(0, |prepare| self.call(prepare));
        self.is_ready = code == 0;
        code
    }

    /// What `prepare` left in the job.
    pub(crate) fn threads(&self) -> i32 {
        self.job.threads
    }

    pub(crate) fn workspace_bytes(&self) -> u64 {
        self.job.workspace_bytes
    }

    #[inline]
    pub(crate) fn launch(&mut self) -> c_int {
        self.call(self.functions.launch)
    }

    /// Why the last call failed, in the library's words.
    pub(crate) fn message(&self) -> Option<String> {
        text(self.job.message)
    }

    #[inline]
    fn call(&mut self, function: Compute) -> c_int {
        // SAFETY: tensors and job are as roofline.h says and outlive the call; the rest is the library's.
        unsafe { function(self.inputs.as_ptr(), self.outputs.as_ptr(), &raw mut *self.job) }
    }
}

impl Drop for Prepared {
    fn drop(&mut self) {
        if let Some(release) = self.functions.release.filter(|_| self.is_ready) {
            // SAFETY: the job that `prepare` has seen, for the last time.
            unsafe { release(&raw mut *self.job) };
        }
    }
}

fn tensor(place: &Place, data: *mut c_void, extents: &mut Vec<Vec<i64>>) -> DlTensor {
    let shape: Vec<i64> = place.shape.iter().map(|extent| *extent as i64).collect();
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis];
    }
    // A vector that is moved keeps its elements where they are.
    extents.extend([shape, strides]);
    let [.., shape, strides] = extents.as_mut_slice() else { unreachable!("two were just added") };
    DlTensor {
        data,
        device_type: CPU,
        device_id: 0,
        axes: shape.len() as i32,
        dtype: dl_dtype(place.dtype),
        shape: shape.as_mut_ptr(),
        strides: strides.as_mut_ptr(),
        byte_offset: 0,
    }
}

fn dl_dtype(dtype: Dtype) -> DlDtype {
    let code = match dtype {
        Dtype::I8 | Dtype::I32 => 0,
        Dtype::U8 => 1,
        Dtype::F64 | Dtype::F32 | Dtype::F16 => 2,
        Dtype::Bf16 => 4,
        Dtype::Fp8E4m3 => 10,
        Dtype::Fp8E5m2 => 12,
    };
    DlDtype { code, bits: 8 * dtype.size() as u8, lanes: 1 }
}
