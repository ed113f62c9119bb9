//! Policy: by how much a row may become slower or larger before a merge waits for somebody, and who has said yes to more.

use crate::decision::{FailOn, compared, flagged, hub_of, percent};
use crate::names::{is_limit, matches};
use crate::record::{Record, Status};

/// What holds where a repository says nothing: a twentieth slower wants an explanation, a fifth more memory as well.
pub const SLOWER: f64 = 0.05;
pub const MEMORY: f64 = 0.20;
/// On what a repository calls critical, a tenth is not to be explained.
pub const CRITICAL: f64 = 0.10;

/// The rules of a repository.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    pub rules: Vec<Rule>,
    /// Globs of cases, each of which must have a row with a time.
    pub must_exist: Vec<String>,
    pub waivers: Vec<Waiver>,
}

/// How much is too much for some cases, as shares.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// Globs of case ids.
    pub cases: Vec<String>,
    pub slower: Option<f64>,
    pub memory: Option<f64>,
    /// Whether no waiver helps.
    pub blocks: bool,
}

/// Somebody's yes to a row that breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiver {
    pub cases: Vec<String>,
    pub author: String,
    pub reason: String,
    /// The last day on which it holds, as `2026-12-31`.
    pub expires: String,
}

/// A rule that a row breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The row; a glob where there is none.
    pub row: String,
    pub what: String,
    pub fails: bool,
    /// The command that shows it again; none where there is no row.
    pub reproduce: String,
}

impl Default for Policy {
    fn default() -> Policy {
        let everywhere =
            Rule { cases: vec!["*".to_owned()], slower: Some(SLOWER), memory: Some(MEMORY), blocks: false };
        Policy { rules: vec![everywhere], must_exist: Vec::new(), waivers: Vec::new() }
    }
}

fn is_among(globs: &[String], case: &str) -> bool {
    globs.iter().any(|glob| matches(glob, case))
}

impl Policy {
    /// The least that a row may be slower for sure before a rule speaks of it: such rows are measured again.
    pub fn least(&self) -> FailOn {
        let least = self.rules.iter().filter_map(|rule| rule.slower).reduce(f64::min);
        FailOn::Slower(least.unwrap_or(f64::INFINITY))
    }

    /// Every rule that rows break on a day, given as `2026-11-17`. `own` are those that are somebody's to mend, among all;
    /// what must exist is looked for where all there is was asked for, `is_whole`.
    pub fn judge(&self, own: &[&Record], all: &[&Record], today: &str, is_whole: bool) -> Vec<Finding> {
        let mut findings = Vec::new();
        let compared = compared(own.iter().copied());
        for rule in &self.rules {
            let meant: Vec<&Record> =
                compared.iter().copied().filter(|record| is_among(&rule.cases, &record.case)).collect();
            if let Some(share) = rule.slower {
                let what = FailOn::Slower(share);
                let slower = flagged(meant.iter().copied(), what);
                findings.extend(
                    slower.into_iter().map(|row| self.excuse(row, what.to_string(), rule.blocks, today)),
                );
            }
            if let Some(share) = rule.memory {
                let larger = meant.iter().filter_map(|row| Some((row, growth(row, all)?)));
                findings.extend(larger.filter(|(_, growth)| *growth > share).map(|(row, growth)| {
                    let what =
                        format!("takes {:.1} % more memory, more than {} %", 100.0 * growth, percent(share));
                    self.excuse(row, what, rule.blocks, today)
                }));
            }
        }
        let is_timed = |record: &Record| record.status == Status::Ok && !is_limit(&record.implementation);
        let is_there =
            |glob: &&String| own.iter().any(|record| is_timed(record) && matches(glob, &record.case));
        let missing = self.must_exist.iter().filter(|glob| is_whole && !is_there(glob));
        findings.extend(missing.map(|glob| Finding {
            row: glob.clone(),
            what: "must exist, and no row of it has a time".to_owned(),
            fails: true,
            reproduce: String::new(),
        }));
        findings
    }

    /// A row that has no time any more: no rule has to say that it is to have one.
    pub fn withdrawn(&self, row: &Record, today: &str) -> Finding {
        let blocks = self.rules.iter().any(|rule| rule.blocks && is_among(&rule.cases, &row.case));
        let what = format!("has no time any more, it is {}: {}", row.status, row.why);
        self.excuse(row, what, blocks, today)
    }

