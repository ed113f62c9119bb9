//! What Criterion says of the same kernels: each run against the one before it.

use super::Kind;
use super::journal::{Rival, Study};
use crate::bench;
use crate::facts::now;
use std::io;
use std::process::{Command, Stdio};

/// Runs Criterion once more often than it compares.
pub(super) fn compare(kind: &Kind, comparisons: u32, study: &Study) -> io::Result<Rival> {
    let binaries = bench::build(&["-p", "knob", "--features", "knob/criterion", "--bin", "knob-criterion"])?;
    // Studies beside this one have folders of their own.
    let folder = binaries.join(format!("noise-study-criterion-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    let mut rival = Rival {
        study: study.id.clone(),
        finished: String::new(),
        kind: kind.name.to_owned(),
        comparisons,
        regressed: 0,
        improved: 0,
    };
    for number in 0..=comparisons {
        let output = Command::new(binaries.join("knob-criterion"))
            .arg(kind.case)
            .arg(&folder)
            .stderr(Stdio::null())
            .output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        if !output.status.success() {
            return Err(io::Error::other(format!("`knob-criterion {}` failed", kind.case)));
        }
        match verdict(&text) {
            Some(Verdict::Regressed) => rival.regressed += 1,
            Some(Verdict::Improved) => rival.improved += 1,
            Some(Verdict::Unchanged) => {}
            None if number == 0 => {}
            None => return Err(io::Error::other(format!("Criterion gave no verdict: {text}"))),
        }
    }
    let _ = std::fs::remove_dir_all(&folder);
    rival.finished = now();
    Ok(rival)
}

#[derive(Debug, PartialEq)]
enum Verdict {
    Regressed,
    Improved,
    Unchanged,
}

/// The sentence below the figures; the first run has none.
fn verdict(text: &str) -> Option<Verdict> {
    let sentences = [
        ("Performance has regressed.", Verdict::Regressed),
        ("Performance has improved.", Verdict::Improved),
        ("No change in performance detected.", Verdict::Unchanged),
        ("Change within noise threshold.", Verdict::Unchanged),
    ];
    sentences.into_iter().find(|(sentence, _)| text.contains(sentence)).map(|(_, verdict)| verdict)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_are_read() {
        let text = "kernel  time: [1 ms 2 ms 3 ms]\n  change: [+2% +3% +4%] (p = 0.00 < 0.05)\n  Performance has regressed.\n";
        assert_eq!(verdict(text), Some(Verdict::Regressed));
        assert_eq!(verdict("kernel  time: [1 ms 2 ms 3 ms]\n"), None);
    }
}
