//! The bench itself: select, plan, conduct, record, report; and a baseline beside it.

use crate::baseline::{self, Home};
use crate::bench::{self, Checked, own_program, spec};
use crate::house;
use crate::mistake::Mistake;
use crate::options::{Options, When};
use roofline_conductor::isolation::Sandbox;
use roofline_conductor::job::quoted;
use roofline_conductor::machine::Machine;
use roofline_conductor::plan::{Plan, PlannedRow, RunnerOffers, names};
use roofline_core::case::Case;
use roofline_core::decision::word;
use roofline_core::names::bare;
use roofline_core::record::{Record, Status};
use roofline_core::verdict::Word;
use roofline_report::{Format, Report};
use roofline_run::terminal::{print, style, tell};
use roofline_run::{Ask, Lineup, Others, Outcome, Planned, Request, Unbegun};
use std::process::ExitCode;

pub(crate) fn run(bench: &Checked, mut options: Options) -> Result<ExitCode, Mistake> {
    let format = find_format(&options.output_format)?;
    let home = Home::of(&bench.program, &bench.provider);
    options.baseline = options.baseline.or_else(|| lenient(options.baseline_lenient.as_deref()?, &home));
    if options.beside.is_some() {
        options.baseline = Some("old".to_owned());
    }
    let options = &options;
    let planned = plan(bench, options, &home)?;
    if planned.rows() == 0 {
        tell("nothing was measured: no row is selected; `--list` shows what there is");
        // Who lists wants to know that there is none.
        return Ok(if options.list { ExitCode::SUCCESS } else { ExitCode::from(5) });
    }
    if options.list {
        print(&list(bench, &planned.plans)).map_err(of_output)?;
        return Ok(ExitCode::SUCCESS);
    }
    options.remarks().iter().for_each(|remark| tell(remark));
    if let Some(name) = &options.save_baseline {
        baseline::check_name(name, &bench.provider)?;
    }
    let ask = ask(options);
    let Some(outcome) = measure(bench, options, &home, &ask, &planned)? else {
        tell(&Unbegun::Interrupted.to_string());
        return Ok(ExitCode::from(130));
    };
    Measured { outcome, ask, others: planned.others }.report(bench, options, &home, format)
}

/// What the options ask for.
fn ask(options: &Options) -> Ask {
    // Who is lenient about a baseline that is not there yet has nothing to fail on.
    let is_first = options.baseline_lenient.is_some() && options.baseline.is_none();
    Ask {
        budget: (!options.only_proves()).then(|| options.budget()),
        total_budget: None,
        quick: options.quick,
        delta: options.noise_threshold,
        detect: options.detect,
        fail_on: options.fail_on.filter(|_| !is_first),
        policy: None,
        targets: Vec::new(),
        timeout: options.timeout,
        memory: None,
        wait: None,
        seed: options.seed,
        sandbox: Sandbox::BestEffort,
        require_held: false,
    }
}

/// Criterion's names of formats, and one for the format of ours that such a name hides.
const FORMAT_NAMES: [(&str, &str); 3] =
    [("criterion", "table"), ("bencher", "libtest"), ("bencher-metric-format", "bencher")];

fn find_format(name: &str) -> Result<&'static Format, Mistake> {
    let own = FORMAT_NAMES.iter().find(|(theirs, _)| *theirs == name).map_or(name, |(_, own)| own);
    Format::find(own).map_err(|error| Mistake::usage(error.to_string(), error.hint()))
}

/// The baseline of this name, if it was kept.
fn lenient(name: &str, home: &Home) -> Option<String> {
    if home.baseline(name, &Machine::read().fingerprint()).is_ok() {
        return Some(name.to_owned());
    }
    tell(&format!("there is no baseline `{name}` of `{}`: nothing is compared", home.bench));
    None
}

fn of_output(error: std::io::Error) -> Mistake {
    Mistake::own(format!("standard output: {error}"))
}

/// The names of the bench's own rows, as cargo and its friends read them.
fn list(bench: &Checked, plans: &[Plan]) -> String {
    let mut text = String::new();
    for planned in plans.iter().flat_map(|plan| &plan.cases) {
        for row in planned.rows.iter().filter(|row| row.runner == bench.provider) {
            text += &format!("{}@{}: benchmark\n", planned.case, row.implementation);
        }
    }
    text
}

