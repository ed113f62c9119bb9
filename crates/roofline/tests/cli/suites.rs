//! Suites that stand for older collections: whatever was in those is in these.

use crate::scene::Scene;
use roofline_core::case::Case;
use roofline_core::philox::Draws;
use roofline_core::suite::Suite;
use std::collections::BTreeSet;

fn cases(suite: &str) -> BTreeSet<String> {
    let listed = Scene::new().call(&format!("list cases --suite {suite}")).exits(0).stdout;
    listed.lines().map(str::to_owned).collect()
}

/// That a suite has each of these at every size: `operation/dtype/` before, and perhaps `/threads=2` after.
fn assert_has(suite: &BTreeSet<String>, form: &str, sizes: &[&str], after: &str) {
    for sizes in sizes {
        let id = format!("{form}/{sizes}{after}");
        assert!(suite.contains(&id), "{id}");
    }
}

/// A collection of kernels of a language model: 69 rows of positions, 101 of attention, 47 of norms and 45 of those of queries
/// and keys, 50 of products, 32 of vectors, a kernel for one thread and one for several each counted.
#[test]
fn llm_has_every_shape_of_its_sweeps() {
    let llm = cases("llm");
    let heads = |sizes: &[[usize; 3]]| -> Vec<String> {
        sizes.iter().map(|[seq, heads, dim]| format!("seq={seq},heads={heads},dim={dim}")).collect()
    };
    let products = |sizes: &[[usize; 3]]| -> Vec<String> {
        sizes.iter().map(|[m, k, n]| format!("m={m},n={n},k={k}")).collect()
    };
    let along = |sizes: &[usize], shape: fn(usize) -> [usize; 3]| -> Vec<[usize; 3]> {
        sizes.iter().map(|size| shape(*size)).collect()
    };
    let check = |form: &str, sizes: Vec<String>| {
        let sizes: Vec<&str> = sizes.iter().map(String::as_str).collect();
        assert_has(&llm, form, &sizes, "");
        assert_has(&llm, form, &sizes, "/threads=2");
    };
    let positions = [
        [4, 8, 64],
        [8, 4, 64],
        [4, 12, 64],
        [8, 8, 64],
        [16, 4, 64],
        [16, 8, 64],
        [32, 4, 64],
        [8, 16, 64],
        [32, 16, 64],
        [64, 8, 64],
        [128, 8, 64],
        [256, 16, 64],
        [512, 16, 64],
        [256, 32, 128],
        [512, 32, 128],
    ];
    check("rope/f32", heads(&positions));
    check("rope/f32", heads(&along(&[1, 4, 8, 16, 32, 64, 128, 256, 512], |seq| [seq, 16, 64])));
    check("rope/f32", heads(&along(&[4, 8, 16, 32, 64], |heads| [128, heads, 64])));
    let in_place = heads(&positions[..14]);
    assert_has(&llm, "rope.in-place/f32", &in_place.iter().map(String::as_str).collect::<Vec<_>>(), "");
    check("rope.cached/f32", heads(&[[4, 8, 64], [8, 8, 64], [32, 16, 64], [128, 16, 64], [256, 32, 128]]));
    let attention = [
        [1, 8, 64],
        [1, 16, 64],
        [1, 32, 64],
        [1, 64, 64],
        [8, 8, 64],
        [8, 16, 64],
        [8, 32, 64],
        [32, 8, 64],
        [32, 16, 64],
        [32, 32, 64],
        [64, 16, 64],
        [128, 8, 64],
        [128, 16, 64],
        [256, 16, 64],
        [512, 32, 128],
        [16, 16, 64],
    ];
    check("attention/f32", heads(&attention));
    check("attention/f32", heads(&along(&[4, 8, 16, 32, 64, 6, 12], |heads| [32, heads, 64])));
    check("attention/f32", heads(&along(&[1, 4, 8, 16, 32, 64, 128, 256], |seq| [seq, 16, 64])));
    check("attention/f32", heads(&along(&[8, 12, 16, 24, 32], |heads| [1, heads, 64])));
    check("attention.masked/f32", heads(&[[64, 16, 64]]));
    for kv in [128, 512, 2048, 8192] {
        check("attention.causal/f32", vec![format!("seq=1,kv={kv},heads=32,kv-heads=8,dim=128")]);
    }
    let rows = |rows: &[usize], cols: usize| -> Vec<String> {
        rows.iter().map(|rows| format!("rows={rows},cols={cols}")).collect()
    };
    let lengths = [8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192];
    check("rms-norm/f32", lengths.iter().map(|cols| format!("rows=1,cols={cols}")).collect());
    check("rms-norm/f32", rows(&[1, 2, 4, 8, 16, 32], 2048));
    check("rms-norm/f32", rows(&[1, 4, 16], 4096));
    for cols in [128, 256, 512, 1024, 2048, 4096] {
        assert_has(&llm, "rms-norm.gemma/f32", &[&format!("rows=1,cols={cols}")], "");
        assert_has(&llm, "layer-norm/f32", &[&format!("rows=1,cols={cols},eps=1e-6")], "");
    }
    let norms = [
        [1, 8, 64],
        [1, 16, 64],
        [1, 32, 64],
        [8, 8, 64],
        [16, 16, 64],
        [32, 16, 64],
        [64, 16, 64],
        [128, 16, 64],
        [256, 32, 128],
        [512, 32, 128],
    ];
    check("qk-norm/f32", heads(&norms));
    check("qk-norm/f32", heads(&along(&[1, 8, 16, 32, 64, 128, 256, 512], |seq| [seq, 16, 64])));
    check("qk-norm/f32", heads(&along(&[4, 8, 16, 32, 64], |heads| [32, heads, 64])));
    check("qk-norm.combined/f32", heads(&[[1, 16, 64], [16, 16, 64], [64, 16, 64], [256, 32, 128]]));
    let by_output = [
        [1, 128, 128],
        [1, 256, 256],
        [1, 512, 512],
        [1, 1024, 1024],
        [4, 512, 512],
        [1, 2048, 2048],
        [4, 2048, 2048],
        [8, 2048, 2048],
        [1, 512, 2048],
        [1, 2048, 512],
        [4, 512, 2048],
        [4, 2048, 8192],
    ];
    check("matmul/f32", products(&by_output));
    check("matmul/f32", products(&along(&[1, 2, 4, 8, 16, 32, 64, 128], |m| [m, 512, 2048])));
    check("matmul/f32", products(&along(&[128, 256, 512, 1024, 2048, 4096], |dim| [4, dim, dim])));
    let plain = [
        [128, 128, 128],
        [256, 256, 256],
        [512, 512, 512],
        [1024, 1024, 1024],
        [256, 1024, 256],
        [512, 2048, 512],
        [256, 256, 1024],
        [512, 512, 2048],
        [128, 256, 128],
    ];
    check("matmul.nn/f32", products(&plain));
    let codes = [[128, 128, 128], [256, 512, 256], [512, 2048, 512], [1024, 2048, 1024], [4, 512, 2048]];
    check("int8-matmul/i8-f32", products(&codes));
    check("q8-matmul/f32", products(&[[1, 512, 512], [4, 512, 2048], [8, 2048, 8192]]));
    for n in [8, 64, 256, 1024, 4096] {
        for form in ["add/f32", "mul/f32", "scale/f32"] {
            assert_has(&llm, form, &[&format!("rows=1,cols={n}")], "");
        }
    }
    assert_has(&llm, "gelu-quick/f32", &["rows=1,cols=3072"], "");
}

