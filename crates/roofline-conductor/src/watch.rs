//! Watched batches: each launch of a visit must write the output, and rightly, not only the last.
//!
//! A few elements of the output are watched. Of each, an input that it depends on goes through a few values; as soon
//! as the element is right for the present one, the next is put there, and so on until the visit is over. An honest
//! batch shows another value once a launch. Nothing is written to the output: whoever works only where it finds marks
//! there is not told.
//!
//! A launch may have read its inputs before the last one's output is looked at, and then shows nothing new. Where
//! launches are short, half of the inputs therefore go on by themselves every half launch: each launch then reads
//! another value than the one before, whenever it reads, and the values have an order in which none may come back. A
//! kernel that reads an input twice may find two values there and be right for neither, so those that wait for the
//! output are watched as well: a batch is honest by either.
//!
//! A kernel may keep intermediate values in its output. Looks that find such a value say that something is
//! written, and the right one may be there too shortly to be seen: then fewer launches need to be seen, and the
//! evidence says so.

use crate::failure::Stop;
use crate::instance::{Instance, Spot};
use crate::lane::Lane;
use crate::marks::{Asked, Marks};
use crate::shape::Shape;
use crate::stage::Stage;
use crate::{gate, pilot, visit};
use roofline_core::dtype::Dtype;
use roofline_core::fill::Fill;
use roofline_core::judge;
use roofline_core::operation::{Expected, Judged, Reach};
use roofline_core::protocol::OutputMode;
use roofline_core::stats::median;
use roofline_core::turn::Watched;
use std::time::{Duration, Instant};

/// Share of the launches that must be seen, and of a kernel whose output holds other values in between.
const LEAST_SEEN: f64 = 0.75;
const LEAST_SEEN_OF_SCRATCH: f64 = 0.15;
/// So many looks in a launch must have found a value that is neither right now nor before. Who writes once a launch has
/// none of them.
const SCRATCH: f64 = 0.05;
/// Looks at other values without which it is no wonder that the right one was never there: some kernels have it for a
/// twentieth of their time.
const FEWEST_OTHERS: u64 = 200;
/// Looks a launch without which it is no wonder that it is seldom seen.
const FEWEST_LOOKS: f64 = 8.0;
/// Launches and elements without which nothing is said.
const FEWEST_LAUNCHES: u64 = 8;
const FEWEST_WATCHED: usize = 6;
/// Time without a look that costs no launch, and what the conductor takes to ask and to find the answer.
const GLANCE: Duration = Duration::from_micros(5);
const EXCHANGE: Duration = Duration::from_micros(20);
/// Share of the launches' time without a look from which on a visit says nothing.
const MOST_AWAY: f64 = 0.2;
/// Elements that are watched in a visit, and drawings until as many are found.
const WATCHED: usize = 4;
const MOST_DRAWN: usize = 16;
/// Values of an input that goes on by itself and of one that waits, and drawings until as many are found.
const VALUES: usize = 8;
const FEWEST_VALUES: usize = 2;
const MOST_VALUES_DRAWN: usize = 24;
const SHORT_LAUNCH: Duration = Duration::from_micros(100);
/// An element that was new after the last of so many launches alone, and never anything else, was not computed in the
/// others, if the conductor was not blind: other elements were seen to be written. Of so many elements no more than a few
/// may be such.
const TELLING_LAUNCHES: u64 = 3;
const TELLING_ELEMENTS: usize = 12;
const MOST_UNTOUCHED: f64 = 0.2;

/// An element of the output that is watched, and the input that makes it right in several ways, one after the other.
struct Watch {
    spot: Spot,
    dtype: Dtype,
    tensor: usize,
    element: usize,
    values: Vec<f64>,
    expected: Vec<Expected>,
    /// What the input reaches.
    reach: Vec<Reach>,
    /// How many values the input has had, and which of them the output shows: they come round and round.
    given: usize,
    shown: usize,
    /// How long an input that goes on by itself keeps a value, and since when it has the present one.
    patience: Option<Duration>,
    since: Instant,
    /// What is there before each launch says nothing of the kernel, where it works in place.
    before: Vec<Option<u64>>,
    /// What the last look found, and whether that is neither right nor what was there before.
    last: Option<u64>,
    is_other: bool,
    seen: u64,
    others: u64,
}

