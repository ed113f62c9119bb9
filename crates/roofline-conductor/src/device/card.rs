//! What a card did while a row was measured: a look after a visit of every set.

use roofline_core::protocol::device::State;
use roofline_core::units::Bytes;
use std::collections::BTreeSet;

/// All looks together.
#[derive(Debug, Default)]
pub struct Card {
    megahertz: Vec<u32>,
    milliwatts: Vec<u32>,
    held_back_by: BTreeSet<String>,
    used: u64,
}

impl Card {
    pub fn saw(&mut self, state: State) {
        self.megahertz.extend(state.megahertz);
        self.milliwatts.extend(state.milliwatts);
        self.held_back_by.extend(state.held_back_by);
        self.used = self.used.max(state.used.unwrap_or(0));
    }

    /// For the record, with names; nothing of what was never told.
    pub fn notes(&self) -> Vec<(String, String)> {
        let range = |values: &[u32]| {
            let (least, most) = (values.iter().min()?, values.iter().max()?);
            Some(if least == most { least.to_string() } else { format!("{least} to {most}") })
        };
        let watts: Vec<u32> = self.milliwatts.iter().map(|milliwatts| milliwatts.div_ceil(1000)).collect();
        let held_back_by = self.held_back_by.iter().cloned().collect::<Vec<_>>().join(", ");
        let notes = [
            ("card clock", range(&self.megahertz).map(|range| format!("{range} MHz"))),
            ("card power", range(&watts).map(|range| format!("{range} W"))),
            ("card held back by", Some(held_back_by).filter(|names| !names.is_empty())),
            (
                "card memory",
                (self.used > 0).then(|| format!("{} in use by all, at the most", Bytes(self.used))),
            ),
        ];
        notes.into_iter().filter_map(|(name, note)| Some((name.to_owned(), note?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_are_told_together() {
        let mut card = Card::default();
        assert_eq!(card.notes(), []);
        for (megahertz, used) in [(1980, 5 << 20), (1755, 9 << 20), (1900, 7 << 20)] {
            let held_back_by = if megahertz < 1900 { vec!["power cap".to_owned()] } else { Vec::new() };
            let (megahertz, milliwatts) = (Some(megahertz), Some(699_100));
            card.saw(State { megahertz, milliwatts, held_back_by, used: Some(used) });
        }
        card.saw(State::default());
        let notes = card.notes();
        let notes: Vec<(&str, &str)> = notes.iter().map(|(name, note)| (&**name, &**note)).collect();
        assert_eq!(
            notes,
            [
                ("card clock", "1755 to 1980 MHz"),
                ("card power", "700 W"),
                ("card held back by", "power cap"),
                ("card memory", "9.00 MiB in use by all, at the most"),
            ]
        );
    }
}
