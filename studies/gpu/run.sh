#!/usr/bin/env bash
# What a card has to show, in parts of minutes that add up over runs of one revision:
#
#     bash studies/gpu/run.sh first          # a word with the card, kernels against f64, one row of everything
#     bash studies/gpu/run.sh cheats faults  # what must be found out, and what costs one row
#     bash studies/gpu/run.sh honest         # rows of torch and jax: none suspect
#     bash studies/gpu/run.sh aa one-percent # how often comparisons are wrong
#     bash studies/gpu/run.sh limits roofs against-torch layer-norm cache
#     bash studies/gpu/run.sh total          # what all parts of this revision have shown together
#
# $OUT/journal.jsonl adds up what parts find: carry it along from run to run. $REVISION names the revision where there is
# no git. It needs `target/gpu` of `cargo xtask gpu`, and a Python with torch (and jax) as `python3`. Records and logs go to
# $OUT, or to `target/gpu/out`.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
bin=$PWD/target/gpu
out=${OUT:-$bin/out}
mkdir -p "$out"
export ROOFLINE_HOME=${ROOFLINE_HOME:-$bin/home} ROOFLINE_PYTHON=${ROOFLINE_PYTHON:-$(command -v python3)}
# The compiler, where it is not in the system's path: the toolkit's, or that of a Python package.
for nvrtc in /usr/local/cuda/lib64/libnvrtc.so.13 $(python3 -c 'import site; print(*site.getsitepackages())' | tr ' ' '\n' | sed 's#$#/nvidia/cu13/lib/libnvrtc.so.13#'); do
    [ -z "${ROOFLINE_NVRTC:-}" ] && [ -f "$nvrtc" ] && export ROOFLINE_NVRTC=$nvrtc
done
# A run that hangs costs its step, not the others: LIMIT seconds each.
rl() { timeout -s INT -k 10 "${LIMIT:-540}" "$bin/roofline" "$@" --store "$out/store.db"; }
failed=0
# Runs a step, with its time; what it prints stays in $out.
step() {
    local name=$1 start=$SECONDS
    shift
    echo "== $name"
    "$@" > "$out/$name.txt" 2> "$out/$name.log"
    local code=$?
    took=$((SECONDS - start))
    echo "== $name: exit $code, $took s"
    return $code
}
export JOURNAL=$out/journal.jsonl REVISION=${REVISION:-$(git describe --always --dirty 2> /dev/null || echo unknown)}
judge() { python3 studies/gpu/judge.py "$@" || failed=1; }
rows() { # NAME WORDS...: rows as JSON lines
    local name=$1
    shift
    step "$name" rl "$@" --format jsonl
    tail -n 3 "$out/$name.log"
}

