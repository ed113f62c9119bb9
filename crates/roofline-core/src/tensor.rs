//! Tensors of a case: role, type, shape, what they hold, and how they may change.

use crate::dtype::Dtype;
pub use crate::protocol::Role;
use crate::sparse::{Part, Sparse};

/// What the elements of an input mean, and so what they may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Content {
    /// Numbers of a family, at most so large.
    Values { limit: f64 },
    /// The same, with minus infinity for what is masked: by lot single elements and whole rows, in the families
    /// that plant values.
    Masked { limit: f64 },
    /// Numbers of a family; where that is small integers, halves up to `most`, which stands at every 32nd place, and every
    /// fourth row is of zeros: codes that end at `most` have ties there, and scales that are no quotient.
    Ties { most: f64 },
    /// Numbers of a domain, spread evenly.
    Within { low: f64, high: f64 },
    /// Whole numbers below a bound, and by lot one that stands for none.
    Indices { below: u64, none: Option<i32> },
    /// Whole numbers below a bound, each at most once.
    Order { below: u64 },
    /// Whole numbers that rise from 0 to `total`, the first and the last being these.
    Offsets { total: u64 },
    /// What says where the values of a sparse matrix of a pattern stand.
    Sparse(Sparse),
    /// Factors of blocks: powers of two around 1, with all their digits.
    Scales,
    /// Factors of blocks as bytes: of 2ᵉ the byte e + 127.
    Powers,
    /// Bytes of blocks, so many each: so many scales in f16, of no sign and finite, low byte first, and codes.
    ScaledBlocks { bytes: usize, scales: usize },
    /// Any number that the type has, as the start of random ones.
    Seed,
    /// Any bits that the type has: codes, or two of four bits in a byte.
    Codes,
}

impl Content {
    /// Whether they are numbers of a family.
    pub fn is_values(self) -> bool {
        matches!(self, Content::Values { .. } | Content::Masked { .. } | Content::Ties { .. })
    }

    /// Whether they rise from 0 to the number of all.
    pub fn is_offsets(self) -> bool {
        matches!(self, Content::Offsets { .. } | Content::Sparse(Sparse { part: Part::Offsets, .. }))
    }
}

/// One tensor of a case.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    pub name: &'static str,
    pub role: Role,
    pub dtype: Dtype,
    pub shape: Vec<usize>,
    /// Its shape beside the others of its operation, with 1 for what it is the same along.
    pub beside: Vec<usize>,
    pub content: Content,
    /// The dimension that the rows of its content run along, counted from the last: 0 but for operations that
    /// work along another, whose bugs want their planted values there.
    pub runs: usize,
    /// Whether its planted rows are of the kinds of the first input's: what is added to that is small where that is.
    pub alike: bool,
    /// How far one element is moved to be seen in what it reaches.
    pub step: f64,
    /// Whether it is seen only from above: maxima, exponentials.
    pub rises: bool,
    /// Of an output, the input that it is a copy of before every launch: kernels that work in place read it there.
    pub starts_as: Option<&'static str>,
    /// Elements that a launch reads, or writes, where these are not all.
    pub read: Option<usize>,
    /// Whether honest kernels read an element twice and go wrong beyond their memory if it changes in between: those that
    /// count first and place then, or sort by it. Such an input never changes while a launch may be reading it.
    pub sorted_by: bool,
}

impl Tensor {
    fn new(name: &'static str, role: Role, dtype: Dtype, shape: &[usize]) -> Tensor {
        let (shape, beside) = (shape.to_vec(), shape.to_vec());
        let content = Content::Values { limit: dtype.max_finite() / 2.0 };
        Tensor {
            name,
            role,
            dtype,
            shape,
            beside,
            content,
            runs: 0,
            alike: false,
            step: 1.0,
            rises: false,
            starts_as: None,
            read: None,
            sorted_by: false,
        }
    }

