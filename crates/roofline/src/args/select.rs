//! Which cases, and where runners and suites are found.

use super::values::{Size, parse_parameter, parse_size, parse_threads, parse_variable};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Which cases: operations, globs or case ids, narrowed by options.
#[derive(Clone, Debug, Default, Args)]
pub struct Select {
    /// Operations (`softmax`), globs of them (`mat*`), case ids (`softmax/f32/rows=64,cols=1000`), or globs of a suite's cases (`softmax/f32/*`). With `--suite` all of them choose among its cases
    #[arg(value_name = "SELECT")]
    pub select: Vec<String>,
    /// Operations, separated by commas: another way to write SELECT
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    pub op: Vec<String>,
    /// A suite by name or path; `quick` when nothing else is selected
    #[arg(long, value_name = "NAME")]
    pub suite: Option<String>,
    /// Groups of the suite, separated by commas; `roofline list groups` shows them
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    pub group: Vec<String>,
    /// Element types, separated by commas
    #[arg(long, value_delimiter = ',', value_name = "DTYPE")]
    pub dtype: Vec<String>,
    /// Values of an axis: `rows=1,64`, `cols=64:4096:*2`, `k=8:64:+8`, `zip(m,n,k)=128,256`
    #[arg(long, value_name = "AXIS=VALUES")]
    pub axis: Vec<String>,
    /// Values of a parameter, such as `eps=1e-5,1e-6`, for the operations that have it; may be repeated. One that no operation has, such as `tile=8,16,32`, is of the files, folders and runners that the command line names, as with `--sweep`
    #[arg(long, value_name = "NAME=VALUES")]
    pub param: Vec<String>,
    /// Leave out cases whose tensors take more than this, such as `64MiB`; or a class of sizes of the suite, such as `small`, which `roofline list sizes` shows
    #[arg(long, value_name = "BYTES|CLASS", value_parser = parse_size, allow_negative_numbers = true)]
    pub size: Option<Size>,
    /// Upper limits of threads, separated by commas
    #[arg(long, value_delimiter = ',', value_name = "N", value_parser = parse_threads)]
    pub threads: Vec<u32>,
    /// `cpu` or `cuda:N`
    #[arg(long)]
    pub device: Option<String>,
    /// State of the caches before a timed launch
    #[arg(long, value_enum)]
    pub cache: Option<CacheArg>,
}

impl Select {
    /// All words that name operations or cases.
    pub fn words(&self) -> impl Iterator<Item = &String> {
        self.select.iter().chain(&self.op)
    }

    /// The options that were given, by their names.
    pub fn given(&self) -> Vec<&'static str> {
        let options = [
            ("--suite", self.suite.is_some()),
            ("--group", !self.group.is_empty()),
            ("--dtype", !self.dtype.is_empty()),
            ("--axis", !self.axis.is_empty()),
            ("--param", !self.param.is_empty()),
            ("--size", self.size.is_some()),
            ("--threads", !self.threads.is_empty()),
            ("--device", self.device.is_some()),
            ("--cache", self.cache.is_some()),
        ];
        options.into_iter().filter_map(|(option, is_given)| is_given.then_some(option)).collect()
    }

    /// Whether no case of the suite is left out.
    pub fn is_whole(&self) -> bool {
        let is_narrowed = self.size.is_some() || !self.group.is_empty() || !self.dtype.is_empty();
        self.words().next().is_none() && !is_narrowed && self.threads.is_empty()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CacheArg {
    Warm,
    Cold,
}

/// Where runners and suites are found.
#[derive(Clone, Debug, Default, Args)]
pub struct Places {
    /// A runner by name, or a folder with a `runner.toml`; may be repeated
    #[arg(long, value_name = "NAME|FOLDER")]
    pub runner: Vec<String>,
    /// A Python file with decorated functions, which joins as a runner; may be repeated
    #[arg(long, value_name = "FILE")]
    pub python: Vec<PathBuf>,
    /// A shared library with kernels in C by `roofline.h`, offered as `FILE/NAME`; may be repeated
    #[arg(long, value_name = "FILE")]
    pub lib: Vec<PathBuf>,
    /// CUDA kernels without host code, a `.cu` or a cubin that says how it is launched, offered as `FILE/NAME`; may be repeated
    #[arg(long, value_name = "FILE")]
    pub cuda: Vec<PathBuf>,
    /// A variable for the environment of the files, folders and runners that the command line names, such as `TILE=8`: a parameter of one's own kernel, which is part of the record; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse_variable)]
    pub env: Vec<(String, String)>,
    /// Values of a parameter of one's own kernels, such as `tile=8,16,32`: a row for each, called `mine/tiled:tile=8`, whose process finds `TILE=8` in its environment. For the files, folders and runners that the command line names; repeated, all combinations are rows
    #[arg(long, value_name = "NAME=VALUES", value_parser = parse_parameter)]
    pub sweep: Vec<(String, Vec<String>)>,
    /// The store
    #[arg(long, value_name = "FILE", default_value = roofline_store::DEFAULT_PATH)]
    pub store: PathBuf,
}

impl Places {
    /// Whether files, folders or runners are named.
    pub fn names_anybody(&self) -> bool {
        let files = [&self.python, &self.lib, &self.cuda];
        !self.runner.is_empty() || files.iter().any(|files| !files.is_empty())
    }
}
