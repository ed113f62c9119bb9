use super::past::probes_of;
use super::*;
use crate::plan::PlannedRow;
use crate::session::Limits;
use crate::stage::Options;
use roofline_core::record::{Course, Limiter, SCHEMA};
use roofline_core::turn::{Clocked, Measured};
use roofline_core::units::Seconds;
use std::path::PathBuf;

const PROBES: [&str; 2] = ["limit/traffic-copy", "limit/traffic-copy-4"];

fn planned() -> PlannedCase {
    let row = |implementation: &&str| PlannedRow {
        implementation: (*implementation).to_owned(),
        runner: "cpu".to_owned(),
        lacks: None,
        requires: Default::default(),
        is_compared: false,
    };
    PlannedCase {
        case: "add/f32/rows=64,cols=1000".parse().unwrap(),
        rows: ["cpu/a", "cpu/b"].iter().map(row).collect(),
        against: None,
        probes: PROBES.iter().map(row).collect(),
        has_device: true,
    }
}

fn options(budget: u64) -> Options {
    let limits = Limits { patience: Duration::from_secs(1), memory: 1 << 20 };
    Options {
        budget: Some(Duration::from_secs(budget)),
        ..Options::new(PathBuf::new(), Vec::new(), limits, 1)
    }
}

/// Two rows and the probe that is their hub and limit.
fn contest(planned: &PlannedCase) -> Contest<'_> {
    let rows = planned.rows.iter().chain(&planned.probes[..1]);
    let mut lanes: Vec<Lane> =
        rows.map(|row| Lane::new(&row.implementation, &row.runner, &planned.case, 1)).collect();
    for lane in &mut lanes {
        lane.samples.push(Sample { set: 0, visit: 0, batch: 1, nanoseconds: 5000.0 });
    }
    let setting = Setting { hub: 2, limit: Some((2, Limiter::Traffic)) };
    Contest::new(planned, lanes, setting)
}

/// A turn in which every row took `to_hub` more than the probe, as a logarithm.
fn turn(contest: &Contest, set: u32, probe: &str, to_hub: f64) -> Turn {
    let seconds = Seconds(0.1);
    let course =
        Course { kind: Kind::Short, warmup: 4, samples: 2, batch: 1, block: seconds, timer: seconds };
    let (claimed, computed) = (5e-3, 5e-3);
    let clear = Clocked { claimed, computed, wall: 0.0, cpu: 0.0, delayed: 0.0, waited: 0.0, others: None };
    let measured = |lane: &Lane| Measured {
        implementation: lane.seat.implementation.clone(),
        runner: lane.seat.runner.clone(),
        course,
        to_hub: if lane.is_probe() { 0.0 } else { to_hub },
        samples: lane.samples.clone(),
        account: Account { plain: vec![clear; 4], doubled: vec![clear; 4], ..Account::default() },
        spent: seconds,
        taken: Taken { ticks: Some((1, 10)), others: None, switches: None },
        restarts: 0,
        renews: false,
        doubted: None,
        before: None,
    };
    Turn {
        schema: SCHEMA,
        run: String::new(),
        case: contest.planned.case.to_string(),
        set,
        hub: probe.to_owned(),
        limit: Some((probe.to_owned(), Limiter::Traffic)),
        lanes: contest.lanes.iter().map(measured).collect(),
    }
}

#[test]
fn rounds_go_forwards_and_backwards_with_the_hub_on_both_sides() {
    let visits = |forwards| round(&[0, 1, 2], 2, forwards).into_iter().flat_map(|(_, pairs)| pairs.concat());
    assert_eq!(visits(true).collect::<Vec<_>>(), [2, 0, 0, 2, 2, 1, 1, 2]);
    assert_eq!(visits(false).collect::<Vec<_>>(), [2, 1, 1, 2, 2, 0, 0, 2]);
    assert_eq!(round(&[2], 2, true), [(2, [vec![2], vec![2]])]);
}

