//! Cases of an operation around every border that a kernel has: vectors, warps, blocks, clusters.

use roofline_core::case::Case;
use roofline_core::operation::{Operation, Param};
use roofline_core::philox::Draws;

use crate::Outcome;

pub(crate) fn of(form: &str, precision: &str, quick: bool) -> Outcome<Vec<Case>> {
    let name = form.split('.').next().unwrap_or_default();
    let operation = Operation::find(name).map_err(|_| format!("`{name}` is no operation"))?;
    let names = operation.axis_names();
    let mut sizes = sizes(&names);
    if quick {
        sizes.retain(|sizes| sizes.iter().product::<u64>() <= 20_000);
    }
    let parse = |sizes: &[u64]| {
        let axes: Vec<String> =
            names.iter().zip(sizes).map(|(name, size)| format!("{name}={size}")).collect();
        format!("{form}/{precision}/{}", axes.join(",")).parse::<Case>()
    };
    let legal = [2, 64, 256].into_iter().find_map(|size| parse(&vec![size; names.len()]).ok());
    let near = |wanted: &Vec<u64>| match parse(wanted) {
        Ok(case) => Ok(case),
        // Not a legal size: one near it.
        Err(why) => {
            let legal = legal.as_ref().ok_or_else(|| format!("{form}: {why}"))?;
            Ok(operation.near(legal, wanted, &mut Draws::new(1, 1)))
        }
    };
    let mut cases: Vec<Case> = sizes.iter().map(near).collect::<Result<_, String>>()?;
    // Every third with parameters that are not the usual ones.
    for case in cases.iter_mut().skip(1).step_by(3) {
        case.params = operation.params.iter().map(other).collect();
    }
    Ok(cases)
}

/// Another value of a parameter than its default.
fn other(param: &Param) -> f64 {
    if !param.words.is_empty() {
        return 1.0;
    }
    (param.default + param.range.1.min(100.0 * param.default.abs() + 1.0)) / 2.0
}

fn sizes(names: &[&str]) -> Vec<Vec<u64>> {
    let list: &[&[u64]] = match names {
        ["rows", "cols"] => &[
            &[5, 1],
            &[3, 31],
            &[4, 64],
            &[5, 748],
            &[3, 768],
            &[4, 1000],
            &[1000, 33],
            &[2, 8191],
            &[2, 32_000],
            &[3, 32_768],
            &[2, 128_256],
            &[1, 300_001],
        ],
        ["n"] => &[&[1], &[31], &[4096], &[100_003], &[1_000_000]],
        ["m", "n", "k"] => &[
            &[1, 1, 1],
            &[129, 131, 67],
            &[7, 300, 33],
            &[1, 1000, 2048],
            &[4, 257, 1031],
            &[8, 64, 4096],
            &[2, 33, 1003],
            &[3, 2200, 256],
            &[5, 9, 4096],
            &[6, 1023, 520],
            &[8, 4300, 128],
            &[1, 17, 1],
            // More columns than all blocks compute at a time.
            &[2, 5003, 1024],
        ],
        ["m", "n", "group", "k"] => &[
            &[1, 1, 1, 1],
            &[1, 300, 128, 1024],
            &[4, 67, 128, 1000],
            &[8, 2200, 256, 777],
            &[3, 33, 32, 100],
            &[7, 1030, 128, 129],
            &[9, 20, 128, 256],
        ],
        ["seq", "heads", "dim"] => &[&[1, 1, 2], &[5, 3, 64], &[130, 2, 128], &[7, 5, 100], &[64, 8, 80]],
        ["seq", "dim"] => &[&[1, 2], &[33, 64], &[100, 128]],
        ["batch", "seq", "kv", "heads", "kv-heads", "dim"] => &[
            &[1, 1, 1, 1, 1, 1],
            &[2, 1, 500, 8, 2, 128],
            &[1, 1, 3000, 4, 1, 64],
            &[3, 2, 37, 6, 3, 80],
            &[1, 3, 260, 10, 1, 33],
            &[2, 1, 70, 4, 4, 256],
            &[1, 1, 900, 12, 1, 127],
            &[1, 7, 7, 3, 3, 100],
            // So many heads that keys are split over warps alone, which take turns.
            &[33, 1, 260, 8, 8, 128],
        ],
        ["batch", "seq", "kv", "heads", "kv-heads", "dim", "window"] => &[
            &[1, 1, 1, 1, 1, 1, 1],
            &[2, 1, 500, 8, 2, 128, 130],
            &[1, 1, 3000, 4, 1, 64, 1024],
            &[3, 2, 37, 6, 3, 80, 5],
            &[1, 3, 260, 10, 1, 33, 1000],
            &[2, 1, 70, 4, 4, 256, 64],
        ],
        ["batch", "pages", "page", "heads", "kv-heads", "dim"] => &[
            &[1, 1, 1, 1, 1, 1],
            &[2, 40, 16, 8, 2, 128],
            &[5, 7, 3, 4, 1, 64],
            &[1, 130, 16, 6, 3, 80],
            &[4, 3, 5, 2, 2, 33],
            &[2, 9, 32, 4, 4, 256],
        ],
        ["batch", "tokens", "heads", "kv-heads", "dim"] => {
            &[&[1, 1, 1, 1, 1], &[3, 31, 4, 2, 64], &[5, 100, 8, 2, 128], &[4, 137, 6, 3, 33]]
        }
        ["seq", "kept", "heads", "dim"] => {
            &[&[1, 0, 1, 1], &[5, 7, 3, 64], &[31, 100, 8, 128], &[3, 2, 5, 33]]
        }
        ["rows", "table", "cols"] => {
            &[&[1, 1, 1], &[31, 7, 5], &[5, 300, 768], &[130, 64, 1000], &[3, 1000, 8191]]
        }
        ["rows", "cols", "more"] => &[&[1, 1, 1], &[7, 31, 5], &[33, 768, 64], &[5, 1000, 8191], &[3, 8, 24]],
        _ => &[
            &[1, 1, 1],
            &[3, 31, 5],
            &[2, 64, 128],
            &[5, 33, 1000],
            &[1, 8191, 7],
            &[130, 65, 8],
            &[2, 300, 129],
        ],
    };
    let fits = |sizes: &[u64]| {
        let mut sizes = sizes.to_vec();
        sizes.resize(names.len(), 3);
        sizes
    };
    list.iter().map(|sizes| fits(sizes)).collect()
}
