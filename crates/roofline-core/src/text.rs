//! Places in files that people write.

/// Line and column of a byte, both from one.
pub fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or_default();
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use super::line_and_column;

    #[test]
    fn columns_are_counted_as_people_do() {
        let text = "a = 1\nü = 2\n";
        assert_eq!(line_and_column(text, 0), (1, 1));
        assert_eq!(line_and_column(text, text.find('2').unwrap_or(0)), (2, 5));
        assert_eq!(line_and_column(text, 7), (1, 1), "inside a character is nowhere");
    }
}
