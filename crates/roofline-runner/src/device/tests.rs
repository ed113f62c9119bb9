use super::stand_in::StandIn;
use super::*;
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};

const SIZE: u64 = 8192;

fn mirror() -> OwnedFd {
    let file = memfd_create("mirror", MemfdFlags::CLOEXEC).unwrap();
    ftruncate(&file, SIZE).unwrap();
    file
}

/// An owner of one tensor of the stand-in, its mirror, and the memory as a runner would map it.
fn owner() -> (Owner<StandIn>, Output<u8>, Output<u8>) {
    let map = |file: &OwnedFd| {
        Output::new(Arc::new(Mapping::new(file, SIZE as usize, true).unwrap()), 0, SIZE as usize)
    };
    let mut owner = Owner { driver: StandIn::default(), tensors: BTreeMap::new(), next: 0 };
    let file = mirror();
    let ours = map(&file);
    let (reply, made) = owner.work(vec![Step::Make { size: SIZE }], vec![file]);
    assert_eq!(reply, Reply::Done(vec![Done::Made(0)]));
    (owner, ours, map(&made[0]))
}

fn work(owner: &mut Owner<StandIn>, steps: Vec<Step>) -> Vec<Done> {
    match owner.work(steps, Vec::new()).0 {
        Reply::Done(done) => done,
        other => panic!("{other:?}"),
    }
}

#[test]
fn bytes_go_there_and_back() {
    let (mut owner, mut mirror, mut device) = owner();
    mirror[10..14].copy_from_slice(b"abcd");
    work(&mut owner, vec![Step::Push { tensor: 0, parts: vec![(10, 2), (13, 1)] }]);
    assert_eq!(&device[9..15], b"\0ab\0d\0");
    device[100] = 7;
    work(&mut owner, vec![Step::Pull { tensor: 0, parts: vec![(100, 1)] }]);
    assert_eq!(mirror[100], 7);
}

#[test]
fn patterns_are_written_found_and_hashed() {
    let (mut owner, _, mut device) = owner();
    let repeat = Step::Repeat { tensor: 0, start: 8, code: vec![1, 2], count: 50 };
    let find = Step::Find { tensor: 0, start: 8, code: vec![1, 2], count: 50 };
    let hash = Step::Hash { tensor: 0, part: (0, SIZE) };
    let done = work(&mut owner, vec![repeat, find.clone(), hash.clone()]);
    assert_eq!(done[..2], [Done::Nothing, Done::Found(Some(0))]);
    assert_eq!(&device[6..12], [0, 0, 1, 2, 1, 2]);
    device[8..106].fill(9);
    let after = work(&mut owner, vec![find.clone(), hash]);
    assert_eq!(after[0], Done::Found(Some(49)), "the last one is left");
    assert_ne!(after[1], done[2]);
    device[106..108].fill(9);
    assert_eq!(work(&mut owner, vec![find]), [Done::Found(None)]);
}

#[test]
fn what_lies_outside_is_refused() {
    let (mut owner, ..) = owner();
    for step in [
        Step::Push { tensor: 0, parts: vec![(SIZE - 1, 2)] },
        Step::Pull { tensor: 0, parts: vec![(u64::MAX, 2)] },
        Step::Hash { tensor: 1, part: (0, 1) },
        Step::Repeat { tensor: 0, start: 0, code: vec![1; 3], count: 1 },
        Step::Find { tensor: 0, start: 0, code: vec![1; 8], count: u64::MAX },
        Step::Make { size: SIZE },
        Step::Make { size: 100 },
    ] {
        let text = format!("{step:?}");
        assert!(matches!(owner.work(vec![step], vec![]).0, Reply::Failed(_)), "{text}");
    }
    assert_eq!(work(&mut owner, vec![Step::Drop { tensor: 0 }]), [Done::Nothing]);
    assert!(matches!(owner.work(vec![Step::Hash { tensor: 0, part: (0, 1) }], vec![]).0, Reply::Failed(_)));
}
