//! A case with memory: its tensors in memory files, placed, filled, poisoned, read back.

use crate::sys::memory::{MemoryFile, Sealed, Shared};
use roofline_core::case::Case;
use roofline_core::dtype::Dtype;
use roofline_core::fill::Fill;
use roofline_core::operation::Problem;
use roofline_core::philox::Draws;
use roofline_core::protocol::{Place, Role};
use roofline_core::tensor::{Content, Tensor, View};
use std::fmt;
use std::io;
use std::os::fd::BorrowedFd;
use std::str::FromStr;

const PAGE: usize = 4096;

/// Where the data lies in its file, and so relative to the unreadable pages around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// The last element ends where the page after it cannot be touched, or as near to it as data that
    /// begins at a multiple of `align` bytes can; 1 leaves no gap.
    FlushEnd { align: usize },
    /// The first element begins where the page before it cannot be touched.
    FlushStart,
    /// So many bytes into a page, canaries on both sides: in timed visits a multiple of 64, the same for every
    /// implementation.
    Aligned { offset: usize },
}

/// As `roofline job --placement` reads it: `start`, `end`, `end/64`, `offset/192`.
impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Placement::FlushStart => f.write_str("start"),
            Placement::FlushEnd { align: 1 } => f.write_str("end"),
            Placement::FlushEnd { align } => write!(f, "end/{align}"),
            Placement::Aligned { offset } => write!(f, "offset/{offset}"),
        }
    }
}

impl FromStr for Placement {
    type Err = String;

    fn from_str(text: &str) -> Result<Placement, String> {
        let number = |text: &str| text.parse::<usize>().ok().filter(|number| *number < PAGE);
        let placement = match text.split_once('/') {
            None if text == "start" => Some(Placement::FlushStart),
            None if text == "end" => Some(Placement::FlushEnd { align: 1 }),
            Some(("end", align)) => number(align)
                .filter(|align| align.is_power_of_two())
                .map(|align| Placement::FlushEnd { align }),
            Some(("offset", offset)) => number(offset).map(|offset| Placement::Aligned { offset }),
            _ => None,
        };
        placement.ok_or_else(|| {
            format!("`{text}` is no placement; write `start`, `end`, `end/64` or `offset/192`, in bytes below {PAGE}")
        })
    }
}

#[derive(Debug)]
pub struct Instance {
    pub case: Case,
    inputs: Vec<Placed<Sealed>>,
    outputs: Vec<Placed<Shared>>,
    canary: u8,
}

/// An element of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spot {
    pub output: usize,
    pub index: usize,
}

/// What outputs hold before a launch, a value for each of them.
#[derive(Clone, Debug)]
pub struct Poison(pub(crate) Vec<f64>);

impl Poison {
    pub fn of(&self, output: usize) -> f64 {
        self.0[output]
    }
}

#[derive(Debug)]
struct Placed<M> {
    tensor: Tensor,
    memory: M,
    offset: usize,
}

impl<M> Placed<M> {
    fn end(&self) -> usize {
        self.offset + self.tensor.bytes()
    }
}

impl Instance {
    /// Makes the memory of a case. Contents are noise until [`Instance::fill`].
    pub fn new(case: &Case, placement: Placement, draws: &mut Draws) -> io::Result<Instance> {
        let canary = draws.bits() as u8;
        let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
        for tensor in (case.operation.tensors)(case) {
            let bytes = tensor.bytes();
            let (offset, size) = match placement {
                Placement::FlushStart => (0, bytes.next_multiple_of(PAGE)),
                Placement::FlushEnd { align } => {
                    let size = bytes.next_multiple_of(PAGE);
                    ((size - bytes) / align * align, size)
                }
                Placement::Aligned { offset } => {
                    let offset = PAGE + offset;
                    (offset, (offset + bytes + PAGE).next_multiple_of(PAGE))
                }
            };
            let (before, after) = (vec![canary; offset], vec![canary; size - offset - bytes]);
            if tensor.role.is_input() {
                let mut memory = Sealed::new(tensor.name, size)?;
                memory.write(0, &before);
                memory.write(offset + bytes, &after);
                inputs.push(Placed { tensor, memory, offset });
            } else {
                let memory = Shared::new(tensor.name, size)?;
                memory.write(0, &before);
                memory.write(offset + bytes, &after);
                outputs.push(Placed { tensor, memory, offset });
            }
        }
        Ok(Instance { case: case.clone(), inputs, outputs, canary })
    }