# Every kernel against f64, in as many parts as there are cores.
verify() {
    local part parts=$(nproc) worst=0 running=()
    for part in $(seq "$parts"); do
        "$bin/verify" "--part=$part/$parts" > "$out/verify-$part.txt" &
        running+=($!)
    done
    for part in "${running[@]}"; do wait "$part" || worst=$?; done
    cat "$out"/verify-[0-9]*.txt
    return $worst
}
first() {
    step devices "$bin/roofline" list devices; cat "$out/devices.txt"
    step verify verify || { grep -h -A 3 -e WRONG -e rror "$out/verify.txt" "$out/verify.log"; failed=1; }
    tail -n 5 "$out/verify.txt"
    rows one-house check softmax/f32/rows=512,cols=1024 add/f32/rows=512,cols=1024 rms-norm/bf16/rows=512,cols=1024 \
        matmul.nn/f32/m=256,n=256,k=256 --device cuda --runner cuda -i 'cuda/*'
    judge status "$out/one-house.txt" '{}'
    rows one-torch check softmax/f32/rows=512,cols=1024 --device cuda --runner torch -i 'torch/*'
    judge status "$out/one-torch.txt" '{}'
    rows one-run run softmax/f32/rows=4096,cols=4096 --device cuda --runner cuda -i 'cuda/*' --quick
    judge shares "$out/one-run.txt"
}
cheats() {
    rows cheats run softmax/f32/rows=1024,cols=1024 --device cuda --runner studies/gpu/cheats -i 'cheats/*' --quick
    judge status "$out/cheats.txt" "$(python3 studies/gpu/cheats/main.py --table)"
}
faults() {
    rows broken check softmax/f32/rows=64,cols=512 --device cuda --cuda studies/gpu/kernels/broken.cu -i 'broken/*'
    judge status "$out/broken.txt" '{"broken": ["crashed"]}'
    grep -q 'broken.cu(10)' "$out/broken.txt" || { echo "FAILED the compiler's line is not told"; failed=1; }
    rows faults check add/f32/rows=64,cols=512 --device cuda --cuda studies/gpu/kernels/faults.cu -i 'faults/*' --timeout 3s
    judge status "$out/faults.txt" '{"wild": ["crashed"], "endless": ["timeout"], "greedy": ["crashed", "out-of-memory"], "past-the-end": ["wrong", "crashed"], "honest": ["ok"]}'
}
# Rows that are timed: most of what makes an honest one suspect are clocks. torch/compile takes a minute a case.
honest() {
    local small="--device cuda --budget 300ms --quick"
    rows honest-torch run add mul silu gelu softmax rms-norm layer-norm sum cross-entropy --axis rows=256,1024 --axis cols=768,2048 \
        --dtype f32,bf16,f16 --runner torch -i torch/eager $small
    judge honest "$out/honest-torch.txt"
    rows honest-products run matmul --axis m=512 --axis n=512,1024 --axis k=512,1024 --dtype f32,bf16,f16 \
        --runner torch --runner jax -i torch/eager,jax/* $small
    judge honest "$out/honest-products.txt"
    # What jax compiles for each case takes longer than its visits.
    rows honest-jax run add softmax rms-norm layer-norm --axis rows=256,1024 --axis cols=768,2048 --dtype f32,bf16 \
        --runner jax -i jax/* $small
    judge honest "$out/honest-jax.txt"
}
# One softmax under several names; `kernels/knob.cu` says which of them do more.
named() {
    local name entry grid
    for name in "$@"; do
        entry=same grid=rows
        [[ $name == more* ]] && grid='rows + rows / 100'
        [[ $name == late* ]] && entry=late
        printf '//! %s\n' '[[kernel]]' "name = \"$name\"" 'operation = "softmax"' 'dtypes = ["f32"]' "entry = \"$entry\"" \
            'arguments = ["x", "y", "rows", "cols"]' "grid = [\"$grid\"]" 'block = ["256"]'
    done > "$out/knob.cu"
    cat studies/gpu/kernels/knob.cu >> "$out/knob.cu"
}
# PART SIZES BUDGET NAMES...: every name against `a`.
contest() {
    local part=$1 sizes=$2 budget=$3
    shift 3
    named a "$@"
    rows "$part" run softmax $sizes --dtype f32 --device cuda --cuda "$out/knob.cu" -i 'knob/*' --against knob/a \
        --budget "$budget"
}
aa() {
    # Mostly small: what is large is judged for longer than it is measured.
    contest aa '--axis rows=256,512,768 --axis cols=512,768,1024,2048' 400ms b c d e f g h i j
    judge same "$out/aa.txt" 'b c d e f g h i j'
    contest aa-larger '--axis rows=1024,1600,2048 --axis cols=512,768,1024,2048' 400ms b c d e f g h i j
    judge same "$out/aa-larger.txt" 'b c d e f g h i j'
}
one-percent() {
    # A third of what a comparison may take: what is found then is found by all of it.
    contest more '--axis rows=6400,9600,12800,16000 --axis cols=1024,2048' 1s more-a more-b more-c more-d more-e more-f more-g
    judge more "$out/more.txt" 'more-a more-b more-c more-d more-e more-f more-g'
    # About 9 us, all blocks at once.
    contest late '--axis rows=1000 --axis cols=1360,1368,1376,1384,1392,1400,1408' 1s late-a late-b late-c late-d late-e late-f late-g
    judge more "$out/late.txt" 'late-a late-b late-c late-d late-e late-f late-g'
}
limits() {
    rows limits run add softmax rms-norm matmul.nn --suite quick --device cuda --runner cuda -i 'cuda/*' --total-budget 8m
    judge shares "$out/limits.txt"
}
# Limits beside rows that only read, only write, copy, and multiply.
roofs() {
    local cases
    cases=$(python3 -c 'import sys; sys.path.insert(0, "studies/gpu"); import judge; print(*judge.ROOFS)')
    # Products by torch: plain ones of the house would take minutes.
    rows roofs-bytes run ${cases//matmul*/} --device cuda --runner cuda -i 'cuda/*' --quick
    rows roofs-products run matmul${cases#*matmul} --device cuda --runner cuda --runner torch -i torch/eager --quick
    cat "$out/roofs-bytes.txt" "$out/roofs-products.txt" > "$out/roofs.txt"
    judge roofs "$out/roofs.txt"
}
against-torch() {
    rows against-torch run add softmax rms-norm layer-norm gelu silu --axis rows=16384 --axis cols=1024 --dtype f32 --dtype bf16 \
        --device cuda --runner cuda --runner torch -i 'cuda/*' -i torch/eager --against torch/eager --quick --total-budget 6m
    judge pace "$out/against-torch.txt" "$took"
    judge honest "$out/against-torch.txt"
}
layer-norm() {
    rows layer-norm run layer-norm/bf16/rows=4096,cols=768 --device cuda --runner torch -i 'torch/*' --against torch/eager
    judge faster "$out/layer-norm.txt" compile
}
cache() {
    rows cache-cold check softmax add rms-norm --suite quick --device cuda --runner cuda -i 'cuda/*'
    rows cache-warm check softmax add rms-norm --suite quick --device cuda --runner cuda -i 'cuda/*'
    judge cache "$out/cache-warm.txt"
}
total() { judge total; }

[ $# -gt 0 ] || { sed -n '2,14p' "$0"; exit 2; }
[ "$*" = all ] && set -- first cheats faults honest aa one-percent limits roofs against-torch layer-norm cache total
for part in "$@"; do "$part"; done
exit $failed
