use super::*;
use crate::philox::Draws;

const AXES: [&str; 3] = ["m", "n", "k"];

fn condition(text: &str) -> Condition {
    text.parse().unwrap()
}

fn holds(text: &str, sizes: [u64; 3]) -> bool {
    condition(text).holds(Sizes { names: &AXES, values: &sizes }).is_ok()
}

#[test]
fn clauses_mean_what_they_say() {
    assert!(holds("", [1, 2, 3]));
    assert!(holds("m % 16 == 0", [32, 1, 1]) && !holds("m % 16 == 0", [33, 1, 1]));
    assert!(holds("m >= 16 and n < 4, k != 5", [16, 3, 6]) && !holds("m >= 16 and n < 4", [16, 4, 6]));
    assert!(holds("m * n <= 12", [3, 4, 9]) && !holds("m * n <= 12", [3, 5, 9]));
    assert!(holds("m % n == 0", [12, 4, 1]) && !holds("m % n == 0", [12, 5, 1]));
    assert!(holds("m + 2 * n == k", [1, 2, 5]) && !holds("m + 2 * n == k", [1, 2, 6]));
    assert!(holds("align 64, finite, flushes denormals", [1, 1, 1]));
    // No number at all satisfies nothing.
    assert!(!holds("m % 0 == 0", [4, 1, 1]) && !holds("m % 0 != 0", [4, 1, 1]));
    assert!(!holds("m*m*m*m*m*m*m*m*m*m >= 1", [u64::from(u32::MAX), 1, 1]));
    assert!(!holds("rows >= 1", [4, 1, 1]));
}

#[test]
fn the_clause_that_fails_is_named() {
    let why = condition("m >= 2, n % 16 == 0, align 32").holds(Sizes { names: &AXES, values: &[4, 1000, 1] });
    assert_eq!(why.unwrap_err(), "needs n % 16 == 0; n is 1000");
    let why = condition("m % n == 0").holds(Sizes { names: &AXES, values: &[5, 3, 1] });
    assert_eq!(why.unwrap_err(), "needs m % n == 0; m is 5, n is 3");
    let why = condition("cols > 1").check_axes(&AXES).unwrap_err();
    assert_eq!(why, "there is no axis `cols`; the axes are m, n, k");
}

#[test]
fn texts_are_put_in_order() {
    let one = condition(" finite and m%16==0 ,align 64, flushes   denormals and kv-heads<=4, align 16");
    assert_eq!(one.to_string(), "m % 16 == 0, kv-heads <= 4, align 64, finite, flushes denormals");
    assert_eq!(condition(""), Condition::default());
    let both = condition("m > 1, align 16").and(&condition("m > 1, n > 2, align 32, finite"));
    assert_eq!(both.to_string(), "m > 1, n > 2, align 32, finite");
    assert_eq!(condition("align 1").and(&condition("m > 1")).to_string(), "m > 1, align 1");
}

#[test]
fn mistakes_are_named() {
    for (text, part) in [
        ("cols % 16", "neither a comparison"),
        ("cols", "neither a comparison"),
        ("aligned 64", "neither a comparison"),
        ("flushes", "neither a comparison"),
        ("align 48", "align 1, 2, 4 and so on to 128"),
        ("align", "neither a comparison"),
        ("m == 1 == 2", "neither a comparison"),
        ("m ==", "lacks an axis or a number"),
        ("m % == 0", "lacks an axis or a number"),
        ("m n == 0", "lacks an axis or a number"),
        ("m n k == 0", "not `n`"),
        ("m - 1 == 0", "not `-`"),
        ("(m) == 0", "`(` has no meaning"),
        ("m == 1,", "a clause is empty"),
        ("m == 99999999999", "whole number"),
        ("m == 1x", "whole number"),
        ("M == 1", "`M` is not an axis"),
        ("finite == 1", "`finite` is not an axis"),
        ("m = 1", "`=` has no meaning"),
    ] {
        let message = text.parse::<Condition>().unwrap_err().to_string();
        assert!(message.contains(part), "{text}: {message}");
    }
    assert!(vec!["m == 1"; 17].join(",").parse::<Condition>().unwrap_err().why.contains("17 clauses"));
    assert!("m + ".repeat(20).parse::<Condition>().is_err());
    assert!(
        format!("{}m == 1", "m + ".repeat(30)).parse::<Condition>().unwrap_err().why.contains("more than 16")
    );
    assert!("x".repeat(501).parse::<Condition>().unwrap_err().why.contains("501 bytes"));
}