impl Watch {
    /// A drawn input and one of the outputs that it reaches, of which none of `others` says anything; `None` if that
    /// output is right for either of two values.
    fn draw(
        stage: &mut Stage,
        instance: &mut Instance,
        patience: Option<Duration>,
        others: &[Watch],
    ) -> Result<Option<Watch>, Stop> {
        let changeable = instance.changeable_in_use();
        if changeable.is_empty() {
            return Ok(None);
        }
        let tensor = changeable[stage.draws.below(changeable.len() as u64) as usize];
        let element = stage.draws.below(instance.input_tensor(tensor).elements() as u64) as usize;
        let reach = instance.case.judged().reach(&instance.problem(Fill::Uniform), tensor, element);
        // Where a change shows most comes first.
        let Some(first) = reach.first().filter(|reach| reach.count > 0) else { return Ok(None) };
        let index = first.nth(stage.draws.below(first.count as u64) as usize);
        let spot = Spot { output: first.output, index };
        if others.iter().any(|other| reaches(&reach, other.spot) || reaches(&other.reach, spot)) {
            return Ok(None);
        }
        let mut watch = Watch {
            spot,
            dtype: instance.output(spot.output).dtype,
            tensor,
            element,
            values: Vec::new(),
            expected: Vec::new(),
            reach,
            given: 0,
            shown: 0,
            patience,
            since: Instant::now(),
            before: Vec::new(),
            last: None,
            is_other: false,
            seen: 0,
            others: 0,
        };
        watch.draw_values(stage, instance, if patience.is_some() { VALUES } else { FEWEST_VALUES })?;
        Ok(Some(watch).filter(|watch| watch.values.len() >= FEWEST_VALUES))
    }

    /// The input's own value, one that is surely seen, and others that any of those before is told from.
    fn draw_values(&mut self, stage: &mut Stage, instance: &mut Instance, wanted: usize) -> Result<(), Stop> {
        let loosen = stage.options.checks.loosen();
        let old = instance.input(self.tensor, self.element);
        for drawn in 0..MOST_VALUES_DRAWN.min(wanted * wanted) {
            let tensor = instance.input_tensor(self.tensor);
            let value = match drawn {
                0 => Some(old),
                1 => Some(tensor.changed(old, stage.draws.bits())),
                _ => tensor.renewed(stage.draws.bits()),
            };
            let Some(value) = value.filter(|_| self.values.len() < wanted) else { break };
            instance.set_input(self.tensor, self.element, value);
            let expected = gate::reference(instance, Fill::Uniform, self.spot.output, &[self.spot.index])?;
            // Where only a property holds, no element is right or wrong by itself.
            let &[expected] = &expected[..] else { break };
            let is_told = |got: &Expected, other| judge::score(self.dtype, got.value, other, loosen) > 2.0;
            if self.expected.iter().all(|other| is_told(&expected, other) && is_told(other, &expected)) {
                self.values.push(value);
                self.expected.push(expected);
                self.before.push(instance.starts_as(self.spot.output, self.spot.index).map(f64::to_bits));
            }
        }
        instance.set_input(self.tensor, self.element, old);
        Ok(())
    }

    /// So many values may be given that the output does not show: with more, one that it had before would be taken for
    /// a new one.
    fn most_ahead(&self) -> usize {
        self.values.len().saturating_sub(2).max(1)
    }

    /// Gives the input its next value.
    fn turn(&mut self, instance: &mut Instance, now: Instant) {
        self.given += 1;
        self.since = now;
        let value = self.values[self.given % self.values.len()];
        instance.set_input(self.tensor, self.element, value);
    }

