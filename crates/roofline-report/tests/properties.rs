//! What holds for any record, however hostile: it parses back, fits the terminal, panics nowhere.

#[path = "../../roofline-store/tests/common/records.rs"]
mod records;

use proptest::prelude::*;
use records::{any_record, record, run};
use roofline_core::record::{Record, Run, SCHEMA, Sample, Status};
use roofline_core::target::Choice;
use roofline_report::{FORMATS, Format, Reading, Report, Sort, Style, csv_columns, explain, scaling};
use unicode_width::UnicodeWidthStr;

fn write(format: &str, records: &[Record], style: Style) -> String {
    let run = run("run");
    let report = Report::new(Some(&run), records);
    (Format::find(format).unwrap().write)(&report, style)
}

fn scale(records: &[Record], style: Style) -> String {
    scaling(&Report::new(None, records), style)
}

/// Fields of each line of a CSV text, by the grammar of RFC 4180.
fn parse_csv(text: &str) -> Vec<Vec<String>> {
    let (mut lines, mut fields, mut field) = (Vec::new(), Vec::new(), String::new());
    let mut quoted = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => field.extend(chars.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(std::mem::take(&mut field)),
            '\n' if !quoted => {
                fields.push(std::mem::take(&mut field));
                lines.push(std::mem::take(&mut fields));
            }
            c => field.push(c),
        }
    }
    assert!(!quoted && field.is_empty() && fields.is_empty(), "the last line ends");
    lines
}

/// Text as a terminal shows it: without colours.
fn without_colour(text: &str) -> String {
    let mut shown = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        shown += before;
        rest = after.split_once('m').expect("only colours are used").1;
    }
    shown + rest
}

