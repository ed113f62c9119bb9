//! A plan: which rows a run has. Cases come from a selection, implementations from runners' offers.

pub use roofline_core::names::{LIMIT, is_limit, names};

use roofline_core::case::{Case, Device};
use roofline_core::condition::Condition;
use roofline_core::names::matches;
use roofline_core::operation::own::Declaration;
use roofline_core::protocol::{Hello, Offer, condition};
use roofline_core::record::Record;

#[derive(Clone, Debug)]
pub struct Plan {
    pub cases: Vec<PlannedCase>,
}

#[derive(Clone, Debug)]
pub struct PlannedCase {
    pub case: Case,
    pub rows: Vec<PlannedRow>,
    /// The hub: an implementation, a glob, or a provider, whose fastest is taken; else the limit's probe.
    pub against: Option<String>,
    /// Probes of the case's limit, of which a pilot chooses one.
    pub probes: Vec<PlannedRow>,
    /// Whether a runner has the case's device; its rows are `refused` otherwise.
    pub has_device: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PlannedRow {
    pub implementation: String,
    pub runner: String,
    /// What its offer lacks of the case; such a row says so.
    pub lacks: Option<String>,
    /// What it requires of the case; the row is `unsupported` where that does not hold.
    pub requires: Condition,
    /// Whether the run is asked how it compares with what its case names.
    pub is_compared: bool,
}

/// What one runner offers, and on which devices.
#[derive(Clone, Debug)]
pub struct RunnerOffers {
    pub runner: String,
    pub devices: Vec<String>,
    pub offers: Vec<Offer>,
    /// Operations of the user's own that it declares.
    pub operations: Vec<Declaration>,
}

impl RunnerOffers {
    pub fn new(runner: &str, hello: Hello) -> RunnerOffers {
        let Hello { devices, offers, operations, .. } = hello;
        RunnerOffers { runner: runner.to_owned(), devices, offers, operations }
    }

    fn has(&self, device: Device) -> bool {
        self.devices.contains(&device.to_string())
    }
}

impl Plan {
    /// Every case with every implementation of its form that one of `patterns` matches.
    ///
    /// No pattern matches all but the probes of limits, which a pattern has to name: `limit/*`. Cases
    /// that no implementation has are left out.
    pub fn new(cases: Vec<Case>, runners: &[RunnerOffers], patterns: &[String]) -> Plan {
        let probes = ["limit/*".to_owned()];
        let cases = cases.into_iter().map(|case| PlannedCase {
            rows: rows(&case, runners, patterns),
            against: None,
            probes: rows(&case, runners, &probes).into_iter().filter(|row| row.lacks.is_none()).collect(),
            has_device: is_there(case.device, runners),
            case,
        });
        Plan { cases: cases.filter(|planned| !planned.rows.is_empty()).collect() }
    }

    /// The same with rows that are compared with an implementation, a glob of some, or the fastest of a provider: in the cases
    /// that one of these has. Rows of `beside` are there to be looked at.
    pub fn against(mut self, hub: Option<&str>, beside: &[String]) -> Plan {
        for planned in &mut self.cases {
            let is_hub = |row: &PlannedRow| hub.is_some_and(|hub| names(hub, &row.implementation));
            let can_run =
                |row: &PlannedRow| row.lacks.is_none() && row.requires.admits(&planned.case).is_ok();
            let has_hub = planned.rows.iter().any(|row| is_hub(row) && can_run(row));
            planned.against = hub.filter(|_| has_hub).map(str::to_owned);
            for row in &mut planned.rows {
                let is_beside = beside.contains(&row.runner) || is_limit(&row.implementation);
                row.is_compared = has_hub && !is_beside && !is_hub(row);
            }
        }
        self
    }