    /// Every tensor with its file and where it begins there: inputs first, then outputs.
    fn files(&self) -> impl Iterator<Item = (&Tensor, &MemoryFile, usize)> {
        let inputs = self.inputs.iter().map(|placed| (&placed.tensor, &*placed.memory, placed.offset));
        let outputs = self.outputs.iter().map(|placed| (&placed.tensor, &*placed.memory, placed.offset));
        inputs.chain(outputs)
    }

    /// The most bytes that lie between the end of a tensor and the end of its memory.
    pub fn gap(&self) -> usize {
        let gap =
            |(tensor, memory, offset): (&Tensor, &MemoryFile, usize)| memory.size() - offset - tensor.bytes();
        self.files().map(gap).max().unwrap_or(0)
    }

    /// Empties every cache of the case's tensors, whoever had them there.
    pub fn flush(&self) {
        self.files().for_each(|(_, memory, _)| memory.flush());
    }

    /// What an element of an output is before a launch, where the output starts as an input.
    pub fn starts_as(&self, output: usize, index: usize) -> Option<f64> {
        let name = self.output(output).starts_as?;
        let tensor = self.inputs.iter().position(|placed| placed.tensor.name == name)?;
        Some(self.input(tensor, index))
    }

    /// What `prepare` says of the tensors.
    pub fn places(&self) -> Vec<Place> {
        let place = |(tensor, memory, offset): (&Tensor, &MemoryFile, usize)| {
            Place::of(tensor, offset, memory.size())
        };
        self.files().map(place).collect()
    }

