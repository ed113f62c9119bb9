//! Names, as they stand in ids, files and protocol lines.

/// The provider of probes, which measure what the hardware can do.
pub const LIMIT: &str = "limit";

/// The provider of the house's kernels on the CPU, and the runner that has them.
pub const HOUSE: &str = "cpu";

/// Providers that nobody else can be.
pub const RESERVED: [&str; 2] = [HOUSE, LIMIT];

/// The part of an implementation's name behind the provider, which it may leave out.
pub fn bare(implementation: &str) -> &str {
    implementation.split_once('/').map_or(implementation, |(_, name)| name)
}

/// Whether an implementation, or a pattern of some, is of the provider [`LIMIT`].
pub fn is_limit(implementation: &str) -> bool {
    implementation.split('/').next() == Some(LIMIT)
}

/// Whether `name` is an implementation, a glob of some, or the provider of this one.
pub fn names(name: &str, implementation: &str) -> bool {
    matches(name, implementation) || implementation.split('/').next() == Some(name)
}

/// Whether a text has the form `provider/name`, or `provider/name:tile=8:unroll=2` for one with parameters.
///
/// Both stand as their author wrote them, a provider as its file is called.
pub fn is_implementation(text: &str) -> bool {
    let Some((provider, rest)) = text.split_once('/') else { return false };
    let mut parts = rest.split(':');
    is_provider(provider) && parts.next().is_some_and(is_written) && parts.all(is_parameter)
}

/// Whether a text has the form `tile=8`, of a parameter that an implementation is measured with.
pub fn is_parameter(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, value)| is_written(name) && is_written(value))
}

/// Whether a text can stand in a row's name as it was written: letters, digits, `-`, `_` and `.`, 1 to 64 of them.
pub fn is_written(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
}

/// Whether a text can stand before the slash of a row's name: a written one that hides nowhere.
pub fn is_provider(text: &str) -> bool {
    is_written(text) && !text.starts_with('.')
}

/// Whether a text can be the name of an operation, behind which a dot begins the name of a variant.
pub fn is_operation(text: &str) -> bool {
    is_written(text) && !text.contains('.')
}

/// `operation` or `operation.variant`.
pub fn form(operation: &str, variant: &str) -> String {
    if variant.is_empty() { operation.to_owned() } else { format!("{operation}.{variant}") }
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
    fn names_of_implementations() {
        for name in ["cpu/plain", "mine/my_kernel.v2", "mine/Tiled:tile=8", "My_kernels.v2/x"] {
            assert!(is_implementation(name), "{name}");
        }
        for name in [
            "plain",
            ".mine/plain",
            "my kernels/plain",
            "a/b/c",
            "mine/",
            "mine/a b",
            "mine/a:",
            "mine/a:tile",
            "mine/a:t=",
            "mine/a:t=1,2",
        ] {
            assert!(!is_implementation(name), "{name}");
        }
    }

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
