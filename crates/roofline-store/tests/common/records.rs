//! Runs and records for the tests of the crates that take them: one plain, and any.
#![allow(dead_code, unreachable_pub, reason = "each test file uses its part, and the unit tests as well")]

use proptest::prelude::*;
use roofline_core::check::{Check, Checked, Standing};
use roofline_core::judge::Fault;
use roofline_core::operation::Work;
use roofline_core::pattern::Pattern;
use roofline_core::protocol::{Allocations, OutputMode};
use roofline_core::record::{
    Before, Course, Ended, Evidence, Gate, Grade, Imported, Kind, Limit, Limiter, Provenance, Record, Rounds,
    Run, SCHEMA, Sample, Status,
};
use roofline_core::units::{Bytes, Seconds};

pub fn run(id: &str) -> Run {
    Run {
        schema: SCHEMA,
        id: id.to_owned(),
        started: "2026-11-15T03:00:00Z".to_owned(),
        arguments: Vec::new(),
        command: "roofline run softmax".to_owned(),
        machine: serde_json::json!({"cores": 2}),
        program: String::new(),
        revision: String::new(),
    }
}

pub fn record(run: &str, id: &str) -> Record {
    Record {
        schema: SCHEMA,
        id: id.to_owned(),
        run: run.to_owned(),
        at: "2026-11-15T03:00:01Z".to_owned(),
        case: "softmax/f32/rows=64,cols=1000".to_owned(),
        implementation: "cpu/plain".to_owned(),
        status: Status::Ok,
        why: String::new(),
        reproduce: "roofline run softmax/f32/rows=64,cols=1000 -i cpu/plain".to_owned(),
        place: None,
        against: None,
        work: Work::default(),
        gate: Gate::default(),
        samples: (0..50)
            .map(|i| Sample { set: i / 10, visit: i, batch: 1, nanoseconds: 1e4 + f64::from(i) })
            .collect(),
        rounds: None,
        evidence: Evidence::default(),
        provenance: Provenance::default(),
    }
}

fn number() -> impl Strategy<Value = f64> {
    use proptest::num::f64::{NEGATIVE, NORMAL, POSITIVE, SUBNORMAL, ZERO};
    NORMAL | SUBNORMAL | ZERO | POSITIVE | NEGATIVE
}

fn pattern() -> impl Strategy<Value = Pattern> {
    prop_oneof![
        Just(Pattern::Stale),
        Just(Pattern::AllZero),
        Just(Pattern::Nan),
        Just(Pattern::ShiftedByOne),
        number().prop_map(Pattern::ConstantFactor),
        any::<(usize, usize)>().prop_map(|(from, of)| Pattern::TailOfARow { from, of }),
        any::<(Vec<usize>, Vec<usize>)>().prop_map(|(first, last)| Pattern::OneTile { first, last }),
    ]
}

prop_compose! {
    fn fault()(
        at: Vec<usize>, (got, expected, bound) in any::<(String, String, String)>(), (failed, checked) in any::<(u64, u64)>(),
        pattern in proptest::option::of(pattern()),
    ) -> Fault {
        Fault { at, got, expected, bound, failed, checked, pattern }
    }
}

prop_compose! {
    fn gate()(
        (launches, judged_visits) in any::<(u32, u32)>(), (checked, failed) in any::<(u64, u64)>(), score in number(),
        fault in proptest::option::of(fault()), (seen_in, replay) in any::<(String, String)>(),
        deterministic: Option<bool>,
    ) -> Gate {
        Gate {
            launches,
            checked,
            failed,
            score,
            fault,
            seen_in,
            replay,
            deterministic,
            visits: judged_visits,
            judged_visits,
        }
    }
}

prop_compose! {
    fn course()(
        kind in proptest::sample::select(vec![Kind::Tiny, Kind::Short, Kind::Long, Kind::Cold]),
        (warmup, samples, batch) in any::<(u32, u32, u32)>(), block in number(), timer in number(),
    ) -> Course {
        Course { kind, warmup, samples, batch, block: Seconds(block), timer: Seconds(timer) }
    }
}

/// Values of sets: small ones as they are, and any.
fn sets() -> impl Strategy<Value = Vec<f64>> {
    prop_oneof![
        proptest::collection::vec(-1.0..1.0, 6..13),
        proptest::collection::vec(-0.01..0.01, 6..13),
        proptest::collection::vec(number(), 0..9),
    ]
}

