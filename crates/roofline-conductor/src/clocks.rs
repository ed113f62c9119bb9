//! What corroborates a runner's times: clocks that it does not own.
//!
//! A runner's clock is a claim. Beside it stand the conductor's own clock and the CPU clock of the
//! process, which the system keeps: waiting for a core inflates the first and not the second. Of both,
//! only what a visit leaves *unclaimed* counts, so that a kernel that is slow now and quick then says
//! nothing against itself. A lie about launches grows with their number: it is the difference between
//! visits of n and of 2n launches. Work that is put off to the end of a visit does not grow: it is the
//! difference between a visit and an empty one. No time is ever adjusted; a claim that is below what the
//! clocks allow ends the row.

use crate::shape::{MANY, Shape};
use roofline_core::case::Case;
use roofline_core::stats::{median, quantile, quantile_interval, t_interval};
use roofline_core::turn::{Account, Clocked};
use roofline_core::units::Seconds;
use roofline_core::verdict::FEWEST_SETS;
use std::time::{Duration, Instant};

/// Error probability of the order statistics that "for sure" means; two of them must not meet, which by chance
/// happens once in thousands of rows.
const ALPHA: f64 = 0.02;
/// So few visits tell by the least of them.
const FEW: usize = 3;
/// Share of a visit that it may leave unclaimed beyond an empty one.
const UNCLAIMED_SHARE: f64 = 0.025;

/// Share of its time that a launch may claim more among twice as many, and claims more for sure.
const MOST_MORE: f64 = 0.08;
const SURELY_MORE: f64 = 0.03;

/// Seconds that a visit of many times the launches may take longer by itself: the conductor's core goes to sleep
/// meanwhile, and waking it costs the runner.
const SLEPT: f64 = 60e-6;

/// What is usual for the kind of runner: nobody explains more of a visit by its conversation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Habits {
    /// Most that an empty visit counts for, where one to a process of the house takes no longer.
    pub conversation: Duration,
    /// What it may take besides one or two empty visits to a process of the house.
    pub more: Duration,
    /// What a visit that has computed takes longer to answer than an empty one: caches are cold then.
    pub chill: Duration,
    /// What a copy takes besides moving bytes, and one of many to where a kernel works in place.
    pub copy: Duration,
    pub restore: Duration,
}

impl Habits {
    pub const NATIVE: Habits = Habits {
        conversation: Duration::from_micros(150),
        more: Duration::from_micros(30),
        chill: Duration::from_micros(40),
        copy: Duration::from_micros(8),
        restore: Duration::from_micros(2),
    };
    pub const INTERPRETED: Habits = Habits {
        conversation: Duration::from_micros(400),
        more: Duration::from_micros(250),
        chill: Duration::from_micros(200),
        copy: Duration::from_micros(250),
        restore: Duration::from_micros(10),
    };
}

/// What the clocks show of one launch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Held {
    pub wall: Option<Seconds>,
    pub cpu: Option<Seconds>,
    /// Whether there were enough visits for slopes.
    pub by_slope: bool,
}

/// Why a claim is not believed.
#[derive(Clone, Debug, PartialEq)]
pub enum Doubt {
    /// The launches take longer than is claimed for them.
    Slope(String),
    /// Visits take longer than their launches and their conversation.
    Constant(String),
}