#[test]
fn a_row_comes_after_itself_as_often_as_the_hub_does_in_its_pairs() {
    let rounds = [true, false, true].map(|forwards| round(&[0, 1, 2], 2, forwards)).concat();
    let pairs = rounds.iter().flat_map(|(row, pairs)| pairs.iter().map(|pair| (*row, pair.clone())));
    let visits: Vec<(usize, usize)> =
        pairs.flat_map(|(row, pair)| pair.into_iter().map(move |side| (row, side))).collect();
    for row in [0, 1] {
        let after_itself = |side: usize| {
            visits.windows(2).filter(|two| two[1] == (row, side) && two[0].1 == side).count()
                + usize::from(visits[0] == (row, side))
        };
        assert_eq!(after_itself(row), 3, "once a round");
        assert_eq!(after_itself(2), 3, "once a round");
    }
}

#[test]
fn of_pairs_that_outlast_their_block_each_set_has_one_in_turn() {
    let planned = planned();
    let mut contest = contest(&planned);
    let (block, timer) = (Seconds(0.2), Seconds(30e-9));
    contest.lanes[0].course =
        Some(Course { kind: Kind::Long, warmup: 0, samples: 1, batch: 1, block, timer });
    let pairs = [vec![2, 0], vec![0, 2]];
    assert_eq!(contest.within_its_block(0, &pairs, true), pairs);
    contest.lanes[0].speed = Some(Duration::from_secs(1));
    assert_eq!(contest.within_its_block(0, &pairs, true), [vec![2, 0]]);
    assert_eq!(contest.within_its_block(0, &pairs, false), [vec![0, 2]]);
}

#[test]
fn a_run_fails_by_the_hub_that_was_asked_for_and_by_no_other() {
    let mut planned = planned();
    let decides = |planned: &PlannedCase, hub: usize, fail_on| {
        let mut contest = contest(planned);
        contest.setting.hub = hub;
        contest.decides(&Options { fail_on, ..options(1) })
    };
    let slower = Some(FailOn::Slower(0.0));
    assert!(!decides(&planned, 0, slower), "nothing was asked for");
    planned.against = Some("cpu/a".to_owned());
    assert!(decides(&planned, 0, slower) && decides(&planned, 0, Some(FailOn::Inconclusive)));
    assert!(!decides(&planned, 2, slower), "it is gone, and the limit stands in its place");
    assert!(!decides(&planned, 0, None) && !decides(&planned, 0, Some(FailOn::Missed)));
}

#[test]
fn a_visit_is_held_against_the_hub_at_its_own_moment() {
    let planned = planned();
    let mut contest = contest(&planned);
    let start = Instant::now();
    let visit = |lane, milliseconds, value| Visit {
        lane,
        shape: Shape::ONE,
        at: start + Duration::from_millis(milliseconds),
        value,
    };
    // The machine slows down evenly from 1 to 4; half way it has come to 2.
    contest.log = vec![visit(2, 0, 1.0), visit(0, 10, 6.0), visit(2, 20, 4.0), visit(1, 30, 8.0)];
    let other_shape = Visit { shape: Shape::batch(9), ..visit(2, 31, 100.0) };
    contest.log.push(other_shape);
    assert!((contest.ratios(0)[0] - 3.0_f64.ln()).abs() < 1e-12);
    assert!((contest.ratios(1)[0] - 2.0_f64.ln()).abs() < 1e-12, "after the last, that one counts");
    assert_eq!(contest.ratios(2).len(), 2, "a visit of another shape is nobody's neighbour");
    // Whose neighbours were all disturbed has no ratio, and takes its time all the same.
    contest.log = vec![visit(0, 0, 6.0), visit(1, 10, 0.0)];
    assert!(contest.ratios(0).is_empty() && contest.takes_time(0));
    assert!(contest.ratios(1).is_empty() && !contest.takes_time(1));
}

#[test]
fn the_probe_of_the_past_is_kept() {
    let planned = planned();
    let contest = contest(&planned);
    let names = |past: &[Turn]| -> Vec<String> {
        probes_of(&planned, past).into_iter().map(|probe| probe.implementation).collect()
    };
    assert_eq!(names(&[]), PROBES);
    assert_eq!(names(&[turn(&contest, 0, PROBES[1], 0.1)]), [PROBES[1]]);
    let without = Turn { limit: None, ..turn(&contest, 0, PROBES[1], 0.1) };
    assert!(names(&[without]).is_empty());
}

