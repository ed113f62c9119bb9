use super::*;
use proptest::prelude::*;

fn constant(cut: &Cut, name: &str) -> usize {
    cut.constants.iter().find(|(own, _)| *own == name).map_or(0, |(_, value)| *value as usize)
}

proptest! {
    #[test]
    fn every_line_has_its_threads(
        outer in 1usize..3000,
        length in 1usize..200_000,
        inner in prop_oneof![Just(1usize), 1usize..5000],
        per_pack in prop_oneof![Just(4usize), Just(8)],
        inputs in 1usize..3,
        aligned in any::<bool>(),
    ) {
        let lines = Lines { outer, length, inner };
        let cut = best(lines, per_pack, inputs, aligned, 132).unwrap();
        let blocks = cut.geometry.grid[0] as usize;
        let threads = cut.geometry.threads_per_block();
        prop_assert!(threads.is_multiple_of(32) && threads <= 1024, "{threads}");
        match cut.source.entry {
            "reduce_rows" => {
                prop_assert_eq!(blocks, outer.div_ceil(constant(&cut, "ROWS")));
                prop_assert_eq!(threads as usize, constant(&cut, "ROWS") * constant(&cut, "THREADS"));
            }
            "reduce_columns" => {
                let wide = constant(&cut, "WIDE");
                prop_assert!(wide == 1 || aligned && inner.is_multiple_of(per_pack));
                let (across, down) = (constant(&cut, "ACROSS"), constant(&cut, "DOWN"));
                prop_assert_eq!(blocks, inner.div_ceil(across * wide) * outer);
                // Every column of a tile has a thread that writes it, and what is left fits shared memory.
                prop_assert!(across * wide <= threads as usize);
                prop_assert!(down * across / 32 * across * wide * 8 <= 48 << 10);
            }
            "reduce_all" => prop_assert!(outer == 1 && inner == 1 && blocks <= SCRATCH_BLOCKS),
            _ => prop_assert_eq!(blocks, outer * inner),
        }
    }
}

#[test]
fn forms_have_names_of_their_own() {
    for (index, form) in FORMS.iter().enumerate() {
        assert!(!FORMS[..index].iter().any(|other| other.operation == form.operation), "{}", form.operation);
        assert_eq!(form.term.contains('y'), form.inputs.len() == 2, "{}", form.operation);
    }
}
