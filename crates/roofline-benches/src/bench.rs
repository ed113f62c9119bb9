//! What is conducted: a bench binary, its kernels and its cases.

use crate::mistake::Mistake;
use crate::options::Options;
use crate::run;
use clap::Parser;
use roofline_conductor::offers;
use roofline_conductor::runners::RunnerSpec;
use roofline_conductor::session::Limits;
use roofline_core::case::{Case, CaseError, parse_form};
use roofline_core::protocol::{Hello, Offer};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// A bench binary, as it was started.
pub struct Bench {
    /// What the names of its implementations begin with.
    pub provider: String,
    /// The binary, which is a runner too.
    pub program: PathBuf,
    /// Ids of its cases.
    pub cases: Vec<String>,
    /// What it says of itself; none where it is to be asked.
    pub hello: Option<Hello>,
    /// The program with the kernels of the house; none where it is to be found in `PATH`.
    pub house: Option<PathBuf>,
    /// Where it has operations of its own.
    pub references: Option<References>,
}

/// How the process is found in which references of a bench's own operations are computed.
#[derive(Clone, Copy)]
pub struct References {
    /// Says once which binary has them, and how long an answer may take.
    pub set_up: fn(PathBuf, Duration),
    /// The first failure of one in this run.
    pub failure: fn() -> Option<&'static str>,
}

/// A bench whose names and cases were checked.
pub(crate) struct Checked {
    pub(crate) provider: String,
    pub(crate) program: PathBuf,
    pub(crate) hello: Hello,
    pub(crate) cases: Vec<Case>,
    pub(crate) house: Option<PathBuf>,
    pub(crate) references: Option<References>,
}

impl Bench {
    /// Does what the words ask for, the name of the program left out, and gives the code to end with.
    pub fn conduct(self, words: impl IntoIterator<Item = OsString>) -> ExitCode {
        let name = OsString::from("cargo bench --");
        let options = Options::parse_from(std::iter::once(name).chain(words));
        let code = self.check(&options).and_then(|bench| run::run(&bench, options));
        code.unwrap_or_else(|mistake| mistake.report())
    }

    fn check(self, options: &Options) -> Result<Checked, Mistake> {
        let Bench { provider, program, cases, hello, house, references } = self;
        let hello = match hello {
            Some(hello) => hello,
            None => ask(&spec(&program, &provider), options)
                .map_err(|why| Mistake::own(format!("bench `{provider}`: {why}")))?,
        };
        for offer in &hello.offers {
            if let Err((why, hint)) = parse_form(&offer.operation) {
                let what = format!("implementation `{}`: {why}", offer.implementation);
                let hint = format!(
                    "{hint}; one of your own joins by `.operation::<…>()`, with the feature `operations`"
                );
                return Err(Mistake::usage(what, hint));
            }
        }
        let mut found: Vec<Case> = Vec::new();
        for id in &cases {
            let case = check_case(id, &hello.offers)?;
            if !found.contains(&case) {
                found.push(case);
            }
        }
        if found.is_empty() {
            let hint = "add `.case(\"softmax/f32/rows=512,cols=1000\")`";
            return Err(Mistake::usage("the bench has no case", hint));
        }
        Ok(Checked { provider, program, hello, cases: found, house, references })
    }
}

/// A case that one of the offers takes.
fn check_case(id: &str, offers: &[Offer]) -> Result<Case, Mistake> {
    let case: Case =
        id.parse().map_err(|error: CaseError| Mistake::usage(error.to_string(), error.hint.clone()))?;
    let fits = |offer: &Offer| offer.operation == case.form() && case.is_taken_by(offer).is_ok();
    if !offers.iter().any(fits) {
        let what = format!("no implementation of this bench has `{}` in {}", case.form(), case.precision);
        return Err(Mistake::usage(what, format!("add one, or leave out the case `{id}`")));
    }
    // Tensors of a size of zero or beyond all memory are the conductor's to refuse.
    let small = case.resized(&vec![2; case.sizes.len()]);
    case.operation.check_tensors(&small).map_err(|why| {
        Mistake::usage(format!("operation `{}`: {why}", case.operation.name), "mend `tensors`")
    })?;
    Ok(case)
}

/// A bench binary as a runner, in the folder that the bench was started in.
pub(crate) fn spec(program: &Path, name: &str) -> RunnerSpec {
    let mut spec = RunnerSpec::built_in(program);
    spec.name = name.to_owned();
    spec.about = "a bench binary".to_owned();
    spec.command = vec![program.display().to_string(), "runner".to_owned(), name.to_owned()];
    spec.folder = std::env::current_dir().unwrap_or_else(|_| spec.folder.clone());
    spec.hint = "it is a bench binary; run it again by itself to see".to_owned();
    spec
}

/// What a runner says of itself.
pub(crate) fn ask(spec: &RunnerSpec, options: &Options) -> Result<Hello, String> {
    let own = own_program().map_err(|mistake| mistake.to_string())?;
    offers::ask(&own, spec, Limits { patience: options.timeout, memory: 8 << 30 })
}

/// This process's program: the parent of all runners is started from it.
pub(crate) fn own_program() -> Result<PathBuf, Mistake> {
    std::env::current_exe()
        .map_err(|error| Mistake::own(format!("the program does not know its own path: {error}")))
}