    pub fn fds(&self) -> Vec<BorrowedFd<'_>> {
        self.files().map(|(_, memory, _)| memory.fd()).collect()
    }

    /// Writes each tensor's file to `folder` under the tensor's name.
    pub fn save(&self, folder: &std::path::Path) -> io::Result<()> {
        self.files().try_for_each(|(tensor, memory, _)| memory.save(&folder.join(tensor.name)))
    }

    /// Fills every input; whoever has packed constants must be prepared anew.
    pub fn fill(&mut self, fill: Fill, seed: u64) {
        self.fill_those(fill, seed, |_| true);
    }

    /// Fills every input that may change between launches.
    pub fn refill(&mut self, fill: Fill, seed: u64) {
        self.fill_those(fill, seed, |role| role != Role::Constant);
    }

    /// On as many threads as there are cores.
    fn fill_those(&mut self, fill: Fill, seed: u64, is_meant: impl Fn(Role) -> bool) {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let operation = self.case.operation;
        let inputs = self.inputs.iter_mut().enumerate().filter(|(_, placed)| is_meant(placed.tensor.role));
        for (index, placed) in inputs {
            let content = operation.filling(fill, seed, index, &placed.tensor);
            let (elements, size) = (placed.tensor.elements(), placed.tensor.dtype.size());
            let range = placed.offset..placed.end();
            let bytes = &mut placed.memory.bytes_mut()[range];
            let part = if elements < 1 << 16 { elements } else { elements.div_ceil(threads) };
            std::thread::scope(|scope| {
                for (number, chunk) in bytes.chunks_mut(part * size).enumerate() {
                    let first = number * part;
                    let mut work = move || content.write(first..first + chunk.len() / size, chunk);
                    if part == elements { work() } else { drop(scope.spawn(work)) }
                }
            });
        }
    }

    /// The inputs as they are, for the reference.
    pub fn problem(&self, fill: Fill) -> Problem<'_> {
        let inputs = self.inputs().map(|(_, view)| view).collect();
        Problem { case: &self.case, fill, inputs }
    }

    fn inputs(&self) -> impl Iterator<Item = (&Tensor, View<'_>)> {
        self.inputs.iter().map(|placed| {
            let bytes = &placed.memory.bytes()[placed.offset..placed.end()];
            (&placed.tensor, View { dtype: placed.tensor.dtype, bytes })
        })
    }

    /// Numbers of the inputs that may change while a case is prepared, and that have an element.
    pub fn changeable(&self) -> Vec<usize> {
        let may_change = |(_, placed): &(usize, &Placed<Sealed>)| {
            placed.tensor.role == Role::Input && placed.tensor.elements() > 0
        };
        self.inputs.iter().enumerate().filter(may_change).map(|(number, _)| number).collect()
    }

    /// Whether preparation may read inputs, so that other contents need another.
    pub fn has_constants(&self) -> bool {
        self.inputs.iter().any(|placed| placed.tensor.role == Role::Constant)
    }

    pub fn input_tensor(&self, tensor: usize) -> &Tensor {
        &self.inputs[tensor].tensor
    }

    pub fn input(&self, tensor: usize, element: usize) -> f64 {
        let placed = &self.inputs[tensor];
        placed.tensor.dtype.read(&placed.memory.bytes()[placed.offset..placed.end()], element)
    }

    /// Changes one input element; the runners see it at once.
    pub fn set_input(&mut self, tensor: usize, element: usize, value: f64) {
        let placed = &mut self.inputs[tensor];
        let dtype = placed.tensor.dtype;
        let mut code = [0; 8];
        dtype.write(&mut code, 0, value);
        placed.memory.write(placed.offset + element * dtype.size(), &code[..dtype.size()]);
    }

    /// Moves an input element, which nobody is reading, so far that it is seen in what it reaches.
    pub fn change_input(&mut self, tensor: usize, element: usize, bits: u64) {
        let (old, last) = (self.input(tensor, element), self.input_tensor(tensor).elements() - 1);
        let value = match self.input_tensor(tensor).content {
            // What stands in an order stands there once: two change places.
            Content::Order { .. } => {
                let other = (bits % (last as u64 + 1)) as usize;
                let there = self.input(tensor, other);
                self.set_input(tensor, other, old);
                there
            }
            // One that another seed would have given, so that parts stay as even as they were; the first and the last
            // are given.
            content if content.is_offsets() && (1..last).contains(&element) => {
                let [low, high] = [element - 1, element + 1].map(|beside| self.input(tensor, beside));
                let placed = &self.inputs[tensor].tensor;
                let mut drawn = [0; 8];
                let filling = self.case.operation.filling(Fill::Uniform, bits, tensor, placed);
                filling.write(element..element + 1, &mut drawn[..placed.dtype.size()]);
                placed.dtype.read(&drawn, 0).clamp(low, high)
            }
            _ => self.input_tensor(tensor).changed(old, bits),
        };
        self.set_input(tensor, element, value);
    }

    /// Writes an input element that may be in use: a value made of `bits`, or the one that it has.
    pub fn renew_input(&mut self, tensor: usize, element: usize, bits: u64, is_new: bool) {
        let renewed = self.inputs[tensor].tensor.renewed(bits);
        let value = self.input(tensor, element);
        self.set_input(tensor, element, renewed.filter(|_| is_new).unwrap_or(value));
    }

    /// A number that changes when any input byte changes.
    pub fn hash_inputs(&self) -> u64 {
        self.inputs().fold(HASH_START, |hash, (_, view)| hash_on(hash, view.bytes))
    }

    pub fn outputs(&self) -> impl ExactSizeIterator<Item = &Tensor> {
        self.outputs.iter().map(|placed| &placed.tensor)
    }

    pub fn output(&self, output: usize) -> &Tensor {
        &self.outputs[output].tensor
    }

    /// Values of the chosen elements of an output.
    pub fn read_output(&self, output: usize, indices: &[usize]) -> Vec<f64> {
        indices.iter().map(|index| self.output_value(Spot { output, index: *index })).collect()
    }

    /// The value of one element of an output.
    pub fn output_value(&self, spot: Spot) -> f64 {
        let (dtype, bytes) = self.output_code(spot);
        dtype.read(&bytes, 0)
    }

    /// One row of an output, seen as a matrix with rows of `cols` elements.
    pub fn output_row(&self, output: usize, row: usize, cols: usize) -> Vec<f64> {
        let placed = &self.outputs[output];
        let size = placed.tensor.dtype.size();
        let start = placed.offset + row * cols * size;
        let mut bytes = vec![0; cols * size];
        placed.memory.copy(start..start + bytes.len(), &mut bytes);
        View { dtype: placed.tensor.dtype, bytes: &bytes }.line(0, 1, cols)
    }

    /// The whole outputs, copied.
    pub fn whole_outputs(&self) -> Vec<(Dtype, Vec<u8>)> {
        let copy = |placed: &Placed<Shared>| {
            let mut bytes = vec![0; placed.tensor.bytes()];
            placed.memory.copy(placed.offset..placed.end(), &mut bytes);
            (placed.tensor.dtype, bytes)
        };
        self.outputs.iter().map(copy).collect()
    }

    /// A number that changes when any byte of an output changes.
    pub fn hash_outputs(&self) -> u64 {
        let mut hash = HASH_START;
        for placed in &self.outputs {
            chunks(placed, |_, bytes| {
                hash = hash_on(hash, bytes);
                true
            });
        }
        hash
    }

    /// The first element of an output that still has exactly the bits of its poison.
    pub fn first_unwritten(&self, output: usize, poison: &Poison) -> Option<usize> {
        self.unwritten(output, poison, 1).first().copied()
    }

    /// The first so many of such elements.
    pub fn unwritten(&self, output: usize, poison: &Poison, most: usize) -> Vec<usize> {
        let placed = &self.outputs[output];
        let (size, code) = (placed.tensor.dtype.size(), code(placed, poison.of(output)));
        let mut found = Vec::new();
        chunks(placed, |first, bytes| {
            let elements = bytes.chunks_exact(size).zip(first..);
            let kept = elements.filter(|(element, _)| *element == &code[..size]).map(|(_, at)| at);
            found.extend(kept.take(most - found.len()));
            found.len() < most
        });
        found
    }

    /// The bytes of one element of an output, in front of zeros.
    fn output_code(&self, spot: Spot) -> (Dtype, [u8; 8]) {
        let placed = &self.outputs[spot.output];
        let size = placed.tensor.dtype.size();
        let start = placed.offset + spot.index * size;
        let mut bytes = [0; 8];
        placed.memory.copy(start..start + size, &mut bytes[..size]);
        (placed.tensor.dtype, bytes)
    }

    /// Values that no honest launch leaves in every element, drawn anew for each launch.
    pub fn draw_poison(&self, launch: usize, draws: &mut Draws) -> Poison {
        Poison(self.outputs().map(|tensor| draw_poison(tensor.dtype, launch, draws)).collect())
    }

    /// The same, of which no value is that of another poison.
    pub fn draw_other_poison(&self, other: &Poison, draws: &mut Draws) -> Poison {
        loop {
            let poison = self.draw_poison(1, draws);
            if poison.0.iter().zip(&other.0).all(|(one, other)| one != other) {
                return poison;
            }
        }
    }

    /// Overwrites all outputs with their poison.
    pub fn poison(&self, poison: &Poison) {
        for (placed, poison) in self.outputs.iter().zip(&poison.0) {
            let size = placed.tensor.dtype.size();
            let mut block = vec![0; size * placed.tensor.elements().min(1 << 16)];
            (0..block.len() / size).for_each(|i| placed.tensor.dtype.write(&mut block, i, *poison));
            let mut at = placed.offset;
            while at < placed.end() {
                let count = block.len().min(placed.end() - at);
                placed.memory.write(at, &block[..count]);
                at += count;
            }
        }
    }

    /// Overwrites the chosen elements with their poison.
    pub fn poison_at(&self, spots: &[Spot], poison: &Poison) {
        for spot in spots {
            let placed = &self.outputs[spot.output];
            let size = placed.tensor.dtype.size();
            let code = code(placed, poison.of(spot.output));
            placed.memory.write(placed.offset + spot.index * size, &code[..size]);
        }
    }

    /// Whether the element still has exactly the bits of its poison.
    pub fn is_poison(&self, spot: Spot, poison: &Poison) -> bool {
        self.output_code(spot).1 == code(&self.outputs[spot.output], poison.of(spot.output))
    }

    /// Writes the known bytes beside the data of outputs anew.
    pub fn mend_canaries(&self) {
        for placed in &self.outputs {
            placed.memory.write(0, &vec![self.canary; placed.offset]);
            placed.memory.write(placed.end(), &vec![self.canary; placed.memory.size() - placed.end()]);
        }
    }

    /// Says which bytes beside the data of an output were written, if any.
    pub fn broken_canary(&self) -> Option<String> {
        self.outputs.iter().find_map(|placed| {
            // The first wrong byte of an edge and the one after the last.
            let wrong = |range: std::ops::Range<usize>| {
                let mut edge = vec![0; range.len()];
                placed.memory.copy(range, &mut edge);
                let is_wrong = |byte: &u8| *byte != self.canary;
                edge.iter().position(is_wrong).zip(edge.iter().rposition(is_wrong).map(|last| last + 1))
            };
            let name = placed.tensor.name;
            let bytes = |count: usize| format!("{count} byte{}", if count == 1 { "" } else { "s" });
            if let Some((first, _)) = wrong(0..placed.offset) {
                let before = bytes(placed.offset - first);
                return Some(format!("wrote {before} before the start of `{name}`"));
            }
            let (_, end) = wrong(placed.end()..placed.memory.size())?;
            Some(format!("wrote up to {} past the end of `{name}`", bytes(end)))
        })
    }
}

