//! Who takes part in a run, and which rows that makes.

use crate::ending::Others;
use roofline_conductor::plan::{Plan, PlannedCase, RunnerOffers};
use roofline_conductor::runners::{RunnerSpec, bare_names};
use roofline_core::case::Case;
use roofline_core::names::matches;
use roofline_core::protocol::Hello;
use std::collections::BTreeSet;

/// Who takes part, and what that makes.
pub struct Planned {
    pub lineup: Lineup,
    /// One after the other in one run: several where rows have hubs of their own, or take turns.
    pub plans: Vec<Plan>,
    pub others: Others,
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

    /// Each implementation of the runner `new` that one of `patterns` matches, or all, beside the one of the same name of
    /// the runner `old`: a plan each, whose hub is the older self. One that the older side lacks is measured alone.
    pub fn pairs(&self, cases: &[Case], old: &str, new: &str, patterns: &[String]) -> Vec<Plan> {
        let pair = |(own, bare): (&str, String)| {
            let older = format!("{old}/{bare}");
            let is_wanted = |pattern: &String| matches(pattern, own) || matches(pattern, &bare);
            if !patterns.is_empty() && !patterns.iter().any(is_wanted) {
                return None;
            }
            let mut plan = self.plan(cases.to_vec(), &[own.to_owned(), older.clone()]);
            plan.narrow(new, |_, _| true);
            Some(plan.against(Some(&older))).filter(|plan| plan.rows() > 0)
        };
        let offers = self.offers.iter().find(|offers| offers.runner == new);
        let names = offers.map_or_else(Vec::new, |offers| bare_names(&offers.offers));
        names.into_iter().filter_map(pair).collect()
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
        let fresh = (Some("old/fresh".to_owned()), strings(&["new/fresh"]));
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
