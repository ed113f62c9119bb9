//! A case with memory: its tensors in memory files, placed, filled, poisoned, read back.
//!
//! On the CPU runners map these files. On another device they are mirrors: a [`Twin`] has the tensors there, and what
//! is written here goes there before the next launch, what is looked at comes from there first.

mod marks;

use crate::device::{Owner, Twin};
use crate::sys::memory::{MemoryFile, Sealed, Shared};
use roofline_core::case::{Cache, Case};
use roofline_core::dtype::Dtype;
use roofline_core::fill::Fill;
use roofline_core::operation::Problem;
use roofline_core::philox::Draws;
use roofline_core::protocol::{Place, Role, Sets};
use roofline_core::tensor::{Content, Tensor, View};
use std::fmt;
use std::io;
use std::ops::{Deref, Range};
use std::os::fd::BorrowedFd;
use std::str::FromStr;

const PAGE: usize = 4096;

/// Bytes beside the data that are known and looked at, on either side: all that a file of the CPU has there.
const EDGE: usize = 2 * PAGE;

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
    /// Sets of tensors, one behind another in the same files; all that is asked of an instance is asked of the one
    /// whose turn it is.
    sets: usize,
    /// On another device than the CPU, the tensors there.
    twin: Option<Twin>,
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
    /// Where the set begins whose turn it is.
    offset: usize,
    /// Where the first one does, and how far apart they lie.
    first: usize,
    stride: usize,
}

impl<M> Placed<M> {
    fn end(&self) -> usize {
        self.offset + self.tensor.bytes()
    }

    fn data(&self) -> Range<usize> {
        self.offset..self.end()
    }
}

impl<M: Deref<Target = MemoryFile>> Placed<M> {
    /// The known bytes before the data and after it.
    fn edges(&self) -> [Range<usize>; 2] {
        let after = self.end()..self.memory.size().min(self.end() + EDGE);
        [self.offset.saturating_sub(EDGE)..self.offset, after]
    }
}

impl Instance {
    /// Makes the memory of a case on the CPU. Contents are noise until [`Instance::fill`].
    pub fn new(case: &Case, placement: Placement, draws: &mut Draws) -> io::Result<Instance> {
        Instance::owned(None, case, placement, 1, draws)
    }

    /// The same on the device of an owner, if there is one; several sets where data lies between canaries.
    pub fn owned(
        owner: Option<&Owner>,
        case: &Case,
        placement: Placement,
        sets: usize,
        draws: &mut Draws,
    ) -> io::Result<Instance> {
        let page = owner.map_or(PAGE, |owner| (owner.borrow().facts.granule as usize).max(PAGE));
        let sets = if matches!(placement, Placement::Aligned { .. }) { sets.max(1) } else { 1 };
        let canary = draws.bits() as u8;
        let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
        for tensor in (case.operation.tensors)(case) {
            let bytes = tensor.bytes();
            let (first, size) = match placement {
                Placement::FlushStart => (0, bytes.next_multiple_of(page)),
                Placement::FlushEnd { align } => {
                    let size = bytes.next_multiple_of(page);
                    ((size - bytes) / align * align, size)
                }
                Placement::Aligned { offset } => {
                    let offset = PAGE + offset;
                    (offset, (offset + bytes + PAGE).next_multiple_of(PAGE))
                }
            };
            let (stride, size) = (size, (sets * size).next_multiple_of(page));
            let (offset, name) = (first, tensor.name);
            if tensor.role.is_input() {
                inputs.push(Placed { tensor, memory: Sealed::new(name, size)?, offset, first, stride });
            } else {
                outputs.push(Placed { tensor, memory: Shared::new(name, size)?, offset, first, stride });
            }
        }
        let mut instance = Instance { case: case.clone(), inputs, outputs, canary, sets, twin: None };
        if let Some(owner) = owner {
            let mirrors = instance.files().map(|(_, memory, _)| (memory.fd(), memory.size()));
            instance.twin = Some(Twin::new(owner.clone(), mirrors)?);
        }
        for set in (0..sets).rev() {
            instance.turn(set);
            instance.write_edges();
        }
        instance.send();
        Ok(instance)
    }

    /// Known bytes beside the data of every tensor of a set.
    fn write_edges(&mut self) {
        for (tensor, placed) in self.inputs.iter_mut().enumerate() {
            for edge in placed.edges() {
                placed.memory.write(edge.start, &vec![self.canary; edge.len()]);
                wrote(self.twin.as_ref(), tensor, edge);
            }
        }
        self.mend_canaries();
    }