/// Records with real ids among them, so that every column has content.
fn likely() -> impl Strategy<Value = Record> {
    let cases =
        ["softmax/f32/rows=4096,cols=4096/threads=2", "matmul.nn/bf16/m=1,n=2,k=3", "add/f64/rows=1,cols=0"];
    let implementations = ["cpu/online-512", "cpu/plain", "torch/eager", "limit/traffic"];
    let implementation = proptest::sample::select(implementations.to_vec());
    let case = proptest::option::of(proptest::sample::select(cases.to_vec()));
    (any_record(), case, implementation, any::<bool>()).prop_map(|(mut record, case, implementation, ok)| {
        if let Some(case) = case {
            record.case = case.to_owned();
            record.implementation = implementation.to_owned();
        }
        if ok {
            record.status = Status::Ok;
        }
        record
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn json_and_jsonl_read_back(records in proptest::collection::vec(any_record(), 0..4)) {
        let lines = write("jsonl", &records, Style::default());
        let read: Vec<Record> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        prop_assert_eq!(&read, &records);
        let value: serde_json::Value = serde_json::from_str(&write("json", &records, Style::default())).unwrap();
        prop_assert_eq!(&value["schema"], SCHEMA);
        prop_assert_eq!(serde_json::from_value::<Run>(value["run"].clone()).unwrap(), run("run"));
        prop_assert_eq!(value.as_object().unwrap().len(), 3);
        // Through text again: a float takes the shortest way only there.
        let read: Vec<Record> = serde_json::from_str(&value["records"].to_string()).unwrap();
        prop_assert_eq!(read, records);
    }

    #[test]
    fn csv_reads_back(records in proptest::collection::vec(likely(), 0..4)) {
        let lines = parse_csv(&write("csv", &records, Style::default()));
        let columns: Vec<&str> = csv_columns().collect();
        prop_assert_eq!(&lines[0], &columns);
        prop_assert_eq!(lines.len(), records.len() + 1);
        let column = |name: &str| columns.iter().position(|column| *column == name).unwrap();
        for (line, record) in lines[1..].iter().zip(&records) {
            prop_assert_eq!(line.len(), columns.len());
            prop_assert_eq!(&line[column("case")], &record.case);
            prop_assert_eq!(&line[column("why")], &record.why);
            prop_assert_eq!(&line[column("reproduce")], &record.reproduce);
            prop_assert_eq!(line[column("gate_score")].parse::<f64>().unwrap(), record.gate.score);
            prop_assert_eq!(&line[column("status")], record.status.name());
            if record.status != Status::Ok {
                for name in ["median_seconds", "of_limit", "speed", "mad_seconds"] {
                    prop_assert_eq!(&line[column(name)], "");
                }
            }
            // No number without its interval.
            for [value, low, high] in
                [["of_limit", "of_limit_low", "of_limit_high"], ["speed", "speed_low", "speed_high"]]
            {
                let number = |name| line[column(name)].parse::<f64>().ok();
                let (value, low, high) = (number(value), number(low), number(high));
                prop_assert!(value.is_some() == low.is_some() && value.is_some() == high.is_some());
                prop_assert!(value.is_none() || low <= value && value <= high);
            }
        }
    }

    #[test]
    fn the_table_keeps_to_the_width(
        records in proptest::collection::vec(likely(), 0..5), width in 40u16..=200, colour: bool,
    ) {
        let text = write("table", &records, Style { colour, width: Some(width), ..Style::default() });
        prop_assert_eq!(text.contains('\u{1b}'), colour && !records.is_empty());
        for line in without_colour(&text).lines() {
            // A command is left whole, so that it can be copied.
            prop_assert!(line.starts_with("  reproduce: ") || line.width() <= usize::from(width), "{line:?}");
        }
    }

    #[test]
    fn a_row_has_one_line_from_80_columns_on(
        records in proptest::collection::vec(likely(), 1..5),
        names in proptest::collection::vec("[a-z漢/_:=.-]{1,90}", 5),
        width in 80u16..=200, ascii: bool,
    ) {
        let mut records = records;
        for (record, name) in records.iter_mut().zip(names) {
            record.implementation = format!("mine/{name}");
            // A case without a name would end the table for this test.
            record.case = format!("case {}", record.case);
        }
        let style = Style { width: Some(width), ascii, ..Style::default() };
        let run = run("run");
        let report = Report { all: true, ..Report::new(Some(&run), &records) };
        let text = (Format::find("table").unwrap().write)(&report, style);
        prop_assert!(!ascii || text.is_ascii(), "{}", text);
        let rows: Vec<&str> = text.split("\n\n").next().unwrap_or_default().lines().collect();
        prop_assert!(rows.iter().all(|line| line.width() <= usize::from(width)), "{}", text);
        // Headers, a line a row, and above them their cases, which may be as long as they like.
        let ends = |row: &&&str| records.iter().any(|record| row.trim_end().contains(record.status.name()));
        prop_assert!(rows.iter().skip(1).filter(ends).count() >= records.len(), "{}", text);
    }

    #[test]
    fn scaling_keeps_to_the_width(records in proptest::collection::vec(likely(), 0..5), width in 40u16..=200) {
        let text = scale(&records, Style { colour: false, width: Some(width), ..Style::default() });
        for line in text.lines() {
            prop_assert!(line.starts_with("  reproduce: ") || line.width() <= usize::from(width), "{line:?}");
        }
    }

    #[test]
    fn readings_keep_to_the_width(
        records in proptest::collection::vec(likely(), 0..5), width in 40u16..=200, which in 0usize..3,
    ) {
        let reading = [Reading::Best(Choice::default()), Reading::Wins, Reading::By("rows".to_owned())][which].clone();
        let text = reading.write(&Report::new(None, &records), Style { colour: false, width: Some(width), ..Style::default() });
        for line in text.lines() {
            prop_assert!(line.starts_with("  reproduce: ") || line.width() <= usize::from(width), "{line:?}");
        }
    }

    #[test]
    fn sorting_loses_no_row_and_puts_the_best_first(
        records in proptest::collection::vec(likely(), 0..6), sort in proptest::sample::select(Sort::ALL),
    ) {
        let report = Report { sort, ..Report::new(None, &records) };
        let lines = parse_csv(&(Format::find("csv").unwrap().write)(&report, Style::default()));
        prop_assert_eq!(lines.len(), records.len() + 1);
        let (name, sign) = match sort {
            Sort::Median => ("median_seconds", 1.0),
            Sort::Rate => ("rate", -1.0),
            Sort::OfLimit => ("of_limit", -1.0),
            _ => return Ok(()),
        };
        let column = csv_columns().position(|column| column == name).unwrap();
        let keys: Vec<f64> = lines[1..]
            .iter()
            .map(|line| line[column].parse().map_or(f64::INFINITY, |value: f64| sign * value))
            .collect();
        prop_assert!(keys.is_sorted(), "{keys:?}");
    }

    #[test]
    fn colour_says_nothing_that_words_do_not(records in proptest::collection::vec(likely(), 0..5), width in 40u16..=200) {
        let plain = write("table", &records, Style { colour: false, width: Some(width), ..Style::default() });
        let colourful = write("table", &records, Style { colour: true, width: Some(width), ..Style::default() });
        let trimmed = |text: &str| text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
        prop_assert_eq!(trimmed(&without_colour(&colourful)), trimmed(&plain));
    }

    #[test]
    fn nothing_hostile_reaches_the_terminal(record in likely(), width: Option<u16>) {
        let style = Style { colour: false, width, ..Style::default() };
        let records = [record];
        let texts = ["table", "markdown"].map(|format| write(format, &records, style));
        let ascii = Style { ascii: true, ..style };
        for text in [write("table", &records, ascii), explain(&records[0], ascii), scale(&records, ascii)] {
            prop_assert!(text.is_ascii(), "{}", text);
        }
        for text in texts.iter().chain([&explain(&records[0], style), &scale(&records, style)]) {
            let stray = text.chars().find(|c| c.is_control() && *c != '\n' || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'));
            prop_assert_eq!(stray, None, "{}", text);
        }
    }

    #[test]
    fn explanations_keep_to_the_width(record in likely(), width in 40u16..=200) {
        for line in explain(&record, Style { colour: false, width: Some(width), ..Style::default() }).lines() {
            // Commands are not wrapped, so that they can be copied.
            let is_command = ["reproduce ", "settle ", "by hand "].iter().any(|word| line.starts_with(word));
            prop_assert!(is_command || line.width() <= usize::from(width), "{line:?}");
        }
    }
}

#[test]
fn control_characters_are_shown_and_not_obeyed() {
    let evil = "\u{1b}]0;title\u{7}\r\n\u{1b}[2Jok \u{9b}31m\u{202e}".to_owned();
    let record = Record {
        case: evil.clone(),
        implementation: evil.clone(),
        why: evil.clone(),
        reproduce: evil,
        status: Status::Crashed,
        ..record("run", "evil")
    };
    let table = write("table", &[record], Style::default());
    assert!(table.contains("\\u{1b}]0;title\\u{7}\\r\\n\\u{1b}[2Jok"), "{table}");
    assert_eq!(table.lines().count(), 9, "{table}");
}

#[test]
fn numbers_that_cannot_be_times_are_no_times() {
    for nanoseconds in [f64::NAN, f64::INFINITY, -1.0, 0.0, 1e300, 5e-324] {
        let samples = vec![Sample { set: 0, visit: 0, batch: 0, nanoseconds }; 3];
        let record = Record { samples, ..record("run", "odd") };
        let style = Style { colour: false, width: Some(120), ..Style::default() };
        for line in write("table", std::slice::from_ref(&record), style).lines() {
            assert!(line.width() <= 120, "{line}");
        }
        explain(&record, style);
    }
}

#[test]
fn formats_are_found_by_name() {
    for format in FORMATS {
        assert_eq!(Format::find(format.name).unwrap().name, format.name);
    }
    assert_eq!(Format::find("jsonn").unwrap_err().hint(), "did you mean `json`?");
    assert!(Format::find("zzzzzzzzzzzz").unwrap_err().hint().contains("csv, markdown"));
}
