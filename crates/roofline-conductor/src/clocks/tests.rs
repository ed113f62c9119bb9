use super::*;

/// Visits of `launches` launches of 20 µs that claim a share of their time, with a conversation of 30 µs.
fn visits(count: usize, launches: u32, share: f64, put_off: f64) -> Vec<Clocked> {
    let jitter = |i: usize| 1e-6 * ((i * 7919) % 13) as f64 + if i.is_multiple_of(9) { 3e-3 } else { 0.0 };
    let visit = |i| {
        let hidden = 20e-6 * (1.0 - share) * f64::from(launches) + put_off;
        Clocked {
            claimed: 20e-6 * share,
            computed: 20e-6 * share,
            wall: 30e-6 + hidden + jitter(i),
            cpu: 20e-6 + hidden,
            delayed: 0.0,
            waited: 0.0,
        }
    };
    (0..count).map(visit).collect()
}

fn account(share: f64, put_off: f64) -> Account {
    Account {
        empty: visits(12, 0, 1.0, 0.0),
        plain: visits(60, 10, share, put_off),
        doubled: visits(30, 20, share, put_off),
        ..Account::default()
    }
}

const SHAPE: Shape = Shape { warmup: 0, samples: 10, batch: 1 };

#[test]
fn an_honest_clock_is_believed_and_a_lie_of_a_tenth_is_not() {
    let held = hold(&account(1.0, 0.0), SHAPE, Some((Habits::NATIVE, House::default())), true).unwrap();
    assert!((held.wall.unwrap().0 - 20e-6).abs() < 1e-6, "{held:?}");
    let doubt = hold(&account(0.9, 0.0), SHAPE, Some((Habits::NATIVE, House::default())), true).unwrap_err();
    assert!(matches!(&doubt, Doubt::Slope(why) if why.contains("claims 18.0 µs")), "{doubt:?}");
}

#[test]
fn whoever_lies_in_two_visits_of_five_is_seen_too() {
    let mut fickle = account(1.0, 0.0);
    for (index, visit) in fickle.plain.iter_mut().enumerate().filter(|(index, _)| index % 5 < 2) {
        *visit = visits(index + 1, 10, 0.5, 0.0)[index];
    }
    for (index, visit) in fickle.doubled.iter_mut().enumerate().filter(|(index, _)| index % 5 < 2) {
        *visit = visits(index + 1, 20, 0.5, 0.0)[index];
    }
    assert!(matches!(
        hold(&fickle, SHAPE, Some((Habits::NATIVE, House::default())), true),
        Err(Doubt::Slope(_))
    ));
}

#[test]
fn launches_that_warm_up_are_no_lie() {
    // The first takes twice as long and is not timed, the second half as long again, the others 20 µs.
    let warming = |count, timed: u32| -> Vec<Clocked> {
        let claimed = 20e-6 + 10e-6 / f64::from(timed);
        let unclaimed = 40e-6 - claimed;
        visits(count, 0, 1.0, 0.0)
            .iter()
            .map(|visit| Clocked {
                claimed,
                wall: visit.wall + unclaimed,
                cpu: visit.cpu + unclaimed,
                ..*visit
            })
            .collect()
    };
    let account = Account {
        empty: visits(12, 0, 1.0, 0.0),
        plain: warming(60, 1),
        doubled: warming(60, 2),
        ..Account::default()
    };
    let shape = Shape { warmup: 1, samples: 1, batch: 1 };
    assert!(hold(&account, shape, Some((Habits::NATIVE, House::default())), true).is_ok());
    assert!(room(&account, shape, true, true).is_some());
}

#[test]
fn claims_that_are_honest_only_among_twice_as_many_are_refused() {
    let set = Account { doubled: account(1.0, 0.0).doubled, ..account(0.8, 0.0) };
    let mut sets = Account::default();
    (0..6).for_each(|_| sets.add(&set));
    assert!(hold_claims(&sets, true).unwrap_err().contains("25 % more"));
    let mut sets = Account::default();
    (0..6).for_each(|_| sets.add(&account(0.8, 0.0)));
    assert_eq!(hold_claims(&sets, true), Ok(()), "a lie that is the same in both is for the slope to find");
}

#[test]
fn work_after_the_last_sample_does_not_grow_and_is_seen() {
    let doubt =
        hold(&account(1.0, 300e-6), SHAPE, Some((Habits::NATIVE, House::default())), true).unwrap_err();
    assert!(matches!(doubt, Doubt::Constant(_)), "{doubt:?}");
}

#[test]
fn whoever_idles_in_short_visits_is_told_by_long_ones() {
    // A fifth is missing in visits of ten launches and of twenty, and as much again idled away in the former.
    let empty = visits(12, 0, 1.0, 120e-6);
    let alike = Account { empty, plain: visits(60, 10, 0.8, 40e-6), ..account(0.8, 0.0) };
    let judge = |account: &Account| hold(account, SHAPE, Some((Habits::NATIVE, House::default())), true);
    assert!(judge(&alike).is_ok());
    let many = Account { many: visits(12, 80, 0.8, 0.0), ..alike };
    assert!(matches!(judge(&many), Err(Doubt::Slope(_))));
    let honest = Account { many: visits(12, 80, 1.0, 0.0), ..account(1.0, 0.0) };
    assert!(judge(&honest).is_ok());
}