/// Twenty-two shapes in five classes, of five operations; broadcasts and layers.
#[test]
fn tensor_has_every_shape_of_its_classes() {
    let classes = [
        ("small", vec![(256, 256), (512, 512), (1024, 1024), (32 * 32, 32), (64 * 64, 64)]),
        ("medium", vec![(2048, 2048), (4096, 1024), (1024, 4096), (128 * 128, 128), (32 * 256, 256)]),
        ("large", vec![(4096, 4096), (8192, 2048), (2048, 8192), (256 * 256, 256), (64 * 512, 512)]),
        ("very-large", vec![(8192, 8192), (16384, 4096), (512 * 512, 512)]),
        ("batch", vec![(32 * 128, 768), (64 * 256, 256), (128 * 512, 512), (16 * 1024, 1024)]),
    ];
    let scene = Scene::new();
    for (class, shapes) in classes {
        let command = format!("list cases --suite tensor --size {class} --op add,sub,mul,div,pow-scalar");
        let listed = scene.call(&command).exits(0).stdout;
        let listed: BTreeSet<String> = listed.lines().map(str::to_owned).collect();
        assert_eq!(listed.len(), shapes.len() * 5 * 3, "{class}");
        for (rows, cols) in shapes {
            for operation in ["add", "sub", "mul", "div", "pow-scalar"] {
                for dtype in ["f32", "f16", "bf16"] {
                    assert_has(
                        &listed,
                        &format!("{operation}/{dtype}"),
                        &[&format!("rows={rows},cols={cols}")],
                        "",
                    );
                }
            }
        }
    }
    let tensor = cases("tensor");
    for id in [
        "broadcast-add.last/f32/outer=1,middle=1000,inner=100",
        "broadcast-add.last/f32/outer=100,middle=100,inner=100",
        "broadcast-add/f32/outer=32,middle=128,inner=768",
        "broadcast-add.first/f32/outer=64,middle=512,inner=512",
        "attention.causal/f32/seq=512,heads=8,dim=64",
        "layer-norm/f32/rows=1280,cols=748",
        "dropout/f32/rows=1280,cols=748",
        "matmul/f32/m=4096,n=4096,k=4096",
    ] {
        assert!(tensor.contains(id), "{id}");
    }
}

