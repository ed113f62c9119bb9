//! Memory, poison and contents of an instance.

use super::*;

fn instance(placement: Placement) -> Instance {
    let case = "rms-norm/bf16/rows=5,cols=7".parse().unwrap();
    Instance::new(&case, placement, &mut Draws::new(1, 1)).unwrap()
}

#[test]
fn data_is_flush_with_the_edges() {
    let end = |place: &Place| place.offset + place.bytes == place.size;
    assert!(instance(Placement::FlushEnd { align: 1 }).places().iter().all(end));
    let apart = instance(Placement::FlushEnd { align: 64 });
    assert!(apart.places().iter().all(|place| place.offset % 64 == 0));
    assert_eq!(apart.gap(), 128 - 70, "of the largest tensor");
    assert_eq!(apart.broken_canary(), None);
    let placed = &apart.outputs[0];
    placed.memory.write(placed.end() + 3, b"x");
    assert!(apart.broken_canary().unwrap().contains("past the end"), "the gap has canaries");
    assert!(instance(Placement::FlushStart).places().iter().all(|place| place.offset == 0));
    let aligned = instance(Placement::Aligned { offset: 192 });
    assert!(aligned.places().iter().all(|place| place.offset == 4096 + 192 && !end(place)));
}

#[test]
fn placements_parse_back() {
    for text in ["start", "end", "end/64", "offset/0", "offset/192"] {
        assert_eq!(text.parse::<Placement>().unwrap().to_string(), text);
    }
    for text in ["", "middle", "end/", "end/0", "end/48", "end/8192", "offset/4096", "offset/-1", "start/1"] {
        assert!(text.parse::<Placement>().unwrap_err().contains("is no placement"), "{text}");
    }
}

#[test]
fn filling_poisoning_and_canaries() {
    let mut instance = instance(Placement::Aligned { offset: 0 });
    instance.fill(Fill::Uniform, 3);
    let hash = instance.hash_inputs();
    instance.set_input(0, 3, 5.0);
    assert_eq!(instance.input(0, 3), 5.0);
    assert_ne!(instance.hash_inputs(), hash);
    for launch in 0..3 {
        let poison = instance.draw_poison(launch, &mut Draws::new(2, 2));
        instance.poison(&poison);
        let spots: Vec<Spot> = (0..35).map(|index| Spot { output: 0, index }).collect();
        assert_eq!(instance.still_poison(&spots, &poison), spots);
    }
    let spot = |index| [Spot { output: 0, index }];
    instance.poison_at(&spot(7), &Poison(vec![1.0]));
    assert_eq!(instance.read_output(0, &[7]), [1.0]);
    assert_eq!(instance.output_row(0, 1, 7)[0], 1.0);
    let hash = instance.hash_outputs();
    instance.poison_at(&spot(34), &Poison(vec![2.0]));
    assert_ne!(instance.hash_outputs(), hash);
    assert_eq!(instance.first_unwritten(0, &Poison(vec![2.0])), Some(34));
    assert_eq!(instance.first_unwritten(0, &Poison(vec![3.0])), None);
    instance.poison_at(&spot(30), &Poison(vec![2.0]));
    assert_eq!(instance.unwritten(0, &Poison(vec![2.0]), 9), [30, 34]);
    assert_eq!(instance.broken_canary(), None);
    let placed = &instance.outputs[0];
    placed.memory.write(placed.end(), b"x");
    assert!(instance.broken_canary().unwrap().contains("past the end"));
    placed.memory.write(placed.end(), &[instance.canary]);
    placed.memory.write(placed.offset - 1, b"x");
    assert!(instance.broken_canary().unwrap().contains("1 byte before"));
}

/// A byte is as likely as not what its poison was, and never what another poison is.
#[test]
fn another_poison_of_a_byte_is_another() {
    let case = "quantize/f32/rows=5,cols=300".parse().unwrap();
    let instance = Instance::new(&case, Placement::FlushStart, &mut Draws::new(1, 1)).unwrap();
    let mut draws = Draws::new(7, 2);
    let poison = instance.draw_poison(0, &mut draws);
    instance.poison(&poison);
    for _ in 0..1000 {
        let other = instance.draw_other_poison(&poison, &mut draws);
        assert!(instance.still_poison(&[Spot { output: 0, index: 3 }], &other).is_empty());
    }
}