/// Holds the claims of a lane against both clocks; `cpu_tells` where one thread does all the work. Without
/// `habits`, and empty visits to a process that can be trusted, nothing is known of what a visit takes besides its
/// launches.
pub fn hold(
    account: &Account,
    shape: Shape,
    habits: Option<(Habits, &[Clocked])>,
    cpu_tells: bool,
) -> Result<Held, Doubt> {
    let claims: Vec<f64> = account.plain.iter().map(|visit| visit.claimed).collect();
    let Some(claim) = median(&claims) else { return Ok(Held::default()) };
    let clocks =
        |of_wall| CLOCKS.iter().filter(move |clock| clock.of_wall == of_wall && (of_wall || cpu_tells));
    let mut shown = [None; 2];
    for (shown, of_wall) in shown.iter_mut().zip([true, false]) {
        for clock in clocks(of_wall) {
            let hidden = slope(account, &account.doubled, 1, clock, shape, claim)?;
            slope(account, &account.many, MANY - 1, clock, shape, claim)?;
            shown.get_or_insert(hidden);
        }
    }
    for clock in clocks(true).chain(clocks(false)).filter(|clock| clock.is_constant) {
        let Some((habits, trusted)) = habits else { break };
        let conversation = Conversation { habits, empty: &account.empty, trusted };
        constant(&account.plain, clock, shape, claim, &conversation)?;
        // Launches on new values stand alone, and are held as such.
        let claims: Vec<f64> = account.renewed.iter().map(|visit| visit.claimed).collect();
        if let Some(claim) = median(&claims) {
            constant(&account.renewed, clock, Shape::ONE, claim, &conversation)?;
        }
    }
    let by_slope = shown.iter().flatten().any(Option::is_some);
    let [wall, cpu] =
        shown.map(|hidden| hidden.map(|hidden| Seconds(claim + hidden.unwrap_or(0.0).max(0.0))));
    Ok(Held { wall, cpu, by_slope })
}

/// One way to read the unclaimed time of visits.
struct Clock {
    name: &'static str,
    of_wall: bool,
    read: fn(&Clocked) -> f64,
    /// The quantile over visits at which waiting for a core does not show: outside of samples it adds to the
    /// wall, inside it is claimed and no CPU time.
    quantile: f64,
    /// A claim may lack this share of what the clock shows, and lacks that for sure.
    least: f64,
    sure: f64,
    /// What a longer visit takes longer by itself: whoever has slept for longer wakes up later.
    slack: f64,
    /// Whether it tells of work that does not grow with the launches.
    is_constant: bool,
}

const CLOCKS: &[Clock] = &[
    Clock {
        name: "the conductor's clock",
        of_wall: true,
        read: |visit| visit.wall,
        quantile: 0.25,
        least: 0.03,
        sure: 0.01,
        slack: 40e-6,
        is_constant: false,
    },
    // Where nobody waits, the middle of the visits tells most.
    Clock {
        name: "the conductor's clock",
        of_wall: true,
        read: |visit| visit.wall,
        quantile: 0.5,
        least: 0.03,
        sure: 0.01,
        slack: 40e-6,
        is_constant: false,
    },
    // For those who lie now and then; all waiting is excused.
    Clock {
        name: "the conductor's clock",
        of_wall: true,
        read: |visit| visit.wall - visit.waited,
        quantile: 0.75,
        least: 0.06,
        sure: 0.03,
        slack: 40e-6,
        is_constant: true,
    },
    Clock {
        name: "the CPU clock of its process",
        of_wall: false,
        read: |visit| visit.cpu,
        quantile: 0.75,
        least: 0.03,
        sure: 0.01,
        slack: 1e-6,
        is_constant: true,
    },
    // What a launch waits for a core is claimed and no CPU time: on a busy machine, where hardly a launch gets through
    // without, both together tell. Waking up is waiting too, and not claimed, but seldom for long.
    Clock {
        name: "the CPU clock of its process",
        of_wall: false,
        read: |visit| visit.cpu + visit.delayed,
        quantile: 0.25,
        least: 0.03,
        sure: 0.01,
        slack: 10e-6,
        is_constant: false,
    },
    Clock {
        name: "the CPU clock of its process",
        of_wall: false,
        read: |visit| visit.cpu,
        quantile: 0.5,
        least: 0.03,
        sure: 0.01,
        slack: 1e-6,
        is_constant: false,
    },
];