/// Who takes part: this binary, the house, and perhaps an older binary.
fn line_up(bench: &Checked, options: &Options, home: &Home) -> Result<Lineup, Mistake> {
    let own = RunnerOffers::new(&bench.provider, bench.hello.clone());
    let (house, house_offers) = house::join(bench.house.as_deref(), options.against.as_deref(), options)?;
    let mut specs = vec![spec(&home.program, &bench.provider), house];
    let mut offers = vec![own];
    if let Some(name) = options.baseline.as_deref().filter(|_| !options.list) {
        baseline::check_name(name, &bench.provider)?;
        let older =
            options.beside.clone().map_or_else(|| home.baseline(name, &Machine::read().fingerprint()), Ok)?;
        let spec = spec(&older, name);
        let hello = bench::ask(&spec, options).map_err(|why| {
            let hint = format!("`--save-baseline {name}` keeps the binary of today under that name");
            Mistake::usage(format!("baseline `{name}`: {why}"), hint)
        })?;
        offers.push(RunnerOffers::new(name, hello));
        specs.push(spec);
    }
    offers.push(house_offers);
    Ok(Lineup { specs, offers })
}

/// One plan; with a baseline one for each implementation, whose hub is its own older self.
fn plan(bench: &Checked, options: &Options, home: &Home) -> Result<Planned, Mistake> {
    let lineup = line_up(bench, options, home)?;
    let mut plans = match &options.baseline {
        Some(baseline) => lineup.pairs(&bench.cases, baseline, &bench.provider, &[]),
        None => {
            let mut patterns = vec![format!("{}/*", bench.provider)];
            let peer = options.against.as_ref();
            patterns
                .extend(peer.map(|peer| if peer.contains('/') { peer.clone() } else { format!("{peer}/*") }));
            vec![lineup.plan(bench.cases.clone(), &patterns).against(peer.map(String::as_str), &[])]
        }
    };
    let is_wanted = |case: &Case, row: &PlannedRow| {
        row.runner != bench.provider || options.selects(&case.to_string(), &row.implementation)
    };
    plans.iter_mut().for_each(|plan| plan.narrow(&bench.provider, is_wanted));
    // What the bench was before is nobody's to mend.
    let others = Others { older: options.baseline.iter().cloned().collect() };
    Ok(Planned { lineup, plans, others, notices: Vec::new(), is_whole: options.filter.is_empty() })
}

/// Has the plans conducted; nothing where somebody interrupted that before it began.
fn measure(
    bench: &Checked,
    options: &Options,
    home: &Home,
    ask: &Ask,
    planned: &Planned,
) -> Result<Option<Outcome>, Mistake> {
    if let Some(peer) = &options.against {
        let mut rows = planned.plans.iter().flat_map(|plan| &plan.cases).flat_map(|planned| &planned.rows);
        if !rows.any(|row| names(peer, &row.implementation)) {
            let hint =
                format!("it names an implementation of `{}` or `cpu`, or one of the two", bench.provider);
            return Err(Mistake::usage(format!("there is no row of `{peer}` to compare with"), hint));
        }
    }
    if let Some(references) = bench.references {
        (references.set_up)(bench.program.clone(), options.timeout * 10);
    }
    let program = own_program()?;
    let command = |record: &Record| reproduce(record, bench, options, home);
    let request = Request {
        ask,
        planned,
        program: &program,
        machine: &Machine::read(),
        store: &home.store(),
        past: None,
        reproduce: Some(&command),
    };
    match request.run() {
        Ok(outcome) => Ok(Some(outcome)),
        Err(Unbegun::Interrupted) => Ok(None),
        Err(Unbegun::Store(error)) => Err(Mistake::of_store(&error)),
        Err(error) => Err(Mistake::own(error.to_string())),
    }
}

/// What a bench found, and what it was asked.
struct Measured {
    outcome: Outcome,
    ask: Ask,
    others: Others,
}