    /// How many sets there are.
    pub fn sets(&self) -> usize {
        self.sets
    }

    /// Lets it be another set's turn.
    pub fn turn(&mut self, set: usize) {
        for (offset, first, stride) in self.offsets() {
            *offset = first + set * stride;
        }
    }

    fn offsets(&mut self) -> impl Iterator<Item = (&mut usize, usize, usize)> {
        let inputs = self.inputs.iter_mut().map(|placed| (&mut placed.offset, placed.first, placed.stride));
        let outputs = self.outputs.iter_mut().map(|placed| (&mut placed.offset, placed.first, placed.stride));
        inputs.chain(outputs)
    }

    /// Most launches of a batch that all find the caches empty, where sets are too few or too small to take turns.
    pub fn cold_batch(&self) -> Option<u32> {
        let cache = self.twin.as_ref().filter(|_| self.case.cache == Cache::Cold)?.facts().cache as usize;
        let bytes: usize = self.files().map(|(tensor, ..)| tensor.bytes()).sum();
        (bytes * self.sets < 3 * cache).then_some(self.sets as u32)
    }

    /// Takes what was written to the device, if that is another than the CPU. To be done before every launch.
    pub fn send(&self) {
        if let Some(twin) = &self.twin {
            twin.send();
        }
    }

    /// The number of an output among all files.
    fn number(&self, output: usize) -> usize {
        self.inputs.len() + output
    }

    /// Brings an output whole from where it is.
    pub fn bring(&self, output: usize) {
        self.fetch(output, std::iter::once(self.outputs[output].data()));
    }

    /// The same of parts of it, in ascending order.
    fn fetch(&self, output: usize, parts: impl Iterator<Item = Range<usize>>) {
        if let Some(twin) = &self.twin {
            twin.fetch(self.number(output), parts);
        }
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
        match &self.twin {
            Some(twin) => twin.chill(),
            None => self.files().for_each(|(_, memory, _)| memory.flush()),
        }
    }

    /// What an element of an output is before a launch, where the output starts as an input.
    pub fn starts_as(&self, output: usize, index: usize) -> Option<f64> {
        let name = self.output(output).starts_as?;
        let tensor = self.inputs.iter().position(|placed| placed.tensor.name == name)?;
        Some(self.input(tensor, index))
    }

    /// What `prepare` says of the tensors.
    pub fn places(&self) -> Vec<Place> {
        let place =
            |(tensor, memory, offset): (&Tensor, &MemoryFile, usize)| tensor.place(offset, memory.size());
        let strides = self.inputs.iter().map(|placed| placed.stride);
        let strides = strides.chain(self.outputs.iter().map(|placed| placed.stride));
        let in_sets = |(place, stride): (Place, usize)| {
            let sets = Sets { count: self.sets as u64, stride: stride as u64 };
            Place { sets: (self.sets > 1).then_some(sets), ..place }
        };
        self.files().map(place).zip(strides).map(in_sets).collect()
    }

    pub fn fds(&self) -> Vec<BorrowedFd<'_>> {
        match &self.twin {
            Some(twin) => twin.fds(),
            None => self.files().map(|(_, memory, _)| memory.fd()).collect(),
        }
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

    /// Every set has contents of its own.
    fn fill_those(&mut self, fill: Fill, seed: u64, is_meant: impl Fn(Role) -> bool) {
        for set in (0..self.sets).rev() {
            self.turn(set);
            self.fill_set(fill, seed.wrapping_add(set as u64), &is_meant);
        }
        self.send();
    }