/// Copies an output piece by piece: index of the first element and bytes, until told to stop.
fn chunks(placed: &Placed<Shared>, mut each: impl FnMut(usize, &[u8]) -> bool) {
    let mut bytes = vec![0; CHUNK];
    for start in (placed.offset..placed.end()).step_by(CHUNK) {
        let piece = &mut bytes[..CHUNK.min(placed.end() - start)];
        placed.memory.copy(start..start + piece.len(), piece);
        if !each((start - placed.offset) / placed.tensor.dtype.size(), piece) {
            return;
        }
    }
}

/// The bytes of a value in an output's type, in front of zeros.
fn code(placed: &Placed<Shared>, value: f64) -> [u8; 8] {
    let mut code = [0; 8];
    placed.tensor.dtype.write(&mut code, 0, value);
    code
}

/// Pieces in which a large output is read; a multiple of every element's size.
const CHUNK: usize = 1 << 18;

const HASH_START: u64 = 0xcbf2_9ce4_8422_2325;

/// Carries a hash on over more bytes. Not cryptographic: it guards against accidents and sealed files
/// against the rest.
fn hash_on(hash: u64, bytes: &[u8]) -> u64 {
    let step = |hash: u64, word: u64| (hash.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let (words, rest) = bytes.as_chunks::<8>();
    let hash = words.iter().fold(hash, |hash, word| step(hash, u64::from_le_bytes(*word)));
    rest.iter().fold(hash, |hash, byte| step(hash, u64::from(*byte)))
}

/// Two finite values and NaN in turn; of integers, any that the type has.
fn draw_poison(dtype: Dtype, launch: usize, draws: &mut Draws) -> f64 {
    let draw = 1.0 + draws.below(1 << 20) as f64 / f64::from(1 << 20);
    match (launch % 3, dtype.format()) {
        (_, None) if dtype.size() == 1 => draws.below(256) as f64 - 128.0,
        (kind, None) => (draw * 1e6).round() * if kind == 0 { 1.0 } else { -1.0 },
        (0, Some(format)) => format.round(draw * 173.0),
        (1, Some(format)) => format.round(draw * -0.0137),
        (_, Some(_)) => f64::NAN,
    }
}

#[cfg(test)]
mod tests;
