//! What is hidden in the tensors of a visit: outputs poisoned and inputs changed, at drawn places.
//!
//! Every visit gets its marks, so that none can be told from another by them. Which of the outputs
//! are then judged is drawn when the answer is there.

use crate::checks::Check;
use crate::failure::Failure;
use crate::gate;
use crate::instance::{Instance, draw_poison};
use crate::sample::lines;
use crate::stage::Stage;
use roofline_core::fill::Fill;
use roofline_core::judge::Judgement;
use roofline_core::record::Status;

/// Rows and, in each, elements that are poisoned.
const ROWS: usize = 4;
const IN_A_ROW: usize = 4;

/// The marks of one visit.
pub struct Marks {
    poisoned: Vec<usize>,
    poison: f64,
    /// Outputs that a change of the inputs reaches, one for each input.
    reached: Vec<usize>,
}

impl Marks {
    /// Changes one element of each input, and poisons a few outputs, the last by lot like any other.
    pub fn set(stage: &mut Stage, instance: &mut Instance, number: u32) -> Marks {
        let mut marks = Marks { poisoned: Vec::new(), poison: f64::NAN, reached: Vec::new() };
        let draws = &mut stage.draws;
        if stage.options.checks.on(Check::ChangedInputs) {
            for (tensor, elements) in instance.input_sizes().into_iter().enumerate() {
                let element = draws.below(elements as u64) as usize;
                let reach = (instance.case.operation.reach)(&instance.case, tensor, element);
                marks.reached.push(reach.nth(draws.below(reach.count as u64) as usize));
                instance.set_input(tensor, element, moved(instance.input(tensor, element)));
            }
        }
        if stage.options.checks.on(Check::Poison) {
            let (rows, cols) = lines(instance.output());
            for _ in 0..ROWS.min(rows) {
                let row = draws.below(rows as u64) as usize;
                let places = (0..IN_A_ROW.min(cols)).map(|_| row * cols + draws.below(cols as u64) as usize);
                marks.poisoned.extend(places);
            }
            marks.poison = draw_poison(instance.output().dtype, number as usize, draws);
            instance.poison_at(&marks.poisoned, marks.poison);
        }
        marks
    }

    /// Judges what was left as it was, whatever the lot says, and by `lot` what was written.
    ///
    /// An element may come out as the very bits of its poison; only its bound tells that from no work.
    pub fn judge(
        &self,
        stage: &mut Stage,
        instance: &Instance,
        lot: bool,
    ) -> Result<Option<Judgement>, Failure> {
        let mut wanted: Vec<usize> =
            self.poisoned.iter().copied().filter(|index| instance.is_poison(*index, self.poison)).collect();
        if lot {
            let (_, cols) = lines(instance.output());
            if !self.poisoned.is_empty() {
                let row = self.poisoned[stage.draws.below(self.poisoned.len() as u64) as usize] / cols;
                wanted.extend(self.poisoned.iter().filter(|index| *index / cols == row));
            }
            wanted.extend(&self.reached);
        }
        if wanted.is_empty() {
            return Ok(None);
        }
        wanted.sort_unstable();
        wanted.dedup();
        let expected = gate::reference(instance, Fill::Uniform, &wanted)?;
        Ok(Some(gate::judge_elements(stage, instance, &wanted, &expected, self.poison)))
    }
}

/// Says what was written beside the output, and puts it right for whoever comes next.
pub fn check_canaries(stage: &Stage, instance: &Instance) -> Result<(), Failure> {
    let Some(why) = instance.broken_canary() else { return Ok(()) };
    instance.mend_canaries();
    if stage.options.checks.on(Check::Canaries) { Err(Failure::new(Status::Wrong, why)) } else { Ok(()) }
}

/// A value as far from `x` as the uniform fill has one; integers too.
fn moved(x: f64) -> f64 {
    if x.fract() == 0.0 && x.abs() > 1.0 {
        return if x > 0.0 { x - 100.0 } else { x + 100.0 };
    }
    if x >= 0.0 { x - 1.0 } else { x + 1.0 }
}