    pub fn input(name: &'static str, dtype: Dtype, shape: &[usize]) -> Tensor {
        Tensor::new(name, Role::Input, dtype, shape)
    }

    pub fn constant(name: &'static str, dtype: Dtype, shape: &[usize]) -> Tensor {
        Tensor::new(name, Role::Constant, dtype, shape)
    }

    pub fn output(name: &'static str, dtype: Dtype, shape: &[usize]) -> Tensor {
        Tensor::new(name, Role::Output, dtype, shape)
    }

    pub fn holding(self, content: Content) -> Tensor {
        Tensor { content, ..self }
    }

    /// Values of at most this magnitude, for which no accumulator overflows.
    pub fn limit(self, limit: f64) -> Tensor {
        let limit = limit.min(self.dtype.max_finite() / 2.0);
        self.holding(Content::Values { limit })
    }

    /// Stands beside the others as if it had this shape.
    pub fn beside(self, shape: &[usize]) -> Tensor {
        Tensor { beside: shape.to_vec(), ..self }
    }

    /// The rows of its content run along this dimension, counted from the last.
    pub fn running(self, dimension: usize) -> Tensor {
        Tensor { runs: dimension, ..self }
    }

    /// Its planted rows are of the kinds of the first input's.
    pub fn alike(self) -> Tensor {
        Tensor { alike: true, ..self }
    }

    /// One line of all its elements, beside the others and in what it holds.
    pub fn whole(self) -> Tensor {
        let elements = self.elements();
        self.beside(&[elements])
    }

    /// Moved by so much when it is changed.
    pub fn step(self, step: f64) -> Tensor {
        Tensor { step, ..self }
    }

    /// Moved up by so much when it is changed, and back down.
    pub fn rising(self, step: f64) -> Tensor {
        Tensor { step, rises: true, ..self }
    }

    /// A copy of this input before every launch.
    pub fn starting_as(self, input: &'static str) -> Tensor {
        Tensor { starts_as: Some(input), ..self }
    }

    /// A launch reads so many of its elements, if it has more.
    pub fn read_in_part(self, elements: usize) -> Tensor {
        let read = Some(elements).filter(|read| *read < self.elements());
        Tensor { read, ..self }
    }

    /// A launch writes so many of its elements, if it has more: the others stay what they are.
    pub fn written_in_part(self, elements: usize) -> Tensor {
        self.read_in_part(elements)
    }

    /// Kernels sort by it.
    pub fn sorted_by(self) -> Tensor {
        Tensor { sorted_by: true, ..self }
    }

    pub fn elements(&self) -> usize {
        self.shape.iter().fold(1, |product: usize, size| product.saturating_mul(*size))
    }

    pub fn bytes(&self) -> usize {
        self.elements().saturating_mul(self.dtype.size())
    }

    /// Bytes that a launch reads or writes.
    pub fn walked(&self) -> usize {
        self.read.unwrap_or(self.elements()).saturating_mul(self.dtype.size())
    }

    /// Length of its last dimension, at least 1.
    pub fn row(&self) -> usize {
        self.shape.last().copied().unwrap_or(1).max(1)
    }

    /// Length of a row of its content, at least 1, and how far apart the elements of a row lie.
    pub fn lines(&self) -> (usize, usize) {
        // What stands beside the others as one line is drawn as one.
        let shape = if self.beside.len() == 1 { &self.beside } else { &self.shape };
        let mut sizes = shape.iter().rev();
        let apart = sizes.by_ref().take(self.runs).product::<usize>();
        (sizes.next().copied().unwrap_or(1).max(1), apart.max(1))
    }