prop_compose! {
    fn limit()(probe in name(), is_traffic: bool, to_hub in sets()) -> Limit {
        Limit { probe, by: if is_traffic { Limiter::Traffic } else { Limiter::Compute }, to_hub }
    }
}

prop_compose! {
    fn rounds()(
        hub in name(), to_hub in sets(), limit in proptest::option::of(limit()), course in course(),
        alpha in prop_oneof![Just(0.01), number()], delta in prop_oneof![Just(0.01), number()],
        ended in proptest::sample::select(vec![
            Ended::Decided, Ended::Looks, Ended::Budget, Ended::TotalBudget, Ended::Slow,
        ]),
        before in proptest::option::of((sets(), number())),
    ) -> Rounds {
        let before = before.map(|(to_hub, alpha)| Before { to_hub, alpha, spent: None });
        Rounds { hub, to_hub, limit, course, alpha, delta, ended, before }
    }
}

/// Names of implementations: likely ones, and any.
fn name() -> impl Strategy<Value = String> {
    let likely = ["limit/traffic", "cpu/plain", "torch/eager"].map(str::to_owned).to_vec();
    prop_oneof![proptest::sample::select(likely), any::<String>()]
}

prop_compose! {
    fn evidence()(
        corroborated: bool, fresh: bool, (threads, threads_seen) in any::<(u32, u32)>(),
        wall in proptest::option::of(number()), cpu_share in proptest::option::of(number()),
        prepare in proptest::option::of(number()), peak_memory: Option<u64>, workspace: u64,
        allocations in proptest::option::of((number(), number())), steal in proptest::option::of(number()),
        switches: Option<u64>, copy in proptest::option::of(number()),
        checks in proptest::collection::vec((proptest::sample::select(Check::ALL), any::<String>()), 0..3),
    ) -> Evidence {
        Evidence {
            grade: if corroborated { Grade::Corroborated } else { Grade::Claimed },
            wall_per_launch: wall.map(Seconds),
            cpu_per_launch: wall.map(Seconds),
            room: wall,
            memory_of_content: cpu_share,
            watched: cpu_share,
            threads,
            threads_seen,
            cpu_share,
            peak_memory: peak_memory.map(Bytes),
            workspace: Bytes(workspace),
            output: if fresh { OutputMode::Fresh } else { OutputMode::InPlace },
            copy: copy.map(Seconds),
            prepare: prepare.map(Seconds),
            allocations: allocations.map(|(count, bytes)| Allocations { count, bytes }),
            steal,
            others: steal,
            switches,
            checks: checks
                .into_iter()
                .map(|(check, why)| Checked { check, standing: Standing::Weaker, why })
                .collect(),
        }
    }
}

prop_compose! {
    fn work()(
        (multiply_adds, simple, special) in any::<(u64, u64, u64)>(), (read, written) in any::<(u64, u64)>(),
    ) -> Work {
        Work { multiply_adds, simple, special, read: Bytes(read), written: Bytes(written) }
    }
}

prop_compose! {
    fn provenance()(
        (roofline, runner, runner_version, machine) in any::<(String, String, String, String)>(), seed: u64,
        notes in proptest::collection::btree_map(any::<String>(), any::<String>(), 0..4),
        definition in proptest::option::of("[0-9a-f]{16}"),
        imported in proptest::option::weighted(0.2, any::<(String, String)>()),
    ) -> Provenance {
        let imported = imported.map(|(format, file)| Imported { format, file });
        Provenance { roofline, runner, runner_version, machine, seed, notes, definition, imported }
    }
}

prop_compose! {
    fn sample()((set, visit, batch) in any::<(u32, u32, u32)>(), nanoseconds in number()) -> Sample {
        Sample { set, visit, batch, nanoseconds }
    }
}

prop_compose! {
    /// Any record of the run `run`.
    pub fn any_record()(
        (at, case, implementation) in any::<(String, String, String)>(), (why, reproduce, place) in any::<(String, String, Option<u32>)>(),
        status in proptest::sample::select(Status::ALL), work in work(), gate in gate(),
        samples in proptest::collection::vec(sample(), 0..40), rounds in proptest::option::of(rounds()),
        evidence in evidence(), provenance in provenance(),
    ) -> Record {
        Record {
            at, case, implementation, status, why, reproduce, place, work, gate, samples, rounds, evidence, provenance,
            ..record("run", "")
        }
    }
}