    /// Which of the values given since the last one that was shown an output is right for.
    fn shows(&self, got: f64, loosen: f64) -> Option<usize> {
        let is_right = |given: &usize| {
            judge::score(self.dtype, got, &self.expected[given % self.expected.len()], loosen) <= 1.0
        };
        (self.shown + 1..=self.given).find(is_right)
    }

    /// Quick where nothing has changed: the next launch may be about to read what a look should have turned.
    fn look(&mut self, instance: &mut Instance, now: Instant, loosen: f64) {
        let got = instance.output_value(self.spot);
        if self.last != Some(got.to_bits()) {
            self.last = Some(got.to_bits());
            let shows = self.shows(got, loosen);
            let is_known = |expected| judge::score(self.dtype, got, expected, loosen) <= 1.0;
            self.is_other =
                shows.is_none() && !self.before.contains(&self.last) && !self.expected.iter().any(is_known);
            if let Some(shown) = shows {
                self.seen += 1;
                self.shown = shown;
            }
        }
        let ahead = self.given - self.shown;
        let goes_on = self.patience.is_some_and(|patience| now - self.since >= patience);
        if ahead == 0 || goes_on && ahead < self.most_ahead() {
            self.turn(instance, now);
        }
        self.others += u64::from(self.is_other);
    }

    /// Whether something was written to it before the last launch, which is seen in any case.
    fn is_touched(&self) -> bool {
        self.seen > 1 || self.others > 0
    }
}

fn reaches(reach: &[Reach], spot: Spot) -> bool {
    reach.iter().any(|reach| reach.output == spot.output && reach.contains(spot.index))
}

/// The elements that are watched in a visit: none of them changes another.
fn draw(stage: &mut Stage, instance: &mut Instance, launch: Duration) -> Result<Vec<Watch>, Stop> {
    // A process that is asked for expected values gives whole outputs.
    let is_asked = matches!(instance.case.judged(), Judged::Own(_));
    let (wanted, drawn) = if is_asked { (1, 1) } else { (WATCHED, MOST_DRAWN) };
    let mut elements: Vec<Watch> = Vec::new();
    let first = stage.draws.below(2) as usize;
    for number in 0..drawn {
        if elements.len() < wanted {
            let goes_on = number % 2 == first && launch < SHORT_LAUNCH;
            let patience = goes_on.then_some(launch / 2);
            let element = Watch::draw(stage, instance, patience, &elements)?;
            elements.extend(element);
        }
    }
    Ok(elements)
}

