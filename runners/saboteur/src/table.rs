//! The table: every saboteur, what it plays, and the status that it must get.
//!
//! A row is the function's name (`saboteur/` and kebab-case make the implementation's name), the
//! cases on which it must be caught, the exploit or mutant of the catalogue that it plays, and what
//! it does. On other sizes of the same operations it behaves alike. `saboteur --table` prints the
//! table as JSON for the tests.

use crate::{
    crashed, deceit, escapes, everyday, fickle, honest_rows, hosts, knowing, needs, protocol, resources,
    suspect, wrong,
};
use roofline_core::record::Status;
use roofline_runner::protocol::Question;
use roofline_runner::{Channel, Job, Ready, Refusal};
use serde_json::{Value, json};

pub(crate) struct Row {
    function: &'static str,
    /// Case ids; operations and dtypes on offer follow from them.
    pub(crate) cases: &'static [&'static str],
    /// Numbers of the catalogue: C2 exploits, A5 mutants; empty for what is in neither.
    plays: &'static str,
    pub(crate) about: &'static str,
    /// What it declares to require; empty for nothing.
    pub(crate) requires: &'static str,
    pub(crate) status: Status,
    pub(crate) way: Way,
}

/// Where a saboteur does its work.
#[derive(Clone, Copy)]
pub(crate) enum Way {
    /// In its kernel.
    Kernel(fn(&mut Job) -> Result<Ready, Refusal>),
    /// Between an honest kernel and the conductor, in place of sending the answer to a launch or visit.
    Speech(fn(Channel, &Question, Vec<u8>) -> Channel),
}

impl Row {
    pub(crate) fn implementation(&self) -> String {
        format!("saboteur/{}", self.function.replace('_', "-"))
    }
}

const ADD: &str = "add/f32/rows=64,cols=1000";
const SOFTMAX: &str = "softmax/f32/rows=64,cols=1000";
const RMS_NORM: &str = "rms-norm/f32/rows=64,cols=1000";
const MATMUL: &str = "matmul/f32/m=96,n=80,k=200";
const SQUARE: &str = "matmul/f32/m=64,n=64,k=96";
const BF16: &str = "matmul/bf16/m=48,n=40,k=512";
const TILED: &str = "matmul/f32/m=1024,n=1024,k=256";
const PRODUCT: &str = "matmul/f32/m=512,n=512,k=512";
const FP8: &str = "fp8-matmul/w8a8-f32/m=24,n=40,k=300";
const TANH: &str = "tanh/f32/rows=64,cols=4096";
const LONG: &str = "add/f32/rows=70,cols=1000";
const VECTORS: &str = "softmax/f32/rows=64,cols=1008";
const SHORT: &str = "softmax/f32/rows=4,cols=80";
const WORK: &str = "softmax/f32/rows=128,cols=1000";
const MICROSECONDS_20: &str = "softmax/f32/rows=12,cols=100";
const MICROSECONDS_300: &str = "softmax/f32/rows=200,cols=100";
const MICROSECONDS_60: &str = "softmax/f32/rows=36,cols=100";
const MILLISECONDS_5: &str = "softmax/f32/rows=512,cols=600";
const MILLISECONDS_10: &str = "softmax/f32/rows=1024,cols=600";
const MILLISECONDS_30: &str = "softmax/f32/rows=3000,cols=600";
const NANOSECONDS: &str = "add/f32/rows=2,cols=8";
const TWO: &str = "softmax/f32/rows=128,cols=1000/threads=2";
const TWO_300: &str = "softmax/f32/rows=200,cols=100/threads=2";

macro_rules! rows {
    ($($status:ident $way:ident $module:ident { $($name:ident [$($case:ident),*] $plays:literal $about:literal $($requires:literal)?;)* })*) => {
        &[$($(Row {
            function: stringify!($name),
            cases: &[$($case),*],
            plays: $plays,
            about: $about,
            requires: concat!($($requires)?),
            status: Status::$status,
            way: Way::$way($module::$name),
        },)*)*]
    };
}