    /// On as many threads as there are cores.
    fn fill_set(&mut self, fill: Fill, seed: u64, is_meant: &impl Fn(Role) -> bool) {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let operation = self.case.operation;
        let inputs = self.inputs.iter_mut().enumerate().filter(|(_, placed)| is_meant(placed.tensor.role));
        for (index, placed) in inputs {
            let content = operation.filling(fill, seed, index, &placed.tensor);
            let (elements, size) = (placed.tensor.elements(), placed.tensor.dtype.size());
            wrote(self.twin.as_ref(), index, placed.data());
            let range = placed.data();
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

    /// Those of them that may change while a launch reads them.
    pub fn changeable_in_use(&self) -> Vec<usize> {
        let mut changeable = self.changeable();
        changeable.retain(|tensor| !self.inputs[*tensor].tensor.sorted_by);
        changeable
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
        let start = placed.offset + element * dtype.size();
        placed.memory.write(start, &code[..dtype.size()]);
        wrote(self.twin.as_ref(), tensor, start..start + dtype.size());
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
        if let Some(twin) = &self.twin {
            let data = self.inputs.iter().map(Placed::data).enumerate();
            return twin
                .hashes(data)
                .iter()
                .fold(HASH_START, |hash, part| hash_on(hash, &part.to_le_bytes()));
        }
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
        // Elements behind each other come in one piece.
        let runs = || indices.chunk_by(|one, next| one + 1 == *next);
        let bytes_of = |run: &[usize]| {
            let [first, last] =
                [run[0], run[run.len() - 1]].map(|index| self.element(Spot { output, index }));
            first.start..last.end
        };
        self.fetch(output, runs().map(bytes_of));
        let placed = &self.outputs[output];
        let (mut values, mut bytes) = (Vec::with_capacity(indices.len()), Vec::new());
        for run in runs() {
            let range = bytes_of(run);
            bytes.resize(range.len(), 0);
            placed.memory.copy(range, &mut bytes);
            values.extend(View { dtype: placed.tensor.dtype, bytes: &bytes }.line(0, 1, run.len()));
        }
        values
    }

    /// Where an element of an output lies.
    fn element(&self, spot: Spot) -> Range<usize> {
        let placed = &self.outputs[spot.output];
        let size = placed.tensor.dtype.size();
        let start = placed.offset + spot.index * size;
        start..start + size
    }

    /// The value of one element of an output.
    pub fn output_value(&self, spot: Spot) -> f64 {
        self.read_output(spot.output, &[spot.index])[0]
    }

    /// One row of an output that was [brought](Instance::bring), seen as a matrix with rows of `cols` elements.
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
        (0..self.outputs.len()).for_each(|output| self.bring(output));
        let copy = |placed: &Placed<Shared>| {
            let mut bytes = vec![0; placed.tensor.bytes()];
            placed.memory.copy(placed.offset..placed.end(), &mut bytes);
            (placed.tensor.dtype, bytes)
        };
        self.outputs.iter().map(copy).collect()
    }

    /// A number that changes when any byte of an output changes.
    pub fn hash_outputs(&self) -> u64 {
        if let Some(twin) = &self.twin {
            let data =
                self.outputs.iter().enumerate().map(|(output, placed)| (self.number(output), placed.data()));
            return twin
                .hashes(data)
                .iter()
                .fold(HASH_START, |hash, part| hash_on(hash, &part.to_le_bytes()));
        }
        let mut hash = HASH_START;
        for placed in &self.outputs {
            chunks(placed, |_, bytes| {
                hash = hash_on(hash, bytes);
                true
            });
        }
        hash
    }
}

/// Notes what was written to a mirror, where it is one.
fn wrote(twin: Option<&Twin>, tensor: usize, range: Range<usize>) {
    if let Some(twin) = twin {
        twin.wrote(tensor, range);
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

/// Bytes between zero and what the largest of a row becomes: in rows of one element, or of zeros, every code is at one of
/// those ends, alone or as a half of its byte.
const MIDDLING: std::ops::RangeInclusive<u8> = 16..=96;

/// Two finite values and NaN in turn; of bytes, one that no row is full of.
fn draw_poison(dtype: Dtype, launch: usize, draws: &mut Draws) -> f64 {
    let draw = 1.0 + draws.below(1 << 20) as f64 / f64::from(1 << 20);
    match (launch % 3, dtype.format()) {
        (_, None) if dtype.size() == 1 => {
            let count = u64::from(MIDDLING.end() - MIDDLING.start()) + 1;
            let byte = MIDDLING.start() + draws.below(count) as u8;
            let byte = if draws.below(2) == 0 { byte } else { byte.wrapping_neg() };
            if dtype == Dtype::U8 { f64::from(byte) } else { f64::from(byte as i8) }
        }
        (kind, None) => (draw * 1e6).round() * if kind == 0 { 1.0 } else { -1.0 },
        (0, Some(format)) => format.round(draw * 173.0),
        (1, Some(format)) => format.round(draw * -0.0137),
        (_, Some(_)) => f64::NAN,
    }
}

#[cfg(test)]
mod tests;
