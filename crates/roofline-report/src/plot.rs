//! A histogram of times in a few lines of text.

use crate::row::seconds;
use crate::text::width;
use roofline_core::stats::quantile;
use roofline_core::units::Seconds;

const EIGHTHS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Lines of bars.
const HEIGHT: usize = 4;
/// Times beyond the upper quartile plus so many interquartile ranges are counted, not drawn: one
/// interrupted sample would press all others into one bar.
const REACH: f64 = 6.0;

/// Lines of `columns` columns: bars, a strip with quartiles and median, the ends of the axis, and the
/// numbers in words. Times are in seconds, finite and not negative.
pub(crate) fn plot(times: &[f64], columns: usize) -> Vec<String> {
    let at = |q| quantile(times, q).unwrap_or(0.0);
    let [least, lower, median, upper, most] = [0.0, 0.25, 0.5, 0.75, 1.0].map(at);
    let reach = if upper > lower { upper + REACH * (upper - lower) } else { most };
    let end = times.iter().copied().filter(|time| *time <= reach).fold(upper, f64::max);
    let place = |time: f64| (((time - least) / (end - least) * columns as f64) as usize).min(columns - 1);
    if times.is_empty() || columns == 0 {
        return Vec::new();
    }
    let text = |time| seconds(Seconds(time));
    if end <= least || !(end - least).is_finite() {
        return vec![format!("median {}, all alike", text(median))];
    }

    let mut counts = vec![0usize; columns];
    for time in times.iter().filter(|time| **time <= end) {
        counts[place(*time)] += 1;
    }
    let tallest = counts.iter().copied().max().unwrap_or(1).max(1);
    // Rounded up, so that a single sample is seen.
    let heights: Vec<usize> = counts.iter().map(|count| (count * HEIGHT * 8).div_ceil(tallest)).collect();
    let mut lines: Vec<String> = (0..HEIGHT)
        .rev()
        .map(|line| heights.iter().map(|height| EIGHTHS[height.saturating_sub(line * 8).min(8)]).collect())
        .map(|line: String| line.trim_end().to_owned())
        .collect();

    let (lower_at, median_at, upper_at) = (place(lower), place(median), place(upper));
    let strip = (0..columns).map(|column| match column {
        _ if column == median_at => '┃',
        _ if (lower_at..=upper_at).contains(&column) => '━',
        _ => '─',
    });
    lines.push(strip.collect());

    let (left, right) = (text(least), text(end));
    let space = columns.saturating_sub(width(&left) + width(&right)).max(1);
    lines.push(format!("{left}{}{right}", " ".repeat(space)));
    let beyond = times.iter().filter(|time| **time > end).count();
    let mut words = format!("median {}, quartiles {} and {}", text(median), text(lower), text(upper));
    if beyond > 0 {
        words += &format!("; {beyond} beyond the plot, up to {}", text(most));
    }
    lines.push(words);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_stray_sample_does_not_press_the_others_together() {
        let mut times: Vec<f64> = (0..200).map(|i| 1e-3 + f64::from(i % 20) * 1e-6).collect();
        times.push(1.0);
        let lines = plot(&times, 60);
        assert_eq!(lines.len(), HEIGHT + 3);
        assert!(lines[HEIGHT - 1].chars().filter(|c| *c != ' ').count() >= 10, "{lines:#?}");
        assert!(lines[HEIGHT].contains("━") && lines[HEIGHT].contains("┃"));
        assert!(lines.last().unwrap().contains("1 beyond the plot, up to 1.00 s"));
    }

    #[test]
    fn odd_samples_are_no_reason_to_panic() {
        assert!(plot(&[], 60).is_empty());
        assert_eq!(plot(&[1e-3; 9], 60), ["median 1.00 ms, all alike"]);
        for times in [[0.0, 5e-324, 1.0], [0.0, f64::MAX, f64::MAX], [1.0, 1.0, f64::MAX]] {
            plot(&times, 60);
        }
    }
}