    /// What is wrong with a row, with the waiver that excuses it or no longer does.
    fn excuse(&self, row: &Record, what: String, blocks: bool, today: &str) -> Finding {
        let own = self.waivers.iter().filter(|waiver| is_among(&waiver.cases, &row.case));
        let waiver = own.max_by(|one, other| one.expires.cmp(&other.expires));
        let (said, fails) = match waiver {
            _ if blocks => ("; that is not to be waived".to_owned(), true),
            None => ("; mend it, or explain it by a waiver in roofline.toml".to_owned(), true),
            Some(Waiver { author, expires, .. }) if expires.as_str() < today => {
                (format!("; the waiver of {author} expired on {expires}"), true)
            }
            Some(Waiver { author, reason, expires, .. }) => {
                (format!("; waived by {author} until {expires}: {reason}"), false)
            }
        };
        Finding { row: row.row(), what: what + &said, fails, reproduce: row.reproduce.clone() }
    }
}

/// How much more memory a row takes than the one that it is compared with, as a share.
fn growth(row: &Record, records: &[&Record]) -> Option<f64> {
    let hub = hub_of(row)?;
    let is_hub =
        |other: &&&Record| other.run == row.run && other.case == row.case && other.implementation == hub;
    let before = records.iter().find(is_hub).filter(|hub| hub.status == Status::Ok)?.evidence.peak_memory?.0;
    Some(row.evidence.peak_memory?.0 as f64 / (before as f64).max(1.0) - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision::tests::rows;
    use crate::units::Bytes;

    const TODAY: &str = "2026-11-17";

    fn waiver(expires: &str) -> Waiver {
        Waiver {
            cases: vec!["add/*".to_owned()],
            author: "Ada".to_owned(),
            reason: "exact sums".to_owned(),
            expires: expires.to_owned(),
        }
    }

    /// What is said of a row that is slower by a share, and whether that fails.
    fn said(policy: &Policy, slower: f64) -> Vec<(String, bool)> {
        let records = rows(&[slower]);
        let records: Vec<&Record> = records.iter().collect();
        let findings = policy.judge(&records, &records, TODAY, true);
        findings.into_iter().map(|finding| (finding.what, finding.fails)).collect()
    }

    #[test]
    fn a_twentieth_wants_an_explanation_that_has_not_expired() {
        let mut policy = Policy::default();
        assert_eq!(policy.least(), FailOn::Slower(0.05));
        assert_eq!(said(&policy, 0.03), []);
        let [(what, true)] = &said(&policy, 0.2)[..] else { panic!("not refused") };
        assert!(what.starts_with("slower by more than 5 %; mend it"), "{what}");
        policy.waivers = vec![waiver("2026-11-16")];
        assert_eq!(
            said(&policy, 0.2)[0].0.split("; ").nth(1),
            Some("the waiver of Ada expired on 2026-11-16")
        );
        policy.waivers.push(waiver(TODAY));
        let [(what, false)] = &said(&policy, 0.2)[..] else { panic!("refused") };
        assert!(what.ends_with("waived by Ada until 2026-11-17: exact sums"), "{what}");
        let critical =
            Rule { cases: vec!["add/*".to_owned()], slower: Some(CRITICAL), memory: None, blocks: true };
        policy.rules.push(critical);
        assert_eq!(said(&policy, 0.2).iter().map(|(_, fails)| *fails).collect::<Vec<_>>(), [false, true]);
        assert_eq!(said(&policy, 0.08).len(), 1);
    }

    #[test]
    fn memory_is_held_against_the_hub_and_cases_must_exist() {
        let mut records = rows(&[0.0, 0.0]);
        records[1].implementation = "peer/fast".to_owned();
        for (record, bytes) in records.iter_mut().zip([1300, 1000]) {
            record.evidence.peak_memory = Some(Bytes(bytes));
        }
        let all: Vec<&Record> = records.iter().collect();
        let judge = |policy: &Policy| policy.judge(&all[..1], &all, TODAY, true);
        let mut policy = Policy { must_exist: vec!["add/*".to_owned()], ..Policy::default() };
        let [finding] = &judge(&policy)[..] else { panic!("{:?}", judge(&policy)) };
        assert!(finding.what.starts_with("takes 30.0 % more memory, more than 20 %"), "{finding:?}");
        policy.rules[0].memory = Some(0.5);
        assert_eq!(judge(&policy), []);
        policy.must_exist.push("softmax/*".to_owned());
        assert_eq!(judge(&policy)[0].row, "softmax/*");
        assert_eq!(policy.judge(&all[..1], &all, TODAY, false), [], "a part was asked for");
    }
}
