//! A case: one point of an operation. Its id parses back.
//!
//! `op[.variant]/precision/axis=v,axis=v[,param=x][/threads=2][/cache=cold][/device=cuda:0]`, defaults
//! left out. A row is `CASE@provider/name`.

use crate::dtype::Dtype;
use crate::names::is_implementation;
use crate::nearest::nearest;
use crate::operation::{self, Axis, Judged, Operation, Param};
use crate::ops::{OPERATIONS, operations};
use crate::precision::Precision;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

#[derive(Clone, Debug)]
pub struct Case {
    pub operation: &'static Operation,
    /// Empty for the plain form.
    pub variant: &'static str,
    pub precision: &'static Precision,
    /// One value for each axis, in the operation's order.
    pub sizes: Vec<u64>,
    /// One value for each parameter, in the operation's order.
    pub params: Vec<f64>,
    /// Upper limit of threads.
    pub threads: u32,
    pub cache: Cache,
    pub device: Device,
}

impl PartialEq for Case {
    fn eq(&self, other: &Case) -> bool {
        self.to_string() == other.to_string()
    }
}

/// State of the caches before a timed launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cache {
    #[default]
    Warm,
    Cold,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Device {
    #[default]
    Cpu,
    Cuda(u32),
}

impl Device {
    /// What sort of device it is, whichever of them.
    pub fn kind(self) -> &'static str {
        match self {
            Device::Cpu => "cpu",
            Device::Cuda(_) => "cuda",
        }
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Device::Cpu => f.write_str("cpu"),
            Device::Cuda(index) => write!(f, "cuda:{index}"),
        }
    }
}

impl Case {
    /// The value of an axis that the operation has.
    pub fn axis(&self, name: &str) -> usize {
        let place = self.operation.axes.iter().position(|axis| axis.name == name);
        let place = place.unwrap_or_else(|| panic!("{} has no axis {name}", self.operation.name));
        self.sizes[place] as usize
    }

    pub fn axes(&self) -> BTreeMap<String, u64> {
        let names = self.operation.axes.iter().map(|axis| axis.name.to_owned());
        names.zip(self.sizes.iter().copied()).collect()
    }

    /// The value of a parameter that the operation has.
    pub fn param(&self, name: &str) -> f64 {
        let place = self.operation.params.iter().position(|param| param.name == name);
        let place = place.unwrap_or_else(|| panic!("{} has no parameter {name}", self.operation.name));
        self.params[place]
    }

    pub fn params(&self) -> BTreeMap<String, f64> {
        let names = self.operation.params.iter().map(|param| param.name.to_owned());
        names.zip(self.params.iter().copied()).collect()
    }

    /// Axes with their sizes, but for those that are as usual.
    pub fn told(&self) -> impl Iterator<Item = (&'static Axis, u64)> {
        let usual = |axis: &Axis| self.operation.usual(axis, |place| Some(self.sizes[place]));
        let axes = self.operation.axes.iter().zip(self.sizes.iter().copied());
        axes.filter(move |(axis, size)| usual(axis) != Some(*size))
    }

    /// Parameters that are not the default, with their values.
    pub fn given(&self) -> impl Iterator<Item = (&'static Param, f64)> {
        let params = self.operation.params.iter().zip(self.params.iter().copied());
        params.filter(|(param, value)| *value != param.default)
    }

    /// The type of the tensors that are not of a type of their own.
    pub fn dtype(&self) -> Dtype {
        self.precision.dtype
    }

    /// `operation` or `operation.variant`, as runners offer it.
    pub fn form(&self) -> String {
        operation::form(self.operation.name, self.variant)
    }