/// Fifteen cases of vectors, seven of kernels, two of convolution and two of recurrent layers.
#[test]
fn cpu_has_every_case_of_its_groups() {
    let cpu = cases("cpu");
    for n in [256, 1024, 4096, 16384, 65536] {
        assert_has(&cpu, "add/f32", &[&format!("rows=1,cols={n}")], "");
        assert_has(&cpu, "mul/f32", &[&format!("rows=1,cols={n}")], "");
        assert_has(&cpu, "dot/f32", &[&format!("n={n}")], "");
    }
    for n in [64, 256, 1024] {
        assert_has(&cpu, "dot/f32", &[&format!("n={n}")], "");
        assert_has(&cpu, "sum.all/f32", &[&format!("rows=1,cols={n}")], "");
    }
    for id in [
        "matmul.nn/f32/m=128,n=128,k=128",
        "conv2d/f32/out=16,height=32,width=32,pad=1,channels=3",
        "conv2d/f32/out=64,height=224,width=224,kernel=7,stride=2,pad=3,channels=3",
        "lstm/f32/seq=16,hidden=1024,input=512",
        "lstm/f32/seq=16,hidden=512,input=256",
        "fft/f32/n=64",
        "fft/f32/n=4096",
        "fft/f32/n=1048576",
        "spmv/f32/rows=1000,cols=1000,nnz=1000",
    ] {
        assert!(cpu.contains(id), "{id}");
    }
}

#[test]
fn parts_of_a_suite_are_named_or_mistakes() {
    let scene = Scene::new();
    let groups = scene.call("list groups").exits(0).stdout;
    assert!(groups.lines().any(|line| line.starts_with("llm") && line.contains("qk-norm")), "{groups}");
    let sizes = scene.call("list sizes").exits(0).stdout;
    assert!(sizes.lines().any(|line| line.starts_with("tensor") && line.contains("very-large")), "{sizes}");
    let listed = scene.call("list cases --suite llm --group rope,norms --op rope").exits(0).stdout;
    assert!(listed.lines().count() > 20 && listed.lines().all(|line| line.starts_with("rope")), "{listed}");
    for (command, words) in [
        ("list cases --suite llm --group ropes", "did you mean `rope`?"),
        ("list cases --suite tensor --size smal", "did you mean `small`?"),
        ("list cases --size small", "`roofline list sizes`"),
        ("list cases add/f32/rows=1,cols=8 --group rope", "or `--group`"),
        ("list groups add", "leave it out"),
        ("list groups --group rope", "`--group` selects nothing here"),
    ] {
        let outcome = scene.call(command).exits(2);
        assert!(outcome.stderr.contains(words), "{command}: {}", outcome.stderr);
    }
}

