//! Layers above each other, one sequence at a time.

use super::{How, Sizes};
use crate::number::{Number, Rows};
use crate::operation::family::whole::All;

/// One step of one sequence.
pub(in crate::ops) struct At<'a, 'b> {
    pub all: &'b All<'a>,
    /// W_ih·x + b_ih and W_hh·h + b_hh, gate after gate.
    pub from_input: Vec<Number<'a>>,
    pub from_state: Vec<Number<'a>>,
    pub state: &'b [Number<'a>],
    pub kept: &'b [Number<'a>],
    weights: &'b Rows,
    biases: &'b [Number<'a>],
}

impl<'a> At<'a, '_> {
    /// What comes of each unit.
    pub fn map<T>(&self, of: impl Fn(&Self, usize) -> T) -> Vec<T> {
        (0..self.state.len()).map(|unit| of(self, unit)).collect()
    }

    /// The argument of a gate at a unit.
    pub fn gate(&self, gate: usize, unit: usize) -> Number<'a> {
        let row = gate * self.state.len() + unit;
        self.from_input[row] + self.from_state[row]
    }

    /// W_hh·h + b_hh of another state.
    pub fn of_state(&self, state: &[Number<'a>]) -> Vec<Number<'a>> {
        added(self.all.weighted(state, self.weights), self.biases)
    }
}

fn added<'a>(sums: Vec<Number<'a>>, biases: &[Number<'a>]) -> Vec<Number<'a>> {
    if biases.is_empty() {
        return sums;
    }
    sums.into_iter().zip(biases).map(|(sum, bias)| sum + *bias).collect()
}

/// The wanted elements: those of a sequence from its first step up to the last that is wanted, or all of its steps where
/// something is read from the last on.
pub(in crate::ops) fn states<'a>(
    all: &All<'a>,
    output: usize,
    wanted: &[usize],
    how: How,
) -> Vec<Number<'a>> {
    let sizes = Sizes::of(all.case());
    let Sizes { seq, batch, hidden, .. } = sizes;
    // The sequence of an element; the step, or the cell whose last state it is of; and the number within that.
    let place = |element: usize| {
        let length = if output == 0 { sizes.width() } else { hidden };
        (element / length % batch, element / length / batch, element % length)
    };
    let stack = Stack::new(all, how);
    let mut found: Vec<Number> = vec![all.number(0.0); wanted.len()];
    for b in 0..batch {
        let own = wanted.iter().enumerate().map(|(index, element)| (index, place(*element)));
        let own: Vec<(usize, usize, usize)> =
            own.filter(|(_, (of, _, _))| *of == b).map(|(index, (_, of, unit))| (index, of, unit)).collect();
        let Some(last) = own.iter().map(|(_, of, _)| *of).max() else { continue };
        let is_cut = output == 0 && sizes.directions == 1;
        let (steps, ends) = stack.run(b, if is_cut { last + 1 } else { seq });
        for (index, of, unit) in own {
            found[index] = match output {
                0 => steps[of][unit],
                1 => ends[of].0[unit],
                _ => ends[of].1[unit],
            };
        }
    }
    found
}

/// A state, and what is kept beside it.
type State<'a> = (Vec<Number<'a>>, Vec<Number<'a>>);

/// All cells with their weights, layer by layer.
struct Stack<'a, 'b> {
    all: &'b All<'a>,
    how: How,
    sizes: Sizes,
    cells: Vec<Weights<'a>>,
}

struct Weights<'a> {
    from_input: Rows,
    from_state: Rows,
    biases: [Vec<Number<'a>>; 2],
}

