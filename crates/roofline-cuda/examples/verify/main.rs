//! Runs every kernel of the catalogue on a device, judged as the gate judges: odd shapes, odd addresses, all number types,
//! every family of contents.
//!
//!     cargo run --release -p roofline-cuda --example verify -- [--quick] [--part=1/4] [OPERATION…]
//!
//! References take most of the time: parts beside each other, each with the operations whose turn it is, take less.
//! Outputs are poisoned before each launch and stand between canaries; each kernel runs twice and must give the same bits.
//! Then the device layer. All that is wrong is said, a few lines for each kernel, and the program ends with 1.
#![expect(clippy::print_stdout, reason = "a program that people read")]

mod cases;
mod device;
mod place;
mod walks;

use std::collections::BTreeMap;
use std::error::Error;
use std::process::ExitCode;

use place::run;
use roofline_core::condition::{Condition, Sizes};
use roofline_core::fill::Fill;
use roofline_core::instance::Instance;
use roofline_cuda::catalog::{Implementation, implementations};
use roofline_cuda::{CudaError, Device, Stream};

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// Elements of an output up to which every family of contents is tried.
const FEW: usize = 40_000;
/// Faults of a kernel that are said.
const SAID: usize = 3;

/// What became of all.
#[derive(Default)]
struct Tally {
    launches: usize,
    faults: BTreeMap<String, Vec<String>>,
}

impl Tally {
    fn count(&mut self, row: &Implementation, what: String, outcome: Result<(), String>) {
        self.launches += 1;
        if let Err(why) = outcome {
            let faults = self.faults.entry(format!("{} {}", row.operation, row.name)).or_default();
            faults.push(format!("{what}: {why}"));
        }
    }
}

/// All rungs of one form in one precision.
fn judge(
    stream: &Stream,
    rungs: &[&Implementation],
    precision: &str,
    quick: bool,
    tally: &mut Tally,
) -> Outcome {
    for case in cases::of(rungs[0].operation, precision, quick)? {
        let elements =
            (case.operation.tensors)(&case).iter().map(|tensor| tensor.elements()).max().unwrap_or(0);
        for fill in case.operation.fills_of(&case) {
            // Long ones are there for their length.
            let is_tried = match fill {
                Fill::Uniform => true,
                Fill::Nonfinite => elements <= FEW,
                _ => elements <= FEW && !quick,
            };
            if !is_tried {
                continue;
            }
            let instance = Instance::new(&case, fill, 17);
            for row in rungs {
                let condition: Condition = row.requires.parse()?;
                let sizes = Sizes { names: &case.operation.axis_names(), values: &case.sizes };
                let takes = case.given().all(|(param, _)| row.params.contains(&param.name));
                if !takes || !row.precisions.contains(&precision) || condition.holds(sizes).is_err() {
                    continue;
                }
                for shift in 0..3 {
                    let what = format!("{case}, {fill} inputs, shift {shift}");
                    match run(stream, row, &instance, shift) {
                        // The context is lost with all that comes after.
                        Err(error @ CudaError::Driver { .. }) => {
                            return Err(format!("{} {what}: {error}", row.name).into());
                        }
                        Err(CudaError::Unsupported(_)) => (),
                        Err(error) => tally.count(row, what, Err(error.to_string())),
                        Ok(outcome) => tally.count(row, what, outcome),
                    }
                }
            }
        }
    }
    Ok(())
}

/// Of all operations, those whose turn it is: the second of four parts has every fourth from the second on.
#[derive(Clone, Copy)]
struct Part {
    number: usize,
    of: usize,
}

impl Part {
    const ALL: Part = Part { number: 1, of: 1 };

    fn parse(text: &str) -> Option<Part> {
        let (number, of) = text.split_once('/')?;
        let part = Part { number: number.parse().ok()?, of: of.parse().ok()? };
        (1..=part.of).contains(&part.number).then_some(part)
    }
}

fn kernels(stream: &Stream, wanted: &[String], part: Part, quick: bool) -> Outcome<Tally> {
    let mut tally = Tally::default();
    let mut forms: Vec<&str> =
        implementations().filter(|row| row.launch.is_some()).map(|row| row.operation).collect();
    forms.dedup();
    for form in forms.into_iter().skip(part.number - 1).step_by(part.of) {
        if !wanted.is_empty() && !wanted.iter().any(|name| name == form) {
            continue;
        }
        let rungs: Vec<_> =
            implementations().filter(|row| row.operation == form && row.launch.is_some()).collect();
        let before = tally.launches;
        let mut precisions: Vec<&str> = rungs.iter().flat_map(|row| row.precisions).copied().collect();
        precisions.sort_unstable();
        precisions.dedup();
        for precision in precisions {
            if let Err(error) = judge(stream, &rungs, precision, quick, &mut tally) {
                println!("{error}");
                report(&tally);
                return Err(error);
            }
        }
        let wrong = tally.faults.keys().filter(|kernel| kernel.split(' ').next() == Some(form)).count();
        println!("{form}: {} launches judged, {wrong} kernels wrong", tally.launches - before);
    }
    report(&tally);
    Ok(tally)
}

fn report(tally: &Tally) {
    for (kernel, faults) in &tally.faults {
        println!("WRONG {kernel}: {} launches", faults.len());
        faults.iter().take(SAID).for_each(|fault| println!("    {fault}"));
    }
    println!("{} launches judged, {} kernels wrong", tally.launches, tally.faults.len());
}

fn main() -> Outcome<ExitCode> {
    let (options, wanted): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|argument| argument.starts_with("--"));
    let quick = options.iter().any(|option| option == "--quick");
    let part = options.iter().find_map(|option| option.strip_prefix("--part="));
    let part = part.map_or(Some(Part::ALL), Part::parse).ok_or("a part is one of so many: --part=1/4")?;
    let device = match Device::open(0) {
        Ok(device) => device,
        Err(error) => {
            println!("{error}");
            return Ok(ExitCode::SUCCESS);
        }
    };
    println!("{:?}", device.info());
    let stream = Stream::new(&device)?;
    let tally = kernels(&stream, &wanted, part, quick)?;
    // The device layer is of the first part.
    if wanted.is_empty() && part.number == 1 {
        println!("{} launches of blocks that walk beside the plain rung", walks::all(&stream)?);
        device::layer(&stream)?;
        if !quick {
            device::resources(&device)?;
            device::creation()?;
        }
    }
    if !tally.faults.is_empty() {
        return Ok(ExitCode::FAILURE);
    }
    println!("all is well");
    Ok(ExitCode::SUCCESS)
}
