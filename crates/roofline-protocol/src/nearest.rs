//! The nearest known name, for hints in error messages.

/// The candidate with the smallest edit distance to `name`; `None` when nothing is alike.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (strsim::levenshtein(name, candidate), candidate))
        .min()
        .filter(|(distance, candidate)| *distance <= candidate.len().max(name.len()).div_ceil(2))
        .map(|(_, candidate)| candidate)
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