/// Codes of rows of one element are the largest, those of rows of zeros are zero.
#[test]
fn no_row_is_full_of_the_poison_of_a_byte() {
    let mut draws = Draws::new(9, 4);
    for launch in 0..10_000 {
        let poison = super::draw_poison(Dtype::I8, launch, &mut draws);
        assert!((16.0..=96.0).contains(&poison.abs()), "{poison}");
        let poison = super::draw_poison(Dtype::U8, launch, &mut draws);
        assert!((16.0..=96.0).contains(&poison) || (160.0..=240.0).contains(&poison), "{poison}");
    }
}

#[test]
fn sets_have_contents_marks_and_canaries_of_their_own() {
    let case = "add/f32/rows=3,cols=5/cache=cold".parse().unwrap();
    let placement = Placement::Aligned { offset: 64 };
    let mut instance = Instance::owned(None, &case, placement, 3, &mut Draws::new(1, 1)).unwrap();
    instance.fill(Fill::Uniform, 7);
    let contents: Vec<f64> = (0..3)
        .map(|set| {
            instance.turn(set);
            instance.poison_at(&[Spot { output: 0, index: 4 }], &Poison(vec![set as f64]));
            assert_eq!(instance.broken_canary(), None, "set {set}");
            instance.input(0, 4)
        })
        .collect();
    assert!(contents[0] != contents[1] && contents[1] != contents[2], "{contents:?}");
    for set in 0..3 {
        instance.turn(set);
        assert_eq!(instance.read_output(0, &[4]), [set as f64]);
    }
    instance.turn(0);
    let place = &instance.places()[2];
    let sets = place.sets.unwrap();
    assert_eq!((sets.count, place.offset), (3, 4096 + 64));
    assert!(place.offset + 2 * sets.stride + place.bytes <= place.size);
    let placed = &instance.outputs[0];
    placed.memory.write(placed.end() + sets.stride as usize, b"x");
    assert_eq!(instance.broken_canary(), None, "that is another set's");
    instance.turn(1);
    assert!(instance.broken_canary().unwrap().contains("past the end"));
}

#[test]
fn orders_and_offsets_change_and_stay_what_they_are() {
    let case = "paged-attention/f32/batch=4,pages=20,page=8,heads=1,dim=8".parse().unwrap();
    let mut instance = Instance::new(&case, Placement::FlushStart, &mut Draws::new(1, 1)).unwrap();
    instance.fill(Fill::Uniform, 3);
    let find = |instance: &Instance, is_meant: fn(Content) -> bool| {
        let tensors = instance.changeable();
        tensors.into_iter().find(|tensor| is_meant(instance.input_tensor(*tensor).content)).unwrap()
    };
    let order = find(&instance, |content| matches!(content, Content::Order { .. }));
    let offsets = find(&instance, Content::is_offsets);
    let values = |instance: &Instance, tensor: usize| -> Vec<f64> {
        (0..instance.input_tensor(tensor).elements()).map(|i| instance.input(tensor, i)).collect()
    };
    let mut draws = Draws::new(4, 4);
    for tensor in [order, offsets] {
        let before = values(&instance, tensor);
        for element in (0..before.len()).cycle().take(200) {
            instance.change_input(tensor, element, draws.bits());
        }
        let after = values(&instance, tensor);
        assert_ne!(after, before);
        if tensor == offsets {
            assert!(after.is_sorted() && after[0] == 0.0 && after.last() == Some(&20.0), "{after:?}");
        } else {
            let sorted = |mut values: Vec<f64>| {
                values.sort_by(f64::total_cmp);
                values
            };
            assert_eq!(sorted(after), sorted(before));
        }
    }
}

#[test]
fn threads_fill_the_same_bits() {
    let case = "add/f32/rows=300,cols=1000".parse().unwrap();
    let mut instance = Instance::new(&case, Placement::FlushEnd { align: 1 }, &mut Draws::new(1, 1)).unwrap();
    instance.fill(Fill::Normal, 9);
    let tensor = (case.operation.tensors)(&case)[1].clone();
    let mut bytes = vec![0; tensor.bytes()];
    case.operation.filling(Fill::Normal, 9, 1, &tensor).write(0..tensor.elements(), &mut bytes);
    assert_eq!(instance.problem(Fill::Normal).inputs[1].bytes, bytes);
}
