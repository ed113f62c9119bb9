use super::*;
use crate::session::Limits;
use std::path::PathBuf;

const NAMES: [&str; 4] =
    ["limit/traffic-copy", "limit/traffic-copy-4", "limit/traffic-copy-8", "limit/compute-avx2-f32"];

fn members() -> Vec<Lane> {
    let case = "add/f32/rows=64,cols=64".parse().unwrap();
    NAMES.iter().map(|name| Lane::new(name, "cpu", &case, 1)).collect()
}

#[test]
fn the_machine_s_mood_makes_no_probe_the_fastest() {
    let mut members = members();
    // The second is a tenth faster than the first, and missing where the machine was quick.
    let moods: [f64; 5] = [1.0, 1.0, 2.0, 2.0, 2.0];
    let passes: Vec<BTreeMap<usize, f64>> = moods
        .iter()
        .map(|mood| {
            BTreeMap::from([(0, (1e-3 * mood).ln()), (1, (0.9e-3 * mood).ln()), (2, (1.5e-3 * mood).ln())])
        })
        .collect();
    settle(&mut members, &passes);
    let speed = |index: usize| members[index].speed.unwrap().as_secs_f64();
    assert!((speed(1) / speed(0) - 0.9).abs() < 1e-6 && (speed(2) / speed(0) - 1.5).abs() < 1e-6);
    assert!((speed(0) - 2e-3).abs() < 1e-6, "the median mood: {}", speed(0));
    assert_eq!(members[3].speed, None, "nobody has seen it");
}

#[test]
fn each_family_has_its_own_contenders() {
    let mut members = members();
    for (member, microseconds) in members.iter_mut().zip([105, 100, 120, 900]) {
        member.speed = Some(Duration::from_micros(microseconds));
    }
    assert_eq!(contenders(&members), [0, 1, 3]);
    members[1].failure = Some(Failure::new(Status::Crashed, "gone"));
    assert_eq!(contenders(&members), [0, 3], "another is the best now");
}

#[test]
fn a_course_follows_from_the_launches_of_both_sides() {
    let beside = |case: &str, [quicker, slower]: [u64; 2], budget, quick, is_compared| {
        let limits = Limits { patience: Duration::from_secs(1), memory: 1 << 20 };
        let options = Options {
            budget: Some(Duration::from_secs(budget)),
            quick,
            ..Options::new(PathBuf::new(), Vec::new(), limits, 1)
        };
        let [quicker, slower] = [quicker, slower].map(Duration::from_nanos);
        course(&options, &case.parse().unwrap(), quicker, slower, Seconds(30e-9), is_compared)
    };
    let course = |case: &str, launches, budget, quick| beside(case, launches, budget, quick, false);
    let case = "add/f32/rows=64,cols=1000";
    let tiny = course(case, [510, 510], 2, false);
    assert_eq!((tiny.kind, tiny.batch, tiny.warmup), (Kind::Tiny, 40, 64));
    let each = |slower| alone(tiny, Duration::from_nanos(slower));
    assert_eq!((each(510).samples, each(510).batch), (MOST_ALONE, 1), "so many that clocks can tell");
    assert_eq!(each(10_000).samples, 20, "no more than fill a visit");
    let short = course(case, [11_000, 11_000], 2, false);
    assert_eq!((short.kind, short.batch, short.samples, short.warmup), (Kind::Short, 2, 10, 4));
    let uneven = course(case, [10_000, 1_000_000], 2, false);
    assert_eq!((uneven.kind, uneven.samples, uneven.warmup), (Kind::Short, 1, 1), "warm beside a slow one");
    let far = course(case, [10_000, 50_000_000], 2, false);
    assert_eq!(far.warmup, 0, "a warm launch of it only keeps neighbours apart");
    let (row, times) = apart(course(case, [50, 5_000_000], 2, false), Duration::from_millis(5));
    assert_eq!((row.batch, row.samples, times), (2, 1, 201), "401 launches of it would take two seconds");
    assert_eq!(apart(short, Duration::from_micros(11)), (short, 1));
    assert_eq!(apart(course(case, [50, 50_000_000], 2, false), Duration::from_millis(50)).1, 401);
    let became_slow = beside(case, [50, 1_500_000_000], 2, false, true);
    assert_eq!(
        (became_slow.batch, became_slow.samples, became_slow.warmup),
        (1, 1, 0),
        "and not ten minutes"
    );
    let long = course(case, [2_000_000, 3_000_000], 2, false);
    assert_eq!((long.kind, long.batch, long.samples, long.warmup), (Kind::Long, 1, 1, 0));
    let warmed = course(case, [110_000, 900_000], 2, false);
    assert_eq!((warmed.kind, warmed.batch, warmed.samples, warmed.warmup), (Kind::Long, 1, 1, 1));
    let cold = course(&format!("{case}/cache=cold"), [500, 500], 2, false);
    assert_eq!((cold.kind, cold.batch, cold.samples, cold.warmup), (Kind::Cold, 1, 1, 0));
    let device = course(&format!("{case}/device=cuda:0"), [110_000, 200_000], 2, false);
    assert_eq!((device.batch, device.samples, device.warmup), (19, 1, 2));
    // Six sets fit into a small budget, a large one is used, a quick run takes a quarter.
    let blocks = [(1, false), (2, false), (24, false), (2, true)]
        .map(|(budget, quick)| course(case, [2_000_000, 2_000_000], budget, quick).block.0);
    assert!((blocks[0] - (1.0 / 6.0 - 0.03)).abs() < 1e-6, "{blocks:?}");
    assert_eq!((blocks[1], blocks[2], blocks[3]), (0.2, 0.97, 0.05));
    // Beside what was asked for there are sets for every look, and no fewer of a small budget.
    let blocks = [1, 3, 24].map(|budget| beside(case, [2_000_000; 2], budget, false, true).block.0);
    assert_eq!(blocks, [0.05, 0.095, 0.97]);
}
