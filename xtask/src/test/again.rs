//! A second try, alone, for a few tests that fall: those of clocks do when a host takes the machine away for a while.
//! Whoever passes then is named beside the counts, since chance may also have shown a defect.

use super::tally::Tally;
use crate::step::Failure;

/// More than this do not fall by chance.
const MOST: usize = 3;

/// Tries all tests, then those that fell; leaves in `tally.fallen` those that passed at the second try.
pub(super) fn those_that_fall(
    tally: &mut Tally,
    mut attempt: impl FnMut(&[String], &mut Tally) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let first = attempt(&[], tally);
    let fallen = std::mem::take(&mut tally.fallen);
    // What fell without a name is no single test: a build, a process that died.
    let are_known = !fallen.is_empty() && tally.failed == fallen.len() as u64;
    if first.is_ok() || !are_known || fallen.len() > MOST {
        return first;
    }
    println!("\nonce more, alone: {}\n", fallen.join(", "));
    let mut arguments = ["--", "--test-threads=1", "--exact"].map(str::to_owned).to_vec();
    arguments.extend(fallen.iter().cloned());
    let mut alone = Tally::default();
    attempt(&arguments, &mut alone)?;
    if alone.passed < fallen.len() as u64 {
        return first;
    }
    tally.passed += tally.failed;
    tally.failed = 0;
    tally.fallen = fallen;
    Ok(())
}

pub(super) fn told(name: &str) -> String {
    format!("unsteady: `{name}` failed and then passed alone; unless that was the machine's doing, mend it")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What becomes of tests of which these fall at the first and at the second try.
    fn after(first: &[&str], second: &[&str]) -> (bool, Tally, usize) {
        let (mut tally, mut tries) = (Tally::default(), 0);
        let outcome = those_that_fall(&mut tally, |arguments, tally| {
            tries += 1;
            let fallen = if tries == 1 { first } else { second };
            let tried = if tries == 1 { 10 } else { arguments.len() - 3 };
            fallen.iter().for_each(|name| tally.add_cargo(&format!("test {name} ... FAILED")));
            let (passed, failed) = (tried - fallen.len(), fallen.len());
            tally.add_cargo(&format!("test result: so. {passed} passed; {failed} failed"));
            if failed == 0 { Ok(()) } else { Err(Failure::new("tests", "some fell", "")) }
        });
        (outcome.is_ok(), tally, tries)
    }

    #[test]
    fn who_passes_alone_is_named_and_who_falls_again_has_failed() {
        let names = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<String>>();
        let (is_ok, tally, tries) = after(&[], &[]);
        assert_eq!((is_ok, tally.passed, tally.failed, tries), (true, 10, 0, 1));
        let (is_ok, tally, tries) = after(&["a", "b"], &[]);
        assert_eq!((is_ok, tally.passed, tally.failed, tries), (true, 10, 0, 2));
        assert_eq!(tally.fallen, names(&["a", "b"]));
        let (is_ok, tally, _) = after(&["a", "b"], &["b"]);
        assert_eq!((is_ok, tally.passed, tally.failed, tally.fallen), (false, 8, 2, Vec::new()));
        let (is_ok, tally, tries) = after(&["a", "b", "c", "d"], &[]);
        assert_eq!((is_ok, tally.failed, tries), (false, 4, 1), "four are no chance");
    }
}
