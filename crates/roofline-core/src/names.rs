//! Names, as they stand in ids, files and protocol lines.

/// The provider of probes, which measure what the hardware can do.
pub const LIMIT: &str = "limit";

/// Whether an implementation, or a pattern of some, is of the provider [`LIMIT`].
pub fn is_limit(implementation: &str) -> bool {
    implementation.split('/').next() == Some(LIMIT)
}

/// Whether a text has the form `provider/name`, both in kebab-case.
pub fn is_implementation(text: &str) -> bool {
    text.split_once('/').is_some_and(|(provider, name)| is_kebab(provider) && is_kebab(name))
}

/// Whether a text is a name: lowercase letters, digits and `-`, 1 to 64 of them.
pub fn is_kebab(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
}

/// Whether `text` matches a pattern in which `*` stands for anything.
pub fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs() {
        for (pattern, text, expected) in [
            ("cpu/*", "cpu/plain", true),
            ("*", "x", true),
            ("*/plain", "cpu/plain", true),
            ("c*/*n", "cpu/plain", true),
            ("cpu/plain", "cpu/plain", true),
            ("cpu", "cpu/plain", false),
            ("cpu/*x", "cpu/plain", false),
            ("a*a", "a", false),
            ("", "x", false),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }
}
