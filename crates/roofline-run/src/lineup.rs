//! Who takes part in a run, and which rows that makes.

use crate::ending::Others;
use roofline_conductor::plan::{Plan, PlannedCase, RunnerOffers};
use roofline_conductor::runners::{RunnerSpec, bare_names};
use roofline_core::case::Case;
use roofline_core::names::{matches, names};
use roofline_core::protocol::Hello;
use std::collections::{BTreeMap, BTreeSet};

/// Who takes part, and what that makes.
pub struct Planned {
    pub lineup: Lineup,
    /// One after the other in one run: several where rows have hubs of their own, or take turns.
    pub plans: Vec<Plan>,
    pub others: Others,
    /// What was said of the rows before any was measured: those that one side has alone.
    pub notices: Vec<String>,
    /// Whether nothing was left out of what there is to measure.
    pub is_whole: bool,
}

impl Planned {
    pub fn rows(&self) -> usize {
        self.plans.iter().map(Plan::rows).sum()
    }

    /// Whether a runner has a row that is no limit's probe.
    pub fn has_rows_of(&self, runner: &str) -> bool {
        self.plans.iter().any(|plan| plan.has_rows_of(runner))
    }
}

/// Runners, and what each offers.
pub struct Lineup {
    pub specs: Vec<RunnerSpec>,
    pub offers: Vec<RunnerOffers>,
}

impl Lineup {
    /// Adds a runner. An operation of the user's own must mean to it what it means to those that are there.
    pub fn add(&mut self, spec: RunnerSpec, hello: Hello) -> Result<(), String> {
        for there in &self.offers {
            for operation in &there.operations {
                let same = hello.operations.iter().find(|own| own.name == operation.name);
                if same.is_some_and(|own| own != operation) {
                    let (one, other, name) = (&there.runner, &spec.name, &operation.name);
                    return Err(format!("`{one}` and `{other}` declare the operation `{name}` differently"));
                }
            }
        }
        self.offers.push(RunnerOffers::new(&spec.name, hello));
        self.specs.push(spec);
        Ok(())
    }

    /// Every case with every implementation that one of `patterns` matches.
    pub fn plan(&self, cases: Vec<Case>, patterns: &[String]) -> Plan {
        Plan::new(cases, &self.offers, patterns)
    }

    /// The runners that are there to be looked at beside one's own: where the command line names files and folders, all others,
    /// but for the house where a pattern names it. Files that have nothing but what rows are compared with are not meant.
    pub fn beside_own(&self, against: Option<&str>, patterns: &[String]) -> Vec<String> {
        let is_hub = |name: &str| against.is_some_and(|against| names(against, name));
        let has_more = |spec: &&RunnerSpec| {
            let mut offers = self.offers.iter().filter(|offers| offers.runner == spec.name);
            offers.any(|own| own.offers.iter().any(|offer| !is_hub(&offer.implementation)))
        };
        let is_named = |spec: &RunnerSpec| {
            let is_meant = |pattern: &String| pattern.split('/').next() == Some(&spec.name);
            spec.named.is_some() || spec.is_built_in() && patterns.iter().any(is_meant)
        };
        if !self.specs.iter().filter(|spec| spec.named.is_some()).any(|spec| has_more(&spec)) {
            return Vec::new();
        }
        self.specs.iter().filter(|spec| !is_named(spec)).map(|spec| spec.name.clone()).collect()
    }

    /// Each implementation of the runner `new` that one of `patterns` matches, or all, beside the one of the same name of
    /// the runner `old`: a plan each, whose hub is the older self. One that the older side lacks is measured alone.
    pub fn pairs(&self, cases: &[Case], old: &str, new: &str, patterns: &[String]) -> Vec<Plan> {
        let pair = |(own, bare): (String, String)| {
            let older = format!("{old}/{bare}");
            let is_wanted = |pattern: &String| matches(pattern, &own) || matches(pattern, &bare);
            if !patterns.is_empty() && !patterns.iter().any(is_wanted) {
                return None;
            }
            let mut plan = self.plan(cases.to_vec(), &[own, older.clone()]);
            plan.narrow(new, |_, _| true);
            Some(plan.against(Some(&older), &[])).filter(|plan| plan.rows() > 0)
        };
        self.names_of(new).into_iter().filter_map(pair).collect()
    }

