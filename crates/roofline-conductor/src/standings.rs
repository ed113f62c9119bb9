//! What each check was worth for a row, as far as the row and its case decide that and no visit does.

use crate::lane::Lane;
use crate::machine;
use roofline_core::case::{Case, Device};
use roofline_core::check::Check;
use roofline_core::tensor::Role;

/// Checks that are made on a probe too, which computes nothing that could be judged or compared.
const OF_PROBES: &[Check] = &[Check::Threads, Check::Idle, Check::FloatMode, Check::Sandbox];

/// Notes the checks that a lane sat out, and those that it has nothing for.
pub fn note(case: &Case, lane: &mut Lane) {
    if lane.is_probe() {
        for check in Check::ALL.iter().filter(|check| !OF_PROBES.contains(check)) {
            lane.not_applicable(*check, "a probe computes no result");
        }
    }
    for check in lane.missed.clone() {
        lane.weaker(check, "takes over a second a launch: it sat out a part of the gate");
    }
    let tensors = (case.operation.tensors)(case);
    let changeable = || tensors.iter().filter(|tensor| tensor.role == Role::Input && tensor.elements() > 0);
    if changeable().next().is_none() {
        for check in [Check::ChangedInputs, Check::Memos] {
            lane.not_applicable(check, "the case has no input that may change");
        }
    } else if changeable().all(|tensor| tensor.sorted_by) {
        for check in [Check::Memos, Check::WatchedBatch] {
            lane.weaker(
                check,
                "kernels sort by its inputs, which stay the same while a launch may read them",
            );
        }
    }
    if case.device != Device::Cpu {
        lane.not_applicable(Check::Threads, "another device computes, and threads only ask it to");
    } else if machine::threads_online().is_some_and(|online| online <= case.threads as usize) {
        lane.not_applicable(Check::Threads, "the case may use every core of the machine");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use roofline_core::check::Standing;

    fn standing(case: &str, implementation: &str, check: Check, missed: &[Check]) -> Standing {
        let case = case.parse().unwrap();
        let mut lane = Lane::new(implementation, "mine", &case, 1);
        lane.missed.extend(missed);
        note(&case, &mut lane);
        let checks = lane.checks();
        checks.into_iter().find(|checked| checked.check == check).unwrap().standing
    }

    #[test]
    fn what_was_not_made_is_not_held() {
        const CASE: &str = "add/f32/rows=4,cols=8";
        let of = |check, missed: &[Check]| standing(CASE, "mine/fast", check, missed);
        assert_eq!(of(Check::LateWrites, &[]), Standing::Held);
        assert_eq!(of(Check::LateWrites, &[Check::LateWrites]), Standing::Weaker);
        assert_eq!(of(Check::ChangedInputs, &[]), Standing::Held);
        assert_eq!(of(Check::Memos, &[]), Standing::Held);
        let sorted = |check| standing("top-k/f32/rows=4,cols=8,top=2", "mine/fast", check, &[]);
        assert_eq!((sorted(Check::ChangedInputs), sorted(Check::Memos)), (Standing::Held, Standing::Weaker));
        let everywhere = format!("{CASE}/threads={}", machine::threads_online().unwrap());
        assert_eq!(standing(&everywhere, "mine/fast", Check::Threads, &[]), Standing::NotApplicable);
        let device = format!("{CASE}/device=cuda:0");
        assert_eq!(standing(&device, "mine/fast", Check::Threads, &[]), Standing::NotApplicable);
        assert_eq!(standing(&device, "mine/fast", Check::Guards, &[]), Standing::Held);
        assert_eq!(standing(CASE, "limit/traffic-copy", Check::Bound, &[]), Standing::NotApplicable);
        assert_eq!(standing(CASE, "limit/traffic-copy", Check::Sandbox, &[]), Standing::Held);
    }
}