/// A quick run takes a few cases of every group and says so; one that may end early goes through the groups in turn.
#[test]
fn quick_runs_take_a_few_of_each_group() {
    let scene = Scene::new();
    let block = |operation: &str, group: &str| {
        format!(
            "[[cases]]\noperation = '{operation}'\ndtype = 'f32'\naxes = {{ rows = '1:20:+1', cols = 8 }}\n{group}\n"
        )
    };
    let parts = [block("add", "group = 'a'"), block("mul", "group = 'b'"), block("sub", "")];
    scene.write("mine.toml", &parts.concat());
    let plan = scene.call_with_store("run --suite mine.toml -i cpu/plain --fast --dry-run").exits(0);
    assert!(plan.stderr.contains("takes 32 of 60 cases, at most 6 shapes of each group"), "{}", plan.stderr);
    let count = |operation: &str| plan.stdout.matches(&format!("{operation}/f32/")).count();
    assert_eq!([count("add"), count("mul"), count("sub")], [6, 6, 20], "{}", plan.stdout);
    let all =
        scene.call_with_store("run --suite mine.toml -i cpu/plain --total-budget 1min --dry-run").exits(0);
    let order: Vec<&str> = all.stdout.lines().filter_map(|line| line.split("/f32/").next()).collect();
    let first: Vec<&str> = order.into_iter().filter(|word| ["add", "mul"].contains(word)).take(6).collect();
    assert_eq!(first, ["add", "mul", "add", "mul", "add", "mul"], "{}", all.stdout);
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

/// Plain kernels are there to be read: a product that takes one of them minutes is left to the others, unless it is named.
#[test]
fn rows_that_would_take_minutes_are_left_out_unless_they_are_named() {
    let scene = Scene::new();
    let large = "check matmul --axis zip(m,n,k)=4096 --dry-run";
    let outcome = scene.call_with_store(large).exits(0);
    assert!(
        !outcome.stdout.contains("@cpu/plain") && outcome.stdout.contains("@cpu/packed"),
        "{}",
        outcome.stdout
    );
    assert!(outcome.stderr.contains("would take over 2 s each are left out"), "{}", outcome.stderr);
    let named = scene.call_with_store(&format!("{large} -i cpu/plain")).exits(0);
    assert!(named.stdout.contains("@cpu/plain") && named.stderr.is_empty(), "{}", named.stderr);
    let only = scene.call_with_store("check gru --axis zip(seq,hidden,input)=4096 --dry-run").exits(5);
    assert!(only.stderr.contains("-i cpu/plain"), "{}", only.stderr);
    let by_id = scene.call_with_store("check matmul/f32/m=4096,n=4096,k=4096 --dry-run").exits(0);
    assert!(by_id.stdout.contains("@cpu/plain"), "{}", by_id.stdout);
}

/// Suites of the house that stand for older collections, and how many rows those had: 344 of kernels of a language model; 108
/// shapes of four operations; 110, 20, 4 and 3 of tensors; five shapes and six of three versions of a product; and of a backend
/// the groups that compute.
const STAND_FOR: &[(&str, u64)] = &[("llm", 344), ("layers", 432), ("tensor", 137), ("fp8", 33), ("cpu", 34)];

/// Nobody who moves from an older collection finds fewer rows, an implementation of the house and a case each, in any group: on
/// one thread, for the older counts have no lists of threads.
#[test]
fn no_suite_has_fewer_rows_than_what_it_stands_for() {
    let scene = Scene::new();
    let listed = scene.call("list suites").exits(0).stdout;
    for (name, rows) in STAND_FOR {
        let path = format!("{}/../../suites/{name}.toml", env!("CARGO_MANIFEST_DIR"));
        let suite = Suite::parse(&std::fs::read_to_string(path).unwrap()).unwrap();
        assert_eq!(suite.at_least.iter().map(|(_, rows)| rows).sum::<u64>(), *rows, "{name}");
        let line = listed.lines().find(|line| line.starts_with(&format!("{name} "))).unwrap();
        let older = suite.stands_for.unwrap();
        assert!(line.contains(&format!("{rows} rows of {older}")), "{line}");
        for (group, at_least) in suite.at_least {
            let command = format!("check --suite {name} --group {group} -i cpu/* --dry-run");
            let plan = scene.call_with_store(&command).exits(0).stdout;
            let is_counted = |line: &&str| line.contains("@cpu/") && !line.contains("/threads=");
            let planned = plan.lines().filter(is_counted).count() as u64;
            assert!(planned >= at_least, "{name}: {planned} rows of {group}, {at_least} are wanted");
        }
    }
}

/// Layers of models: what a token passes through, by the sizes that their makers published.
#[test]
fn models_have_the_shapes_of_their_layers() {
    let models = cases("models");
    for (width, heads, feed, rows) in [(4096, 40, 14336, 128), (8192, 72, 28672, 128)] {
        for rows in [1, rows] {
            for id in [
                format!("rms-norm/bf16/rows={rows},cols={width}"),
                format!("rope/bf16/seq={rows},heads={heads},dim=128"),
                format!("matmul.fixed/bf16/m={rows},n={width},k={width}"),
                format!("matmul.fixed/bf16/m={rows},n={},k={width}", 2 * feed),
                format!("matmul.fixed/bf16/m={rows},n={width},k={feed}"),
                format!("silu/bf16/rows={rows},cols={feed}"),
                format!("mul/bf16/rows={rows},cols={feed}"),
                format!("swiglu-quantize/bf16/rows={rows},cols={feed}"),
            ] {
                assert!(models.contains(&id), "{id}");
                assert!(models.contains(&format!("{id}/threads=2")), "{id}");
            }
        }
    }
    for rows in [1, 64] {
        for id in [
            format!("rms-norm/bf16/rows={rows},cols=7168"),
            format!("rope.interleaved/bf16/seq={rows},heads=129,dim=64"),
            format!("kv-append/bf16/seq={rows},kept=4096,heads=1,dim=576"),
            format!("embedding/bf16/rows={rows},table=129280,cols=7168"),
            format!("fp8-matmul/w8a8/m={rows},n=7168,k=18432"),
            format!("swiglu-quantize.fp8/bf16/rows={rows},cols=18432"),
            format!("top-k/f32/rows={rows},cols=256,top=8"),
            format!("moe-combine/bf16/rows={rows},top=8,cols=7168"),
        ] {
            assert!(models.contains(&id), "{id}");
        }
    }
    for id in [
        "qk-norm/bf16/seq=1,heads=32,dim=128",
        "attention.soft-cap/bf16/seq=1,kv=4096,heads=16,kv-heads=8,dim=256",
        "window-attention/bf16/seq=1,kv=8192,heads=16,kv-heads=8,dim=256,window=4096",
        "rms-norm.gemma/bf16/rows=1,cols=3584",
        "grouped-matmul/bf16/experts=128,m=64,n=1536,k=2048",
        "grouped-matmul/bf16/experts=8,m=64,n=4096,k=7168",
        "attention.causal/bf16/seq=1,kv=4096,heads=128,kv-heads=1,dim=576",
        "moe-route/f32/rows=64,experts=256,top=8",
    ] {
        assert!(models.contains(id), "{id}");
    }
}

/// Steps of a case that is soon proved, in what is built for tests.
const SMALL: u64 = 4_000_000;

/// `check --suite` of every suite passes: here of a few cases that are drawn by a seed, among those that take no time. The whole
/// is for the hand.
#[test]
fn a_drawn_part_of_every_suite_passes() {
    const SEED: u64 = 19;
    for suite in ["llm", "layers", "tensor", "cpu", "fp8", "models"] {
        let mut by_work: Vec<(u64, String)> = cases(suite)
            .into_iter()
            .map(|id| {
                let case: Case = id.parse().unwrap();
                let work = (case.operation.work)(&case);
                (work.flops().saturating_add(case.footprint().unwrap_or(u64::MAX)), id)
            })
            .collect();
        by_work.sort();
        let small = by_work.iter().take_while(|(work, _)| *work <= SMALL).count();
        assert!(small >= 8, "{suite}: {small} cases that are soon proved");
        let mut draws = Draws::new(SEED, 1);
        let drawn: BTreeSet<&str> =
            (0..8).map(|_| by_work[draws.below(small as u64) as usize].1.as_str()).collect();
        let ids: Vec<&str> = drawn.into_iter().collect();
        let scene = Scene::alone();
        let checked = scene.call_with_store(&format!("check {} -i cpu/* --seed {SEED}", ids.join(" ")));
        assert_eq!(checked.code, 0, "{suite}: {}{}", checked.stdout, checked.stderr);
    }
}
