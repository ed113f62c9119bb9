//! The nearest known name, for hints in error messages.

/// The candidate with the smallest edit distance to `name`; `None` when nothing is alike.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (distance(name, candidate), candidate))
        .min()
        .filter(|(distance, candidate)| *distance <= candidate.len().max(name.len()).div_ceil(2))
        .map(|(_, candidate)| candidate)
}

/// Levenshtein distance over characters.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_typo_and_gives_up_on_strangers() {
        assert_eq!(nearest("sofmax", ["softmax", "matmul"]), Some("softmax"));
        assert_eq!(nearest("rmsnorm", ["add", "rms-norm"]), Some("rms-norm"));
        assert_eq!(nearest("zzzzzzzz", ["add", "rms-norm"]), None);
    }
}
