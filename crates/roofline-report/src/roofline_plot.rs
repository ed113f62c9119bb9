//! The roofline of a machine: operations a second over operations a byte, both logarithmic.
//!
//! A working set is a line that rises with the intensity as its bandwidth allows; an element type is
//! a level that no intensity gets above, that of its fastest unit. The geometry is shared by the
//! picture in text and the one in SVG.

use crate::Style;
use crate::roofs::of_threads;
use crate::text::width;
use roofline_core::roofs::Roofs;
use roofline_core::units::{Bytes, BytesPerSecond, FlopsPerSecond};

/// The next working set that is drawn has at most this share of the bandwidth of the one before.
const APART: f64 = 0.75;
/// Most lines that rise, and lines of text.
const MOST: usize = 6;
const HEIGHT: usize = 18;

/// What is drawn, on all threads.
pub(crate) struct Chart {
    pub threads: u32,
    /// Working sets, fastest first.
    pub slopes: Vec<Slope>,
    /// Element types, lowest first.
    pub levels: Vec<Level>,
    /// Powers of ten at the ends of the axes.
    pub x: (i32, i32),
    pub y: (i32, i32),
}

pub(crate) struct Slope {
    pub set: Bytes,
    pub rate: BytesPerSecond,
}

pub(crate) struct Level {
    pub dtype: String,
    pub unit: String,
    pub rate: FlopsPerSecond,
    /// The rate in its unit.
    pub said: String,
}

impl Chart {
    /// `None` without a bandwidth and a peak.
    pub(crate) fn new(roofs: &Roofs) -> Option<Chart> {
        let threads = *roofs.threads().last()?;
        let best = |set: Bytes| {
            let points = roofs.bandwidth.iter().filter(|point| point.set == set && point.threads == threads);
            points
                .map(|point| point.rate.0)
                .reduce(f64::max)
                .map(|rate| Slope { set, rate: BytesPerSecond(rate) })
        };
        let all: Vec<Slope> = roofs.sets().into_iter().filter_map(best).collect();
        let memory = all.last().map(|slope| slope.set);
        let mut slopes: Vec<Slope> = Vec::new();
        for slope in all {
            let below = slopes.last().is_none_or(|last| slope.rate.0 <= APART * last.rate.0);
            if below && (slopes.len() + 1 < MOST || Some(slope.set) == memory) {
                slopes.push(slope);
            } else if Some(slope.set) == memory && slopes.len() > 1 {
                // Memory has the last word, where it is not much slower than the set before.
                slopes.pop();
                slopes.push(slope);
            }
        }
        let mut levels: Vec<Level> = Vec::new();
        for peak in roofs.peaks.iter().filter(|peak| peak.threads == threads) {
            let (unit, dtype) = peak.unit.rsplit_once('-').unwrap_or(("", &peak.unit));
            let level = Level {
                dtype: dtype.to_owned(),
                unit: unit.to_owned(),
                rate: peak.rate,
                said: peak.rate_text(),
            };
            match levels.iter_mut().find(|level| level.dtype == dtype) {
                Some(slower) if slower.rate.0 < level.rate.0 => *slower = level,
                Some(_) => {}
                None => levels.push(level),
            }
        }
        levels.sort_by(|a, b| a.rate.0.total_cmp(&b.rate.0));
        let (fast, slow) = (slopes.first()?.rate.0, slopes.last()?.rate.0.min(slopes.first()?.rate.0));
        let (low, high) = (levels.first()?.rate.0, levels.last()?.rate.0);
        let x = ((low / fast).log10().floor() as i32, (high / slow).log10().ceil() as i32);
        let x = (x.0.min(-1), x.1.max(x.0.min(-1) + 2));
        let bottom = (slow * 10f64.powi(x.0)).log10().floor() as i32;
        let y = (bottom, (high.log10().ceil() as i32).max(bottom + 1));
        Some(Chart { threads, slopes, levels, x, y })
    }

