//! Where suites and runners are found: named paths, the working folder, beside the binary.

use crate::args::Places;
use crate::commands::offers::is_folder;
use crate::error::{Problem, tell};
use crate::house;
use roofline_conductor::runners::{self, RESERVED, RunnerSpec, variable};
use roofline_core::names::is_provider;
use roofline_core::nearest::nearest;
use roofline_core::suite::Suite;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

/// The running binary.
pub fn program() -> Result<PathBuf, Problem> {
    std::env::current_exe()
        .map_err(|error| Problem::own(format!("the binary does not know its own path: {error}")))
}

/// A folder of the repository, from the working folder or from one above the binary.
fn folder(name: &str) -> Option<PathBuf> {
    let here = Path::new(name).to_owned();
    let beside: Vec<PathBuf> = program()
        .map(|program| program.ancestors().skip(1).take(4).map(|above| above.join(name)).collect())
        .unwrap_or_default();
    std::iter::once(here).chain(beside).find(|path| path.is_dir())
}

/// Suites that a binary away from the repository has as well: name, path to show, text.
const BUILT_IN: [(&str, &str, &str); 9] = [
    ("cpu", "(built in) cpu.toml", include_str!("../../../suites/cpu.toml")),
    ("fp8", "(built in) fp8.toml", include_str!("../../../suites/fp8.toml")),
    ("layers", "(built in) layers.toml", include_str!("../../../suites/layers.toml")),
    ("llm", "(built in) llm.toml", include_str!("../../../suites/llm.toml")),
    ("models", "(built in) models.toml", include_str!("../../../suites/models.toml")),
    ("peers", "(built in) peers.toml", include_str!("../../../suites/peers.toml")),
    ("quick", "(built in) quick.toml", include_str!("../../../suites/quick.toml")),
    ("roofs", "(built in) roofs.toml", include_str!("../../../suites/roofs.toml")),
    ("tensor", "(built in) tensor.toml", include_str!("../../../suites/tensor.toml")),
];

/// Every suite there is: name and path, sorted.
pub fn suites() -> Vec<(String, PathBuf)> {
    let mut found: Vec<(String, PathBuf)> = folder("suites")
        .and_then(|folder| std::fs::read_dir(folder).ok())
        .map(|entries| entries.flatten().map(|entry| entry.path()).collect::<Vec<_>>())
        .unwrap_or_default()
        .into_iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .filter_map(|path| Some((path.file_stem()?.to_str()?.to_owned(), path)))
        .collect();
    for (built_in, path, _) in BUILT_IN {
        if !found.iter().any(|(name, _)| name == built_in) {
            found.push((built_in.to_owned(), PathBuf::from(path)));
        }
    }
    found.sort();
    found
}

/// A suite by name or by path.
pub fn suite(name: &str) -> Result<Suite, Problem> {
    let path = if name.ends_with(".toml") {
        PathBuf::from(name)
    } else {
        let known = suites();
        let found = known.iter().find(|(known, _)| known == name).map(|(_, path)| path.clone());
        found.ok_or_else(|| {
            let hint = match nearest(name, known.iter().map(|(name, _)| name.as_str())) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "`roofline list suites` shows what there is; a path ends in `.toml`".to_owned(),
            };
            Problem::usage(format!("there is no suite `{name}`"), hint)
        })?
    };
    read_suite(&path)
}

pub fn read_suite(path: &Path) -> Result<Suite, Problem> {
    let name = path.display().to_string();
    let text = match BUILT_IN.into_iter().find(|(_, built_in, _)| path == Path::new(built_in)) {
        Some((_, _, text)) => Ok(text.to_owned()),
        None => std::fs::read_to_string(path),
    };
    let text = text.map_err(|error| {
        Problem::usage(format!("suite `{name}`: {error}"), "name a TOML file that can be read")
    })?;
    Suite::parse(&text).map_err(|error| {
        let place = error
            .line_and_column(&text)
            .map(|(line, column)| format!(":{line}:{column}"))
            .unwrap_or_default();
        let problem = Problem::usage(format!("{name}{place}: {error}"), error.hint.clone());
        match error.span {
            Some(span) => problem.at(&text, span),
            None => problem,
        }
    })
}

const RUNNER_KEYS: &str = "it has `name` and `command`, and where wanted `about`, `needs`, `hint`, `download`, `[environment]` and `[requires]`";

