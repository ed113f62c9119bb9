//! What holds for any record, however hostile: it parses back, fits the terminal, panics nowhere.

#[path = "../../roofline-store/tests/common/records.rs"]
mod records;

use proptest::prelude::*;
use records::{any_record, record, run};
use roofline_core::record::{Record, Run, Sample, Status};
use roofline_report::{CSV_COLUMNS, FORMATS, Format, Report, Style, explain};
use unicode_width::UnicodeWidthStr;

fn write(format: &str, records: &[Record], style: Style) -> String {
    let run = run("run");
    (Format::find(format).unwrap().write)(&Report { run: Some(&run), records }, style)
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
    (any_record(), proptest::option::of(proptest::sample::select(cases.to_vec())), any::<bool>()).prop_map(
        |(mut record, case, ok)| {
            if let Some(case) = case {
                record.case = case.to_owned();
                record.implementation = "cpu/online-512".to_owned();
            }
            if ok {
                record.status = Status::Ok;
            }
            record
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn json_and_jsonl_read_back(records in proptest::collection::vec(any_record(), 0..4)) {
        let lines = write("jsonl", &records, Style::default());
        let read: Vec<Record> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        prop_assert_eq!(&read, &records);
        let value: serde_json::Value = serde_json::from_str(&write("json", &records, Style::default())).unwrap();
        prop_assert_eq!(&value["schema"], 1);
        prop_assert_eq!(serde_json::from_value::<Run>(value["run"].clone()).unwrap(), run("run"));
        prop_assert_eq!(value.as_object().unwrap().len(), 3);
        // Through text again: a float takes the shortest way only there.
        let read: Vec<Record> = serde_json::from_str(&value["records"].to_string()).unwrap();
        prop_assert_eq!(read, records);
    }

    #[test]
    fn csv_reads_back(records in proptest::collection::vec(likely(), 0..4)) {
        let lines = parse_csv(&write("csv", &records, Style::default()));
        prop_assert_eq!(&lines[0], CSV_COLUMNS);
        prop_assert_eq!(lines.len(), records.len() + 1);
        let column = |name: &str| CSV_COLUMNS.iter().position(|column| *column == name).unwrap();
        for (line, record) in lines[1..].iter().zip(&records) {
            prop_assert_eq!(line.len(), CSV_COLUMNS.len());
            prop_assert_eq!(&line[column("case")], &record.case);
            prop_assert_eq!(&line[column("why")], &record.why);
            prop_assert_eq!(&line[column("reproduce")], &record.reproduce);
            prop_assert_eq!(line[column("gate_score")].parse::<f64>().unwrap(), record.gate.score);
            prop_assert_eq!(&line[column("status")], record.status.name());
            if record.status != Status::Ok {
                prop_assert_eq!(&line[column("median_seconds")], "");
            }
        }
    }

    #[test]
    fn the_table_keeps_to_the_width(
        records in proptest::collection::vec(likely(), 0..5), width in 40u16..=200, colour: bool,
    ) {
        let text = write("table", &records, Style { colour, width: Some(width) });
        prop_assert_eq!(text.contains('\u{1b}'), colour && !records.is_empty());
        for line in without_colour(&text).lines() {
            // A command is left whole, so that it can be copied.
            prop_assert!(line.starts_with("  reproduce: ") || line.width() <= usize::from(width), "{line:?}");
        }
    }

    #[test]
    fn colour_says_nothing_that_words_do_not(records in proptest::collection::vec(likely(), 0..5), width in 40u16..=200) {
        let plain = write("table", &records, Style { colour: false, width: Some(width) });
        let colourful = write("table", &records, Style { colour: true, width: Some(width) });
        let trimmed = |text: &str| text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
        prop_assert_eq!(trimmed(&without_colour(&colourful)), trimmed(&plain));
    }

    #[test]
    fn nothing_hostile_reaches_the_terminal(record in likely(), width: Option<u16>) {
        let style = Style { colour: false, width };
        let records = [record];
        let texts = ["table", "markdown"].map(|format| write(format, &records, style));
        for text in texts.iter().chain([&explain(&records[0], style)]) {
            let stray = text.chars().find(|c| c.is_control() && *c != '\n' || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'));
            prop_assert_eq!(stray, None, "{}", text);
        }
    }

    #[test]
    fn explanations_keep_to_the_width(record in likely(), width in 40u16..=200) {
        for line in explain(&record, Style { colour: false, width: Some(width) }).lines() {
            prop_assert!(line.starts_with("reproduce ") || line.width() <= usize::from(width), "{line:?}");
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
    assert_eq!(table.lines().count(), 8, "{table}");
}

#[test]
fn numbers_that_cannot_be_times_are_no_times() {
    for nanoseconds in [f64::NAN, f64::INFINITY, -1.0, 0.0, 1e300, 5e-324] {
        let samples = vec![Sample { set: 0, visit: 0, batch: 0, nanoseconds }; 3];
        let record = Record { samples, ..record("run", "odd") };
        let style = Style { colour: false, width: Some(120) };
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