    /// What one side of each pair has alone, of what `patterns` want, a line each: implementations, and cases of those that both
    /// have.
    pub fn apart(&self, cases: &[Case], pairs: &[(String, String)], patterns: &[String]) -> Vec<String> {
        let mut lines = Vec::new();
        for (old, new) in pairs {
            let is_wanted = |bare: &str| {
                let own = format!("{new}/{bare}");
                let is_meant = |pattern: &String| matches(pattern, &own) || matches(pattern, bare);
                patterns.is_empty() || patterns.iter().any(is_meant)
            };
            let [before, now] = [old, new].map(|runner| {
                let names = self.names_of(runner).into_iter();
                names
                    .filter(|(_, bare)| is_wanted(bare))
                    .map(|(own, bare)| (bare, own))
                    .collect::<BTreeMap<_, _>>()
            });
            for gone in before.keys().filter(|bare| !now.contains_key(*bare)) {
                lines.push(format!("`{old}/{gone}` is gone: `{new}` has no such implementation"));
            }
            for fresh in now.keys().filter(|bare| !before.contains_key(*bare)) {
                lines.push(format!("`{new}/{fresh}` is new: there is nothing to compare it with"));
            }
            for (bare, own) in &now {
                let Some(older) = before.get(bare) else { continue };
                let plan = self.plan(cases.to_vec(), &[own.clone(), older.clone()]);
                let has = |planned: &PlannedCase, runner: &str| {
                    planned.rows.iter().any(|row| row.runner == runner && row.lacks.is_none())
                };
                let mut alone = |one: &str, other: &str, what: &str| {
                    let cases = plan.cases.iter().filter(|planned| has(planned, one) && !has(planned, other));
                    let cases: Vec<String> = cases.map(|planned| planned.case.to_string()).collect();
                    if let Some(first) = cases.first() {
                        let all = cases.len();
                        lines.push(format!(
                            "`{one}/{bare}` {what} {all} of the cases, {first} the first of them"
                        ));
                    }
                };
                alone(old, new, "is gone from");
                alone(new, old, "is new in");
            }
        }
        lines
    }

    /// The implementations of a runner: what it offers, and what is left of the name without whose it is.
    fn names_of(&self, runner: &str) -> Vec<(String, String)> {
        let offers = self.offers.iter().find(|offers| offers.runner == runner);
        let names = offers.map_or_else(Vec::new, |offers| bare_names(&offers.offers));
        names.into_iter().map(|(own, bare)| (own.to_owned(), bare)).collect()
    }

