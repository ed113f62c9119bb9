//! Roofs of a machine: bandwidth over working sets, peaks of its units, what threads cost.
//!
//! They are for planning and for the plot. The limit that a row is held to is measured beside it.

use crate::units::{Bytes, BytesPerSecond, FlopsPerSecond, OpsPerSecond, Seconds};
use serde::{Deserialize, Serialize};

/// Version of the roofs as JSON, raised when a field changes its meaning.
pub const SCHEMA: u32 = 1;

/// Longest text that [`Roofs::parse`] looks at, and most points and peaks of each kind.
pub const MAX_TEXT: u64 = 1 << 20;
const MAX_POINTS: usize = 1000;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Roofs {
    pub schema: u32,
    /// Fingerprint of the machine that they are of.
    pub machine: String,
    /// RFC 3339.
    pub measured: String,
    /// Measured in a moment, at a few sizes: for a look.
    pub quick: bool,
    pub bandwidth: Vec<Bandwidth>,
    pub peaks: Vec<Peak>,
    /// An empty call of all threads, in a burst and when they had gone to sleep.
    pub fork_join: Option<Seconds>,
    pub wake_up: Option<Seconds>,
}

/// What is moved: the traffic of one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mix {
    /// Almost nothing is written.
    Read,
    /// One written for one read.
    Copy,
    /// One written for two read.
    Triad,
}

impl Mix {
    pub const ALL: [Mix; 3] = [Mix::Read, Mix::Copy, Mix::Triad];

    pub fn name(self) -> &'static str {
        match self {
            Mix::Read => "read",
            Mix::Copy => "copy",
            Mix::Triad => "triad",
        }
    }
}

/// The bandwidth of a working set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bandwidth {
    pub mix: Mix,
    /// All that is read and written.
    pub set: Bytes,
    pub threads: u32,
    pub rate: BytesPerSecond,
    /// The fastest member of the family.
    pub probe: String,
}

/// The peak of an arithmetic unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Peak {
    /// `avx512-f32`.
    pub unit: String,
    pub threads: u32,
    pub rate: FlopsPerSecond,
}

impl Peak {
    /// The rate in its unit: a unit of whole numbers does no floating-point operations.
    pub fn rate_text(&self) -> String {
        let dtype = self.unit.rsplit('-').next().unwrap_or_default();
        let is_whole = dtype.starts_with(['i', 'u']);
        if is_whole { OpsPerSecond(self.rate.0).to_string() } else { self.rate.to_string() }
    }
}

impl Roofs {
    /// Reads roofs of `machine` from bytes that may be anything.
    pub fn parse(bytes: &[u8], machine: &str) -> Result<Roofs, String> {
        if bytes.len() as u64 > MAX_TEXT {
            return Err(format!("longer than {}", Bytes(MAX_TEXT)));
        }
        let roofs: Roofs = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        if roofs.schema != SCHEMA {
            return Err(format!("of version {}, not {SCHEMA}", roofs.schema));
        }
        if roofs.machine != machine {
            return Err("of another machine".to_owned());
        }
        match roofs.is_sensible() {
            true => Ok(roofs),
            false => Err("holds what no machine has".to_owned()),
        }
    }

    fn is_sensible(&self) -> bool {
        let name = |text: &str| {
            let letter = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || b"-/".contains(&c);
            !text.is_empty() && text.len() <= 64 && text.bytes().all(letter)
        };
        let rate = |rate: f64| (1.0..1e21).contains(&rate);
        let time = |time: &Option<Seconds>| time.is_none_or(|time| (0.0..1e3).contains(&time.0));
        let point = |b: &Bandwidth| rate(b.rate.0) && b.threads > 0 && b.set.0 > 0 && name(&b.probe);
        let peak = |p: &Peak| rate(p.rate.0) && p.threads > 0 && name(&p.unit);
        self.bandwidth.len() <= MAX_POINTS
            && self.peaks.len() <= MAX_POINTS
            && self.measured.len() <= 40
            && self.measured.bytes().all(|c| c.is_ascii_graphic())
            && self.bandwidth.iter().all(point)
            && self.peaks.iter().all(peak)
            && time(&self.fork_join)
            && time(&self.wake_up)
    }

    /// The numbers of threads there are roofs for, ascending.
    pub fn threads(&self) -> Vec<u32> {
        let bandwidth = self.bandwidth.iter().map(|point| point.threads);
        let mut threads: Vec<u32> = bandwidth.chain(self.peaks.iter().map(|peak| peak.threads)).collect();
        threads.sort();
        threads.dedup();
        threads
    }

    /// The sizes of working sets, ascending.
    pub fn sets(&self) -> Vec<Bytes> {
        let mut sets: Vec<Bytes> = self.bandwidth.iter().map(|point| point.set).collect();
        sets.sort();
        sets.dedup();
        sets
    }

    /// The point of a mix and a working set.
    pub fn point(&self, mix: Mix, set: Bytes, threads: u32) -> Option<&Bandwidth> {
        self.bandwidth.iter().find(|point| (point.mix, point.set, point.threads) == (mix, set, threads))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roofs() -> Roofs {
        Roofs {
            schema: SCHEMA,
            machine: "0123456789ab".to_owned(),
            measured: "2026-11-15T03:00:00Z".to_owned(),
            quick: false,
            bandwidth: vec![Bandwidth {
                mix: Mix::Read,
                set: Bytes(16384),
                threads: 1,
                rate: BytesPerSecond(2e11),
                probe: "limit/traffic-1".to_owned(),
            }],
            peaks: vec![Peak { unit: "avx2-f32".to_owned(), threads: 1, rate: FlopsPerSecond(8e10) }],
            fork_join: Some(Seconds(3e-7)),
            wake_up: None,
        }
    }

    #[test]
    fn what_was_written_is_read_again_by_its_own_machine() {
        let text = serde_json::to_string(&roofs()).unwrap();
        assert_eq!(Roofs::parse(text.as_bytes(), "0123456789ab"), Ok(roofs()));
        assert!(Roofs::parse(text.as_bytes(), "another").unwrap_err().contains("another machine"));
    }

    #[test]
    fn hostile_bytes_are_refused() {
        let refused = |change: &dyn Fn(&mut Roofs)| {
            let mut changed = roofs();
            change(&mut changed);
            let text = serde_json::to_string(&changed).unwrap();
            Roofs::parse(text.as_bytes(), "0123456789ab").is_err()
        };
        assert!(!refused(&|_| {}));
        assert!(refused(&|roofs| roofs.schema = 9));
        assert!(refused(&|roofs| roofs.peaks[0].rate.0 = -1.0));
        assert!(refused(&|roofs| roofs.bandwidth[0].rate.0 = f64::INFINITY));
        assert!(refused(&|roofs| roofs.bandwidth[0].threads = 0));
        assert!(refused(&|roofs| roofs.peaks[0].unit = "\u{1b}[2J".to_owned()));
        assert!(refused(&|roofs| roofs.measured = "now\n".to_owned()));
        assert!(refused(&|roofs| roofs.peaks = vec![roofs.peaks[0].clone(); 5000]));
        assert!(Roofs::parse(b"", "x").is_err() && Roofs::parse(&[0xff; 100], "x").is_err());
        assert!(Roofs::parse(&vec![b' '; 2 << 20], "x").unwrap_err().contains("longer"));
    }
}