    /// How its outputs are judged, its form being what it is.
    pub fn judged(&self) -> &'static Judged {
        let Judged::Forms(forms) = &self.operation.judged else { return &self.operation.judged };
        let own = forms.iter().find(|(variant, _)| *variant == self.variant);
        own.map_or_else(|| panic!("nobody says how {} is judged", self.form()), |(_, judged)| judged)
    }

    /// Whether an output is a copy of an input before every launch.
    pub fn is_restored(&self) -> bool {
        (self.operation.tensors)(self).iter().any(|tensor| tensor.starts_as.is_some())
    }

    /// The same case at other sizes.
    pub fn resized(&self, sizes: &[u64]) -> Case {
        assert_eq!(sizes.len(), self.sizes.len());
        Case { sizes: sizes.to_vec(), ..self.clone() }
    }

    /// Bytes of all tensors, or `None` when they pass 2^62.
    pub fn footprint(&self) -> Option<u64> {
        const MOST: u64 = 1 << 62;
        // Shapes of the house are axes or products of two. One that was brought may multiply all of them.
        let is_ours = OPERATIONS.iter().any(|operation| std::ptr::eq(*operation, self.operation));
        if !is_ours {
            let volume =
                self.sizes.iter().try_fold(64u64, |product, size| product.checked_mul((*size).max(1)));
            volume.filter(|volume| *volume < MOST)?;
        }
        let mut total = 0u64;
        for tensor in (self.operation.tensors)(self) {
            let size = tensor.dtype.size() as u64;
            let bytes =
                tensor.shape.iter().try_fold(size, |bytes, extent| bytes.checked_mul(*extent as u64))?;
            total = total.checked_add(bytes).filter(|total| *total < MOST)?;
        }
        Some(total)
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.form(), self.precision)?;
        for (i, (axis, size)) in self.told().enumerate() {
            write!(f, "{}{}={size}", if i == 0 { "/" } else { "," }, axis.name)?;
        }
        for (param, value) in self.given() {
            write!(f, ",{}={}", param.name, param.text(value))?;
        }
        if self.threads != 1 {
            write!(f, "/threads={}", self.threads)?;
        }
        if self.cache == Cache::Cold {
            write!(f, "/cache=cold")?;
        }
        if self.device != Device::Cpu {
            write!(f, "/device={}", self.device)?;
        }
        Ok(())
    }
}

/// A number as ids have it: short, and the same when it is read again.
pub fn number(value: f64) -> String {
    let is_plain = value == 0.0 || (1e-4..1e7).contains(&value.abs());
    if is_plain { format!("{value}") } else { format!("{value:e}") }
}

/// Why a text is no case, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("case id `{id}`: {why}")]
pub struct CaseError {
    pub id: String,
    pub why: String,
    pub hint: String,
}

impl FromStr for Case {
    type Err = CaseError;

    fn from_str(id: &str) -> Result<Case, CaseError> {
        parse(id).map_err(|(why, hint)| CaseError { id: id.to_owned(), why, hint })
    }
}

type Mistake = (String, String);

fn parse(id: &str) -> Result<Case, Mistake> {
    let shape = || {
        "a case is `operation/dtype/axis=value,axis=value`, for example `softmax/f32/rows=64,cols=1000`"
            .to_owned()
    };
    let mut parts = id.split('/');
    let (operation, variant) = parse_form(parts.next().unwrap_or_default())?;
    let precision =
        parse_precision(operation, parts.next().ok_or_else(|| ("has no dtype".to_owned(), shape()))?)?;
    let (sizes, params) =
        parse_sizes(operation, parts.next().ok_or_else(|| ("has no axes".to_owned(), shape()))?)?;
    let mut case = Case {
        operation,
        variant,
        precision,
        sizes,
        params,
        threads: 1,
        cache: Cache::Warm,
        device: Device::Cpu,
    };
    for part in parts {
        let known = "after the axes come `threads=N`, `cache=cold` and `device=cuda:N`".to_owned();
        match part.split_once('=') {
            Some(("threads", count)) => {
                case.threads =
                    count.parse().ok().filter(|count| (1..=4096).contains(count)).ok_or_else(|| {
                        (format!("`{count}` is not a number of threads"), "1 to 4096".to_owned())
                    })?;
            }
            Some(("cache", "cold")) => case.cache = Cache::Cold,
            Some(("cache", "warm")) => case.cache = Cache::Warm,
            Some(("device", device)) => {
                case.device = parse_device(device).ok_or((format!("`{device}` is no device"), known))?;
            }
            _ => return Err((format!("does not understand `{part}`"), known)),
        }
    }
    Ok(case)
}