/// One watched visit, as each of its elements saw it. Outputs that a library makes itself can be seen once a sample.
pub fn watch(
    stage: &mut Stage,
    lane: &mut Lane,
    instance: &mut Instance,
    shape: Shape,
) -> Result<Vec<Watched>, Stop> {
    let loosen = stage.options.checks.loosen();
    let marks = Marks::set(stage, instance, lane.gate.visits);
    let mut elements = draw(stage, instance, lane.speed.unwrap_or(SHORT_LAUNCH))?;
    let (tick, pinned) = stage.beside(&lane.seat);
    // Between a launch and the copy for the next, the right value is there too shortly for looks that are apart.
    if elements.is_empty() || instance.case.is_restored() && !tick.is_zero() {
        return Ok(Vec::new());
    }
    // The first launch finds a value that the output does not know yet.
    let now = Instant::now();
    elements.iter_mut().for_each(|element| element.turn(instance, now));
    let mut looks = 0_u64;
    let (mut first, mut last, mut gaps) = (None, None::<Instant>, Vec::new());
    pilot::flush_if_cold(instance);
    let seen = visit::converse(stage, lane, shape, tick, || {
        looks += 1;
        let now = Instant::now();
        first.get_or_insert(now);
        gaps.extend(last.replace(now).map(|last| now - last).filter(|gap| *gap > GLANCE));
        elements.iter_mut().for_each(|element| element.look(instance, now, loosen));
    });
    drop(pinned);
    let seen = visit::settle(stage, lane, instance, seen?, &marks, Asked::Changing)?;
    for element in &mut elements {
        let got = instance.output_value(element.spot);
        element.seen += u64::from(element.shows(got, loosen).is_some());
    }
    let launches = match lane.evidence.output {
        OutputMode::InPlace => u64::from(shape.launches()),
        OutputMode::Fresh => u64::from(shape.samples),
    };
    let time = Duration::try_from_secs_f64(seen.claimed_total()).unwrap_or(seen.wall);
    let ends = [first.map(|first| first - seen.at), last.map(|last| seen.at + seen.wall - last)];
    if tick.is_zero() && is_away(time, shape.launches(), ends, &gaps) {
        return Ok(Vec::new());
    }
    // Between two looks any number of launches may pass, and the first look may come late; looks at a kernel that
    // waited for a core see nothing, and where the conductor has none of its own, it is one of those that take it.
    let cores = seen.wall.as_secs_f64().max(1e-9) * f64::from(lane.evidence.threads.max(1));
    let running = (seen.cpu.as_secs_f64() / cores).min(1.0);
    let per_launch = if tick.is_zero() { 2.0 } else { 4.0 };
    let looks = looks as f64 * running;
    let rarely = looks < FEWEST_LOOKS * launches as f64;
    let launches = launches.min((looks / per_launch) as u64);
    let tells = launches >= TELLING_LAUNCHES && elements.iter().any(Watch::is_touched);
    let watched = |element: &Watch| Watched {
        launches,
        seen: element.seen.min(launches),
        others: element.others,
        rarely,
        went_on: element.patience.is_some(),
        untouched: tells.then(|| !element.is_touched()),
    };
    Ok(elements.iter().map(watched).filter(|watched| watched.launches > 0).collect())
}

/// Whether a conductor has missed launches that take `time` together: it may be late at either end of a visit, where its
/// core is taken from it until all is over, and between looks.
fn is_away(time: Duration, launches: u32, ends: [Option<Duration>; 2], gaps: &[Duration]) -> bool {
    let between = gaps.iter().filter(|gap| **gap > time / launches.max(1) / 4).copied();
    let late = ends.iter().flatten().map(|end| end.saturating_sub(EXCHANGE));
    between.chain(late).sum::<Duration>() > time.mul_f64(MOST_AWAY)
}

/// What the watched elements of a row show. A visit in which the conductor was late makes nobody lazy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// Too little was seen to say anything.
    Nothing,
    /// This share of the launches was seen, of the middle element.
    Held(f64),
    /// The same where the output holds other values between launches.
    Scratch(f64),
    /// Launches were left out.
    LeftOut(f64),
}

impl Verdict {
    /// The share that was seen.
    pub fn share(self) -> Option<f64> {
        match self {
            Verdict::Nothing => None,
            Verdict::Held(share) | Verdict::Scratch(share) | Verdict::LeftOut(share) => Some(share),
        }
    }
}

pub fn verdict(elements: &[Watched]) -> Verdict {
    let (went_on, waited): (Vec<Watched>, Vec<Watched>) =
        elements.iter().copied().partition(|element| element.went_on);
    match (verdict_of(&waited), verdict_of(&went_on), untouched(elements)) {
        (.., Some(share)) if share > MOST_UNTOUCHED => Verdict::LeftOut(1.0 - share),
        // Who reads early is seen by those alone that went on.
        (Verdict::LeftOut(_), Verdict::Held(share), _) => Verdict::Held(share),
        (waited, ..) => waited,
    }
}

