//! What runners offer, asked or remembered.

use crate::args::Places;
use crate::error::Problem;
use crate::places;
use roofline_conductor::offers::{OfferCache, ask};
use roofline_conductor::plan::{RunnerOffers, matches};
use roofline_conductor::runners::{self, RunnerSpec};
use roofline_conductor::session::Limits;
use roofline_core::protocol::Hello;
use std::path::Path;
use std::time::Duration;

/// Saying hello is quick, but a framework may take seconds to load.
const HELLO: Limits = Limits { patience: Duration::from_secs(60), memory: 8 << 30 };

/// The runners that a selection of implementations needs, with their offers.
///
/// The built-in runner takes part unless patterns leave it out; others when a pattern or `--runner` names them.
pub fn needed(
    places: &Places,
    patterns: &[String],
    specs: &[RunnerSpec],
) -> Result<Vec<RunnerOffers>, Problem> {
    let mut cache = OfferCache::read(&places::offers_file(places));
    let mut offers = Vec::new();
    let mut chosen: Vec<&RunnerSpec> =
        specs.iter().filter(|spec| is_needed(spec, places, patterns)).collect();
    for named in names(places, patterns) {
        if !chosen.iter().any(|spec| spec.name == named) {
            chosen.push(find(specs, &named)?);
        }
    }
    for spec in chosen {
        let hello = match cache.get(spec) {
            Some(hello) => hello.clone(),
            None => learn(spec, &mut cache, &places::offers_file(places)).map_err(|why| {
                Problem::nothing(format!("runner `{}`: {why}", spec.name), spec.hint.clone())
            })?,
        };
        offers.push(RunnerOffers { runner: spec.name.clone(), offers: hello.offers });
    }
    Ok(offers)
}

fn is_needed(spec: &RunnerSpec, places: &Places, patterns: &[String]) -> bool {
    let by_pattern = patterns.iter().any(|pattern| {
        let provider = pattern.split('/').next().unwrap_or_default();
        provider == spec.name || (provider.contains('*') && spec.name == "cpu" && matches(provider, "cpu"))
    });
    let by_place = places.runner.iter().any(|place| {
        *place == spec.name || Path::new(place).canonicalize().is_ok_and(|path| path == spec.folder)
    });
    by_pattern || by_place || (spec.name == "cpu" && patterns.is_empty())
}

/// Runners that the user named outright; one that is not there is an error.
fn names(places: &Places, patterns: &[String]) -> Vec<String> {
    let providers =
        patterns.iter().filter_map(|pattern| pattern.split('/').next()).filter(|name| !name.contains('*'));
    let named = places
        .runner
        .iter()
        .map(String::as_str)
        .filter(|place| !Path::new(place).join("runner.toml").is_file());
    providers.chain(named).map(str::to_owned).collect()
}

fn find<'a>(specs: &'a [RunnerSpec], name: &str) -> Result<&'a RunnerSpec, Problem> {
    runners::find(specs, name).map_err(|near| {
        let hint = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`roofline runners` shows what there is; `--runner FOLDER` names another".to_owned(),
        };
        Problem::nothing(format!("there is no runner `{name}`"), hint)
    })
}

/// Asks a runner and remembers its answer.
pub fn learn(spec: &RunnerSpec, cache: &mut OfferCache, file: &Path) -> Result<Hello, String> {
    let program = places::program().map_err(|problem| problem.to_string())?;
    let hello = ask(&program, spec, HELLO)?;
    cache.put(spec, hello.clone());
    // The memory only saves time; a place that cannot be written to costs that time and nothing else.
    if let Some(folder) = file.parent() {
        let _ = std::fs::create_dir_all(folder).and_then(|()| cache.write(file));
    }
    Ok(hello)
}
