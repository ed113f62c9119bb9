//! Parameters of one's own kernels: the same runner takes part once for every choice of values.
//!
//! A value reaches the runner's process as a variable of its environment, which every language reads, and stands behind the
//! names of its implementations: `mine/tiled:tile=8` is `mine/tiled` with `TILE=8`.

use super::RunnerSpec;
use roofline_core::names::is_limit;
use roofline_core::protocol::Hello;

/// The variable that a parameter reaches a kernel by: `block-size` by `BLOCK_SIZE`.
pub fn variable(parameter: &str) -> String {
    parameter.to_ascii_uppercase().replace(['-', '.'], "_")
}

impl RunnerSpec {
    /// The same runner with a value for each of these parameters.
    pub fn with_parameters(mut self, values: &[(String, String)]) -> RunnerSpec {
        for (name, value) in values {
            self.asked.insert(variable(name), value.clone());
            self.parameters.push(format!("{name}={value}"));
        }
        self.name += &self.behind();
        self
    }

    /// Its name, without parameters.
    pub fn bare_name(&self) -> &str {
        self.name.strip_suffix(&self.behind()).unwrap_or(&self.name)
    }

    /// What stands behind the names of its implementations.
    fn behind(&self) -> String {
        self.parameters.iter().map(|parameter| format!(":{parameter}")).collect()
    }

    /// What its implementations are called in the run, and what the runner itself calls them.
    pub(super) fn names_with_parameters(&self, hello: &Hello) -> Vec<(String, String)> {
        let own =
            hello.offers.iter().map(|offer| offer.implementation.clone()).filter(|name| !is_limit(name));
        own.map(|own| (format!("{own}{}", self.behind()), own)).collect()
    }

    pub(super) fn has_parameters(&self) -> bool {
        !self.parameters.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn a_choice_of_values_is_a_runner_of_its_own() {
        let hello: Hello = serde_json::from_value(
            serde_json::json!({"protocol": 1, "runner": "x", "version": "1", "offers": [
                {"implementation": "mine/tiled", "operation": "add", "dtypes": ["f32"]}
            ]}),
        )
        .unwrap();
        let values =
            [("block-size", "8"), ("order", "ijk")].map(|(name, value)| (name.to_owned(), value.to_owned()));
        let spec = RunnerSpec::built_in(Path::new("/bin/true")).with_parameters(&values);
        assert_eq!((spec.name.as_str(), spec.bare_name()), ("cpu:block-size=8:order=ijk", "cpu"));
        assert_eq!((&*spec.asked["BLOCK_SIZE"], &*spec.asked["ORDER"]), ("8", "ijk"));
        let mut renamed = hello.clone();
        spec.rename(&mut renamed);
        assert_eq!(renamed.offers[0].implementation, "mine/tiled:block-size=8:order=ijk");
        assert_eq!(spec.names(&hello), [(renamed.offers[0].implementation.clone(), "mine/tiled".to_owned())]);
    }
}
