//! What stands in outputs that a launch has to overwrite, and beside them: poison and canaries.

use super::*;

impl Instance {
    /// The first element of an output that still has exactly the bits of its poison.
    pub fn first_unwritten(&self, output: usize, poison: &Poison) -> Option<usize> {
        self.unwritten(output, poison, 1).first().copied()
    }

    /// The first so many of such elements.
    pub fn unwritten(&self, output: usize, poison: &Poison, most: usize) -> Vec<usize> {
        let placed = &self.outputs[output];
        let (size, code) = (placed.tensor.dtype.size(), code(placed, poison.of(output)));
        if let Some(twin) = &self.twin {
            return twin.find(self.number(output), placed.data(), &code[..size]).into_iter().collect();
        }
        let mut found = Vec::new();
        chunks(placed, |first, bytes| {
            let more = match size {
                1 => places_of::<1>(bytes, &code, most - found.len()),
                2 => places_of::<2>(bytes, &code, most - found.len()),
                4 => places_of::<4>(bytes, &code, most - found.len()),
                _ => places_of::<8>(bytes, &code, most - found.len()),
            };
            found.extend(more.into_iter().map(|place| first + place));
            found.len() < most
        });
        found
    }

    /// The bytes of one element of an output, in front of zeros.
    pub(super) fn output_code(&self, spot: Spot) -> (Dtype, [u8; 8]) {
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
        for (output, (placed, poison)) in self.outputs.iter().zip(&poison.0).enumerate() {
            let size = placed.tensor.dtype.size();
            if let Some(twin) = &self.twin {
                twin.repeat(self.number(output), placed.data(), &code(placed, *poison)[..size]);
                continue;
            }
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
            wrote(self.twin.as_ref(), self.number(spot.output), self.element(*spot));
        }
    }

    /// Those of the elements, in ascending order, that still have exactly the bits of their poison.
    pub fn still_poison(&self, spots: &[Spot], poison: &Poison) -> Vec<Spot> {
        if let Some(twin) = &self.twin {
            let by_output = spots.chunk_by(|one, next| one.output == next.output);
            twin.fetch_all(
                by_output.map(|spots| {
                    (self.number(spots[0].output), spots.iter().map(|spot| self.element(*spot)))
                }),
            );
        }
        let is_poison = |spot: &&Spot| {
            self.output_code(**spot).1 == code(&self.outputs[spot.output], poison.of(spot.output))
        };
        spots.iter().filter(is_poison).copied().collect()
    }

    /// Writes the known bytes beside the data of outputs anew.
    pub fn mend_canaries(&self) {
        for (output, placed) in self.outputs.iter().enumerate() {
            for edge in placed.edges() {
                placed.memory.write(edge.start, &vec![self.canary; edge.len()]);
                wrote(self.twin.as_ref(), self.number(output), edge);
            }
        }
    }

    /// Says which bytes beside the data of an output were written, if any.
    pub fn broken_canary(&self) -> Option<String> {
        if let Some(twin) = &self.twin {
            let edges = |(output, placed): (usize, &Placed<Shared>)| {
                (self.number(output), placed.edges().into_iter().filter(|edge| !edge.is_empty()))
            };
            twin.fetch_all(self.outputs.iter().enumerate().map(edges));
        }
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
            let [before, after] = placed.edges();
            if let Some((first, _)) = wrong(before.clone()) {
                let before = bytes(before.len() - first);
                return Some(format!("wrote {before} before the start of `{name}`"));
            }
            let (_, end) = wrong(after)?;
            Some(format!("wrote up to {} past the end of `{name}`", bytes(end)))
        })
    }
}

/// The first so many elements of `N` bytes that have exactly these.
fn places_of<const N: usize>(bytes: &[u8], code: &[u8; 8], most: usize) -> Vec<usize> {
    let wanted: [u8; N] = std::array::from_fn(|byte| code[byte]);
    let elements = bytes.as_chunks::<N>().0.iter().enumerate();
    elements.filter(|(_, element)| **element == wanted).map(|(place, _)| place).take(most).collect()
}
