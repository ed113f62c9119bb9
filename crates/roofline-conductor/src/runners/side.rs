//! One side of a comparison: two builds of one thing take part in one run, each under a name that is the side's.

use super::RunnerSpec;
use roofline_core::names::is_limit;
use roofline_core::protocol::{Hello, Offer};
use std::collections::BTreeSet;

/// The implementations that are offered, each with a name that says nothing of whose it is. Probes of limits are the
/// house's own, and no side's.
pub fn bare_names<'a>(offers: &'a [Offer]) -> Vec<(&'a str, String)> {
    let offers = offers.iter().map(|offer| offer.implementation.as_str()).filter(|name| !is_limit(name));
    let mut halves: Vec<(&'a str, &str, &str)> = Vec::new();
    for name in offers {
        let (provider, bare) = name.split_once('/').unwrap_or(("", name));
        if !halves.iter().any(|(own, ..)| *own == name) {
            halves.push((name, provider, bare));
        }
    }
    let providers: BTreeSet<&str> = halves.iter().map(|(_, provider, _)| *provider).collect();
    // A runner may speak for several libraries, whose functions have the same names.
    let several = providers.len() > 1;
    let named = |(own, provider, bare): (&'a str, &str, &str)| {
        (own, if several { format!("{provider}-{bare}") } else { bare.to_owned() })
    };
    halves.into_iter().map(named).collect()
}

impl RunnerSpec {
    /// The same runner as a side called `name`, which stands before the slash of all that it offers.
    pub fn as_side(mut self, name: &str) -> RunnerSpec {
        name.clone_into(&mut self.name);
        self.is_side = true;
        self
    }

    pub fn is_side(&self) -> bool {
        self.is_side
    }

    /// What a side, or a runner with parameters, calls an implementation in the run, and what the runner itself does.
    pub(crate) fn names(&self, hello: &Hello) -> Vec<(String, String)> {
        if self.has_parameters() {
            return self.names_with_parameters(hello);
        }
        let named = |(own, bare): (&str, String)| (format!("{}/{bare}", self.name), own.to_owned());
        let names = bare_names(&hello.offers).into_iter().map(named);
        if self.is_side { names.collect() } else { Vec::new() }
    }

    /// Gives the offers of a side the side's name, and those of a runner with parameters their values.
    pub(crate) fn rename(&self, hello: &mut Hello) {
        if !self.is_side && !self.has_parameters() {
            return;
        }
        let names = self.names(hello);
        hello.offers.retain(|offer| !is_limit(&offer.implementation));
        for offer in &mut hello.offers {
            if let Some((name, _)) = names.iter().find(|(_, own)| *own == offer.implementation) {
                offer.implementation.clone_from(name);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::path::Path;

    fn hello(names: &[&str]) -> Hello {
        let offer = |name: &&str| json!({"implementation": name, "operation": "softmax", "dtypes": ["f32"]});
        let offers: Vec<_> = names.iter().map(offer).collect();
        serde_json::from_value(json!({"protocol": 1, "runner": "x", "version": "1", "offers": offers}))
            .unwrap()
    }

    fn renamed(names: &[&str]) -> Vec<String> {
        let mut hello = hello(names);
        RunnerSpec::built_in(Path::new("/bin/true")).as_side("old").rename(&mut hello);
        hello.offers.into_iter().map(|offer| offer.implementation).collect()
    }

    #[test]
    fn a_side_has_its_own_name_and_no_probes() {
        assert_eq!(renamed(&["cpu/plain", "limit/traffic", "cpu/fast"]), ["old/plain", "old/fast"]);
        assert_eq!(renamed(&["openblas/gemm", "onednn/gemm"]), ["old/openblas-gemm", "old/onednn-gemm"]);
        let spec = RunnerSpec::built_in(Path::new("/bin/true"));
        assert!(spec.is_built_in() && !spec.clone().as_side("old").is_built_in());
        assert_eq!(spec.names(&hello(&["cpu/plain"])), []);
    }
}