    pub(crate) fn highest(&self) -> f64 {
        self.levels.last().map_or(0.0, |level| level.rate.0)
    }

    pub(crate) fn fastest(&self) -> f64 {
        self.slopes.iter().map(|slope| slope.rate.0).fold(0.0, f64::max)
    }

    pub(crate) fn title(&self) -> String {
        format!("operations a second over operations a byte, {}", of_threads(self.threads))
    }
}

impl Slope {
    pub(crate) fn label(&self) -> String {
        format!("{} at {}", self.set, self.rate)
    }
}

impl Level {
    pub(crate) fn label(&self) -> String {
        format!("{} {} on {}", self.dtype, self.said, self.unit)
    }
}

/// The picture in text; nothing where there is nothing to draw.
pub fn roofline_plot(roofs: &Roofs, style: Style) -> String {
    let Some(chart) = Chart::new(roofs) else { return String::new() };
    let axis: Vec<String> =
        (chart.y.0..=chart.y.1).map(|power| FlopsPerSecond(10f64.powi(power)).to_string()).collect();
    let margin = axis.iter().map(|label| width(label)).max().unwrap_or(0) + 2;
    let columns = usize::from(style.width.unwrap_or(80)).clamp(margin + 20, 110) - margin;
    let decade = |range: (i32, i32)| f64::from(range.1 - range.0);
    let row_of = |rate: f64| -> Option<usize> {
        let height = (rate.log10() - f64::from(chart.y.0)) / decade(chart.y) * (HEIGHT - 1) as f64;
        let row = height.round();
        (row >= 0.0 && row < HEIGHT as f64).then(|| HEIGHT - 1 - row as usize)
    };
    let intensity = |column: usize| {
        10f64.powf(f64::from(chart.x.0) + decade(chart.x) * column as f64 / (columns - 1) as f64)
    };
    let mut grid = vec![vec![' '; columns]; HEIGHT];
    let mut put = |column: usize, rate: f64, sign: char| {
        if let Some(row) = row_of(rate) {
            grid[row][column] = sign;
        }
    };
    for column in 0..columns {
        let reached = |level: &&Level| chart.fastest() * intensity(column) >= level.rate.0;
        for level in chart.levels.iter().filter(reached) {
            put(column, level.rate.0, '─');
        }
        for (index, slope) in chart.slopes.iter().enumerate() {
            let rate = slope.rate.0 * intensity(column);
            if rate <= chart.highest() {
                put(column, rate, letter(index));
            }
        }
    }
    let mut text = format!("{}\n", chart.title());
    for (row, line) in grid.iter().enumerate() {
        let power = (chart.y.0..=chart.y.1).find(|power| row_of(10f64.powi(*power)) == Some(row));
        let label = power.map_or("", |power| &axis[(power - chart.y.0) as usize]);
        let line: String = line.iter().collect();
        let space = " ".repeat(margin - 2 - width(label));
        text += format!("{space}{label} │{}", line.trim_end()).trim_end();
        text.push('\n');
    }
    let mut ruler = String::new();
    for power in chart.x.0..=chart.x.1 {
        let at = (f64::from(power - chart.x.0) / decade(chart.x) * (columns - 1) as f64).round() as usize;
        let label = format!("{}", 10f64.powi(power));
        let at = at.min(columns.saturating_sub(label.len()));
        if ruler.is_empty() || at > ruler.len() {
            ruler += &" ".repeat(at - ruler.len());
            ruler += &label;
        }
    }
    text += &format!("{}└{}\n{}{ruler}\n", " ".repeat(margin - 1), "─".repeat(columns), " ".repeat(margin));
    for (index, slope) in chart.slopes.iter().enumerate() {
        text += &format!("{}  {}\n", letter(index), slope.label());
    }
    for level in chart.levels.iter().rev() {
        text += &format!("─  {}\n", level.label());
    }
    text
}

fn letter(index: usize) -> char {
    char::from(b'a' + (index % 26) as u8)
}