pub(crate) const ROWS: &[Row] = rows! {
    Ok Kernel honest_rows {
        honest                  [ADD, SOFTMAX, RMS_NORM, MATMUL] "A5" "computes the definition";
        honest_in_another_order [SOFTMAX, MATMUL] "A5" "sums in f32, from the last element to the first";
        honest_ten_times        [MICROSECONDS_60] "" "computes its answer ten times over";
        scratch_in_the_output   [SHORT, SOFTMAX, TWO] "" "keeps intermediate values in its output";
        honest_on_two_threads   [WORK, TWO] "" "splits the rows when two threads are allowed";
        spins_for_its_next_task [TWO] "" "lets its second thread spin for 10 ms before it sleeps";
        thread_per_launch       [WORK, TWO] "" "starts and joins a thread in each launch, two at a time";
        noisy_stdout            [SOFTMAX] "C2 10" "prints megabytes on stdout and stderr";
        sleeps_in_warm_up       [SOFTMAX] "C2 23" "sleeps in its first launches, then works as fast as it can";
        slow_start              [SOFTMAX] "" "takes half a second to prepare";
    }
    Ok Kernel escapes {
        signals_others          [SOFTMAX] "C2 41" "tries to signal every process that it can name";
        reads_memory_of_others  [SOFTMAX] "C2 13" "tries to read the memory of every process that it can name";
        raises_its_priority     [SOFTMAX] "" "asks to be nice -20";
        takes_the_core          [SOFTMAX] "" "asks for a real-time scheduler";
        asks_the_network        [SOFTMAX] "C2 24" "asks for sockets of other families than its own";
        writes_elsewhere        [SOFTMAX] "C2 38" "tries to write outside its folders";
    }
    Ok Kernel hosts {
        lies_as_a_hub           [MICROSECONDS_60] "C2 7" "reports half of its times where it is the hub of a row that is slower by far";
        slow_until_timed        [SOFTMAX] "C2 22" "takes over a second in the gate's process, and no longer than others in sets";
    }
    Suspect Kernel hosts {
        spins_in_sets           [SOFTMAX] "C2 41" "is honest in the gate's process, then lets a thread spin when a set is over";
        writes_while_others_sit [SOFTMAX] "C2 41" "writes into the output of the gate while others are judged, from its second content on";
        remembers_products      [SQUARE] "C2 19" "computes the elements of a product whose row or column has changed";
    }
    Crashed Kernel escapes {
        insists_on_the_network  [SOFTMAX] "C2 24" "computes only if it gets an internet socket";
    }
    Suspect Kernel escapes {
        leaves_its_cores        [SOFTMAX] "" "gives its thread every core of the machine";
        double_forks            [SOFTMAX] "C2 24" "leaves a process behind that is nobody's child";
    }
    OutOfMemory Kernel escapes {
        hides_memory            [SOFTMAX] "" "writes 1.5 GiB into a file of memory that it does not map";
        shares_memory           [SOFTMAX] "" "touches 1.5 GiB of shared anonymous memory";
        shares_memory_elsewhere [SOFTMAX] "" "has a process that is nobody's child touch as much";
    }
    Ok Kernel needs {
        whole_vectors           [VECTORS] "" "takes multiples of 16 columns" "cols % 16 == 0";
        one_width               [SOFTMAX] "" "takes 1000 columns" "cols == 1000";
        aligned_loads           [ADD] "" "loads where addresses are multiples of 32" "align 32";
        finite_only             [SOFTMAX] "" "lets a NaN of one row reach the others" "finite";
        flushes                 [SOFTMAX] "" "takes denormals for zero" "flushes denormals";
    }
    Unsupported Kernel needs {
        whole_vectors_elsewhere [SOFTMAX] "" "takes multiples of 16 columns, which these are not" "cols % 16 == 0";
        whole_vectors_in_secret [VECTORS] "" "takes multiples of 16 columns and does not say so";
    }
    Crashed Kernel needs {
        aligned_loads_in_secret [ADD] "" "loads where addresses are multiples of 32 and does not say so";
    }
    Wrong Kernel needs {
        flushes_in_secret       [SOFTMAX] "" "takes denormals for zero and does not say so";
    }
    Unsupported Kernel honest_rows {
        says_unsupported        [SOFTMAX] "" "refuses every case";
    }
    Wrong Kernel wrong {
        zeros                   [SOFTMAX, ADD, MATMUL] "A5 1" "writes zeros";
        stale                   [SOFTMAX, ADD, MATMUL] "A5 2, C2 1 27" "writes nothing";
        small_to_zero           [SOFTMAX] "C2 2" "writes zeros for results below a hundredth";
        copy_input              [SOFTMAX, ADD] "C2 52" "copies its first input";
        constant                [SOFTMAX] "C2 29" "writes one over the length of the row";
        mean_collapse           [SOFTMAX, ADD] "A5 14" "writes the mean of each row";
        constant_row            [SOFTMAX, ADD] "A5 13" "writes the first row into every row";
        dead_row                [SOFTMAX, ADD] "C2 37" "leaves one row in the middle at zero";
        partial                 [SOFTMAX, ADD, MATMUL] "" "computes the first half of the rows";
        last_tile_missing       [SOFTMAX, ADD, MATMUL] "A5 4" "does not write the last columns of a row";
        tf32_inputs             [MATMUL] "C2 25, A5 10" "rounds its f32 inputs to tf32";
        bf16_inside             [SOFTMAX] "C2 25, A5 10" "keeps exponentials in bf16";
        bf16_accumulator        [BF16] "C2 25, A5 11" "keeps the sum in bf16 where f32 is declared";
        scaled                  [SOFTMAX, ADD, MATMUL] "A5 15" "is too large by one part in 512";
        short_sum               [MATMUL] "A5 5" "leaves the last term out of every sum";
        assumes_symmetric       [SQUARE] "C2 44" "computes a triangle of a square product and mirrors it";
        transposed              [SQUARE] "A5 7" "writes a square product transposed";
        permuted_rows           [SOFTMAX, ADD] "A5 12" "exchanges neighbouring rows";
        index_wraps             [LONG] "A5 27" "computes its index modulo 65536";
        cached_by_pointer       [SOFTMAX, ADD] "C2 18 51, A5 21" "computes once for each address of its inputs";
        cached_by_content       [SOFTMAX, ADD] "C2 19" "computes once for each fingerprint of twelve elements";
        cached_by_shape         [SOFTMAX, ADD] "C2 18, A5 21" "computes once for each shape";
        cached_weights          [MATMUL] "C2 20" "keeps the weights of its first launch";
        file_replay             [SOFTMAX] "C2 38" "writes its first answer to a file and reads it ever after";
        powers_of_two_only      [SOFTMAX, ADD] "A5 24" "is right for powers of two only";
        large_sizes_only        [SOFTMAX, ADD] "C2 33" "is right for rows of 32 elements or more";
        listed_shapes_only      [SOFTMAX, ADD] "C2 33" "is right for the shape of the benchmark only";
        right_on_random_only    [SOFTMAX, ADD] "C2 28 34" "is right when the first elements look random";
        accumulates             [SOFTMAX, ADD] "A5 9" "adds its result to what is there";
        nan_to_zero             [SOFTMAX, ADD] "A5 16" "writes zero for NaN";
        unstable_softmax        [SOFTMAX] "C2 53, A5 17" "does not subtract the maximum";
        race                    [SOFTMAX, ADD] "A5 22" "takes the neighbour's value once in a thousand times";
        wrong_on_1_percent      [SOFTMAX, ADD] "A5 23, C2 36" "is wrong on a hashed hundredth of the elements";
        right_on_1_percent      [SOFTMAX, ADD] "A5 23" "is right on a hashed hundredth of the elements";
        every_other_row         [SOFTMAX, ADD] "C2 35" "computes a hashed half of the rows, copies the rest";
        wrong_element           [TILED] "C2 37" "is wrong in one element of a large product";
        wrong_tile              [TILED] "C2 37" "is wrong in one tile of 16 by 16 of a large product";
    }
    Wrong Kernel everyday {
        maximum_from_zero       [SOFTMAX] "" "starts its maximum at zero";
        maximum_of_magnitudes   [SOFTMAX] "" "takes the largest magnitude for the maximum";
        maximum_misses_tail     [SOFTMAX] "" "takes the maximum of whole vectors of 16 only";
        maximum_misses_long_tail [SOFTMAX] "" "does so in rows of a thousand elements or more";
        dropped_remainder       [ADD, SOFTMAX, RMS_NORM] "" "does not write the last elements that do not fill a vector of 8";
        copied_remainder        [ADD] "" "copies its first input there";
        dropped_terms           [MATMUL] "" "leaves out the terms of a sum that do not fill a vector of 16";
        forgotten_epsilon       [RMS_NORM] "" "divides by the root of the mean alone";
        epsilon_outside_the_root [RMS_NORM] "" "adds the epsilon to the root";
        last_scales_for_all     [FP8] "" "adds up the codes of all blocks, and applies the scales of the last";
        nearly_right_element    [PRODUCT] "" "is too large by a thousandth in one element, another each time";
    }
    Wrong Kernel fickle {
        skips_after_10_calls    [SOFTMAX] "C2 22, A5 25" "computes ten times, then nothing";
        repeats_after_10_calls  [SOFTMAX] "C2 22, A5 25" "computes ten times, then copies the last answer";
        skips_after_100_calls   [SHORT] "C2 22, A5 25" "computes a hundred times in its process, then nothing";
        last_launch_only        [SHORT] "C2 21" "computes the last of several launches";
        scribbles_in_between    [SHORT] "C2 21" "computes the last of several launches, and writes zeros in the others";
        first_and_last_only     [SHORT] "C2 21" "computes the first and the last of several launches";
        background_thread       [SOFTMAX] "C2 5" "returns at once, a thread computes 2 ms later";
        late_tail               [SOFTMAX] "A5 26" "writes the last row 5 ms after it has returned";
        idle_when_timed         [SOFTMAX] "C2 22" "computes when launched, does nothing in a visit";
        replays_when_timed      [SOFTMAX] "C2 22" "copies an earlier answer in a visit";
        strays_when_timed       [SOFTMAX] "A5 19" "writes one element too many, in visits only";
        decays                  [SOFTMAX] "C2 22, A5 25" "spoils one element from its seventh call on";
        scribbles_later         [SOFTMAX] "C2 5" "computes, and spoils an element when nobody has called it for 2 ms";
    }
    Wrong Kernel deceit {
        naps_once               [SOFTMAX] "C2 23" "sleeps 1.2 s in its first launch, then writes zeros";
        looks_at_the_last_element [SOFTMAX] "C2 1" "computes when the last element of the output has changed";
        writes_between_visits   [SOFTMAX] "C2 41" "is honest in the gate's process, then writes into the output unasked";
        last_launch_only_in_sets [SHORT] "C2 21 22" "is honest in the gate's process, then computes the last launch of a visit";
    }
    Wrong Kernel knowing {
        looks_at_every_element  [SHORT, MICROSECONDS_20] "C2 21" "computes where it finds the output changed, else in every second launch";
        half_of_the_rows_but_for_the_last [SHORT, MICROSECONDS_20] "C2 21" "computes half of the rows, and all in the last launch of a visit";
        easy_data_in_sets       [SOFTMAX] "C2 22" "takes no maximum off where it is timed";
    }
    Crashed Kernel crashed {
        writes_input            [SOFTMAX, ADD] "C2 3, A5 20" "writes into its input and puts it back";
        writes_after_end        [SOFTMAX] "A5 19" "writes one element after the output";
        writes_before_start     [SOFTMAX] "A5 19" "writes one element before the output";
        reads_after_end         [SOFTMAX] "" "reads one element after the input";
        overflows_the_stack     [SOFTMAX] "" "recurses without end";
        divides_by_zero         [SOFTMAX] "" "divides integers by zero";
        aborts                  [SOFTMAX] "" "aborts";
        exits                   [SOFTMAX] "C2 10" "exits with code 7 in a launch";
        exits_with_zero         [SOFTMAX] "C2 10" "exits as if all were well, in a visit";
        illegal_instruction     [SOFTMAX] "" "runs an instruction that does not exist";
        raises_an_error         [SOFTMAX] "" "answers that it has failed";
        panics                  [SOFTMAX] "" "panics";
    }
    Crashed Speech protocol {
        answers_and_exits       [SOFTMAX] "C2 10" "answers a launch and is gone";
    }
    Suspect Kernel suspect {
        halves_times            [WORK, NANOSECONDS] "C2 7 8 9 11 12" "reports half of its times";
        tenths_of_times         [WORK] "C2 7 8 9 11 12" "reports a tenth of its times";
        fiftieths_of_times      [WORK] "C2 7 8 9 11 12" "reports a fiftieth of its times";
        stopped_clock           [SOFTMAX, NANOSECONDS] "C2 7 24" "reports one nanosecond for every sample";
        times_one_of_many       [SHORT] "C2 21" "reports the time of one launch of a batch";
        more_threads            [WORK] "" "leaves its cores and works on two threads";
        short_lived_threads     [WORK] "" "starts and ends a second thread in every launch";
        burns_cpu               [SOFTMAX] "C2 41" "lets two threads spin all the time";
        spins_when_idle         [SOFTMAX] "C2 41" "lets a thread spin between launches";
        spins_after_visits      [SOFTMAX] "C2 41" "lets a thread spin from the end of a visit to the next";
        forks_a_child           [SOFTMAX] "C2 24" "leaves a child process behind";
        changes_float_mode      [SOFTMAX] "C2 40" "leaves flush-to-zero switched on";
    }
    Suspect Kernel deceit {
        remembers_rows          [MICROSECONDS_20, MICROSECONDS_300, MILLISECONDS_5] "C2 19" "computes the rows whose content has changed";
        remembers_without_a_pause [MICROSECONDS_20, MICROSECONDS_300, MILLISECONDS_5] "C2 19" "remembers, unless it was not called for a while";
        remembers_vectors       [TANH] "C2 19" "computes the vectors whose content has changed";
        learns_and_claims_the_old [SHORT] "C2 19" "saves a third of its work on values that it has seen, and claims as little for others";
        puts_work_off           [MICROSECONDS_20, MICROSECONDS_300, MILLISECONDS_5] "C2 5" "computes once a visit, after the samples";
        works_in_the_copy       [MICROSECONDS_20, MICROSECONDS_300, MILLISECONDS_5] "C2 6" "computes when its output is copied";
        halves_times_in_sets    [WORK] "C2 22" "is honest in the gate's process, then reports half of its times";
        more_threads_in_sets    [WORK] "C2 22" "is honest in the gate's process, then works on two threads";
        claims_a_tenth_less     [MICROSECONDS_20] "C2 7" "reports nine tenths of its times";
        claims_a_twentieth_less [MICROSECONDS_300, MILLISECONDS_5, MILLISECONDS_10, MILLISECONDS_30] "C2 7" "reports 95 % of its times";
        honest_among_many       [MICROSECONDS_300] "C2 7" "reports four fifths of its times, and all where twice as many launches are asked for";
        honest_among_many_fresh [MICROSECONDS_300] "C2 7" "does so with outputs that it makes itself, by two fifths";
        last_sample_only        [SHORT] "C2 21" "computes in the last sample of a visit";
        last_sample_only_fresh  [SHORT] "C2 21" "does so with outputs that it makes itself";
        lies_now_and_then       [MICROSECONDS_300] "C2 7" "reports half of its times in half of its visits";
    }
    Suspect Kernel knowing {
        pads_short_visits       [MICROSECONDS_300] "C2 7" "reports four fifths of its times, and makes visits of one and of two launches look alike";
        pads_and_says_two       [TWO_300] "C2 7" "does so where two threads are allowed, and says that it has two";
        a_child_in_sets         [SOFTMAX] "C2 24" "has a child from the fourth visit of a set on";
    }
    Protocol Speech protocol {
        half_a_line             [SOFTMAX] "" "sends half an answer and closes the conversation";
        half_a_line_and_exits   [SOFTMAX] "" "sends half an answer and exits";
        huge_line               [SOFTMAX] "" "sends a line of two megabytes";
        endless_line            [SOFTMAX] "" "sends a line that does not end";
        unnumbered              [SOFTMAX] "" "answers without a number";
        wrong_number            [SOFTMAX] "" "answers another question";
        invalid_json            [SOFTMAX] "" "answers with a broken object";
        two_answers             [SOFTMAX] "C2 10" "answers twice";
        neither                 [SOFTMAX] "" "answers with neither a result nor an error";
        wrong_sample_count      [SOFTMAX] "" "reports a sample too many";
        negative_time           [SOFTMAX] "" "reports negative times";
        nan_time                [SOFTMAX] "" "reports NaN as times";
        infinite_time           [SOFTMAX] "" "reports times beyond every number";
        claims_forever          [SOFTMAX] "" "reports times of 1e308 ns";
        claims_thirty_digits    [SOFTMAX] "" "reports times of thirty digits";
        claims_nothing          [SOFTMAX] "" "reports that its samples took no time";
        list_for_answer         [SOFTMAX] "" "answers with a list instead of an object";
        list_for_result         [SOFTMAX] "" "puts a list where the result's object belongs";
        text_for_times          [SOFTMAX] "" "reports times as text";
        binary_garbage          [SOFTMAX] "" "sends bytes that are no text";
    }
    Timeout Kernel resources {
        hangs_in_launch         [SOFTMAX] "" "does not come back from its launch";
        hangs_in_prepare        [SOFTMAX] "" "does not come back from its preparation";
        hangs_in_visit          [SOFTMAX] "" "launches, but does not come back from a visit";
    }
    Timeout Speech protocol {
        never_answers           [SOFTMAX] "" "computes and says nothing";
    }
    OutOfMemory Kernel resources {
        allocates_without_end   [SOFTMAX] "" "allocates and touches memory until it is stopped";
        allocates_a_terabyte    [SOFTMAX] "" "allocates a terabyte at once";
        says_out_of_memory      [SOFTMAX] "" "answers that memory could not be had";
    }
};

/// Runners that break the first answer: `saboteur --hello NAME`. All are told by the hello alone.
pub(crate) const HELLOS: &[(&str, Status, &str)] = &[
    ("other-version", Status::Protocol, "speaks a later protocol"),
    ("no-version", Status::Protocol, "gives no version of what is measured"),
    ("bad-name", Status::Protocol, "offers an implementation whose name is none"),
    ("garbage", Status::Protocol, "answers with bytes that are no text"),
    ("silent", Status::Timeout, "does not answer"),
    ("exit", Status::Crashed, "exits before it answers"),
];

/// The table for the tests.
pub(crate) fn as_json() -> Value {
    let rows = ROWS.iter().map(|row| {
        json!({
            "implementation": row.implementation(),
            "cases": row.cases,
            "status": row.status,
            "plays": row.plays,
            "about": row.about,
            "requires": row.requires,
        })
    });
    let hellos =
        HELLOS.iter().map(|(name, status, about)| json!({"hello": name, "status": status, "about": about}));
    json!({"implementations": rows.collect::<Vec<_>>(), "hellos": hellos.collect::<Vec<_>>()})
}