impl<'a, 'b> Stack<'a, 'b> {
    fn new(all: &'b All<'a>, how: How) -> Stack<'a, 'b> {
        let sizes = Sizes::of(all.case());
        let rows = how.cell.gates * sizes.hidden;
        let first = 2 + usize::from(how.cell.keeps);
        let block = |tensor: usize, cell: usize, length: usize| {
            Rows::new(rows, &all.line(tensor, cell * rows * length, rows * length))
        };
        let bias = |tensor: usize, cell: usize| {
            (0..rows).map(|row| all.x(tensor, cell * rows + row)).collect::<Vec<_>>()
        };
        let of_cell = |layer: usize, direction: usize| {
            let known = (how.weights_of)(layer) * sizes.directions + direction;
            Weights {
                from_input: match layer {
                    0 => block(first, direction, sizes.input),
                    _ => block(first + 4, (layer - 1) * sizes.directions + direction, sizes.width()),
                },
                from_state: block(first + 1, known, sizes.hidden),
                biases: [
                    bias(first + 2, known),
                    if how.both_biases { bias(first + 3, known) } else { Vec::new() },
                ],
            }
        };
        let of_layer = |layer: usize| (0..sizes.directions).map(move |direction| (layer, direction));
        let cells = (0..sizes.layers).flat_map(of_layer).map(|(layer, direction)| of_cell(layer, direction));
        Stack { all, how, sizes, cells: cells.collect() }
    }

    /// What the last layer writes at each of the first steps of a sequence, and the last state of every cell.
    fn run(&self, b: usize, steps: usize) -> (Vec<Vec<Number<'a>>>, Vec<State<'a>>) {
        let Sizes { batch, layers, directions, hidden, input, .. } = self.sizes;
        let (all, how) = (self.all, self.how);
        let row = |t: usize| {
            let first = ((how.step)(all.case(), t) * batch + b) * input;
            (first..first + input).map(|element| all.x(0, element)).collect()
        };
        let mut below: Vec<Vec<Number>> = (0..steps).map(row).collect();
        let mut ends = Vec::new();
        for layer in 0..layers {
            let mut above = vec![vec![all.number(0.0); self.sizes.width()]; steps];
            for direction in 0..directions {
                let weights = &self.cells[layer * directions + direction];
                let mut state = self.first(layer, direction, b);
                for read in 0..steps {
                    let x = &below[if direction == 0 { read } else { steps - 1 - read }];
                    if read > 0 {
                        state = self.carried(state, || self.first(layer, direction, b));
                    }
                    state = self.next(weights, x, &state);
                    let first = (how.half)(direction, directions) * hidden;
                    above[(how.written)(direction, read, steps)][first..first + hidden]
                        .copy_from_slice(&state.0);
                }
                ends.push(state);
            }
            below = above;
        }
        (below, ends)
    }

    /// The state that a sequence begins with.
    fn first(&self, layer: usize, direction: usize, b: usize) -> State<'a> {
        let Sizes { batch, directions, hidden, .. } = self.sizes;
        let b = (self.how.sequence)(self.all.case(), b);
        let first = (((self.how.first_of)(layer) * directions + direction) * batch + b) * hidden;
        let row =
            |tensor: usize| (first..first + hidden).map(|element| self.all.x(tensor, element)).collect();
        (row(1), if self.how.cell.keeps { row(2) } else { Vec::new() })
    }

    /// What of a state is there at the next step.
    fn carried(&self, state: State<'a>, first: impl FnOnce() -> State<'a>) -> State<'a> {
        if self.how.carries_state && self.how.carries_kept {
            return state;
        }
        let first = first();
        (
            if self.how.carries_state { state.0 } else { first.0 },
            if self.how.carries_kept { state.1 } else { first.1 },
        )
    }

    fn next(&self, weights: &Weights<'a>, x: &[Number<'a>], (state, kept): &State<'a>) -> State<'a> {
        let all = self.all;
        let at = At {
            all,
            from_input: added(all.weighted(x, &weights.from_input), &weights.biases[0]),
            from_state: added(all.weighted(state, &weights.from_state), &weights.biases[1]),
            state,
            kept,
            weights: &weights.from_state,
            biases: &weights.biases[1],
        };
        (self.how.next)(&at)
    }
}
