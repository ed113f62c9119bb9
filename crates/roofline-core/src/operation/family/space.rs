//! Points of a case: the shape that its tensors span together, and where each tensor has a point.

use crate::operation::Reach;
use crate::tensor::Tensor;

/// A shape with the way through every tensor of the operation.
#[derive(Clone, Debug)]
pub struct Space {
    pub shape: Vec<usize>,
    /// By tensor and dimension: how far apart neighbours lie; 0 where the tensor is the same along it.
    strides: Vec<Vec<usize>>,
    /// By tensor: whether it has an element for every point, in order.
    whole: Vec<bool>,
}

impl Space {
    /// Shapes are aligned at their last dimension; one of 1 is stretched.
    pub fn of(tensors: &[Tensor]) -> Space {
        let rank = tensors.iter().map(|tensor| tensor.beside.len()).max().unwrap_or(0);
        let mut shape = vec![1; rank];
        for tensor in tensors {
            let own = shape[rank - tensor.beside.len()..].iter_mut().zip(&tensor.beside);
            own.filter(|(_, size)| **size != 1).for_each(|(all, size)| *all = *size);
        }
        let strides: Vec<Vec<usize>> = tensors.iter().map(|tensor| strides(rank, &tensor.beside)).collect();
        let whole = strides.iter().map(|strides| is_whole(&shape, strides)).collect();
        Space { shape, strides, whole }
    }

    pub fn points(&self) -> usize {
        self.shape.iter().product()
    }

    /// How far apart a tensor's neighbours along a dimension lie.
    pub fn stride(&self, tensor: usize, dimension: usize) -> usize {
        self.strides[tensor][dimension]
    }

    /// Whether a tensor has an element for every point, in order.
    pub fn is_whole(&self, tensor: usize) -> bool {
        self.whole[tensor]
    }

    /// A point that an element of a tensor stands at: the first, where there are several.
    pub fn point(&self, tensor: usize, element: usize) -> Vec<usize> {
        let mut rest = element;
        let mut point = vec![0; self.shape.len()];
        for (dimension, stride) in self.strides[tensor].iter().enumerate() {
            if *stride > 0 {
                point[dimension] = rest / stride;
                rest %= stride;
            }
        }
        point
    }

    /// Where a tensor has a point.
    pub fn element(&self, tensor: usize, point: &[usize]) -> usize {
        point.iter().zip(&self.strides[tensor]).map(|(at, stride)| at * stride).sum()
    }

    /// Elements of `output` at the points of one element of `input`, and all along dimension `along`.
    pub fn reach(&self, input: usize, element: usize, output: usize, along: Option<usize>) -> Vec<Reach> {
        let point = self.point(input, element);
        let is_free = |dimension: usize| self.strides[input][dimension] == 0 || along == Some(dimension);
        let mut start = point;
        let mut free: Vec<(usize, usize)> = Vec::new();
        for dimension in (0..self.shape.len()).filter(|dimension| is_free(*dimension)) {
            start[dimension] = 0;
            let (size, stride) = (self.shape[dimension], self.strides[output][dimension]);
            if size == 1 || stride == 0 {
                continue;
            }
            match free.last_mut() {
                // Two dimensions that follow each other are one.
                Some((all, outer)) if *outer == size * stride => (*all, *outer) = (*all * size, stride),
                _ => free.push((size, stride)),
            }
        }
        let first = self.element(output, &start);
        let longest = (0..free.len()).max_by_key(|i| free[*i].0);
        let (count, step) = longest.map_or((1, 1), |i| free.remove(i));
        let mut starts = vec![first];
        for (size, stride) in free {
            starts = starts.iter().flat_map(|start| (0..size).map(move |i| start + i * stride)).collect();
        }
        starts.into_iter().map(|first| Reach { output: 0, first, step, count }).collect()
    }
}

fn is_whole(shape: &[usize], strides: &[usize]) -> bool {
    let mut sizes = shape.iter().zip(strides).rev();
    sizes.try_fold(1, |next, (size, stride)| (*size == 1 || *stride == next).then_some(next * size)).is_some()
}

fn strides(rank: usize, shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![0; rank];
    let mut next = 1;
    for (stride, size) in strides.iter_mut().rev().zip(shape.iter().rev()) {
        if *size != 1 {
            *stride = next;
        }
        next *= size;
    }
    strides
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::Dtype::F32;

    fn space(shapes: &[&[usize]]) -> Space {
        let tensors: Vec<Tensor> = shapes.iter().map(|shape| Tensor::input("t", F32, shape)).collect();
        Space::of(&tensors)
    }

    #[test]
    fn shapes_are_stretched_as_numpy_does() {
        let space = space(&[&[4, 1], &[3], &[2, 4, 3]]);
        assert_eq!(space.shape, [2, 4, 3]);
        assert_eq!([0, 1, 2].map(|tensor| space.element(tensor, &[1, 2, 1])), [2, 1, 19]);
        assert_eq!([0, 1, 2].map(|tensor| space.is_whole(tensor)), [false, false, true]);
        assert_eq!(space.point(2, 19), [1, 2, 1]);
        assert_eq!(space.point(0, 2), [0, 2, 0]);
    }

    #[test]
    fn reach_is_the_points_of_an_element() {
        let space = space(&[&[4, 1], &[3], &[2, 4, 3], &[2, 4, 1]]);
        let reached = |input, element, output, along| -> Vec<usize> {
            let reach = space.reach(input, element, output, along);
            let mut all: Vec<usize> =
                reach.iter().flat_map(|reach| (0..reach.count).map(|i| reach.nth(i))).collect();
            all.sort_unstable();
            all
        };
        assert_eq!(reached(2, 7, 2, None), [7]);
        assert_eq!(reached(0, 2, 2, None), [6, 7, 8, 18, 19, 20]);
        assert_eq!(reached(1, 1, 2, None), [1, 4, 7, 10, 13, 16, 19, 22]);
        assert_eq!(space.reach(1, 1, 2, None).len(), 1, "one progression");
        assert_eq!(reached(2, 7, 2, Some(2)), [6, 7, 8]);
        assert_eq!(reached(2, 7, 3, Some(2)), [2]);
    }
}