/// Folders of runners: that of the house, and a `runners` of the user's own.
fn runner_folders() -> Result<Vec<PathBuf>, Problem> {
    // Many projects have a folder of this name; only the house's holds its package.
    let is_house = |found: &Path| found.join("python/roofline_runner").is_dir();
    match folder("runners") {
        Some(found) if is_house(&found) => Ok(vec![found]),
        found => Ok(std::iter::once(house::runners()?).chain(found).collect()),
    }
}

/// Every runner: the built-in one, those of the house and of a folder `runners`, and the folders and files that
/// are named.
pub fn runners(places: &Places) -> Result<Vec<RunnerSpec>, Problem> {
    let program = program()?;
    let named = places.runner.iter().filter(|place| is_folder(place)).map(PathBuf::from);
    let all: Vec<PathBuf> = runner_folders()?.into_iter().chain(named).collect();
    let left_out = |error| tell(&format!("warning: a runner is left out: {error}"));
    let mut specs = runners::discover(&program, &all, left_out)
        .map_err(|error| Problem::usage(error.to_string(), RUNNER_KEYS))?;
    for file in &places.python {
        let spec = RunnerSpec::of_python_file(file, &house::sdk()?).map_err(|error| {
            Problem::usage(error.to_string(), "`--python` names a Python file with decorated functions")
        })?;
        specs.push(spec);
    }
    for file in &places.lib {
        specs.push(library(&program, file)?);
    }
    for file in &places.cuda {
        specs.push(cuda_file(&program, file)?);
    }
    // A folder or file that is both found and named, or named twice, is one runner.
    let mut seen = std::collections::BTreeSet::new();
    specs.retain(|spec| seen.insert((spec.folder.clone(), spec.command.clone())));
    for (index, spec) in specs.iter().enumerate() {
        if let Some(other) = specs[..index].iter().find(|other| other.name == spec.name) {
            let place = if other.is_built_in() {
                "this binary".to_owned()
            } else {
                let file = other.named.as_ref().map_or(&other.folder, |(_, file)| file);
                format!("`{}`", file.display())
            };
            let (at, hint) = match &spec.named {
                Some(("--python" | "--lib" | "--cuda", file)) => {
                    (file, "give the file another name".to_owned())
                }
                _ => {
                    let toml = spec.folder.join("runner.toml");
                    (&spec.folder, format!("give one another `name`, in `{}`", toml.display()))
                }
            };
            let why = format!("two runners are called `{}`: {place} and `{}`", spec.name, at.display());
            return Err(Problem::usage(why, hint));
        }
        let is_reserved = RESERVED.iter().any(|name| name.eq_ignore_ascii_case(&spec.name));
        if is_reserved && !spec.is_built_in() {
            let hint = match &spec.named {
                Some(("--python" | "--lib" | "--cuda", _)) => "give the file another name".to_owned(),
                _ => format!("give it another `name`, in `{}`", spec.folder.join("runner.toml").display()),
            };
            let why = format!("a runner cannot be called `{}`: the name is the house's own", spec.name);
            return Err(Problem::usage(why, hint));
        }
    }
    give_environment(specs, places)
}

/// Gives what `--env` and `--sweep` say to the runners that the command line names, and to no other: one that has parameters
/// takes part once for every choice of their values.
fn give_environment(specs: Vec<RunnerSpec>, places: &Places) -> Result<Vec<RunnerSpec>, Problem> {
    let is_named = |spec: &RunnerSpec| {
        (spec.named.is_some() || places.runner.contains(&spec.name)) && !spec.is_built_in()
    };
    let options = [("--env", places.env.is_empty()), ("--sweep", places.sweep.is_empty())];
    if let Some((option, _)) = options.iter().find(|(_, is_empty)| !is_empty && !specs.iter().any(is_named)) {
        let hint = "name whom it is for, with `--lib`, `--python` or `--runner`; the kernels of the house read no environment";
        return Err(Problem::usage(format!("`{option}` is for nobody"), hint));
    }
    let choices = choices(&places.sweep)?;
    let mut given = Vec::new();
    for mut spec in specs {
        if is_named(&spec) {
            spec.asked.extend(places.env.iter().cloned());
            given.extend(choices.iter().map(|values| spec.clone().with_parameters(values)));
        } else {
            given.push(spec);
        }
    }
    Ok(given)
}

/// More rows of one kernel than this are no sweep that anybody reads.
const MOST_CHOICES: usize = 256;

