//! Shapes of tensors, and the checks that every launcher begins with.

use crate::error::{CudaError, Result};

/// Independent rows, one behind the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rows {
    pub rows: usize,
    pub cols: usize,
}

impl Rows {
    /// Elements in all, refused where they cannot be counted.
    pub fn elements(&self) -> Result<usize> {
        product("elements of all rows", self.rows, self.cols)
    }
}

/// C (m, n) from A (m, k) and B (k, n), each row-major.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Product {
    pub m: usize,
    pub n: usize,
    pub k: usize,
}

impl Product {
    /// That tensors have the elements of A, of B where it is numbers, and of C.
    pub(crate) fn check(&self, a: usize, b: Option<usize>, c: usize) -> Result<()> {
        let Product { m, n, k } = *self;
        length("A", a, product("elements of A", m, k)?)?;
        let of_b = product("elements of B", k, n)?;
        length("B", b.unwrap_or(of_b), of_b)?;
        length("C", c, product("elements of C", m, n)?)
    }
}

/// Kernels count in signed 64 bits; half of that leaves room for every sum that they form.
const MOST: usize = 1 << 62;

pub(crate) fn product(what: &'static str, a: usize, b: usize) -> Result<usize> {
    let all = a.checked_mul(b).filter(|&all| all <= MOST);
    all.ok_or(CudaError::TooLarge { what, got: a.max(b), most: MOST })
}

/// That a tensor has the elements that the shape says: what makes a launcher's addresses good.
pub(crate) fn length(what: &'static str, got: usize, wanted: usize) -> Result<()> {
    if got == wanted { Ok(()) } else { Err(CudaError::Length { what, got, wanted }) }
}

/// Blocks in the first direction of a grid.
pub(crate) fn blocks(what: &'static str, wanted: usize) -> Result<u32> {
    const MOST_BLOCKS: usize = i32::MAX as usize;
    let blocks = u32::try_from(wanted).ok().filter(|_| wanted <= MOST_BLOCKS);
    blocks.ok_or(CudaError::TooLarge { what, got: wanted, most: MOST_BLOCKS })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_that_no_kernel_can_count_are_refused() {
        assert!(Rows { rows: usize::MAX, cols: 2 }.elements().is_err());
        assert_eq!(Rows { rows: 3, cols: 5 }.elements().unwrap(), 15);
        assert!(blocks("blocks", 1 << 31).is_err());
        assert_eq!(blocks("blocks", (1 << 31) - 1).unwrap(), i32::MAX as u32);
        assert!(length("x", 3, 4).unwrap_err().to_string().contains("x has 3 elements where 4"));
    }
}
