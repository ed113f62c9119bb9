//! What corroborates a runner's times: clocks that it does not own.
//!
//! A runner's clock is a claim. Beside it stand the conductor's own clock and the CPU clock of the
//! process, which the system keeps: waiting for a core inflates the first and not the second. Of both,
//! only what a visit leaves *unclaimed* counts, so that a kernel that is slow now and quick then says
//! nothing against itself. A lie about launches grows with their number: it is the difference between
//! visits of n and of 2n launches. Work that is put off to the end of a visit does not grow: it is the
//! difference between a visit and an empty one. No time is ever adjusted; a claim that is below what the
//! clocks allow ends the row.

#[cfg(test)]
mod tests;

use crate::shape::{MANY, Shape};
use roofline_core::case::Case;
use roofline_core::protocol::OutputMode;
use roofline_core::stats::{Interval, median, quantile, quantile_interval, t_interval};
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
#[derive(Clone, Copy, Debug, PartialEq)]
struct More {
    most: f64,
    surely: f64,
}

impl More {
    const IN_PLACE: More = More { most: 0.08, surely: 0.03 };
    /// Outputs that a library makes itself leave the caches sooner among many, and are given back in samples then.
    const FRESH: More = More { most: 0.3, surely: 0.1 };

    fn of(output: OutputMode) -> More {
        match output {
            OutputMode::InPlace => More::IN_PLACE,
            OutputMode::Fresh => More::FRESH,
        }
    }

    /// The largest lie of visits of few launches that `claims` among more of them would not have shown: less than is
    /// refused, and where they were near each other, less than that.
    fn hidden(self, claims: Interval) -> f64 {
        let refused = self.most.max(self.surely + claims.half);
        let seen = More::IN_PLACE.most.max(claims.mean + claims.half);
        refused.min(seen)
    }
}

/// What a copy may take besides moving bytes before it could hold some of the work: a share of a launch, and seconds.
const QUIET_COPY: f64 = 0.25;
const SHORT_COPY: f64 = 20e-6;

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

/// Who works in the launches of a lane, and so what the CPU clock tells of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workers {
    /// A device: nothing.
    Device,
    /// Several threads, of which none has more CPU time than passed: only what the busiest has beyond its claims.
    Several,
    /// One thread: all that it does and waits for.
    One,
}

/// Others than the busiest thread work in so few visits, or for so small a share of them, that it works alone.
const RARELY_SHARED: f64 = 0.9;
const MOST_SHARED: f64 = 0.05;

impl Workers {
    /// Of a process that says it has `threads` of them. Its word alone does not make it one of several.
    pub fn of<'a>(threads: u32, visits: impl Iterator<Item = &'a Clocked>) -> Workers {
        let shared: Vec<f64> = visits.map(|visit| visit.others.unwrap_or(1.0)).collect();
        let share = quantile(&shared, RARELY_SHARED).unwrap_or(1.0);
        if threads <= 1 || share <= MOST_SHARED { Workers::One } else { Workers::Several }
    }
}

/// What the clocks show of one launch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Held {
    pub wall: Option<Seconds>,
    pub cpu: Option<Seconds>,
}

/// What a process of the house shows beside a runner's: what a busy machine takes from every visit.
#[derive(Clone, Copy, Debug, Default)]
pub struct House<'a> {
    pub empty: &'a [Clocked],
    pub visits: &'a [Clocked],
}

/// Why a claim is not believed.
#[derive(Clone, Debug, PartialEq)]
pub enum Doubt {
    /// The launches take longer than is claimed for them.
    Slope(String),
    /// Visits take longer than their launches and their conversation.
    Constant(String),
}

/// Holds the claims of a lane against both clocks. Without `habits`, and visits to a process of the house, nothing is
/// known of what a visit takes besides its launches.
pub fn hold(
    account: &Account,
    shape: Shape,
    habits: Option<(Habits, House)>,
    workers: Workers,
) -> Result<Held, Doubt> {
    let claims: Vec<f64> = account.plain.iter().map(|visit| visit.claimed).collect();
    let Some(claim) = median(&claims) else { return Ok(Held::default()) };
    let mut shown = [None; 2];
    for (shown, of_wall) in shown.iter_mut().zip([true, false]) {
        // No thread has more CPU time than passed, in samples or not: what the busiest has beyond its claims is hidden,
        // whatever it waits for and others do.
        let tells = |clock: &&Clock| clock.of_wall || workers != Workers::Device;
        for clock in CLOCKS.iter().filter(tells).filter(|clock| clock.of_wall == of_wall) {
            let slopes = slopes(account, clock, shape);
            for slope in slopes.iter().flatten() {
                slope.judge(clock, claim)?;
            }
            if of_wall || workers == Workers::One {
                shown.get_or_insert(slopes[0]);
            }
        }
    }
    for clock in clocks(workers).filter(|clock| clock.is_constant) {
        let Some((habits, house)) = habits else { break };
        let conversation = Conversation { habits, empty: &account.empty, house };
        constant(&account.plain, clock, shape, claim, &conversation)?;
        // Launches on new values stand alone, and are held as such.
        let claims: Vec<f64> = account.renewed.iter().map(|visit| visit.claimed).collect();
        if let Some(claim) = median(&claims) {
            constant(&account.renewed, clock, Shape::ONE, claim, &conversation)?;
        }
    }
    let seen = |slope: Option<Slope>| Seconds(claim + slope.map_or(0.0, |slope| slope.hidden.max(0.0)));
    let [wall, cpu] = shown.map(|slope| slope.map(seen));
    Ok(Held { wall, cpu })
}