    /// Each row of a plan beside its older self: for every runner `old` that stands for a runner `new`, the pairs of
    /// [`Lineup::pairs`] of what is planned, and of nothing that was left out of it.
    pub fn beside(&self, plan: &Plan, pairs: &[(String, String)]) -> Vec<Plan> {
        let rows = plan.cases.iter().flat_map(|planned| &planned.rows);
        let patterns: Vec<String> = rows.map(|row| row.implementation.clone()).collect();
        let cases: Vec<Case> = plan.cases.iter().map(|planned| planned.case.clone()).collect();
        let is_planned = |planned: &PlannedCase| {
            let own = plan.cases.iter().filter(|own| own.case == planned.case).flat_map(|own| &own.rows);
            let own: BTreeSet<&str> = own.map(|row| row.implementation.as_str()).collect();
            planned.rows.iter().any(|row| own.contains(row.implementation.as_str()))
        };
        let mut plans: Vec<Plan> =
            pairs.iter().flat_map(|(old, new)| self.pairs(&cases, old, new, &patterns)).collect();
        plans.iter_mut().for_each(|plan| plan.cases.retain(is_planned));
        plans.retain(|plan| plan.rows() > 0);
        plans
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn lineup() -> Lineup {
        let side = |runner: &str, names: &[&str]| {
            let offer = |name: &&str| {
                let implementation = format!("{runner}/{name}");
                json!({"implementation": implementation, "operation": "softmax", "dtypes": ["f32"]})
            };
            let offers: Vec<_> = names.iter().map(offer).collect();
            let hello = json!({"protocol": 1, "runner": runner, "version": "1", "offers": offers});
            RunnerOffers::new(runner, serde_json::from_value(hello).unwrap())
        };
        let offers = vec![side("old", &["fast", "gone"]), side("new", &["fast", "fresh"])];
        Lineup { specs: Vec::new(), offers }
    }

    #[test]
    fn what_one_side_has_alone_is_told_by_implementations_and_by_cases() {
        let mut lineup = lineup();
        let cases: Vec<Case> = ["softmax/f32/rows=2,cols=3", "softmax/bf16/rows=2,cols=3"]
            .map(|id| id.parse().unwrap())
            .to_vec();
        lineup.offers[0].offers[0].dtypes.push("bf16".to_owned());
        let pairs = [("old".to_owned(), "new".to_owned())];
        assert_eq!(
            lineup.apart(&cases, &pairs, &[]),
            [
                "`old/gone` is gone: `new` has no such implementation",
                "`new/fresh` is new: there is nothing to compare it with",
                "`old/fast` is gone from 1 of the cases, softmax/bf16/rows=2,cols=3 the first of them",
            ]
        );
        assert_eq!(lineup.apart(&cases[..1], &pairs, &["new/fast".to_owned()]), [""; 0]);
    }

    #[test]
    fn beside_one_s_own_files_the_others_are_there_to_be_looked_at() {
        let spec = |name: &str, is_named: bool| {
            let mut spec = RunnerSpec::built_in(std::path::Path::new("/bin/true")).as_side(name);
            spec.named = is_named.then(|| ("--lib", "mine.so".into()));
            spec
        };
        let house = RunnerSpec::built_in(std::path::Path::new("/bin/true"));
        let mut lineup = lineup();
        lineup.specs = vec![house, spec("numpy", false), spec("old", true), spec("new", true)];
        let beside = |lineup: &Lineup, against, patterns: &[&str]| {
            let patterns: Vec<String> = patterns.iter().map(|&pattern| pattern.to_owned()).collect();
            lineup.beside_own(Some(against), &patterns)
        };
        assert_eq!(beside(&lineup, "old", &[]), ["cpu", "numpy"]);
        assert_eq!(beside(&lineup, "numpy", &["new/*", "cpu/*"]), ["numpy"]);
        lineup.specs.pop();
        assert_eq!(beside(&lineup, "old", &[]), [""; 0], "a file that all are compared with is nobody's own");
    }

    fn rows(plans: &[Plan]) -> Vec<(Option<String>, Vec<String>)> {
        let row = |plan: &Plan| {
            let planned = &plan.cases[0];
            let names = planned.rows.iter().map(|row| row.implementation.clone());
            (planned.against.clone(), names.collect())
        };
        plans.iter().map(row).collect()
    }

    #[test]
    fn each_implementation_stands_beside_its_older_self() {
        let cases: Vec<Case> = vec!["softmax/f32/rows=2,cols=3".parse().unwrap()];
        let lineup = lineup();
        let strings = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<String>>();
        let fast = (Some("old/fast".to_owned()), strings(&["old/fast", "new/fast"]));
        // Nothing is there to compare it with.
        let fresh = (None, strings(&["new/fresh"]));
        assert_eq!(rows(&lineup.pairs(&cases, "old", "new", &[])), [fast.clone(), fresh]);
        for pattern in ["fa*", "new/fast"] {
            assert_eq!(
                rows(&lineup.pairs(&cases, "old", "new", &strings(&[pattern]))),
                std::slice::from_ref(&fast)
            );
        }
        // What was left out of the plan does not come back with its older self.
        let mut plan = lineup.plan(cases, &strings(&["new/*"]));
        let pairs = [("old".to_owned(), "new".to_owned())];
        assert_eq!(lineup.beside(&plan, &pairs).len(), 2);
        plan.cases[0].rows.retain(|row| row.implementation == "new/fast");
        assert_eq!(rows(&lineup.beside(&plan, &pairs)), [fast]);
    }
}
