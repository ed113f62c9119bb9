//! Names, as they stand in ids, files and protocol lines.

/// Whether a text has the form `provider/name`, both in kebab-case.
pub fn is_implementation(text: &str) -> bool {
    text.split_once('/').is_some_and(|(provider, name)| is_kebab(provider) && is_kebab(name))
}

/// Whether a text is a name: lowercase letters, digits and `-`, 1 to 64 of them.
pub fn is_kebab(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
}