#[test]
fn turns_of_another_probe_are_left_and_those_of_one_add_up() {
    let planned = planned();
    let mut contest = contest(&planned);
    let turns = [
        turn(&contest, 0, "limit/traffic-copy-4", 9.0),
        turn(&contest, 0, PROBES[0], 0.1),
        turn(&contest, 1, PROBES[0], 0.2),
    ];
    contest.resume(&turns);
    assert_eq!((contest.sets, &contest.lanes[0].to_hub), (2, &vec![0.1, 0.2]));
    assert_eq!(contest.lanes[0].spent, Duration::from_millis(200));
    assert_eq!(contest.lanes[0].evidence.steal, Some(0.1));
    contest.resume(&[Turn { set: u32::MAX, ..turn(&contest, 0, PROBES[0], 0.1) }]);
}

#[test]
fn what_was_found_before_a_row_was_measured_anew_is_forgotten() {
    let planned = planned();
    let mut contest = contest(&planned);
    let mut turns: Vec<Turn> =
        (0..3).map(|set| turn(&contest, set, PROBES[0], 0.1 * f64::from(set + 1))).collect();
    for turn in &mut turns[1..] {
        turn.lanes[0].restarts = 1;
    }
    contest.resume(&turns);
    let (anew, other) = (&contest.lanes[0], &contest.lanes[1]);
    assert_eq!((anew.to_hub.len(), anew.since, anew.restarts), (2, 1, 1));
    assert_eq!((other.to_hub.len(), other.since), (3, 0));
    assert_eq!(anew.spent, Duration::from_millis(200));

    let mut hub_anew = turn(&contest, 3, PROBES[0], 0.4);
    hub_anew.lanes.iter_mut().for_each(|lane| lane.restarts = 2);
    contest.resume(&[hub_anew]);
    assert!(contest.lanes.iter().all(|lane| (lane.to_hub.len(), lane.since) == (1, 0)));
}

#[test]
fn a_look_ends_rows_and_says_why() {
    let planned = planned();
    let looked_by = |clocks_tell: bool, values: &[f64], budget, out_of_time| {
        let mut contest = contest(&planned);
        for (set, value) in values.iter().enumerate() {
            let mut turn = turn(&contest, set as u32, PROBES[0], *value);
            turn.lanes.iter_mut().filter(|_| !clocks_tell).for_each(|lane| lane.account.doubled.clear());
            contest.resume(&[turn]);
        }
        contest.look(&options(budget), out_of_time);
        contest.lanes[0].ended
    };
    let looked = |values: &[f64], budget, out_of_time| looked_by(true, values, budget, out_of_time);
    let still = [0.1, 0.1001, 0.0999, 0.1, 0.1001, 0.0999];
    let restless = [0.1, 0.5, -0.3, 0.4, 0.0, 0.2, 0.6];
    assert_eq!(looked(&still, 100, false), Some((0.002, Ended::Decided)));
    assert_eq!(looked(&restless[..6], 100, false), None, "too wide to say a share");
    assert_eq!(looked(&restless, 100, false), None, "no look is due");
    assert!(matches!(looked(&restless, 100, true), Some((_, Ended::TotalBudget))));
    assert_eq!(looked(&restless[..5], 100, true), None, "five sets say nothing and are kept");
    assert!(matches!(looked(&restless, 0, false), Some((_, Ended::Budget))));
    assert_eq!(looked_by(false, &still, 100, false), None, "the clocks leave room");
    assert!(matches!(looked_by(false, &still, 0, false), Some((_, Ended::Decided))), "patience has its end");
    let longest: Vec<f64> = restless.iter().copied().cycle().take(25).collect();
    let (alpha, ended) = looked(&longest, 100, false).unwrap();
    assert!(
        ended == Ended::Looks && (alpha - 0.005).abs() < 1e-12,
        "one set too many spends no less: {alpha}"
    );
}