/// What those elements show whose inputs changed in one way.
fn verdict_of(elements: &[Watched]) -> Verdict {
    let sum = |count: fn(&Watched) -> u64| -> u64 { elements.iter().map(count).sum() };
    let per_launch = |count: fn(&Watched) -> u64| -> Vec<f64> {
        elements.iter().map(|element| count(element) as f64 / element.launches.max(1) as f64).collect()
    };
    let is_enough = elements.len() >= FEWEST_WATCHED && sum(|element| element.launches) >= FEWEST_LAUNCHES;
    let is_scratch = median(&per_launch(|element| element.others)).is_some_and(|others| others >= SCRATCH);
    // The last launch of a visit is seen in any case.
    let early = sum(|element| element.seen.saturating_sub(1));
    let is_rare = 2 * elements.iter().filter(|element| element.rarely).count() > elements.len();
    match median(&per_launch(|element| element.seen)).filter(|_| is_enough) {
        None => Verdict::Nothing,
        Some(share) if share >= LEAST_SEEN => Verdict::Held(share),
        Some(share) if is_scratch && early >= 2 && (is_rare || share >= LEAST_SEEN_OF_SCRATCH) => {
            Verdict::Scratch(share)
        }
        Some(_) if is_scratch && sum(|element| element.others) < FEWEST_OTHERS => Verdict::Nothing,
        Some(share) => Verdict::LeftOut(share),
    }
}

