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
            others: None,
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
    let held =
        hold(&account(1.0, 0.0), SHAPE, Some((Habits::NATIVE, House::default())), Workers::One).unwrap();
    assert!((held.wall.unwrap().0 - 20e-6).abs() < 1e-6, "{held:?}");
    let doubt =
        hold(&account(0.9, 0.0), SHAPE, Some((Habits::NATIVE, House::default())), Workers::One).unwrap_err();
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
        hold(&fickle, SHAPE, Some((Habits::NATIVE, House::default())), Workers::One),
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
    assert!(hold(&account, shape, Some((Habits::NATIVE, House::default())), Workers::One).is_ok());
    assert!(room(&account, shape, Workers::One, OutputMode::InPlace).is_some());
}

#[test]
fn claims_that_are_honest_only_among_twice_as_many_are_refused() {
    let set = Account { doubled: account(1.0, 0.0).doubled, ..account(0.8, 0.0) };
    let mut sets = Account::default();
    (0..6).for_each(|_| sets.add(&set));
    assert!(hold_claims(&sets, Workers::One, OutputMode::InPlace).unwrap_err().contains("25 % more"));
    let mut sets = Account::default();
    (0..6).for_each(|_| sets.add(&account(0.8, 0.0)));
    assert_eq!(
        hold_claims(&sets, Workers::One, OutputMode::InPlace),
        Ok(()),
        "a lie that is the same in both is for the slope to find"
    );
}

#[test]
fn outputs_that_a_library_makes_may_cost_more_among_many_and_the_room_says_so() {
    // What is claimed for launches among more of them, beyond what is for others, in six sets.
    let sets = |more: f64| {
        let among_twice = [-0.01, 0.01, 0.0, 0.01, -0.01, 0.0].map(|noise| noise + more).to_vec();
        Account { among_twice, ..account(1.0, 0.0) }
    };
    let judge = |more| hold_claims(&sets(more), Workers::One, OutputMode::Fresh);
    let room = |more| room(&sets(more), SHAPE, Workers::One, OutputMode::Fresh).unwrap();
    assert_eq!(judge(0.2), Ok(()));
    assert!(judge(0.5).unwrap_err().contains("65 % more"));
    // Near each other they are as good as those of outputs in place, and else what is between them may be a lie.
    assert!(room(0.0).now < 0.08, "{:?}", room(0.0));
    let (quiet, apart) = (room(0.0), room(0.2));
    assert!(apart.now > 0.17 && apart.at_best > 0.17 && apart.in_all == quiet.in_all, "{apart:?}");
}

#[test]
fn a_word_of_two_threads_hides_no_work_of_one() {
    let lies = account(0.9, 0.0);
    let shared = |share: f64| {
        let by = |visits: &[Clocked]| -> Vec<Clocked> {
            visits.iter().map(|visit| Clocked { others: Some(share), ..*visit }).collect()
        };
        Account { plain: by(&lies.plain), doubled: by(&lies.doubled), ..lies.clone() }
    };
    let of = |account: &Account| Workers::of(2, account.plain.iter().chain(&account.doubled));
    assert_eq!(
        [of(&shared(0.0)), of(&shared(0.4)), of(&lies)],
        [Workers::One, Workers::Several, Workers::Several]
    );
    let mut seldom = shared(0.0);
    seldom.plain[..5].iter_mut().for_each(|visit| visit.others = Some(1.0));
    assert_eq!(of(&seldom), Workers::One, "a thread that spins now and then helps nobody");
    assert_eq!(Workers::of(1, lies.plain.iter()), Workers::One);
    assert_eq!(Workers::of(2, [].iter()), Workers::Several);

    // A thread that spins beside one that works has nothing to do with what that one has done.
    let mut unseen = shared(1.0);
    unseen.plain.iter_mut().chain(&mut unseen.doubled).for_each(|visit| visit.wall = 30e-6);
    let judge = |workers| hold(&unseen, SHAPE, None, workers);
    assert!(matches!(judge(Workers::Several), Err(Doubt::Slope(why)) if why.contains("CPU clock")));
    assert!(judge(Workers::Device).is_ok());
}

#[test]
fn work_after_the_last_sample_does_not_grow_and_is_seen() {
    let doubt = hold(&account(1.0, 300e-6), SHAPE, Some((Habits::NATIVE, House::default())), Workers::One)
        .unwrap_err();
    assert!(matches!(doubt, Doubt::Constant(_)), "{doubt:?}");
}

#[test]
fn whoever_idles_in_short_visits_is_told_by_long_ones() {
    // A fifth is missing in visits of ten launches and of twenty, and as much again idled away in the former.
    let empty = visits(12, 0, 1.0, 120e-6);
    let alike = Account { empty, plain: visits(60, 10, 0.8, 40e-6), ..account(0.8, 0.0) };
    let judge =
        |account: &Account| hold(account, SHAPE, Some((Habits::NATIVE, House::default())), Workers::One);
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
        hold(
            &account,
            SHAPE,
            Some((Habits::NATIVE, House { empty: trusted, ..House::default() })),
            Workers::One,
        )
    };
    assert!(judge(&[]).is_ok());
    assert!(matches!(judge(&visits(12, 0, 1.0, 0.0)), Err(Doubt::Constant(_))));
}