    /// What is left when rows that have a record are taken out.
    pub fn without(&self, records: &[Record]) -> Plan {
        let is_done = |case: &str, row: &PlannedRow| {
            records.iter().any(|record| {
                record.case == case
                    && record.implementation == row.implementation
                    && record.provenance.runner == row.runner
            })
        };
        let mut cases = self.cases.clone();
        for planned in &mut cases {
            let case = planned.case.to_string();
            planned.rows.retain(|row| !is_done(&case, row));
        }
        cases.retain(|planned| !planned.rows.is_empty());
        Plan { cases }
    }

    /// Puts records, which come as rows are decided, in the order of the plan; probes last in their case.
    pub fn sort(&self, records: &mut [Record]) {
        let ids: Vec<String> = self.cases.iter().map(|planned| planned.case.to_string()).collect();
        records.sort_by_cached_key(|record| {
            let case = ids.iter().position(|id| *id == record.case);
            let row = case.and_then(|case| {
                let rows = &self.cases[case].rows;
                rows.iter().position(|row| {
                    row.implementation == record.implementation && row.runner == record.provenance.runner
                })
            });
            (case.unwrap_or(usize::MAX), row.unwrap_or(usize::MAX))
        });
    }

    /// Leaves rows that can be measured and that `keeps` wants, in cases that `runner` has one of: others are there for its
    /// rows.
    pub fn narrow(&mut self, runner: &str, keeps: impl Fn(&Case, &PlannedRow) -> bool) {
        for planned in &mut self.cases {
            planned.rows.retain(|row| row.lacks.is_none() && keeps(&planned.case, row));
        }
        self.cases.retain(|planned| planned.rows.iter().any(|row| row.runner == runner));
    }

    /// Whether a runner has a row here that is no limit's probe.
    pub fn has_rows_of(&self, runner: &str) -> bool {
        let mut rows = self.cases.iter().flat_map(|planned| &planned.rows);
        rows.any(|row| row.runner == runner && !is_limit(&row.implementation))
    }