/// Share of the elements that nothing was written to before the last launch.
fn untouched(elements: &[Watched]) -> Option<f64> {
    let telling: Vec<bool> = elements.iter().filter_map(|element| element.untouched).collect();
    let untouched = telling.iter().filter(|untouched| **untouched).count();
    (telling.len() >= TELLING_ELEMENTS).then(|| untouched as f64 / telling.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instance::{Placement, Poison};
    use roofline_core::philox::Draws;

    /// How many of 100 launches are seen of a kernel that reads its input when it begins and writes when it ends, at
    /// eight looks a launch. It writes what `written` says of the values that the launches so far have read.
    fn seen_of(written: impl Fn(&[f64]) -> Option<f64>) -> u64 {
        let case = "copy/f32/rows=1,cols=4".parse().unwrap();
        let mut instance =
            Instance::new(&case, Placement::FlushEnd { align: 4 }, &mut Draws::new(1, 1)).unwrap();
        let (spot, look) = (Spot { output: 0, index: 2 }, Duration::from_nanos(200));
        let values: Vec<f64> = (0..VALUES).map(|value| value as f64).collect();
        let expected = |value: &f64| Expected { value: *value, soft: 0.0 };
        let mut now = Instant::now();
        let mut watch = Watch {
            spot,
            dtype: Dtype::F32,
            tensor: 0,
            element: 2,
            expected: values.iter().map(expected).collect(),
            before: vec![None; values.len()],
            values,
            reach: Vec::new(),
            given: 0,
            shown: 0,
            patience: Some(4 * look),
            since: now,
            last: None,
            is_other: false,
            seen: 0,
            others: 0,
        };
        watch.turn(&mut instance, now);
        let mut read = Vec::new();
        for _ in 0..100 {
            read.push(instance.input(0, 2));
            for _ in 0..8 {
                now += look;
                watch.look(&mut instance, now, 1.0);
            }
            if let Some(value) = written(&read) {
                instance.poison_at(&[spot], &Poison(vec![value]));
            }
        }
        watch.seen
    }

    #[test]
    fn short_launches_that_read_early_are_seen() {
        assert!(seen_of(|read| read.last().copied()) >= 98);
        let every_other = seen_of(|read| read.last().copied().filter(|_| read.len() % 2 == 0));
        assert!((48..=50).contains(&every_other), "{every_other}");
        // Work in every other launch, and the result of the last but one again in between.
        let old = |read: &[f64]| match read.len() {
            count @ 5.. if count % 2 == 1 => Some(read[count - 4]),
            _ => read.last().copied(),
        };
        assert!(seen_of(old) <= 60, "{}", seen_of(old));
    }

    #[test]
    fn a_conductor_that_misses_launches_is_away() {
        let us = Duration::from_micros;
        let away = |ends: [u64; 2], gaps: &[u64]| {
            let gaps: Vec<Duration> = gaps.iter().map(|gap| us(*gap)).collect();
            is_away(us(500), 50, ends.map(|end| Some(us(end))), &gaps)
        };
        assert!(!away([15, 20], &[6, 60]));
        // Its core was taken from it: at the beginning, until the end, in between, and again and again.
        assert!(away([200, 5], &[]));
        assert!(away([5, 763], &[]));
        assert!(away([5, 5], &[150]));
        assert!(away([5, 5], &[19; 6]));
        // Launches of 10 µs are seen by looks that are 2 µs apart; of 1 ms, by those that are 200 µs apart.
        assert!(!is_away(us(50_000), 50, [None; 2], &[us(200); 100]));
    }

    #[test]
    fn half_of_the_launches_is_not_enough() {
        let visits = |seen: &[u64], others: u64| -> Vec<Watched> {
            seen.iter()
                .map(|seen| Watched { launches: 10, seen: *seen, others, ..Watched::default() })
                .collect()
        };
        assert_eq!(verdict(&visits(&[5, 5, 5, 5, 5, 6], 0)), Verdict::LeftOut(0.5));
        assert_eq!(verdict(&visits(&[10, 9, 1, 9, 10, 9], 0)), Verdict::Held(0.9));
        assert_eq!(verdict(&visits(&[0, 0], 0)), Verdict::Nothing);
        // An output that holds other values in between; and one that never holds the right one.
        assert_eq!(verdict(&visits(&[5, 5, 5, 5, 5, 6], 40)), Verdict::Scratch(0.5));
        assert_eq!(verdict(&visits(&[1; 6], 60)), Verdict::LeftOut(0.1));
        let rarely = |seen| -> Vec<Watched> {
            visits(&[seen; 6], 60)
                .iter()
                .map(|watched| Watched { rarely: true, launches: 30, ..*watched })
                .collect()
        };
        assert_eq!(verdict(&rarely(2)), Verdict::Scratch(2.0 / 30.0));
        assert_eq!(verdict(&rarely(1)), Verdict::LeftOut(1.0 / 30.0));
        // Few looks, as where the conductor shares a core with the kernel.
        assert_eq!(verdict(&visits(&[1; 6], 9)), Verdict::Nothing);
        let few: Vec<Watched> = [1, 1, 2, 1, 1, 2, 1]
            .map(|seen| Watched { launches: 3, seen, others: 7, ..Watched::default() })
            .into();
        assert_eq!(verdict(&few), Verdict::Scratch(1.0 / 3.0));
    }

    #[test]
    fn who_reads_early_is_seen_where_inputs_go_on() {
        let of =
            |seen, went_on, others| Watched { launches: 10, seen, went_on, others, ..Watched::default() };
        let visits = |waited, went_on| {
            let others = 10 * u64::from(went_on < 5);
            verdict(&[[of(waited, false, 0), of(went_on, true, others)]; 6].concat())
        };
        assert_eq!(visits(6, 10), Verdict::Held(1.0));
        assert_eq!(visits(5, 5), Verdict::LeftOut(0.5));
        // Torn between two values of its input.
        assert_eq!(visits(10, 1), Verdict::Held(1.0));
    }

    #[test]
    fn elements_that_only_the_last_launch_computes_are_not_enough() {
        let visits = |lazy: usize| -> Vec<Watched> {
            let seen = |i| if i < lazy { 1 } else { 10 };
            let untouched = |i| Some(i < lazy);
            let watched =
                |i| Watched { launches: 10, seen: seen(i), untouched: untouched(i), ..Watched::default() };
            (0..16).map(watched).collect()
        };
        assert_eq!(verdict(&visits(2)), Verdict::Held(1.0));
        assert_eq!(verdict(&visits(4)), Verdict::LeftOut(0.75));
        // Visits in which the conductor saw nothing at all.
        let blind =
            |watched: &Watched| Watched { untouched: watched.untouched.filter(|own| !own), ..*watched };
        let blind: Vec<Watched> = visits(4).iter().map(blind).collect();
        assert_eq!(verdict(&blind), Verdict::Held(1.0));
    }
}