    /// Another value that it may hold in place of `old`, from random bits; it differs where there is another.
    pub fn changed(&self, old: f64, bits: u64) -> f64 {
        let up = if old >= 0.0 { -1.0 } else { 1.0 };
        match self.content {
            Content::Values { .. } if self.dtype.format().is_none() => old + 100.0 * up,
            Content::Values { .. } if self.rises => {
                if old < self.step / 2.0 {
                    old + self.step
                } else {
                    old - self.step
                }
            }
            Content::Values { .. } | Content::Masked { .. } | Content::Ties { .. } => old + self.step * up,
            Content::Within { low, high } => {
                if old > (low * high).max(low * low).sqrt() {
                    low
                } else {
                    high
                }
            }
            Content::Indices { below, .. } => {
                let below = below.max(1);
                ((old.max(0.0) as u64 + 1 + bits % below.saturating_sub(1).max(1)) % below) as f64
            }
            // What may be an offset, or stand in an order, depends on the others: whoever has them knows.
            Content::Offsets { .. } | Content::Order { .. } => old,
            Content::Sparse(sparse) => self.clone().holding(sparse.plain()).changed(old, bits),
            Content::Scales => {
                if old > 1.0 {
                    old / 4.0
                } else {
                    old * 4.0
                }
            }
            // Four more or less in the exponent, and never the last byte.
            Content::Powers => f64::from(old as i8 ^ 4),
            // Another code in either half of it, whichever byte of a block it is: the high one of a finite scale too.
            Content::ScaledBlocks { .. } => {
                let (old, bits) = (old as i8 as u8, bits as u8);
                let high = if old < 64 { 4 + (bits >> 4) % 3 } else { (bits >> 4) % 4 };
                f64::from(high << 4 | (old ^ (bits | 1)) & 15)
            }
            Content::Seed => (bits >> 33) as f64,
            Content::Codes => f64::from(old as i8 ^ ((bits >> 56) as i8 | 0x11)),
        }
    }

    /// A value that nobody has seen, from random bits; `None` where only [`changed`](Tensor::changed) knows one.
    pub fn renewed(&self, bits: u64) -> Option<f64> {
        match self.content {
            Content::Values { .. } | Content::Codes if self.dtype.format().is_none() => {
                Some(f64::from((bits >> 56) as i8))
            }
            Content::Values { .. } | Content::Masked { .. } | Content::Ties { .. } | Content::Codes => {
                Some(unit(bits) * 2.0 - 1.0)
            }
            Content::Within { low, high } => Some(low + unit(bits) * (high - low)),
            Content::Indices { below, .. } => Some((bits % below.max(1)) as f64),
            Content::Scales => Some(0.5 + unit(bits)),
            Content::Powers => Some(power(bits)),
            Content::ScaledBlocks { .. } => Some((bits % 64) as f64),
            Content::Seed => Some((bits >> 33) as f64),
            Content::Offsets { .. } | Content::Order { .. } => None,
            Content::Sparse(sparse) => self.clone().holding(sparse.plain()).renewed(bits),
        }
    }
}

/// The byte of a power of two around 1, as a signed one, from random bits.
pub(crate) fn power(bits: u64) -> f64 {
    f64::from((119 + (bits % 16) as u8) as i8)
}

/// In [0, 1).
fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1u64 << 53) as f64
}

/// A tensor's content, as the judge sees it.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    pub dtype: Dtype,
    pub bytes: &'a [u8],
}

impl View<'_> {
    #[inline]
    pub fn get(&self, index: usize) -> f64 {
        self.dtype.read(self.bytes, index)
    }

    pub fn elements(&self) -> usize {
        self.bytes.len() / self.dtype.size()
    }

    /// `count` elements from `first`, `step` apart.
    pub fn line(&self, first: usize, step: usize, count: usize) -> Vec<f64> {
        let places = (0..count).map(|i| first + i * step);
        // The type is looked at once for the two that large products have most of.
        match self.dtype {
            Dtype::F32 => places.map(|i| Dtype::F32.read(self.bytes, i)).collect(),
            Dtype::Bf16 => places.map(|i| Dtype::Bf16.read(self.bytes, i)).collect(),
            dtype => places.map(|i| dtype.read(self.bytes, i)).collect(),
        }
    }
}
