//! Suites that stand for older collections: whatever was in those is in these.

use crate::scene::Scene;
use std::collections::BTreeSet;

fn cases(suite: &str) -> BTreeSet<String> {
    let listed = Scene::new().call(&format!("list cases --suite {suite}")).exits(0).stdout;
    listed.lines().map(str::to_owned).collect()
}

/// Batch × sequence × dimension, without tensors of more than 50 million elements: 108 shapes of 112.
#[test]
fn layers_has_every_shape_of_the_grid() {
    let layers = cases("layers");
    let mut shapes = 0;
    for batch in [16, 32, 64, 128] {
        for seq in [256, 512, 1024, 2048] {
            for dim in [8, 16, 32, 64, 128, 256, 512] {
                let is_small = batch * seq * dim <= 50_000_000;
                shapes += usize::from(is_small);
                for operation in ["layer-norm", "gelu", "gelu-tanh", "silu", "mse", "cross-entropy"] {
                    let id = format!("{operation}/f32/rows={},cols={dim}", batch * seq);
                    assert_eq!(layers.contains(&id), is_small, "{id}");
                }
            }
        }
    }
    assert_eq!(shapes, 108);
}

/// Five shapes that were checked and six that were timed, of blocks that divide them, and three of blocks that do not.
#[test]
fn fp8_has_every_shape_that_was_checked_or_timed() {
    let fp8 = cases("fp8");
    for [m, k, n, block] in [
        [512, 512, 512, 128],
        [1024, 1024, 1024, 256],
        [2048, 2048, 2048, 512],
        [1536, 1536, 1536, 512],
        [1024, 2048, 4096, 512],
        [4096, 4096, 4096, 512],
        [2048, 4096, 2048, 512],
        [1000, 1000, 1000, 128],
        [1, 4096, 4096, 128],
        [77, 1537, 2049, 256],
    ] {
        for form in ["fp8-matmul.square/w8a8", "fp8-matmul/w8a16"] {
            let block = if block == 128 { String::new() } else { format!("block={block},") };
            let id = format!("{form}/m={m},n={n},{block}k={k}");
            assert!(fp8.contains(&id), "{id} of {fp8:?}");
        }
    }
}
