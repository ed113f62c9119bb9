//! The built-in runner computes what it offers.

use crate::conductor::{Conductor, add, memory, read};
use roofline_core::case::{Case, parse_form};
use roofline_core::fill::Fill;
use roofline_core::judge;
use roofline_core::mutants::forms;
use roofline_core::operation::Problem;
use roofline_core::ops::OPERATIONS;
use roofline_core::philox::Draws;
use roofline_core::protocol::{Ask, Hello, Launched, Offer, Place, Prepared, Role, VERSION};
use roofline_core::tensor::{Tensor, View};
use roofline_runner::cpu::CpuRunner;
use roofline_runner::{Channel, Session};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::thread;

fn start() -> Conductor {
    let (conductor, socket) = Conductor::over_socket();
    thread::spawn(|| Session::new(CpuRunner).converse(Channel::over_socket(socket)));
    conductor
}

fn is_kernel(offer: &Offer) -> bool {
    offer.implementation.starts_with("cpu/")
}

#[test]
fn offers_cover_every_form() {
    let hello: Hello = start().ask(Ask::Hello { protocol: VERSION }).unwrap();
    assert!(!hello.offers.is_empty());
    for form in ["add", "softmax", "rms-norm", "matmul", "matmul.nn", "matmul.fixed"] {
        let offers: Vec<_> =
            hello.offers.iter().filter(|offer| is_kernel(offer) && offer.operation == form).collect();
        assert!(offers.iter().any(|offer| offer.parallel) && offers.iter().any(|offer| !offer.parallel));
        assert!(offers.iter().all(|offer| offer.dtypes.iter().any(|id| id == "bf16")), "{form}");
    }
}

#[test]
fn add_is_computed_by_every_rung() {
    let mut conductor = start();
    let hello: Hello = conductor.ask(Ask::Hello { protocol: VERSION }).unwrap();
    for offer in hello.offers.iter().filter(|offer| is_kernel(offer) && offer.operation == "add") {
        let mut request = add(&offer.implementation, 1001);
        (request.threads, request.cores) = (2, vec![0, 1]);
        let files: Vec<File> = request
            .tensors
            .iter()
            .zip([1.5, 2.0, f32::NAN])
            .map(|(place, value)| memory(place.size, place.offset, &[value; 1001], place.role))
            .collect();
        let borrowed: Vec<&File> = files.iter().collect();
        let prepare = Ask::Prepare(Box::new(request.clone()));
        let prepared: Prepared = conductor.ask_with(prepare, &borrowed).unwrap();
        assert_eq!(prepared.threads, if offer.parallel { 2 } else { 1 });
        let _: Launched = conductor.ask(Ask::Launch { count: 1 }).unwrap();
        assert_eq!(read(&files[2], request.tensors[2].offset, 1001), [3.5; 1001]);
    }
}

#[test]
fn every_form_and_dtype_has_limits() {
    let hello: Hello = start().ask(Ask::Hello { protocol: VERSION }).unwrap();
    for operation in OPERATIONS {
        for form in operation.forms() {
            for precision in operation.precisions {
                let has = |family: &str| {
                    let mut offers = hello.offers.iter().filter(|offer| offer.operation == form);
                    offers.any(|o| {
                        o.implementation.starts_with(family) && o.dtypes.iter().any(|id| id == precision.id)
                    })
                };
                assert!(has("limit/traffic-"), "{form} of {precision}");
                // Plain Rust has no unit of its own for whole numbers.
                assert!(has("limit/compute-") || precision.dtype.format().is_none(), "{form} of {precision}");
            }
        }
    }
}

/// Every offer and dtype on zeros, but for offsets, which kernels may believe, with the tensors that the operation has: the glue fits.
#[test]
fn every_offer_launches() {
    let mut conductor = start();
    let hello: Hello = conductor.ask(Ask::Hello { protocol: VERSION }).unwrap();
    for offer in &hello.offers {
        for dtype in &offer.dtypes {
            let (operation, variant) = parse_form(&offer.operation).unwrap();
            let mut sizes = [6, 10, 8, 4].into_iter().cycle();
            let sizes = operation.axes.iter().map(|axis| sizes.next().filter(|_| axis.usual.is_none()));
            let sizes = operation.complete(&sizes.collect::<Vec<Option<u64>>>()).unwrap();
            let is_it = |form: &Case| form.variant == variant && form.precision.id == dtype;
            let form = forms(operation).find(is_it).unwrap();
            let case = operation.near(&form, &sizes, &mut Draws::new(1, 1));
            let tensors = (case.operation.tensors)(&case);
            let places = tensors.iter().map(|tensor| tensor.place(0, tensor.bytes().next_multiple_of(4096)));
            let request = case.question(&offer.implementation, places.collect());
            let is_probe = offer.implementation.starts_with("limit/");
            let content = |(index, tensor): (usize, &Tensor)| {
                let mut bytes = vec![0; tensor.bytes()];
                if tensor.content.is_offsets() && !is_probe {
                    let filling = case.operation.filling(Fill::Uniform, 1, index, tensor);
                    filling.write(0..tensor.elements(), &mut bytes);
                }
                bytes
            };
            let contents: Vec<Vec<u8>> = tensors.iter().enumerate().map(content).collect();
            let file = |(place, bytes): (&Place, &Vec<u8>)| {
                let words = bytes.as_chunks().0.iter().map(|word| f32::from_le_bytes(*word));
                memory(place.size, 0, &words.collect::<Vec<f32>>(), place.role)
            };
            let files: Vec<File> = request.tensors.iter().zip(&contents).map(file).collect();
            let first = request.tensors.iter().position(|place| place.role == Role::Output).unwrap();
            let (place, output) = (&request.tensors[first], &files[first]);
            output.write_all_at(&[0x7f; 4096], 0).unwrap();
            let borrowed: Vec<&File> = files.iter().collect();
            let prepare = Ask::Prepare(Box::new(request.clone()));
            let _: Prepared = conductor.ask_with(prepare, &borrowed).unwrap();
            let _: Launched = conductor.ask(Ask::Launch { count: 1 }).unwrap();
            let mut bytes = vec![0; place.bytes as usize];
            output.read_exact_at(&mut bytes, 0).unwrap();
            if is_probe {
                // Probes compute no result; those of traffic write what they read, and what is restored is written anyway.
                let written = offer.implementation.starts_with("limit/traffic-") || case.is_restored();
                assert_eq!(bytes.iter().all(|byte| *byte == 0), written, "{}", offer.implementation);
                continue;
            }
            let inputs = tensors.iter().zip(&contents).filter(|(tensor, _)| tensor.role.is_input());
            let inputs = inputs.map(|(tensor, bytes)| View { dtype: tensor.dtype, bytes }).collect();
            let problem = Problem { case: &case, fill: Fill::Uniform, inputs };
            let wanted: Vec<usize> = (0..bytes.len() / place.dtype.size()).collect();
            let expected = case.judged().reference(&problem, 0, &wanted);
            for (index, expected) in expected.iter().enumerate() {
                let got = place.dtype.read(&bytes, index);
                let score = judge::score(place.dtype, got, expected, 1.0);
                assert!(score <= 1.0, "{} of {}: {got}, {expected:?}", offer.implementation, request.case);
            }
        }
    }
}