/// Reads `operation` or `operation.variant`.
pub fn parse_form(text: &str) -> Result<(&'static Operation, &'static str), Mistake> {
    let (name, variant) = text.split_once('.').unwrap_or((text, ""));
    let operation = Operation::find(name).map_err(|near| {
        let all: Vec<&str> = operations().map(|operation| operation.name).collect();
        let hint = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the operations are {}", all.join(", ")),
        };
        (format!("unknown operation `{name}`"), hint)
    })?;
    let names = || operation.variants.iter().map(|variant| variant.name);
    let variant = names().find(|known| *known == variant).ok_or_else(|| {
        let forms: Vec<String> = operation.forms().collect();
        (format!("`{name}` has no variant `{variant}`"), format!("its forms are {}", forms.join(", ")))
    })?;
    Ok((operation, variant))
}

/// Reads the id of one of an operation's precisions; `bf16+f32` is `bf16`.
pub fn parse_precision(operation: &Operation, text: &str) -> Result<&'static Precision, Mistake> {
    let usual = text.split_once('+').filter(|(dtype, accumulator)| {
        dtype.parse::<Dtype>().is_ok_and(|dtype| Precision::of(dtype).accumulator.name == *accumulator)
    });
    let id = usual.map_or(text, |(dtype, _)| dtype);
    operation.precision(id).ok_or_else(|| {
        if id.split('+').all(|part| part.parse::<Dtype>().is_ok()) {
            let why = format!("`{}` is not defined for `{id}`", operation.name);
            return (why, format!("it is defined for {}", operation.precision_ids()));
        }
        let known = operation.precisions.iter().map(|precision| precision.id);
        let near = nearest(id, known).unwrap_or(operation.precisions[0].id);
        (format!("unknown dtype `{id}`"), format!("did you mean `{near}`?"))
    })
}

/// Reads sizes of all axes but those that are as usual, and of parameters those that are given.
fn parse_sizes(operation: &Operation, text: &str) -> Result<(Vec<u64>, Vec<f64>), Mistake> {
    let names: Vec<&str> = operation.axes.iter().map(|axis| axis.name).collect();
    let expected = || {
        let axes = format!("`{}` has the axes {}", operation.name, names.join(", "));
        let params: Vec<&str> = operation.params.iter().map(|param| param.name).collect();
        if params.is_empty() { axes } else { format!("{axes}, and the parameters {}", params.join(", ")) }
    };
    let mut sizes = vec![None; names.len()];
    let mut params = vec![None; operation.params.len()];
    for part in text.split(',') {
        let (name, value) =
            part.split_once('=').ok_or_else(|| (format!("`{part}` is not `axis=value`"), expected()))?;
        let is_twice = if let Some(place) = operation.params.iter().position(|param| param.name == name) {
            params[place].replace(parse_param(&operation.params[place], value)?).is_some()
        } else {
            let place = names.iter().position(|known| *known == name).ok_or_else(|| {
                let all = names.iter().copied().chain(operation.params.iter().map(|param| param.name));
                let hint = nearest(name, all).map(|near| format!("did you mean `{near}`?"));
                (format!("`{}` has no axis `{name}`", operation.name), hint.unwrap_or_else(expected))
            })?;
            sizes[place].replace(parse_size(value)?).is_some()
        };
        if is_twice {
            return Err((format!("gives `{name}` twice"), expected()));
        }
    }
    let lacking = |axis: &Axis| (format!("lacks the axis `{}`", axis.name), expected());
    let sizes = operation.complete(&sizes).map_err(lacking)?;
    operation
        .takes_sizes(&sizes)
        .map_err(|why| (why, format!("`{}` is defined where {}", operation.name, operation.legal)))?;
    let defaults = operation.params.iter().map(|param| param.default);
    Ok((sizes, params.into_iter().zip(defaults).map(|(given, default)| given.unwrap_or(default)).collect()))
}