/// Shares of its time that a launch could claim too little before visits showed it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Room {
    /// By a lie in all visits, or in those of few launches alone, whichever could be larger: what a row says.
    pub now: f64,
    /// By a lie in all visits.
    pub in_all: f64,
    /// The same if visits did not spread: more of them cannot tell more.
    pub at_best: f64,
}

/// The room of a lane; `None` where there are too few visits.
pub fn room(account: &Account, shape: Shape, workers: Workers, output: OutputMode) -> Option<Room> {
    let claims: Vec<f64> = account.plain.iter().map(|visit| visit.claimed).collect();
    let claim = median(&claims)?;
    let rooms = |clock: &'static Clock| {
        slopes(account, clock, shape).into_iter().flatten().map(move |slope| slope.room(clock, claim))
    };
    let least = |(now, best): (f64, f64), other: (f64, f64)| (now.min(other.0), best.min(other.1));
    let (in_all, at_best) = clocks(workers).flat_map(rooms).reduce(least)?;
    let among = |among: &[f64]| t_interval(among, ALPHA).filter(|_| among.len() >= FEWEST_SETS);
    let of_few =
        [among(&account.among_twice), among(&account.among_many).filter(|_| workers == Workers::One)];
    let lacking = |more: f64| 1.0 - (-more).exp();
    let allowed = More::of(output);
    // What may claim more among many goes on to do so, however many visits there are.
    let hidden = of_few.into_iter().flatten().map(|claims| (allowed.hidden(claims), claims.mean));
    let (now, best) = hidden.reduce(least).unwrap_or((0.0, 0.0));
    let best = if allowed == More::IN_PLACE { at_best } else { at_best.max(lacking(best)) };
    Some(Room { now: in_all.max(lacking(now)), in_all, at_best: best })
}

/// Those that tell all that a launch takes.
fn clocks(workers: Workers) -> impl Iterator<Item = &'static Clock> {
    CLOCKS.iter().filter(move |clock| clock.of_wall || workers == Workers::One)
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

/// Seconds a launch that are not claimed.
#[derive(Clone, Copy, Debug)]
struct Slope {
    hidden: f64,
    for_sure: f64,
    /// What is left out of both, as it may be the visits' own.
    slack: f64,
}

/// By visits of twice the launches, and by those of many times as many.
fn slopes(account: &Account, clock: &Clock, shape: Shape) -> [Option<Slope>; 2] {
    [(&account.doubled, 1), (&account.many, MANY - 1)]
        .map(|(more, times)| slope(account, more, times, clock, shape))
}

/// By visits of the shape and of `times` its launches more.
fn slope(account: &Account, more: &[Clocked], times: u32, clock: &Clock, shape: Shape) -> Option<Slope> {
    let launches = f64::from(shape.timed().max(1).saturating_mul(times));
    let slack = if times > 1 { clock.slack.max(SLEPT) } else { clock.slack } / launches;
    let warmup = f64::from(shape.warmup);
    // Launches that are not timed count as the others of their visit, which take less the more of them there are where
    // caches warm up; or they do not count, as there are equally many in both. A lie about launches shows either way.
    let apart = |counted: f64| {
        let read = |visit: &Clocked| (clock.read)(visit) + counted * visit.claimed;
        let plain: Vec<f64> = account.plain.iter().map(read).collect();
        let more: Vec<f64> = more.iter().map(read).collect();
        difference(&plain, &more, clock.quantile)
    };
    let (own, uncounted) = apart(0.0).zip(apart(warmup))?;
    let [hidden, for_sure] =
        [own.0.min(uncounted.0), own.1.min(uncounted.1)].map(|seconds| seconds / launches - slack);
    Some(Slope { hidden, for_sure, slack })
}