#[test]
fn drawn_sizes_fit_and_stay_near() {
    let own = [512, 1024, 2048];
    for text in
        ["m % 16 == 0, n % 32 == 0", "m >= 40, k == 2048", "m == n", "m % n == 0", "n == 2 * m", "k % 3 != 1"]
    {
        let (condition, mut draws) = (condition(text), Draws::new(1, 1));
        let own = if condition.holds(Sizes { names: &AXES, values: &own }).is_ok() {
            own
        } else {
            [512, 512, 2048]
        };
        for seed in 0..100u64 {
            let wanted = [1 + seed % 8, 9 + seed * 7 % 89, 60 + seed % 13];
            let sizes = condition.near(&AXES, &own, &wanted, &mut draws);
            assert_eq!(condition.holds(Sizes { names: &AXES, values: &sizes }), Ok(()), "{text}: {sizes:?}");
            assert!(sizes[..2].iter().all(|size| *size <= 512), "{text}: {sizes:?} for {wanted:?}");
        }
    }
    // What leaves nothing else is met by the case itself.
    let only = condition("m * n * k == 1073741824, m + n + k == 3584");
    assert_eq!(only.near(&AXES, &own, &[3, 5, 7], &mut Draws::new(1, 1)), own);
}

#[test]
fn conditions_that_leave_few_sizes_are_known() {
    let own = [512, 1000, 64];
    for text in
        ["", "align 64", "m % 16 == 0", "m >= 16", "k % 8 == 0, m == 8 * k", "n % 100 == 0", "m * k >= 4"]
    {
        assert_eq!(condition(text).scarce(&AXES, &own), None, "{text}");
    }
    assert_eq!(condition("n == 1000").scarce(&AXES, &own), Some((1, 0)));
    assert_eq!(condition("n % 500 == 0").scarce(&AXES, &own), Some((1, 3)));
    assert_eq!(condition("k % 16 == 0").scarce(&AXES, &own), Some((2, 6)));
    // A size of 2 has three others at most, whatever is required.
    assert_eq!(condition("m >= 1").scarce(&AXES, &[2, 2, 1]), None);
}

#[test]
fn suggestions_take_the_case_and_not_what_was_refused() {
    assert_eq!(suggestion(&["rows", "cols"], &[64, 1008], &[3, 103]).unwrap(), "cols % 16 == 0");
    assert_eq!(suggestion(&["rows", "cols"], &[64, 1008], &[3, 32]).unwrap(), "rows % 16 == 0");
    assert_eq!(suggestion(&["rows", "cols"], &[3, 1001], &[3, 21]).unwrap(), "cols >= 32");
    assert_eq!(suggestion(&["rows", "cols"], &[3, 5], &[3, 5]), None);
}

proptest::proptest! {
    #[test]
    fn no_text_panics(text: String) {
        if let Ok(condition) = text.parse::<Condition>() {
            proptest::prop_assert_eq!(condition.to_string().parse::<Condition>().unwrap(), condition);
        }
    }

    #[test]
    fn what_parses_prints_and_parses_again(
        text in "([mnk] ?[%*+] ?)?[mnk0-9]{1,3} ?(==|!=|<=|>=|<|>) ?[0-9]{1,4}( ?(,|and) (align 32|finite|flushes denormals|[a-z-]{1,6} < [mn])){0,3}",
        sizes: [u32; 3],
    ) {
        if let Ok(condition) = text.parse::<Condition>() {
            proptest::prop_assert_eq!(&condition.to_string().parse::<Condition>().unwrap(), &condition);
            let sizes = sizes.map(u64::from);
            let _ = condition.holds(Sizes { names: &AXES, values: &sizes });
        }
    }
}
