//! What runners offer, asked or remembered.

use crate::args::Places;
use crate::error::Problem;
use crate::places;
use roofline_conductor::offers::{OfferCache, ask};
use roofline_conductor::plan::RunnerOffers;
use roofline_conductor::references;
use roofline_conductor::runners::{self, RunnerSpec};
use roofline_conductor::session::Limits;
use roofline_core::names::bare;
use roofline_core::operation::own::Declaration;
use roofline_core::protocol::{Hello, Offer};
use roofline_runner::Runner;
use roofline_runner::cpu::CpuRunner;
use roofline_runner::cuda;
use std::path::Path;
use std::time::Duration;

/// Of a runner that is only asked who it is.
pub const HELLO: Limits = Limits { patience: Duration::from_secs(60), memory: 8 << 30 };

/// What is known of a runner without starting it.
pub fn known(spec: &RunnerSpec, places: &Places) -> Option<Hello> {
    if spec.is_built_in() {
        // It is part of this binary, so it need not be started to be asked.
        return Some(if spec.name == "cuda" { cuda::known() } else { CpuRunner.hello() });
    }
    OfferCache::read(&places::offers_file(places)).get(spec).cloned()
}

/// Makes the operations known that runners declare which the command line names: before the first case is read.
///
/// Without `limits` none is started, and only what is remembered is known.
pub fn bring(places: &Places, specs: &[RunnerSpec], limits: Option<Limits>) -> Result<(), Problem> {
    let is_named = |spec: &&RunnerSpec| !spec.is_built_in() && is_needed(spec, places, &[]);
    let mut hellos = Vec::new();
    for spec in specs.iter().filter(is_named) {
        let hello = match (known(spec, places), limits) {
            (None, Some(limits)) => Some(asked(spec, places, limits)?),
            (known, _) => known,
        };
        if let Some(mut hello) = hello {
            // With other values of a parameter it is the same file, which declares the same.
            let is_known = |own: &Declaration| {
                hellos.iter().any(|(name, there): &(&RunnerSpec, Hello)| {
                    name.bare_name() == spec.bare_name() && there.operations.contains(own)
                })
            };
            hello.operations.retain(|own| !is_known(own));
            hellos.push((spec, hello));
        }
    }
    references::bring(hellos.iter().map(|(spec, hello)| (spec.name.as_str(), hello)))
        .map_err(|why| Problem::usage(why, "mend it where it is declared"))
}

/// The same for commands that need no other runner.
pub fn bring_named(places: &Places, limits: Option<Limits>) -> Result<(), Problem> {
    if !places.names_anybody() {
        return Ok(());
    }
    bring(places, &places::runners(places)?, limits)
}

/// Asks a runner, or says what to do about it.
pub fn asked(spec: &RunnerSpec, places: &Places, limits: Limits) -> Result<Hello, Problem> {
    let mut cache = OfferCache::read(&places::offers_file(places));
    learn(spec, &mut cache, &places::offers_file(places), limits)
        .map_err(|why| Problem::nothing(format!("runner `{}`: {why}", spec.name), spec.hint.clone()))
}

/// Where a name is like none that is known, it is of somebody's own.
const NOBODY: &str =
    "`roofline runners` shows what there is; `--lib`, `--python`, `--cuda` and `--runner` bring your own";

/// The runners that a selection of implementations needs, with their offers.
///
/// The built-in runner takes part unless patterns leave it out; others when a pattern or `--runner` names them, or rows are
/// compared with the provider `hub`, which may be one.
///
/// `limits` holds for runners that have to be asked; without it none is started.
pub fn needed(
    places: &Places,
    patterns: &[String],
    hub: Option<&str>,
    specs: &[RunnerSpec],
    limits: Option<Limits>,
) -> Result<Vec<RunnerOffers>, Problem> {
    let is_there = |name: &str| specs.iter().any(|spec| spec.bare_name() == name);
    for named in places.runner.iter().filter(|place| !is_folder(place) && !is_there(place)) {
        find(specs, named)?;
    }
    let mut offers = Vec::new();
    let is_hub = |spec: &RunnerSpec| hub == Some(spec.bare_name());
    for spec in specs.iter().filter(|spec| is_hub(spec) || is_needed(spec, places, patterns)) {
        let hello = match (known(spec, places), limits) {
            (Some(hello), _) => hello,
            (None, Some(limits)) => asked(spec, places, limits)?,
            (None, None) => {
                let why = format!("runner `{}` was never asked what it offers", spec.name);
                return Err(Problem::nothing(why, "`roofline runners` starts it and asks"));
            }
        };
        offers.push(RunnerOffers::new(&spec.name, hello));
    }
    for provider in patterns.iter().filter_map(|pattern| pattern.split('/').next()) {
        let hosted = |offer: &Offer| offer.implementation.split('/').next() == Some(provider);
        let is_hosted = offers.iter().flat_map(|runner| &runner.offers).any(hosted);
        if is_hosted || provider.contains('*') {
            continue;
        }
        // Who leaves the provider out means an implementation.
        let is_meant = |offer: &&Offer| bare(&offer.implementation) == provider;
        let meant = offers.iter().flat_map(|runner| &runner.offers).find(is_meant);
        let hint = match meant {
            Some(offer) => Some(format!("did you mean `{}`, or `*/{provider}`?", offer.implementation)),
            None if matches!(runners::find(specs, provider), Err(None)) => Some(NOBODY.to_owned()),
            None => None,
        };
        find(specs, provider).map_err(|problem| match hint {
            Some(hint) => problem.with_hint(hint),
            None => problem,
        })?;
    }
    Ok(offers)
}

fn is_needed(spec: &RunnerSpec, places: &Places, patterns: &[String]) -> bool {
    let by_pattern = patterns.iter().any(|pattern| pattern.split('/').next() == Some(spec.bare_name()));
    let by_place = places.runner.iter().any(|place| {
        place == spec.bare_name()
            || (is_folder(place) && Path::new(place).canonicalize().is_ok_and(|path| path == spec.folder))
    });
    // The built-in one hosts the probes of every limit, whoever is measured.
    spec.is_built_in() || spec.named.is_some() || by_pattern || by_place
}

/// Whether `--runner` names a folder, not a name.
pub fn is_folder(place: &str) -> bool {
    Path::new(place).join("runner.toml").is_file()
}

pub fn find<'a>(specs: &'a [RunnerSpec], name: &str) -> Result<&'a RunnerSpec, Problem> {
    runners::find(specs, name).map_err(|near| {
        let hint = match near {
            _ if Path::new(name).is_dir() => format!("the folder `{name}` has no runner.toml"),
            Some(near) => format!("did you mean `{near}`?"),
            None => "`roofline runners` shows what there is; `--runner FOLDER` names another".to_owned(),
        };
        Problem::nothing(format!("there is no runner `{name}`"), hint)
    })
}

/// Asks a runner and remembers its answer.
pub fn learn(
    spec: &RunnerSpec,
    cache: &mut OfferCache,
    file: &Path,
    limits: Limits,
) -> Result<Hello, String> {
    let program = places::program().map_err(|problem| problem.to_string())?;
    // Who asks shows the hint on a line of its own.
    let without_hint = |why: String| why.strip_suffix(&format!("; {}", spec.hint)).unwrap_or(&why).to_owned();
    let hello = ask(&program, spec, limits).map_err(without_hint)?;
    cache.put(spec, hello.clone());
    // The memory only saves time; a place that cannot be written to costs that time and nothing else.
    if let Some(folder) = file.parent() {
        let _ = std::fs::create_dir_all(folder).and_then(|()| cache.write(file));
    }
    Ok(hello)
}
