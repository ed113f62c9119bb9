//! What is hidden in the tensors of a visit: outputs poisoned and inputs changed, at drawn places.
//!
//! Every visit gets its marks, so that none can be told from another by them. Which of the outputs
//! are then judged is drawn when the answer is there.

use crate::checks::Check;
use crate::failure::Failure;
use crate::gate;
use crate::instance::{Instance, Poison, Spot};
use crate::sample::lines;
use crate::stage::Stage;
use roofline_core::fill::Fill;
use roofline_core::judge::Judgement;

/// Rows and, in each, elements that are poisoned.
const ROWS: usize = 4;
const IN_A_ROW: usize = 4;

/// One in so many elements, and one in any case, may come out as its poison by chance.
const CHANCE: usize = 8;

/// What a visit is judged by beside what was not written at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    Nothing,
    Values,
    /// Nothing, for inputs went on changing while it lasted.
    Changing,
}

impl Asked {
    /// Values by lot.
    pub fn by(lot: bool) -> Asked {
        if lot { Asked::Values } else { Asked::Nothing }
    }
}

/// The marks of one visit.
pub struct Marks {
    poisoned: Vec<Spot>,
    poison: Poison,
    /// Outputs that a change of the inputs reaches: where it shows most, and one by lot.
    reached: Vec<Spot>,
}

impl Marks {
    /// Changes one element of each input, and poisons a few outputs, the last by lot like any other.
    pub fn set(stage: &mut Stage, instance: &mut Instance, number: u32) -> Marks {
        let draws = &mut stage.draws;
        let mut reached = Vec::new();
        if stage.options.checks.on(Check::ChangedInputs) {
            for tensor in instance.changeable() {
                let element = draws.below(instance.input_tensor(tensor).elements() as u64) as usize;
                let reach = instance.case.judged().reach(&instance.problem(Fill::Uniform), tensor, element);
                for number in [0, draws.below(reach.len().max(1) as u64) as usize] {
                    let Some(reach) = reach.get(number) else { continue };
                    let index = reach.nth(draws.below(reach.count as u64) as usize);
                    reached.push(Spot { output: reach.output, index });
                }
                instance.change_input(tensor, element, draws.bits());
            }
        }
        let mut poisoned: Vec<Spot> = Vec::new();
        let poison = instance.draw_poison(number as usize, draws);
        if stage.options.checks.on(Check::Poison) {
            for (output, tensor) in instance.outputs().enumerate() {
                let (rows, cols) = lines(tensor);
                for _ in 0..ROWS.min(rows) {
                    let row = draws.below(rows as u64) as usize;
                    let mut place = || row * cols + draws.below(cols as u64) as usize;
                    poisoned.extend((0..IN_A_ROW.min(cols)).map(|_| Spot { output, index: place() }));
                }
            }
            poisoned.sort_unstable();
            poisoned.dedup();
            instance.poison_at(&poisoned, &poison);
        }
        Marks { poisoned, poison, reached }
    }

    /// Judges what was left as it was, and where that is asked what was written.
    ///
    /// An element may come out as the very bits of its poison; only its bound tells that from no work, or, where
    /// nobody knows what the last launch read, that there are several.
    pub fn judge(
        &self,
        stage: &mut Stage,
        instance: &Instance,
        asked: Asked,
        flushes: bool,
    ) -> Result<Option<Judgement>, Failure> {
        let mut wanted = instance.still_poison(&self.poisoned, &self.poison);
        if asked == Asked::Changing && wanted.len() <= (self.poisoned.len() / CHANCE).max(1) {
            return Ok(None);
        }
        if asked == Asked::Values {
            if !self.poisoned.is_empty() {
                let drawn = self.poisoned[stage.draws.below(self.poisoned.len() as u64) as usize];
                let (_, cols) = lines(instance.output(drawn.output));
                let is_beside =
                    |spot: &&Spot| spot.output == drawn.output && spot.index / cols == drawn.index / cols;
                wanted.extend(self.poisoned.iter().filter(is_beside));
            }
            wanted.extend(&self.reached);
        }
        if wanted.is_empty() {
            return Ok(None);
        }
        wanted.sort_unstable();
        wanted.dedup();
        gate::judge_spots(stage, instance, Fill::Uniform, &wanted, &self.poison, flushes).map(Some)
    }
}