#[test]
fn a_conversation_is_believed_beside_that_of_the_house() {
    let account = Account { empty: visits(12, 0, 1.0, 120e-6), ..account(1.0, 150e-6) };
    let judge = |trusted: &[Clocked]| {
        hold(&account, SHAPE, Some((Habits::NATIVE, House { empty: trusted, ..House::default() })), true)
    };
    assert!(judge(&[]).is_ok());
    assert!(matches!(judge(&visits(12, 0, 1.0, 0.0)), Err(Doubt::Constant(_))));
}

#[test]
fn on_a_slow_machine_a_conversation_takes_as_long_as_that_of_the_house() {
    let slow = |beyond| Account { empty: visits(12, 0, 1.0, 300e-6), ..account(1.0, beyond) };
    let house = visits(12, 0, 1.0, 280e-6);
    let judge = |account: &Account| {
        hold(account, SHAPE, Some((Habits::NATIVE, House { empty: &house, ..House::default() })), true)
    };
    assert!(judge(&slow(320e-6)).is_ok());
    assert!(matches!(judge(&slow(600e-6)), Err(Doubt::Constant(_))));
}

#[test]
fn batches_grow_with_their_launches() {
    let mut account = account(1.0, 0.0);
    let of = |account: &Account, cpu_tells| hold_growth(account, cpu_tells, 2560, 4);
    assert_eq!(of(&account, true), Ok(()));
    // One launch of each batch works: the claim for each is half as long in twice as many.
    account.doubled.iter_mut().for_each(|visit| visit.claimed /= 2.0);
    assert!(of(&account, true).unwrap_err().contains("2 times the launches take 1.0 times"));
    account.doubled.truncate(3);
    assert_eq!(of(&account, true), Ok(()), "few visits say nothing");
    // One works and the others take a hundredth of it: of a hundred and of eight times as many.
    account.many = visits(12, 80, 1.0, 0.0);
    assert_eq!(of(&account, true), Ok(()));
    account.many.iter_mut().for_each(|visit| visit.claimed *= 0.4);
    assert!(of(&account, true).unwrap_err().contains("8 times the launches take 3.2 times"));
    assert_eq!(of(&account, false), Ok(()), "what several threads wait for is not known");
    // Of a few launches, the first waits for megabytes.
    assert_eq!(hold_growth(&account, true, 4 << 20, 4), Ok(()));
}

#[test]
fn few_visits_say_nothing_and_copies_are_bounded() {
    let few = Account { plain: visits(2, 10, 0.1, 1.0), ..Account::default() };
    assert!(hold(&few, SHAPE, Some((Habits::NATIVE, House::default())), true).is_ok());
    assert_eq!(room(&few, SHAPE, true, true), None);
    let copies = Account { copies: vec![300e-6; 20], ..Account::default() };
    assert!(hold_copies(&copies, Duration::from_micros(100), Habits::NATIVE.copy).is_ok());
    assert!(hold_copies(&copies, Duration::from_micros(10), Habits::NATIVE.copy).is_err());
}

#[test]
fn clocks_say_how_much_room_they_leave() {
    let of = |account: &Account| room(account, SHAPE, true, true).map(|room| room.now);
    let quiet = of(&account(1.0, 0.0)).unwrap();
    assert!((0.03..0.06).contains(&quiet), "{quiet}");
    // What is just below it is believed, what is above is not.
    let judge =
        |share: f64| hold(&account(share, 0.0), SHAPE, Some((Habits::NATIVE, House::default())), true);
    assert!(judge(1.0 - quiet - 0.01).is_err() && judge(1.0 - quiet + 0.02).is_ok());

    // A host that takes the machine away for up to 100 µs leaves half of the launches.
    let mut taken = account(1.0, 0.0);
    for (index, visit) in taken.plain.iter_mut().chain(&mut taken.doubled).enumerate() {
        let lost = 1e-6 * ((index * 7919) % 101) as f64;
        *visit = Clocked { wall: visit.wall + lost, cpu: visit.cpu + lost, ..*visit };
    }
    let busy = of(&taken).unwrap();
    assert!(busy > 0.15, "{busy}");
    taken.doubled.truncate(3);
    assert_eq!(of(&taken), None, "few visits say nothing");

    // Claims among twice as many spread as well.
    let spread = Account { among_twice: vec![0.2, -0.2, 0.1, -0.1, 0.2, -0.2], ..account(1.0, 0.0) };
    assert!(of(&spread).unwrap() > 0.2);
    assert_eq!(room(&spread, SHAPE, true, false).unwrap().now, quiet, "claims are not held");

    // By the wall alone, one launch of 20 µs can hide in what longer visits take by themselves, however many there are.
    let one = Shape { warmup: 0, samples: 1, batch: 1 };
    let wall = room(&account(1.0, 0.0), one, false, true).unwrap();
    assert!(wall.at_best > 0.5 && wall.now >= wall.at_best, "{wall:?}");
}

#[test]
fn what_every_visit_of_the_house_loses_is_nobodys_fault() {
    let loses = account(1.0, 300e-6);
    let judge = |house: House| hold(&loses, SHAPE, Some((Habits::NATIVE, house)), true);
    assert!(matches!(judge(House::default()), Err(Doubt::Constant(_))));
    assert!(judge(House { visits: &visits(60, 10, 1.0, 290e-6), ..House::default() }).is_ok());
}