impl Measured {
    fn report(
        &self,
        bench: &Checked,
        options: &Options,
        home: &Home,
        format: &Format,
    ) -> Result<ExitCode, Mistake> {
        match options.color {
            When::Auto => {}
            When::Always => anstream::ColorChoice::Always.write_global(),
            When::Never => anstream::ColorChoice::Never.write_global(),
        }
        let report = Report::new(Some(&self.outcome.run), &self.outcome.records);
        print(&(format.write)(&report, style())).map_err(of_output)?;
        if let Err(error) = &self.outcome.kept {
            return Err(Mistake::of_store(error));
        }
        // Whoever asks for two builds reads the records.
        if let Some(name) = options.baseline.as_ref().filter(|_| options.beside.is_none()) {
            let text = self.against_baseline(bench, name);
            // Programs read standard output; the verdicts are in the records as well.
            if format.name == "table" { print(&text).map_err(of_output)? } else { tell(text.trim_end()) }
        }
        let failure = bench.references.and_then(|references| (references.failure)());
        if let Some(why) = failure {
            tell(&format!(
                "error: {why}\n\nhint: nothing can be judged without it; mend `reference` in the bench"
            ));
        }
        let judged = self.ask.judge(&self.outcome.records, &self.others, true);
        let ended = self.ask.end(&self.outcome, &self.others, &judged, "the same command begins anew");
        let code = match ended.map_err(|error| Mistake::own(error.to_string()))? {
            130 => 130,
            _ if failure.is_some() => 4,
            code => code,
        };
        if let Some(name) = &options.save_baseline {
            match code {
                0 => {
                    let path = home.save(name, &Machine::read().fingerprint())?;
                    tell(&format!("baseline `{name}` is kept in {}", path.display()));
                }
                4 => tell(&format!(
                    "baseline `{name}` was not kept: a kernel that fails is nothing to compare with"
                )),
                _ => tell(&format!("baseline `{name}` was not kept: the run failed")),
            }
        }
        Ok(ExitCode::from(code))
    }

    /// Each implementation beside its own older self, a line each.
    fn against_baseline(&self, bench: &Checked, baseline: &str) -> String {
        let mut text = format!("\nbeside `{baseline}`, measured again in the same rounds:\n");
        let own = format!("{}/", bench.provider);
        for record in self.outcome.records.iter().filter(|record| record.implementation.starts_with(&own)) {
            let older = format!("{baseline}/{}", bare(&record.implementation));
            let older = self
                .outcome
                .records
                .iter()
                .find(|other| other.case == record.case && other.implementation == older);
            let compared = word(record).and(record.rounds.as_ref()).and_then(|rounds| rounds.comparison());
            let verdict = match (older, compared) {
                _ if record.status != Status::Ok => record.status.to_string(),
                (None, _) => "new".to_owned(),
                (Some(older), _) if older.status != Status::Ok => {
                    format!("no verdict: {} is {}", older.implementation, older.status)
                }
                (_, Some(found)) => {
                    let speed = found.speed;
                    let (value, low, high) = (speed.value, speed.low, speed.high);
                    let word = match found.word {
                        Word::Inconclusive => {
                            format!(
                                "inconclusive: a difference of {:.1} % would have shown",
                                100.0 * found.smallest
                            )
                        }
                        word => word.name().to_owned(),
                    };
                    format!("{value:.3}× as fast [{low:.3}, {high:.3}]  {word}")
                }
                _ => "no verdict: fewer than six sets".to_owned(),
            };
            text += &format!("  {}  {verdict}\n", record.row());
        }
        text
    }
}

/// The command that shows a row again, with what decided its status.
fn reproduce(record: &Record, bench: &Checked, options: &Options, home: &Home) -> String {
    let own = format!("{}@{}/{}", record.case, bench.provider, bare(&record.implementation));
    if let Some(command) = &options.again {
        return format!("{command} {} --seed {}", quoted(&own), record.provenance.seed);
    }
    let mut command = format!("cargo bench --bench {} -- --exact {}", home.bench, quoted(&own));
    match &options.baseline {
        Some(name) => command += &format!(" --baseline {name}"),
        None if options.only_proves() => command += " --test",
        None => {}
    }
    if let Some(peer) = &options.against {
        command += &format!(" --against {}", quoted(peer));
    }
    if record.status == Status::Timeout {
        command += &format!(" --timeout {}", options.timeout.as_secs_f64());
    }
    command + &format!(" --seed {}", record.provenance.seed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn criterions_formats_are_found_and_hide_none_of_ours() {
        let found = |name: &str| find_format(name).unwrap().name;
        assert_eq!((found("criterion"), found("bencher")), ("table", "libtest"));
        assert_eq!((found("bencher-metric-format"), found("junit")), ("bencher", "junit"));
        assert!(find_format("benchr").is_err());
    }
}