/// Seconds a launch that are not claimed, by visits of the shape and of `times` its launches more.
fn slope(
    account: &Account,
    more: &[Clocked],
    times: u32,
    clock: &Clock,
    shape: Shape,
    claim: f64,
) -> Result<Option<f64>, Doubt> {
    let launches = f64::from(shape.timed().max(1).saturating_mul(times));
    let slack = if times > 1 { clock.slack.max(SLEPT) } else { clock.slack };
    let warmup = f64::from(shape.warmup);
    // Launches that are not timed count as the others of their visit, which take less the more of them there are where
    // caches warm up; or they do not count, as there are equally many in both. A lie about launches shows either way.
    let apart = |counted: f64| {
        let read = |visit: &Clocked| (clock.read)(visit) + counted * visit.claimed;
        let plain: Vec<f64> = account.plain.iter().map(read).collect();
        let more: Vec<f64> = more.iter().map(read).collect();
        difference(&plain, &more, clock.quantile)
    };
    let Some((own, uncounted)) = apart(0.0).zip(apart(warmup)) else { return Ok(None) };
    let [hidden, for_sure] =
        [own.0.min(uncounted.0), own.1.min(uncounted.1)].map(|seconds| (seconds - slack) / launches);
    if hidden > clock.least * (claim + hidden) && for_sure > clock.sure * claim {
        let (claim, shown) = (Seconds(claim), Seconds(claim + hidden));
        return Err(Doubt::Slope(format!("claims {claim} a launch where {} shows {shown}", clock.name)));
    }
    Ok(Some(hidden.max(0.0)))
}

/// What is known of visits without a launch: those of the runner, and those of a process of the house.
struct Conversation<'a> {
    habits: Habits,
    empty: &'a [Clocked],
    trusted: &'a [Clocked],
}

impl Conversation<'_> {
    /// What an empty visit takes by a clock, as far as that is believed.
    fn usual(&self, clock: &Clock) -> f64 {
        let at = |visits: &[Clocked]| {
            quantile(&visits.iter().map(clock.read).collect::<Vec<f64>>(), clock.quantile)
        };
        let Habits { conversation, more, .. } = self.habits;
        let (usual, more) = (conversation.as_secs_f64(), more.as_secs_f64());
        // After a flush, and on machines that wake up slowly, nobody's conversation is a usual one.
        let most = at(self.trusted)
            .map(|time| time.max(0.0))
            .map_or(usual, |trusted| usual.max(trusted + more).min(2.0 * trusted + more));
        at(self.empty).unwrap_or(0.0).clamp(0.0, most)
    }
}

/// Refuses work that is done once a visit, when nobody is timing.
fn constant(
    visits: &[Clocked],
    clock: &Clock,
    shape: Shape,
    claim: f64,
    conversation: &Conversation,
) -> Result<(), Doubt> {
    let usual = conversation.usual(clock);
    let visits: Vec<f64> = visits.iter().map(clock.read).collect();
    let (unclaimed, least) = (quantile(&visits, clock.quantile), least_quantile(&visits, clock.quantile));
    let (Some(unclaimed), Some(least)) = (unclaimed, least) else { return Ok(()) };
    // The first launches after a pause take up to twice as long as those that are timed.
    let cold = conversation.habits.chill.as_secs_f64() + f64::from(shape.warmup) * claim;
    let allowed = usual + cold + UNCLAIMED_SHARE * f64::from(shape.launches()) * claim;
    if least <= allowed {
        return Ok(());
    }
    let (unclaimed, timed) = (Seconds(unclaimed), Seconds(claim * f64::from(shape.timed())));
    Err(Doubt::Constant(format!(
        "claims {timed} of a visit and leaves {unclaimed} by {} unexplained; {} is usual",
        clock.name,
        Seconds(usual)
    )))
}

/// How far quantile `q` of `doubled` lies above that of `plain`, and how far for sure; the median, of visits
/// that are too few for another.
fn difference(plain: &[f64], doubled: &[f64], q: f64) -> Option<(f64, f64)> {
    let at = |q| {
        let (_, most) = quantile_interval(plain, q, ALPHA)?;
        let (least, _) = quantile_interval(doubled, q, ALPHA)?;
        Some((quantile(doubled, q)? - quantile(plain, q)?, least - most))
    };
    at(q).or_else(|| at(0.5))
}

/// The least that a quantile of some values is for sure; that the median is, of fewer; of few, the least of them.
fn least_quantile(values: &[f64], q: f64) -> Option<f64> {
    let least = |q| quantile_interval(values, q, ALPHA).map(|(least, _)| least);
    least(q).or_else(|| least(0.5)).or_else(|| quantile(values, 0.0).filter(|_| values.len() >= FEW))
}