fn parse_size(value: &str) -> Result<u64, Mistake> {
    let digits = !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit());
    value.parse().ok().filter(|value| digits && *value <= u64::from(u32::MAX)).ok_or_else(|| {
        (format!("`{value}` is not a size"), format!("write a whole number up to {}", u32::MAX))
    })
}

/// Reads the value of a parameter.
pub fn parse_param(param: &Param, value: &str) -> Result<f64, Mistake> {
    let (least, most) = param.range;
    let parsed = match param.words {
        [] => value.parse::<f64>().ok().filter(|value| (least..=most).contains(value)),
        words => words.iter().position(|word| *word == value).map(|place| place as f64),
    };
    let kind = if param.words.is_empty() { "a number from" } else { "one of" };
    let choice = format!("`{}` is {kind} {}", param.name, param.choice());
    // One zero is enough.
    parsed.map(|value| value + 0.0).ok_or((format!("`{value}` is not a value of `{}`", param.name), choice))
}

/// Reads `cpu`, `cuda:N`, or `cuda` for the first of them.
pub fn parse_device(text: &str) -> Option<Device> {
    match text.split_once(':') {
        None if text == "cpu" => Some(Device::Cpu),
        None if text == "cuda" => Some(Device::Cuda(0)),
        Some(("cuda", index)) => index.parse().ok().map(Device::Cuda),
        _ => None,
    }
}

