//! `roofline init` and `roofline new`: files to begin with. What is there is never written over.

use crate::args::{Language, New, NewKind};
use crate::error::{Problem, tell};
use roofline_core::names::{is_kebab, is_written};
use roofline_core::ops;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const SETTINGS: &str = include_str!("../../templates/roofline.toml");
const KERNELS: &str = include_str!("../../templates/kernels.c");
const SUITE: &str = include_str!("../../templates/suite.toml");
const KERNEL: [&str; 2] =
    [include_str!("../../templates/kernel.c"), include_str!("../../templates/kernel.py")];
const OPERATION: [&str; 2] =
    [include_str!("../../templates/operation.c"), include_str!("../../templates/operation.py")];

/// The header of kernels in C: the same file for all of a folder, left where it is there.
const HEADER: &str = "roofline.h";

/// What is made and not written: the store, and what a compiler leaves.
const IGNORE: &str = ".gitignore";
const IGNORED: &str = "/.roofline/\n*.so\n";

pub fn init() -> Result<ExitCode, Problem> {
    let header = roofline_runner::library::HEADER;
    let mut files = vec![("roofline.toml", SETTINGS), ("kernels.c", KERNELS), (HEADER, header)];
    // One that is there is its owner's.
    let ignores = fs::read_to_string(IGNORE).ok();
    if ignores.is_none() {
        files.push((IGNORE, IGNORED));
    }
    write(&files)?;
    if ignores.is_some_and(|text| !text.contains(".roofline")) {
        tell("`.gitignore` is there already: add `/.roofline/`, where the store lies, and `*.so`");
    }
    super::show(
        "written: roofline.toml, kernels.c with a right kernel and a wrong one, and roofline.h for it. Next:\n\
         \x20 cc -O3 -Wall -shared -fPIC -o kernels.so kernels.c -lm\n\
         \x20 roofline check softmax/f32/rows=64,cols=1000 --lib ./kernels.so           # ends with 4: kernels/naive is wrong\n\
         \x20 roofline run softmax/f32/rows=64,cols=1000 --lib ./kernels.so -i 'kernels/plain,cpu/*'\n\
         \x20 roofline ab HEAD . softmax/f32/rows=64,cols=1000 -i plain                 # after a commit and a change\n",
    )?;
    Ok(ExitCode::SUCCESS)
}

const KEBAB: &str = "begin with a letter; write lowercase letters, digits and `-`, such as `my-sum`";

pub fn run(args: &New) -> Result<ExitCode, Problem> {
    let name = args.name.as_str();
    let is_name = match args.kind {
        NewKind::Operation | NewKind::Suite => {
            is_kebab(name) && name.starts_with(|c: char| c.is_ascii_lowercase())
        }
        NewKind::Kernel => is_written(name) && name.starts_with(|c: char| c.is_ascii_alphabetic()),
    };
    if !is_name {
        let (what, hint) = match args.kind {
            NewKind::Operation => ("an operation", KEBAB),
            NewKind::Suite => ("a suite", KEBAB),
            NewKind::Kernel => {
                ("a kernel", "begin with a letter; write letters, digits, `-`, `_` and `.`, such as `my_sum`")
            }
        };
        return Err(Problem::usage(format!("`{}` cannot be the name of {what}", name.escape_debug()), hint));
    }
    if args.kind == NewKind::Operation
        && ops::operations().any(|known| known.names().any(|known| known == name))
    {
        let hint = "choose another name, or `roofline new kernel` for a kernel of that operation";
        return Err(Problem::usage(format!("`{name}` is an operation of the house"), hint));
    }
    let text = |template: &str, file: &str| {
        template.replace("FUNCTION", &function(name)).replace("FILE", file).replace("NAME", name)
    };
    let (index, ending) = match args.language {
        Language::C => (0, "c"),
        Language::Python => (1, "py"),
    };
    let stem = function(name);
    let file = format!("{stem}.{ending}");
    let (template, case) = match args.kind {
        NewKind::Suite => {
            let file = format!("suites/{name}.toml");
            write(&[(&file, &text(SUITE, &file))])?;
            super::show(&format!("written: {file}. Next:\n  roofline run --suite {name} --quick\n"))?;
            return Ok(ExitCode::SUCCESS);
        }
        NewKind::Kernel => (KERNEL[index], "add/f32/rows=64,cols=1000".to_owned()),
        NewKind::Operation => (OPERATION[index], format!("{name}/f32/rows=64,cols=1000")),
    };
    let mut files = vec![(file.clone(), text(template, &stem))];
    if args.language == Language::C && !Path::new(HEADER).exists() {
        files.push((HEADER.to_owned(), roofline_runner::library::HEADER.to_owned()));
    }
    let borrowed: Vec<(&str, &str)> = files.iter().map(|(path, text)| (&**path, &**text)).collect();
    write(&borrowed)?;
    let first = match (args.language, args.kind) {
        (Language::C, _) => format!("  cc -O3 -Wall -shared -fPIC -o {stem}.so {file}\n"),
        (Language::Python, NewKind::Operation) => "  roofline runners install numpy\n".to_owned(),
        (Language::Python, _) => String::new(),
    };
    let option =
        if args.language == Language::C { format!("--lib ./{stem}.so") } else { format!("--python {file}") };
    super::show(&format!("written: {file}. Next:\n{first}  roofline check {case} {option}\n"))?;
    Ok(ExitCode::SUCCESS)
}

/// A name as C and Python have them.
fn function(name: &str) -> String {
    name.replace(['-', '.'], "_")
}

/// Writes all files, or none where one of them is there.
fn write(files: &[(&str, &str)]) -> Result<(), Problem> {
    if let Some((there, _)) = files.iter().find(|(path, _)| fs::symlink_metadata(path).is_ok()) {
        let hint = "nothing was written; move it away, or begin in another folder";
        return Err(Problem::usage(format!("`{there}` is there already"), hint));
    }
    let mut written: Vec<PathBuf> = Vec::new();
    for (path, text) in files {
        let path = PathBuf::from(path);
        let folder = path.parent().map_or(Ok(()), fs::create_dir_all);
        // Made by this call or not at all: somebody else may be as quick.
        let made = folder.and_then(|()| fs::File::create_new(&path)).and_then(|mut file| {
            written.push(path.clone());
            file.write_all(text.as_bytes())
        });
        if let Err(error) = made {
            written.iter().for_each(|path| drop(fs::remove_file(path)));
            let why = format!("`{}` cannot be written: {error}", path.display());
            return Err(Problem::own(why).with_hint("nothing was left there; look at the folder"));
        }
    }
    Ok(())
}