    pub fn rows(&self) -> usize {
        self.cases.iter().map(|planned| planned.rows.len()).sum()
    }
}

/// Whether a runner has a device.
fn is_there(device: Device, runners: &[RunnerOffers]) -> bool {
    runners.iter().any(|runner| runner.has(device))
}

fn rows(case: &Case, runners: &[RunnerOffers], patterns: &[String]) -> Vec<PlannedRow> {
    let mut rows: Vec<PlannedRow> = Vec::new();
    // Where nobody has the device, those that have the operation say so.
    let is_absent = !is_there(case.device, runners);
    let kind = case.device.kind();
    for runner in runners.iter().filter(|runner| is_absent || runner.has(case.device)) {
        let form = case.form();
        let fits = |offer: &&Offer| is_absent || offer.devices.iter().any(|device| device == kind);
        for offer in runner.offers.iter().filter(|offer| offer.operation == form).filter(fits) {
            let lacks = case.is_taken_by(offer).err();
            let offered = lacks.is_none();
            // A probe that does not bound the dtype is no gap that a row should show.
            let is_probe = is_limit(&offer.implementation);
            let named = |pattern: &String| {
                (!is_probe || offered && is_limit(pattern)) && matches(pattern, &offer.implementation)
            };
            let wanted = patterns.is_empty() && !is_probe || patterns.iter().any(named);
            let same = |row: &&mut PlannedRow| {
                row.implementation == offer.implementation && row.runner == runner.runner
            };
            match rows.iter_mut().find(same) {
                // Another offer of the same name may have the dtype, and a condition of its own.
                Some(row) if offered && row.lacks.is_some() => {
                    (row.lacks, row.requires) = (None, requires(offer));
                }
                None if wanted => rows.push(PlannedRow {
                    implementation: offer.implementation.clone(),
                    runner: runner.runner.clone(),
                    lacks,
                    requires: requires(offer),
                    is_compared: false,
                }),
                Some(_) | None => {}
            }
        }
    }
    rows
}

/// What an offer requires; one that cannot be meant was refused when its runner said hello.
fn requires(offer: &Offer) -> Condition {
    condition(offer).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use roofline_core::protocol::cpu;

    #[test]
    fn probes_take_part_where_they_are_named() {
        let offer = |implementation: &str| Offer::new(implementation, "add", &["f32"]);
        let offers = vec![offer("cpu/plain"), offer("limit/traffic-1"), offer("limit/compute-avx2-f32")];
        let runners =
            [RunnerOffers { runner: "cpu".to_owned(), devices: cpu(), offers, operations: Vec::new() }];
        let rows = |patterns: &[&str], dtype: &str| -> Vec<String> {
            let case = format!("add/{dtype}/rows=1,cols=1").parse().unwrap();
            let patterns: Vec<String> = patterns.iter().map(|&pattern| pattern.to_owned()).collect();
            let plan = Plan::new(vec![case], &runners, &patterns);
            plan.cases.iter().flat_map(|case| &case.rows).map(|row| row.implementation.clone()).collect()
        };
        assert_eq!(rows(&[], "f32"), ["cpu/plain"]);
        assert_eq!(rows(&["*"], "f32"), ["cpu/plain"]);
        assert_eq!(rows(&["*/*"], "f32"), ["cpu/plain"]);
        assert_eq!(rows(&["limit/*"], "f32"), ["limit/traffic-1", "limit/compute-avx2-f32"]);
        assert_eq!(rows(&["limit/traffic-*", "cpu/*"], "f32"), ["cpu/plain", "limit/traffic-1"]);
        assert_eq!(rows(&["limit/*"], "bf16"), [""; 0]);
    }

    #[test]
    fn rows_are_compared_where_what_they_are_held_against_is_there() {
        let runner = |name: &str, kernels: &[&str], dtypes: &[&str]| {
            let offers = kernels.iter().map(|kernel| Offer::new(&format!("{name}/{kernel}"), "add", dtypes));
            RunnerOffers {
                runner: name.to_owned(),
                devices: cpu(),
                offers: offers.collect(),
                operations: Vec::new(),
            }
        };
        let runners = [
            runner("cpu", &["plain"], &["f32", "bf16"]),
            runner("mine", &["one"], &["f32", "bf16"]),
            runner("peer", &["fast", "slow"], &["f32"]),
        ];
        let compared = |dtype: &str, hub: &str, beside: &[&str]| {
            let case = format!("add/{dtype}/rows=1,cols=1").parse().unwrap();
            let beside: Vec<String> = beside.iter().map(|&name| name.to_owned()).collect();
            let plan = Plan::new(vec![case], &runners, &[]).against(Some(hub), &beside);
            let rows = plan.cases[0].rows.iter().filter(|row| row.is_compared);
            (plan.cases[0].against.is_some(), rows.map(|row| row.implementation.clone()).collect::<Vec<_>>())
        };
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<String>>();
        assert_eq!(compared("f32", "peer", &[]), (true, names(&["cpu/plain", "mine/one"])));
        assert_eq!(compared("f32", "peer", &["cpu"]), (true, names(&["mine/one"])));
        assert_eq!(compared("f32", "peer/fast", &["cpu"]), (true, names(&["mine/one", "peer/slow"])));
        assert_eq!(compared("bf16", "peer", &[]), (false, names(&[])), "it does not take the case");
    }

    #[test]
    fn an_offer_without_the_dtype_is_a_row_that_says_so() {
        let offers = vec![Offer::new("numpy/ufunc", "add", &["f32"])];
        let runners =
            [RunnerOffers { runner: "numpy".to_owned(), devices: cpu(), offers, operations: Vec::new() }];
        let cases = |dtype: &str| vec![format!("add/{dtype}/rows=1,cols=1").parse().unwrap()];
        let lacks = |dtype| Plan::new(cases(dtype), &runners, &[]).cases[0].rows[0].lacks.clone();
        assert_eq!(lacks("f32"), None);
        assert_eq!(lacks("bf16").as_deref(), Some("does not offer add in bf16"));
        assert_eq!(Plan::new(cases("f32"), &runners, &["cpu/*".to_owned()]).rows(), 0);
    }

    #[test]
    fn parameters_other_than_the_default_are_for_those_who_take_them() {
        let offer = |name: &str, params: &[&str]| Offer {
            params: params.iter().map(|&name| name.to_owned()).collect(),
            ..Offer::new(name, "rms-norm", &["f32"])
        };
        let offers = vec![offer("mine/any", &["eps"]), offer("mine/one", &[])];
        let runners =
            [RunnerOffers { runner: "mine".to_owned(), devices: cpu(), offers, operations: Vec::new() }];
        let lacks = |eps: &str| -> Vec<Option<String>> {
            let case = format!("rms-norm/f32/rows=1,cols=1{eps}").parse().unwrap();
            Plan::new(vec![case], &runners, &[]).cases[0].rows.iter().map(|row| row.lacks.clone()).collect()
        };
        assert_eq!(lacks(""), [None, None]);
        assert_eq!(lacks(",eps=1e-5"), [None, Some("takes no `eps` but 1e-6".to_owned())]);
    }

    #[test]
    fn the_offer_that_has_the_dtype_says_what_is_required() {
        let offer = |dtype: &str, requires: &str| Offer {
            requires: requires.to_owned(),
            ..Offer::new("torch/eager", "matmul", &[dtype])
        };
        let offers = vec![offer("f32", ""), offer("bf16", "finite"), offer("i8", "m % 2 == 0")];
        let runners =
            [RunnerOffers { runner: "torch".to_owned(), devices: cpu(), offers, operations: Vec::new() }];
        for (dtype, requires) in [("f32", ""), ("bf16", "finite"), ("i8", "m % 2 == 0")] {
            let case: Case = format!("matmul/{dtype}/m=1,n=1,k=1").parse().unwrap();
            let row = Plan::new(vec![case], &runners, &[]).cases.remove(0).rows.remove(0);
            assert_eq!(row.lacks, None);
            assert_eq!(row.requires.to_string(), requires, "{dtype}");
        }
    }

    #[test]
    fn a_case_on_a_device_has_the_rows_that_compute_there() {
        let offer = |implementation: &str, devices: &[&str]| Offer {
            devices: devices.iter().map(|&device| device.to_owned()).collect(),
            ..Offer::new(implementation, "add", &["f32"])
        };
        let both = RunnerOffers {
            runner: "torch".to_owned(),
            devices: vec!["cpu".to_owned(), "cuda:0".to_owned()],
            offers: vec![offer("torch/eager", &["cpu", "cuda"]), offer("torch/formula", &["cpu"])],
            operations: Vec::new(),
        };
        let offers = vec![offer("cpu/plain", &["cpu"]), offer("limit/traffic-1", &["cpu"])];
        let runners =
            [RunnerOffers { runner: "cpu".to_owned(), devices: cpu(), offers, operations: Vec::new() }, both];
        let plan = |device: &str| {
            let case = format!("add/f32/rows=1,cols=1/device={device}").parse().unwrap();
            Plan::new(vec![case], &runners, &[]).cases.remove(0)
        };
        let rows = |planned: &PlannedCase| -> Vec<String> {
            planned.rows.iter().map(|row| row.implementation.clone()).collect()
        };
        assert_eq!(rows(&plan("cpu")), ["cpu/plain", "torch/eager", "torch/formula"]);
        assert_eq!(rows(&plan("cuda:0")), ["torch/eager"]);
        assert!(plan("cuda:0").has_device && plan("cuda:0").probes.is_empty());
        // Nobody has this one: all rows are there, to be refused.
        assert_eq!(rows(&plan("cuda:1")).len(), 3);
        assert!(!plan("cuda:1").has_device);
    }
}
