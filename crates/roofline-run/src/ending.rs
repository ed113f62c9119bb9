//! What came of a run, held against what was asked of it: targets, a policy, and the code that it ends with.
//!
//! 4 where a row failed, 3 where one is what the run was asked to fail on, 5 where nothing was measured, compared or decided, 130
//! where somebody interrupted it, 0 otherwise.

use crate::ask::Ask;
use crate::request::Outcome;
use crate::terminal::complain;
use crate::{has_failure, now};
use roofline_conductor::conduct::Finish;
use roofline_conductor::plan;
use roofline_core::decision::{self, FailOn, Uncompared};
use roofline_core::policy::{Finding, Policy};
use roofline_core::record::{Record, Status};
use roofline_core::target::Reached;
use roofline_core::verdict::Word;
use std::io;

/// Whose rows they are that are not the asker's own.
#[derive(Clone, Debug, Default)]
pub struct Others {
    /// Runners that rows are compared with and that are nobody's any more: that they fail fails no run.
    pub older: Vec<String>,
}

/// What the records of a run say to its targets and to a policy.
#[derive(Clone, Debug, Default)]
pub struct Judgement {
    pub targets: Vec<Reached>,
    pub findings: Vec<Finding>,
    /// What else there is to know of its comparisons, a line each.
    pub notices: Vec<String>,
}

/// What the comparisons of a run whose rows are all well let it end with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Decision {
    Well,
    /// There are rows that it was asked to fail on.
    Fails,
    /// There would be such rows, had there been time to measure them again.
    Open,
}

impl Others {
    /// The rows that are somebody's to mend.
    fn own<'r>(&self, records: &'r [Record]) -> Vec<&'r Record> {
        records.iter().filter(|record| !self.older.contains(&record.provenance.runner)).collect()
    }

    /// Those that have no time any more, where the rows are compared with what they were.
    fn withdrawn<'r>(&self, records: &'r [Record]) -> Vec<&'r Record> {
        if self.older.is_empty() { Vec::new() } else { decision::withdrawn(&self.own(records), records) }
    }
}

impl Ask {
    /// Holds records against targets and policy; `is_whole` where nothing was left out of what there is to measure.
    pub fn judge(&self, records: &[Record], others: &Others, is_whole: bool) -> Judgement {
        let (own, all): (Vec<&Record>, Vec<&Record>) = (others.own(records), records.iter().collect());
        let judge = |policy: &Policy| {
            let mut findings = policy.judge(&own, &all, &today(), is_whole);
            let withdrawn = others.withdrawn(records).into_iter();
            findings.extend(withdrawn.map(|row| policy.withdrawn(row, &today())));
            findings
        };
        Judgement {
            targets: self.targets.iter().map(|target| target.reach(records)).collect(),
            findings: self.policy.as_ref().map(judge).unwrap_or_default(),
            notices: self.notices(records, others, is_whole),
        }
    }

    /// What the run fails on by how its rows compare.
    fn decides_on(&self) -> Option<FailOn> {
        let by_rows = |what: &FailOn| matches!(what, FailOn::Slower(_) | FailOn::Inconclusive);
        self.budget.and(self.measured_again()).filter(by_rows)
    }

    /// What the table does not say of comparisons: rows that have none, those that are slower and fail nothing, and what many
    /// of them have in common.
    fn notices(&self, records: &[Record], others: &Others, is_whole: bool) -> Vec<String> {
        let own = others.own(records);
        let what = self.decides_on();
        let mut notices = Vec::new();
        for Uncompared { row, why, .. } in decision::uncompared(&own, records) {
            if what.is_some() || !others.older.is_empty() {
                notices.push(format!("not compared: {}: {why}", row.row()));
            }
        }
        if !is_whole && self.policy.as_ref().is_some_and(|policy| !policy.must_exist.is_empty()) {
            notices.push("what must exist was not looked for: the run leaves cases out".to_owned());
        }
        let Some(what) = what else { return notices };
        let rows = decision::compared(own.iter().copied()).len();
        for row in decision::sure_alone(own.iter().copied(), what) {
            notices.push(format!("{what} by itself, and not sure enough among {rows} rows: {}", row.row()));
        }
        // That one's own kernel is ahead of another is no surprise; that it is ahead of itself is one.
        let is_odd = |word: &Word| *word == Word::Slower || !others.older.is_empty();
        notices.extend(decision::one_way(own).filter(is_odd).map(decision::alarm));
        notices
    }

    /// The code that a run ends with; says why. `go_on` is what to do about rows that are not finished.
    pub fn end(
        &self,
        outcome: &Outcome,
        others: &Others,
        judged: &Judgement,
        go_on: &str,
    ) -> Result<u8, io::Error> {
        let Outcome { records, finished, planned, .. } = outcome;
        let reached = format!("{finished} of {planned} rows are finished and stored");
        match &outcome.finish {
            Ok(Finish::Complete) => Ok(self.end_complete(records, others, judged)),
            Ok(Finish::OutOfTime) => {
                complain(&format!("the total budget is spent: {reached}; {go_on}"));
                let code = self.code(records, others, judged);
                // What was to be decided is not: that is no reason to merge.
                let decides = self.fail_on.is_some() || !self.targets.is_empty();
                let is_open = code == 0 && (decides && finished < planned || has_nothing(records));
                Ok(if is_open { 5 } else { code })
            }
            Ok(Finish::Interrupted) => {
                complain(&format!("interrupted: {reached}; {go_on}"));
                Ok(130)
            }
            Err(error) => Err(io::Error::other(error.to_string())),
        }
    }