/// Twice the launches must take at least so many times as long: they do not quite where part of a sample is waiting for a
/// device, and not at all where the first of them does the work.
const LEAST_GROWTH: f64 = 1.25;
/// The same for many times as many, on one thread, once tensors are in the caches: what else warms up leaves three
/// quarters of it.
const LEAST_GROWTH_OF_MANY: f64 = 5.0;
/// Bytes a second that the first launch of a visit brings from memory, where others keep it busy.
const COLD_BANDWIDTH: f64 = 5e9;

/// Refuses batches that do not grow with their launches: not all of these work. What several threads wait for is not
/// known: `cpu_tells` where there is one. The first of `batch` launches may find its `bytes` in no cache.
pub fn hold_growth(account: &Account, cpu_tells: bool, bytes: usize, batch: u32) -> Result<(), String> {
    let claims = |visits: &[Clocked]| -> Vec<f64> { visits.iter().map(|visit| visit.claimed).collect() };
    let Some((plain, _)) = quantile_interval(&claims(&account.plain), 0.5, ALPHA) else { return Ok(()) };
    let many = if cpu_tells { &account.many[..] } else { &[] };
    let cold = bytes as f64 / COLD_BANDWIDTH / f64::from(batch.max(1));
    for (visits, times, least, cold) in
        [(&account.doubled[..], 2, LEAST_GROWTH, 0.0), (many, MANY, LEAST_GROWTH_OF_MANY, cold)]
    {
        let most = quantile_interval(&claims(visits), 0.5, ALPHA).map(|(_, most)| f64::from(times) * most);
        let is_small = |most: &f64| *most < least * (plain - cold);
        if let Some(growth) = most.filter(is_small).map(|most| most / plain) {
            return Err(format!(
                "{times} times the launches take {growth:.1} times as long: not all of them work"
            ));
        }
    }
    Ok(())
}

/// Refuses claims for visits below those for visits of more launches.
///
/// What several threads wait for is not known: `cpu_tells` where there is one, and long visits are held too.
pub fn hold_claims(account: &Account, cpu_tells: bool) -> Result<(), String> {
    let many = if cpu_tells { &account.among_many[..] } else { &[] };
    for (among, times) in [(&account.among_twice[..], 2), (many, MANY)] {
        let more = median(among).filter(|_| among.len() >= FEWEST_SETS);
        let for_sure = t_interval(among, ALPHA).map(|interval| interval.mean - interval.half);
        let found = more.zip(for_sure).filter(|(more, sure)| *more > MOST_MORE && *sure > SURELY_MORE);
        if let Some((more, _)) = found {
            let more = 100.0 * more.exp_m1();
            return Err(format!(
                "claims {more:.0} % more for a launch where {times} times as many are asked for"
            ));
        }
    }
    Ok(())
}

/// Refuses a copy of a fresh output that takes longer than copying it: work may hide there.
pub fn hold_copies(account: &Account, bytes_take: Duration, slack: Duration) -> Result<(), String> {
    let (Some(copy), Some(least)) = (median(&account.copies), least_quantile(&account.copies, 0.5)) else {
        return Ok(());
    };
    // A library may convert or page in what it hands out, and copies with one thread.
    let allowed = 4.0 * bytes_take.as_secs_f64() + slack.as_secs_f64();
    if least <= allowed {
        return Ok(());
    }
    Err(format!(
        "takes {} to copy an output that is copied in {}",
        Seconds(copy),
        Seconds(bytes_take.as_secs_f64())
    ))
}