#[test]
fn on_a_slow_machine_a_conversation_takes_as_long_as_that_of_the_house() {
    let slow = |beyond| Account { empty: visits(12, 0, 1.0, 300e-6), ..account(1.0, beyond) };
    let house = visits(12, 0, 1.0, 280e-6);
    let judge = |account: &Account| {
        hold(
            account,
            SHAPE,
            Some((Habits::NATIVE, House { empty: &house, ..House::default() })),
            Workers::One,
        )
    };
    assert!(judge(&slow(320e-6)).is_ok());
    assert!(matches!(judge(&slow(600e-6)), Err(Doubt::Constant(_))));
}

#[test]
fn batches_grow_with_their_launches() {
    let mut account = account(1.0, 0.0);
    let of = |account: &Account, workers| hold_growth(account, workers, 2560, 4);
    assert_eq!(of(&account, Workers::One), Ok(()));
    // One launch of each batch works: the claim for each is half as long in twice as many.
    account.doubled.iter_mut().for_each(|visit| visit.claimed /= 2.0);
    assert!(of(&account, Workers::One).unwrap_err().contains("2 times the launches take 1.0 times"));
    account.doubled.truncate(3);
    assert_eq!(of(&account, Workers::One), Ok(()), "few visits say nothing");
    // One works and the others take a hundredth of it: of a hundred and of eight times as many.
    account.many = visits(12, 80, 1.0, 0.0);
    assert_eq!(of(&account, Workers::One), Ok(()));
    account.many.iter_mut().for_each(|visit| visit.claimed *= 0.4);
    assert!(of(&account, Workers::One).unwrap_err().contains("8 times the launches take 3.2 times"));
    assert_eq!(of(&account, Workers::Several), Ok(()), "what several threads wait for is not known");
    // Of a few launches, the first waits for megabytes.
    assert_eq!(hold_growth(&account, Workers::One, 4 << 20, 4), Ok(()));
}

#[test]
fn few_visits_say_nothing_and_copies_are_bounded() {
    let few = Account { plain: visits(2, 10, 0.1, 1.0), ..Account::default() };
    assert!(hold(&few, SHAPE, Some((Habits::NATIVE, House::default())), Workers::One).is_ok());
    assert_eq!(room(&few, SHAPE, Workers::One, OutputMode::InPlace), None);
    let copies = Account { copies: vec![300e-6; 20], ..Account::default() };
    assert!(hold_copies(&copies, Duration::from_micros(100), Habits::NATIVE.copy).is_ok());
    assert!(hold_copies(&copies, Duration::from_micros(10), Habits::NATIVE.copy).is_err());
}

#[test]
fn a_lazy_library_may_compute_in_its_copies() {
    // Launches of 20 µs, and of 400.
    let of = |launches: f64, copy: f64| {
        let mut account = Account { copies: vec![copy; 20], ..account(1.0, 0.0) };
        account.plain.iter_mut().for_each(|visit| visit.claimed *= launches);
        hold_copies(&account, Duration::from_micros(5), Habits::INTERPRETED.copy)
    };
    assert_eq!(of(1.0, 30e-6), Ok(None));
    assert!(of(1.0, 100e-6).is_ok_and(|why| why.unwrap().contains("some of the work")));
    assert_eq!(of(20.0, 100e-6), Ok(None), "less than a quarter of a launch");
    assert!(of(20.0, 300e-6).is_err());
}

#[test]
fn clocks_say_how_much_room_they_leave() {
    let of = |account: &Account| room(account, SHAPE, Workers::One, OutputMode::InPlace).map(|room| room.now);
    let quiet = of(&account(1.0, 0.0)).unwrap();
    assert!((0.03..0.06).contains(&quiet), "{quiet}");
    // What is just below it is believed, what is above is not.
    let judge = |share: f64| {
        hold(&account(share, 0.0), SHAPE, Some((Habits::NATIVE, House::default())), Workers::One)
    };
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

    // By the wall alone, one launch of 20 µs can hide in what longer visits take by themselves, however many there are.
    let one = Shape { warmup: 0, samples: 1, batch: 1 };
    let wall = room(&account(1.0, 0.0), one, Workers::Several, OutputMode::InPlace).unwrap();
    assert!(wall.at_best > 0.5 && wall.now >= wall.at_best, "{wall:?}");
}

#[test]
fn what_every_visit_of_the_house_loses_is_nobodys_fault() {
    let loses = account(1.0, 300e-6);
    let judge = |house: House| hold(&loses, SHAPE, Some((Habits::NATIVE, house)), Workers::One);
    assert!(matches!(judge(House::default()), Err(Doubt::Constant(_))));
    assert!(judge(House { visits: &visits(60, 10, 1.0, 290e-6), ..House::default() }).is_ok());
}
