//! The roofline of a machine as SVG.

use crate::roofline_plot::Chart;
use roofline_core::roofs::Roofs;
use roofline_core::units::FlopsPerSecond;
use std::fmt::Write;

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 520.0;
/// The frame within the picture: left, top, right, bottom.
const FRAME: [f64; 4] = [90.0, 40.0, 640.0, 460.0];
/// Colours that are told apart without red against green, dark enough on white.
const COLOURS: [&str; 6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8a6d00", "#56b4e9"];

/// A picture of its own, white below; nothing where there is nothing to draw.
pub fn roofline_svg(roofs: &Roofs) -> Option<String> {
    let chart = Chart::new(roofs)?;
    let [left, top, right, bottom] = FRAME;
    let along =
        |value: f64, range: (i32, i32)| (value.log10() - f64::from(range.0)) / f64::from(range.1 - range.0);
    let x = |intensity: f64| left + along(intensity, chart.x) * (right - left);
    let y = |rate: f64| bottom - along(rate, chart.y) * (bottom - top);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
         font-family=\"sans-serif\" font-size=\"12\">\n<title>{}</title>\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n",
        escape(&chart.title())
    );
    for power in chart.x.0..=chart.x.1 {
        let value = 10f64.powi(power);
        line(&mut svg, (x(value), top), (x(value), bottom), "#ddd", 1.0);
        text(&mut svg, (x(value), bottom + 18.0), "middle", "#333", &value.to_string());
    }
    for power in chart.y.0..=chart.y.1 {
        let value = 10f64.powi(power);
        line(&mut svg, (left, y(value)), (right, y(value)), "#ddd", 1.0);
        text(&mut svg, (left - 6.0, y(value) + 4.0), "end", "#333", &FlopsPerSecond(value).to_string());
    }
    text(&mut svg, (left, top - 16.0), "start", "black", &chart.title());
    text(&mut svg, ((left + right) / 2.0, bottom + 38.0), "middle", "#333", "operations a byte");

    let (first, last) = (10f64.powi(chart.x.0), 10f64.powi(chart.x.1));
    // Labels keep a line's distance, from the top down; the lines stay where they are.
    let mut free = top;
    for level in chart.levels.iter().rev() {
        let height = y(level.rate.0);
        let ridge = (level.rate.0 / chart.fastest()).clamp(first, last);
        line(&mut svg, (x(ridge), height), (right, height), "#555", 1.5);
        let place = (height + 4.0).max(free);
        text(&mut svg, (right + 8.0, place), "start", "#333", &level.label());
        free = place + 15.0;
    }
    let lowest = 10f64.powi(chart.y.0);
    let mut free = free + 15.0;
    for (slope, colour) in chart.slopes.iter().zip(COLOURS.iter().cycle()) {
        let from = first.max(lowest / slope.rate.0);
        let to = (chart.highest() / slope.rate.0).clamp(from, last.max(from));
        line(&mut svg, (x(from), y(slope.rate.0 * from)), (x(to), y(slope.rate.0 * to)), colour, 2.0);
        line(&mut svg, (right + 8.0, free - 4.0), (right + 28.0, free - 4.0), colour, 2.0);
        text(&mut svg, (right + 34.0, free), "start", "#333", &slope.label());
        free += 15.0;
    }
    svg += "</svg>\n";
    Some(svg)
}

fn line(svg: &mut String, from: (f64, f64), to: (f64, f64), colour: &str, width: f64) {
    let _ = writeln!(
        svg,
        "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke=\"{colour}\" stroke-width=\"{width}\"/>",
        from.0, from.1, to.0, to.1
    );
}

fn text(svg: &mut String, at: (f64, f64), anchor: &str, colour: &str, words: &str) {
    let (x, y, words) = (at.0, at.1, escape(words));
    let _ = writeln!(
        svg,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"{colour}\">{words}</text>"
    );
}

/// Text as it may stand in XML.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
