//! Two stored runs, or files, beside each other: what such figures can say, and what would decide.

use crate::Style;
use crate::figures;
use crate::past::{Change, Sign, differs};
use crate::readings::table;
use crate::text::{NONE, escape, plural, wrap};
use roofline_core::names::is_limit;
use roofline_core::record::{Record, Status};
use std::collections::{BTreeMap, BTreeSet};

/// One of the two.
#[derive(Clone, Copy, Debug)]
pub struct Stored<'a> {
    /// The commit that it was measured at; empty where none is known.
    pub revision: &'a str,
    pub records: &'a [Record],
}

const HEADS: [(&str, bool); 7] = [
    ("case", false),
    ("implementation", false),
    ("was", true),
    ("is", true),
    ("speed", true),
    ("held by", false),
    ("says", false),
];

/// Rows that one side has alone are named up to so many; more would hide the rest.
const NAMED: usize = 5;
/// More cases than this make no command that anybody reads.
const IN_COMMAND: usize = 8;

/// `None` where the two have no row in common.
pub fn compare(old: Stored, new: Stored, style: Style) -> Option<String> {
    let (then, now) = (by_row(old.records), by_row(new.records));
    let (mut lines, mut signs, mut all) = (Vec::new(), Vec::new(), Vec::new());
    // In the order of the new one.
    let mut told = BTreeSet::new();
    for record in new.records {
        let row = record.row();
        let (Some(&was), Some(&is)) = (then.get(&row), now.get(&row)) else { continue };
        if !told.insert(row) {
            continue;
        }
        let (cells, sign) = line(was, is);
        lines.push([vec![escape(&is.case), escape(&is.implementation)], cells].concat());
        all.extend((sign.is_some()).then_some(is));
        signs.extend(sign.is_some_and(|sign| sign != Sign::None).then_some(is));
    }
    if lines.is_empty() {
        return None;
    }
    let mut parts = vec![table(&HEADS, lines, style)];
    for (which, own, other) in [("first", &then, &now), ("second", &now, &then)] {
        parts.extend(alone(which, own, other).map(|words| wrap(&words, style, "", "  ")));
    }
    let words = "Two runs of one kernel differ for no reason by up to 12 % of their share of a limit of traffic (25 % on several \
                 threads), 30 % of one of arithmetic or of a speed beside another, and 61 % of their medians. A row that \
                 looks faster or slower went beyond that, which is a sign and decides nothing.";
    parts.push(wrap(words, style, "", ""));
    let asked = if signs.is_empty() { &all } else { &signs };
    if let Some(command) = command(asked, old.revision, new.revision) {
        parts.push(format!("This decides, by measuring both in the same rounds:\n  {command}\n"));
    }
    Some(parts.join("\n"))
}

/// The latest record of each row that is no limit's probe.
fn by_row(records: &[Record]) -> BTreeMap<String, &Record> {
    let rows = records.iter().filter(|record| !is_limit(&record.implementation));
    rows.map(|record| (record.row(), record)).collect()
}

/// What a row was and is, and what that says; the sign of rows that `ab` could decide about.
fn line(was: &Record, is: &Record) -> (Vec<String>, Option<Sign>) {
    let cells = |words: [String; 5]| words.to_vec();
    let none = || NONE.to_owned();
    if was.status != Status::Ok || is.status != Status::Ok {
        let says = if was.status == is.status { "as it was" } else { "another status" };
        let (was, is) = (was.status.to_string(), is.status.to_string());
        return (cells([was, is, none(), "status".to_owned(), says.to_owned()]), None);
    }
    if let Some(why) = differs(was, is) {
        return (cells([none(), none(), none(), none(), format!("{why}: cannot be compared")]), None);
    }
    let Some(change) = Change::between(was, is) else {
        return (cells([none(), none(), none(), none(), "not measured".to_owned()]), None);
    };
    let says = match change.sign() {
        Sign::None => format!("nothing: within {}", figures::percent(change.new.resolution())),
        Sign::Faster => "looks faster".to_owned(),
        Sign::Slower => "looks slower".to_owned(),
    };
    let figures =
        [change.old.text(), change.new.text(), figures::signed_percent(change.speed), change.new.by(), says];
    let sign =
        (!was.is_imported() && !is.is_imported() || change.sign() != Sign::None).then(|| change.sign());
    (cells(figures), sign)
}

/// Rows that one side has and the other has not.
fn alone(which: &str, own: &BTreeMap<String, &Record>, other: &BTreeMap<String, &Record>) -> Option<String> {
    let rows: Vec<&String> = own.keys().filter(|row| !other.contains_key(*row)).collect();
    let names: Vec<String> = rows.iter().take(NAMED).map(|row| escape(row)).collect();
    let more = if rows.len() > NAMED { ", …" } else { "" };
    let words =
        || format!("in the {which} alone: {}: {}{more}", plural(rows.len() as u64, "row"), names.join(", "));
    (!rows.is_empty()).then(words)
}

/// The command that measures rows of both in the same rounds.
fn command(rows: &[&Record], old: &str, new: &str) -> Option<String> {
    let ours = rows.iter().filter(|record| record.case.parse::<roofline_core::case::Case>().is_ok());
    let (mut cases, mut names) = (BTreeSet::new(), BTreeSet::new());
    for record in ours {
        cases.insert(record.case.as_str());
        names.insert(record.implementation.split_once('/').map_or("", |(_, bare)| bare));
    }
    if cases.is_empty() {
        return None;
    }
    // What differed from its commit cannot be had by the commit's name.
    let is_known = |revision: &str| !revision.is_empty() && !revision.ends_with('+');
    let (old, new) = if is_known(old) && is_known(new) && old != new { (old, new) } else { ("OLD", "NEW") };
    let words: Vec<&str> = cases.into_iter().take(IN_COMMAND).collect();
    let names: Vec<&str> = names.into_iter().collect();
    let what = if old == "OLD" { "    # each a revision, a file, or a name of `run --save`" } else { "" };
    Some(format!("roofline ab {old} {new} {} -i {}{what}", words.join(" "), names.join(",")))
}