/// Splits `CASE@provider/name`.
pub fn parse_row(text: &str) -> Result<(Case, String), CaseError> {
    let mistake = |why: &str| CaseError {
        id: text.to_owned(),
        why: why.to_owned(),
        hint: "a row is `CASE@provider/name`, for example `add/f32/rows=4,cols=4@cpu/plain`".to_owned(),
    };
    let (case, implementation) = text.rsplit_once('@').ok_or_else(|| mistake("names no implementation"))?;
    if !is_implementation(implementation) {
        return Err(mistake("does not end in `provider/name`"));
    }
    Ok((case.parse()?, implementation.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_parse_back() {
        for id in [
            "softmax/f32/rows=4096,cols=1021",
            "add/bf16/rows=1,cols=0",
            "matmul.nn/i8/m=3,n=5,k=7/threads=2",
            "rms-norm/f16/rows=2,cols=64/threads=4/cache=cold/device=cuda:1",
            "rms-norm/f32/rows=2,cols=64,eps=1e-5",
            "rms-norm/f32/rows=2,cols=64,eps=0/threads=2",
            "matmul/f16+f16/m=1,n=2,k=3",
            "attention/bf16+p16/seq=8,heads=4,dim=16",
            "attention.causal/f32/batch=2,seq=1,kv=9,heads=4,kv-heads=2,dim=16,scale=0.5/threads=2",
        ] {
            assert_eq!(id.parse::<Case>().unwrap().to_string(), id);
        }
        let spelled_out: Case =
            "matmul/bf16+f32/n=2,m=1,k=3/threads=1/cache=warm/device=cpu".parse().unwrap();
        assert_eq!(spelled_out.to_string(), "matmul/bf16/m=1,n=2,k=3");
        let usual: Case = "attention/f32/dim=16,kv-heads=4,heads=4,kv=8,seq=8,batch=1".parse().unwrap();
        assert_eq!(usual.to_string(), "attention/f32/seq=8,heads=4,dim=16");
        let default: Case = "rms-norm/f32/eps=0.000001,rows=2,cols=64".parse().unwrap();
        assert_eq!(default.to_string(), "rms-norm/f32/rows=2,cols=64");
        let (case, implementation) = parse_row("add/f32/rows=4,cols=4@cpu/plain").unwrap();
        assert_eq!(
            (case.to_string().as_str(), implementation.as_str()),
            ("add/f32/rows=4,cols=4", "cpu/plain")
        );
    }

    #[test]
    fn mistakes_have_a_reason_and_a_hint() {
        for (id, why, hint) in [
            ("sofmax/f32/rows=1,cols=1", "unknown operation `sofmax`", "softmax"),
            ("matmul.nx/f32/m=1,n=1,k=1", "no variant `nx`", "matmul.nn"),
            ("softmax", "no dtype", "rows=64"),
            ("softmax/f32", "no axes", "rows=64"),
            ("softmax/fp16/rows=1,cols=1", "unknown dtype", "f16"),
            ("softmax/i8/rows=1,cols=1", "not defined", "bf16"),
            ("softmax/f32+f16/rows=1,cols=1", "not defined", "f32"),
            ("softmax/f32/rows=1", "lacks the axis `cols`", "rows, cols"),
            ("softmax/f32/rows=1,colls=1", "no axis `colls`", "cols"),
            ("softmax/f32/rows=1,cols=x", "not a size", "whole number"),
            ("softmax/f32/rows=1,rows=1,cols=2", "twice", "rows"),
            ("rms-norm/f32/rows=1,cols=1,eps=2", "not a value of `eps`", "from 0 to 1"),
            ("rms-norm/f32/rows=1,cols=1,eps=nan", "not a value of `eps`", "from 0 to 1"),
            ("rms-norm/f32/rows=1,cols=1,epps=0", "no axis `epps`", "eps"),
            ("softmax/f32/rows=1,cols=1/threads=0", "threads", "4096"),
            ("softmax/f32/rows=1,cols=1/what", "`what`", "threads=N"),
        ] {
            let error = id.parse::<Case>().unwrap_err();
            assert!(error.why.contains(why), "{id}: {}", error.why);
            assert!(error.hint.contains(hint), "{id}: {}", error.hint);
        }
        assert!(parse_row("softmax/f32/rows=1,cols=1").is_err());
        assert!(parse_row("softmax/f32/rows=1,cols=1@cpu").is_err());
    }

    #[test]
    fn huge_sizes_have_no_footprint_instead_of_an_overflow() {
        let case: Case = "matmul/f64/m=4294967295,n=4294967295,k=4294967295".parse().unwrap();
        assert_eq!(case.footprint(), None);
        for case in OPERATIONS.iter().flat_map(|operation| crate::mutants::forms(operation)) {
            let huge = case.resized(&vec![u64::from(u32::MAX); case.sizes.len()]);
            assert!(huge.sizes.len() < 2 || huge.footprint().is_none_or(|bytes| bytes > 1 << 32), "{huge}");
        }
        let long: Case = "attention.causal/f32/seq=4294967295,heads=1,dim=1".parse().unwrap();
        assert!((long.operation.work)(&long).multiply_adds > 1 << 63);
        let case: Case = "add/f32/rows=2,cols=3".parse().unwrap();
        assert_eq!(case.footprint(), Some(72));
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics(text: String) {
            let _ = text.parse::<Case>();
            let _ = parse_row(&text);
        }

        #[test]
        fn what_parses_prints_and_parses_again(
            text in "(add|softmax|rms-norm|matmul(\\.nn)?)/(f32|bf16|i8|f64)(\\+f32)?/[mnkrowsclep=0-9,.]{3,24}(/threads=[0-9]{1,2})?"
        ) {
            if let Ok(case) = text.parse::<Case>() {
                proptest::prop_assert_eq!(case.to_string().parse::<Case>().unwrap(), case);
            }
        }
    }
}