impl Slope {
    /// Refuses a claim that lacks more than a clock allows, and some of it for sure.
    fn judge(&self, clock: &Clock, claim: f64) -> Result<(), Doubt> {
        if self.hidden > clock.least * (claim + self.hidden) && self.for_sure > clock.sure * claim {
            let (claim, shown) = (Seconds(claim), Seconds(claim + self.hidden));
            return Err(Doubt::Slope(format!("claims {claim} a launch where {} shows {shown}", clock.name)));
        }
        Ok(())
    }

    /// Share of a launch that a claim could lack before [`Slope::judge`] refuses it, if visits spread as these do, and if
    /// they did not.
    fn room(&self, clock: &Clock, claim: f64) -> (f64, f64) {
        let lacks = |spread: f64| {
            let least = (clock.least / (1.0 - clock.least) * claim).max(clock.sure * claim + spread);
            let lacking = self.slack + least;
            lacking / (claim + lacking)
        };
        (lacks(self.hidden - self.for_sure), lacks(0.0))
    }
}

/// What is known of visits without a launch: those of the runner, and those of a process of the house.
struct Conversation<'a> {
    habits: Habits,
    empty: &'a [Clocked],
    house: House<'a>,
}

impl Conversation<'_> {
    /// What an empty visit takes by a clock, as far as that is believed; or what visits of the house leave unclaimed.
    fn usual(&self, clock: &Clock) -> f64 {
        let at = |visits: &[Clocked]| {
            quantile(&visits.iter().map(clock.read).collect::<Vec<f64>>(), clock.quantile)
        };
        let Habits { conversation, more, .. } = self.habits;
        let (usual, more) = (conversation.as_secs_f64(), more.as_secs_f64());
        // After a flush, and on machines that wake up slowly, nobody's conversation is a usual one.
        let most = at(self.house.empty)
            .map(|time| time.max(0.0))
            .map_or(usual, |trusted| usual.max(trusted + more).min(2.0 * trusted + more));
        let empty = at(self.empty).unwrap_or(0.0).clamp(0.0, most);
        at(self.house.visits).map_or(empty, |house| house.max(empty))
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
/// known. The first of `batch` launches may find its `bytes` in no cache.
pub fn hold_growth(account: &Account, workers: Workers, bytes: usize, batch: u32) -> Result<(), String> {
    let claims = |visits: &[Clocked]| -> Vec<f64> { visits.iter().map(|visit| visit.claimed).collect() };
    let Some((plain, _)) = quantile_interval(&claims(&account.plain), 0.5, ALPHA) else { return Ok(()) };
    let many = if workers == Workers::One { &account.many[..] } else { &[] };
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
/// What several threads wait for is not known: of one, long visits are held too.
pub fn hold_claims(account: &Account, workers: Workers, output: OutputMode) -> Result<(), String> {
    let allowed = More::of(output);
    let many = if workers == Workers::One { &account.among_many[..] } else { &[] };
    for (among, times) in [(&account.among_twice[..], 2), (many, MANY)] {
        let more = median(among).filter(|_| among.len() >= FEWEST_SETS);
        let for_sure = t_interval(among, ALPHA).map(|interval| interval.mean - interval.half);
        let found = more.zip(for_sure).filter(|(more, sure)| *more > allowed.most && *sure > allowed.surely);
        if let Some((more, _)) = found {
            let more = 100.0 * more.exp_m1();
            return Err(format!(
                "claims {more:.0} % more for a launch where {times} times as many are asked for"
            ));
        }
    }
    Ok(())
}

/// Refuses a copy of a fresh output that takes longer than copying it and what its kind of runner may take besides: work
/// may hide there. Less of that than of a launch says nothing; where it is more, answers with what cannot be told.
pub fn hold_copies(
    account: &Account,
    bytes_take: Duration,
    slack: Duration,
) -> Result<Option<String>, String> {
    let (Some(copy), Some(least)) = (median(&account.copies), least_quantile(&account.copies, 0.5)) else {
        return Ok(None);
    };
    let claims: Vec<f64> = account.plain.iter().map(|visit| visit.claimed).collect();
    let quiet = (QUIET_COPY * median(&claims).unwrap_or(0.0)).max(SHORT_COPY);
    // A library may convert or page in what it hands out, and copies with one thread.
    let (moves, slack) = (4.0 * bytes_take.as_secs_f64(), slack.as_secs_f64());
    let why = format!(
        "takes {} to copy an output that is copied in {}",
        Seconds(copy),
        Seconds(bytes_take.as_secs_f64())
    );
    match least {
        least if least > moves + slack => Err(why),
        least if least > moves + slack.min(quiet) => {
            Ok(Some(format!("{why}: some of the work may be there")))
        }
        _ => Ok(None),
    }
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
