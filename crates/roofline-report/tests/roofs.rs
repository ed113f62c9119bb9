//! A machine's roofs as tables, as a plot and as SVG, held by the files in `tests/golden`.

mod hold;

use hold::hold;
use roofline_core::roofs::{Bandwidth, Mix, Peak, Roofs, SCHEMA};
use roofline_core::units::{Bytes, BytesPerSecond, FlopsPerSecond, Seconds};
use roofline_report::{Style, roofline_plot, roofline_svg, roofs_table};

fn roofs() -> Roofs {
    let mut bandwidth = Vec::new();
    for threads in [1u32, 2] {
        for (set, rates) in [
            (16u64 << 10, [230e9, 260e9, 300e9]),
            (1 << 20, [90e9, 58e9, 72e9]),
            (4 << 20, [21e9, 26e9, 31e9]),
            (512 << 20, [18e9, 26e9, 19e9]),
        ] {
            for (mix, rate) in Mix::ALL.into_iter().zip(rates) {
                let rate = BytesPerSecond(rate * f64::from(threads));
                let probe = "limit/traffic-4".to_owned();
                bandwidth.push(Bandwidth { mix, set: Bytes(set), threads, rate, probe });
            }
        }
    }
    let units = [("avx2-f32", 81e9), ("avx512-f64", 78e9), ("avx512-f32", 156e9), ("amx-bf16", 1185e9)];
    let peaks = [1u32, 2].into_iter().flat_map(|threads| {
        units.map(|(unit, rate)| Peak {
            unit: unit.to_owned(),
            threads,
            rate: FlopsPerSecond(rate * f64::from(threads)),
        })
    });
    Roofs {
        schema: SCHEMA,
        machine: "0123456789ab".to_owned(),
        measured: "2026-11-15T03:00:00Z".to_owned(),
        quick: false,
        bandwidth,
        peaks: peaks.collect(),
        fork_join: Some(Seconds(3.1e-7)),
        wake_up: Some(Seconds(1.2e-5)),
    }
}

#[test]
fn tables_and_plots() {
    hold("roofs.txt", &roofs_table(&roofs()));
    hold(
        "roofline.txt",
        &roofline_plot(&roofs(), Style { colour: false, width: Some(80), ..Style::default() }),
    );
    hold("roofline.svg", &roofline_svg(&roofs()).unwrap());
}

#[test]
fn a_plot_fits_its_width() {
    for width in [0, 1, 40, 60, 100, 300] {
        let plot = roofline_plot(&roofs(), Style { colour: false, width: Some(width), ..Style::default() });
        let widest = plot.lines().skip(1).map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= usize::from(width.clamp(45, 110)), "{width}: {widest}\n{plot}");
    }
}

/// Elements open and close, and nothing in them has to be escaped.
#[test]
fn the_picture_is_xml() {
    let svg = roofline_svg(&roofs()).unwrap();
    for line in svg.lines().filter(|line| line.starts_with("<line") || line.starts_with("<rect")) {
        assert!(line.ends_with("/>") && line.matches('<').count() == 1 && line.matches('"').count() % 2 == 0);
    }
    for line in svg.lines().filter(|line| line.starts_with("<text")) {
        assert!(
            line.ends_with("</text>") && line.matches('<').count() == 2 && !line.contains("NaN"),
            "{line}"
        );
    }
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
}

#[test]
fn few_or_odd_roofs_are_no_reason_to_panic() {
    let none = Roofs { bandwidth: Vec::new(), peaks: Vec::new(), ..roofs() };
    assert_eq!(roofline_plot(&none, Style::default()), "");
    assert!(roofline_svg(&none).is_none());
    roofs_table(&none);
    for (rate, peak) in [(1.0, 1.0), (1e20, 1.0), (1.0, 1e20), (1e20, 1e20)] {
        let mut odd = roofs();
        odd.bandwidth.iter_mut().for_each(|point| point.rate.0 = rate);
        odd.peaks.iter_mut().for_each(|one| one.rate.0 = peak);
        odd.peaks[0].unit = "plain".to_owned();
        roofline_plot(&odd, Style::default());
        assert!(!roofline_svg(&odd).unwrap().contains("NaN"));
        roofs_table(&odd);
    }
}