/// How long the conductor takes to copy the output of a case, the quickest of a few times.
pub fn time_to_copy(case: &Case) -> Duration {
    let outputs = (case.operation.tensors)(case).into_iter().filter(|tensor| !tensor.role.is_input());
    let from = vec![1u8; outputs.map(|tensor| tensor.bytes()).sum()];
    let mut to = from.clone();
    let copy = |_| {
        let start = Instant::now();
        to.copy_from_slice(std::hint::black_box(&from));
        std::hint::black_box(&mut to);
        start.elapsed()
    };
    (0..3).map(copy).min().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Visits of `launches` launches of 20 µs that claim a share of their time, with a conversation of 30 µs.
    fn visits(count: usize, launches: u32, share: f64, put_off: f64) -> Vec<Clocked> {
        let jitter =
            |i: usize| 1e-6 * ((i * 7919) % 13) as f64 + if i.is_multiple_of(9) { 3e-3 } else { 0.0 };
        let visit = |i| {
            let hidden = 20e-6 * (1.0 - share) * f64::from(launches) + put_off;
            Clocked {
                claimed: 20e-6 * share,
                computed: 20e-6 * share,
                wall: 30e-6 + hidden + jitter(i),
                cpu: 20e-6 + hidden,
                delayed: 0.0,
                waited: 0.0,
            }
        };
        (0..count).map(visit).collect()
    }

    fn account(share: f64, put_off: f64) -> Account {
        Account {
            empty: visits(12, 0, 1.0, 0.0),
            plain: visits(60, 10, share, put_off),
            doubled: visits(30, 20, share, put_off),
            ..Account::default()
        }
    }

    const SHAPE: Shape = Shape { warmup: 0, samples: 10, batch: 1 };

    #[test]
    fn an_honest_clock_is_believed_and_a_lie_of_a_tenth_is_not() {
        let held = hold(&account(1.0, 0.0), SHAPE, Some((Habits::NATIVE, &[])), true).unwrap();
        assert!(held.by_slope && (held.wall.unwrap().0 - 20e-6).abs() < 1e-6, "{held:?}");
        let doubt = hold(&account(0.9, 0.0), SHAPE, Some((Habits::NATIVE, &[])), true).unwrap_err();
        assert!(matches!(&doubt, Doubt::Slope(why) if why.contains("claims 18.0 µs")), "{doubt:?}");
    }

    #[test]
    fn whoever_lies_in_two_visits_of_five_is_seen_too() {
        let mut fickle = account(1.0, 0.0);
        for (index, visit) in fickle.plain.iter_mut().enumerate().filter(|(index, _)| index % 5 < 2) {
            *visit = visits(index + 1, 10, 0.5, 0.0)[index];
        }
        for (index, visit) in fickle.doubled.iter_mut().enumerate().filter(|(index, _)| index % 5 < 2) {
            *visit = visits(index + 1, 20, 0.5, 0.0)[index];
        }
        assert!(matches!(hold(&fickle, SHAPE, Some((Habits::NATIVE, &[])), true), Err(Doubt::Slope(_))));
    }

    #[test]
    fn launches_that_warm_up_are_no_lie() {
        // The first takes twice as long and is not timed, the second half as long again, the others 20 µs.
        let warming = |count, timed: u32| -> Vec<Clocked> {
            let claimed = 20e-6 + 10e-6 / f64::from(timed);
            let unclaimed = 40e-6 - claimed;
            visits(count, 0, 1.0, 0.0)
                .iter()
                .map(|visit| Clocked {
                    claimed,
                    wall: visit.wall + unclaimed,
                    cpu: visit.cpu + unclaimed,
                    ..*visit
                })
                .collect()
        };
        let account = Account {
            empty: visits(12, 0, 1.0, 0.0),
            plain: warming(60, 1),
            doubled: warming(60, 2),
            ..Account::default()
        };
        let shape = Shape { warmup: 1, samples: 1, batch: 1 };
        assert!(hold(&account, shape, Some((Habits::NATIVE, &[])), true).unwrap().by_slope);
    }

    #[test]
    fn claims_that_are_honest_only_among_twice_as_many_are_refused() {
        let set = Account { doubled: account(1.0, 0.0).doubled, ..account(0.8, 0.0) };
        let mut sets = Account::default();
        (0..6).for_each(|_| sets.add(&set));
        assert!(hold_claims(&sets, true).unwrap_err().contains("25 % more"));
        let mut sets = Account::default();
        (0..6).for_each(|_| sets.add(&account(0.8, 0.0)));
        assert_eq!(
            hold_claims(&sets, true),
            Ok(()),
            "a lie that is the same in both is for the slope to find"
        );
    }

    #[test]
    fn work_after_the_last_sample_does_not_grow_and_is_seen() {
        let doubt = hold(&account(1.0, 300e-6), SHAPE, Some((Habits::NATIVE, &[])), true).unwrap_err();
        assert!(matches!(doubt, Doubt::Constant(_)), "{doubt:?}");
    }

    #[test]
    fn whoever_idles_in_short_visits_is_told_by_long_ones() {
        // A fifth is missing in visits of ten launches and of twenty, and as much again idled away in the former.
        let empty = visits(12, 0, 1.0, 120e-6);
        let alike = Account { empty, plain: visits(60, 10, 0.8, 40e-6), ..account(0.8, 0.0) };
        let judge = |account: &Account| hold(account, SHAPE, Some((Habits::NATIVE, &[])), true);
        assert!(judge(&alike).is_ok());
        let many = Account { many: visits(12, 80, 0.8, 0.0), ..alike };
        assert!(matches!(judge(&many), Err(Doubt::Slope(_))));
        let honest = Account { many: visits(12, 80, 1.0, 0.0), ..account(1.0, 0.0) };
        assert!(judge(&honest).is_ok());
    }

    #[test]
    fn a_conversation_is_believed_beside_that_of_the_house() {
        let account = Account { empty: visits(12, 0, 1.0, 120e-6), ..account(1.0, 150e-6) };
        let judge = |trusted: &[Clocked]| hold(&account, SHAPE, Some((Habits::NATIVE, trusted)), true);
        assert!(judge(&[]).is_ok());
        assert!(matches!(judge(&visits(12, 0, 1.0, 0.0)), Err(Doubt::Constant(_))));
    }

    #[test]
    fn on_a_slow_machine_a_conversation_takes_as_long_as_that_of_the_house() {
        let slow = |beyond| Account { empty: visits(12, 0, 1.0, 300e-6), ..account(1.0, beyond) };
        let house = visits(12, 0, 1.0, 280e-6);
        let judge = |account: &Account| hold(account, SHAPE, Some((Habits::NATIVE, &house)), true);
        assert!(judge(&slow(320e-6)).is_ok());
        assert!(matches!(judge(&slow(600e-6)), Err(Doubt::Constant(_))));
    }

    #[test]
    fn batches_grow_with_their_launches() {
        let mut account = account(1.0, 0.0);
        let of = |account: &Account, cpu_tells| hold_growth(account, cpu_tells, 2560, 4);
        assert_eq!(of(&account, true), Ok(()));
        // One launch of each batch works: the claim for each is half as long in twice as many.
        account.doubled.iter_mut().for_each(|visit| visit.claimed /= 2.0);
        assert!(of(&account, true).unwrap_err().contains("2 times the launches take 1.0 times"));
        account.doubled.truncate(3);
        assert_eq!(of(&account, true), Ok(()), "few visits say nothing");
        // One works and the others take a hundredth of it: of a hundred and of eight times as many.
        account.many = visits(12, 80, 1.0, 0.0);
        assert_eq!(of(&account, true), Ok(()));
        account.many.iter_mut().for_each(|visit| visit.claimed *= 0.4);
        assert!(of(&account, true).unwrap_err().contains("8 times the launches take 3.2 times"));
        assert_eq!(of(&account, false), Ok(()), "what several threads wait for is not known");
        // Of a few launches, the first waits for megabytes.
        assert_eq!(hold_growth(&account, true, 4 << 20, 4), Ok(()));
    }

    #[test]
    fn few_visits_say_nothing_and_copies_are_bounded() {
        let few = Account { plain: visits(2, 10, 0.1, 1.0), ..Account::default() };
        assert!(!hold(&few, SHAPE, Some((Habits::NATIVE, &[])), true).unwrap().by_slope);
        let copies = Account { copies: vec![300e-6; 20], ..Account::default() };
        assert!(hold_copies(&copies, Duration::from_micros(100), Habits::NATIVE.copy).is_ok());
        assert!(hold_copies(&copies, Duration::from_micros(10), Habits::NATIVE.copy).is_err());
    }
}