/// Every choice of a value for each parameter, in the order written; one empty choice where there is none.
fn choices(parameters: &[(String, Vec<String>)]) -> Result<Vec<Vec<(String, String)>>, Problem> {
    let mut choices = vec![Vec::new()];
    for (index, (name, values)) in parameters.iter().enumerate() {
        if parameters[..index].iter().any(|(known, _)| variable(known) == variable(name)) {
            let why = format!("`--sweep {name}` is given twice");
            return Err(Problem::usage(why, "write its values once, separated by commas"));
        }
        let with = |choice: &Vec<(String, String)>, value: &String| {
            choice.iter().cloned().chain([(name.clone(), value.clone())]).collect()
        };
        choices = choices.iter().flat_map(|choice| values.iter().map(|value| with(choice, value))).collect();
        if choices.len() > MOST_CHOICES {
            let why = format!("`--sweep` asks for more than {MOST_CHOICES} combinations");
            return Err(Problem::usage(why, "try fewer values at a time"));
        }
    }
    Ok(choices)
}

/// Of a file: the provider of what it offers is called as it is.
const NO_NAME: &str = "names its implementations, by letters, digits, `-`, `_` and `.` alone";

/// The runner over a shared library that `--lib` names.
fn library(program: &Path, file: &Path) -> Result<RunnerSpec, Problem> {
    let problem =
        |why: String, hint: &str| Problem::usage(format!("`--lib {}`: {why}", file.display()), hint);
    if file.is_dir() {
        return Err(problem("is a folder".to_owned(), "name a shared library; `--runner` takes folders"));
    }
    let name = roofline_runner::library::provider(file)
        .ok_or_else(|| problem(NO_NAME.to_owned(), "call it `mine.so`"))?;
    let build = "build it first: `cc -O3 -shared -fPIC -o mine.so mine.c`";
    let spec =
        RunnerSpec::library(program, &name, file).map_err(|error| problem(error.to_string(), build))?;
    match foreign(file) {
        Some(Foreign::NoLibrary) => Err(problem("is no shared library".to_owned(), build)),
        Some(Foreign::Machine) => {
            let why = format!("is built for another machine than this one, {}", std::env::consts::ARCH);
            Err(problem(why, "build it here, or with the compiler for this machine"))
        }
        None => Ok(spec),
    }
}

/// Why a file cannot be loaded here, whatever is in it. The loader says of a library for another processor that there is none.
enum Foreign {
    NoLibrary,
    Machine,
}

/// Looks at the beginning of a file: ELF's mark, its class, its order of bytes, and the processor, held against this program's.
fn foreign(file: &Path) -> Option<Foreign> {
    let head = |path: &Path| {
        let mut head = [0; 20];
        std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut head)).map(|()| head)
    };
    let own = head(&program().ok()?).ok()?;
    let (mark, class, processor) = (0..4, 4..6, 18..20);
    match head(file) {
        Ok(head) if head[mark.clone()] != own[mark] => Some(Foreign::NoLibrary),
        Ok(head) if head[class.clone()] != own[class] || head[processor.clone()] != own[processor] => {
            Some(Foreign::Machine)
        }
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Some(Foreign::NoLibrary),
        _ => None,
    }
}

/// The runner over CUDA kernels that `--cuda` names.
fn cuda_file(program: &Path, file: &Path) -> Result<RunnerSpec, Problem> {
    let problem =
        |why: String, hint: &str| Problem::usage(format!("`--cuda {}`: {why}", file.display()), hint);
    let is_meant = file.extension().is_some_and(|kind| kind == "cu" || kind == "cubin");
    let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let name = stem.filter(|_| is_meant).ok_or_else(|| {
        problem("is no CUDA source and no cubin".to_owned(), "name a file that ends in `.cu` or `.cubin`")
    })?;
    if !is_provider(&name) {
        return Err(problem(NO_NAME.to_owned(), "call it `mine.cu`"));
    }
    RunnerSpec::cuda_file(program, &name, file)
        .map_err(|error| problem(error.to_string(), "name a file that can be read"))
}

/// The file in which the roofs of a machine are remembered, beside the store.
pub fn roofs_file(store: &Path, fingerprint: &str) -> PathBuf {
    store.with_file_name(format!("roofs-{fingerprint}.json"))
}

/// The file in which runners' offers are remembered, beside the store.
pub fn offers_file(places: &Places) -> PathBuf {
    places.store.with_file_name("offers.json")
}