    /// The code of a run all of whose rows came to their end; says by which of them.
    pub fn end_complete(&self, records: &[Record], others: &Others, judged: &Judgement) -> u8 {
        if has_nothing(records) {
            complain("nothing was measured: every row is unsupported or refused");
            return 5;
        }
        self.code(records, others, judged)
    }

    fn code(&self, records: &[Record], others: &Others, judged: &Judgement) -> u8 {
        judged.notices.iter().for_each(|notice| complain(notice));
        let own = others.own(records);
        if has_failure(own.iter().copied()) {
            return 4;
        }
        for Finding { row, what, .. } in &judged.findings {
            complain(&format!("policy: {row}: {what}"));
        }
        let missed: Vec<&Reached> = judged.targets.iter().filter(|reached| reached.fails()).collect();
        for reached in &missed {
            complain(&format!("missed: {}", reached.target.id));
        }
        match self.decide(&own, &others.withdrawn(records), &judged.findings) {
            Decision::Fails => return 3,
            _ if !missed.is_empty() => return 3,
            Decision::Open => return 5,
            Decision::Well => {}
        }
        let has_pair = judged.targets.iter().any(|reached| reached.cases > 0);
        if !judged.targets.is_empty() && !has_pair {
            complain("no target was decided: no case has a ratio of both sides");
            return 5;
        }
        // That a row was wrong and is right decides for it.
        let is_mended = || decision::uncompared(&own, records).iter().any(|row| row.is_mended);
        let compared = decision::compared(own.iter().copied());
        let is_compared = compared.into_iter().any(|row| decision::word(row).is_some());
        if self.decides_on().is_some() && !is_compared && !is_mended() {
            complain("nothing was compared, and so nothing is decided");
            return 5;
        }
        0
    }

    /// Decides by comparisons, if the run was asked to fail on what is among them; says by which.
    fn decide(&self, own: &[&Record], withdrawn: &[&Record], findings: &[Finding]) -> Decision {
        match (&self.policy, self.fail_on) {
            (Some(_), _) if findings.iter().any(|finding| finding.fails) => Decision::Fails,
            (Some(policy), _) => open_rows(own, policy.least()),
            // A target is no row's own.
            (None, None | Some(FailOn::Missed | FailOn::Policy)) => Decision::Well,
            (None, Some(what)) => match decide_on(own, what) {
                _ if !withdrawn.is_empty() => {
                    for row in withdrawn {
                        complain(&format!("{}, and was not: {}: {}", row.status, row.row(), row.why));
                    }
                    Decision::Fails
                }
                decided => decided,
            },
        }
    }
}

fn decide_on(records: &[&Record], what: FailOn) -> Decision {
    let flagged = decision::flagged(records.iter().copied(), what);
    for record in &flagged {
        // Who fails on what is not known fails on what is slower too.
        let is_slower = what == FailOn::Inconclusive && decision::word(record) == Some(Word::Slower);
        let word = if is_slower { Word::Slower.name().to_owned() } else { what.to_string() };
        complain(&format!("{word}: {}", record.row()));
    }
    let is_refuted = |record: &&&Record| {
        let rounds = record.rounds.as_ref().filter(|rounds| rounds.before.is_some());
        rounds.is_some_and(|rounds| !decision::calls_for_more(rounds, what))
    };
    for record in records.iter().filter(is_refuted) {
        complain(&format!("{what} at first, and not when it was measured again: {}", record.row()));
    }
    let open = open_rows(records, what);
    if flagged.is_empty() { open } else { Decision::Fails }
}

/// Whether rows would let a run fail that there was no time to measure again; says which.
fn open_rows(records: &[&Record], what: FailOn) -> Decision {
    let open = decision::unconfirmed(records.iter().copied(), what);
    for record in &open {
        complain(&format!("{what}, and no time was left to measure it again: {}", record.row()));
    }
    if open.is_empty() { Decision::Well } else { Decision::Open }
}

/// Whether there is no row, or every one says no. A limit counts only in a run of limits alone: beside other rows
/// it is there for them.
fn has_nothing(records: &[Record]) -> bool {
    let is_limit = |record: &Record| plan::is_limit(&record.implementation);
    let only_limits = records.iter().all(is_limit);
    let mut rows = records.iter().filter(|record| only_limits || !is_limit(record));
    rows.all(|record| matches!(record.status, Status::Unsupported | Status::Refused))
}

/// The day, as waivers have it.
fn today() -> String {
    now().chars().take("2026-11-17".len()).collect()
}
