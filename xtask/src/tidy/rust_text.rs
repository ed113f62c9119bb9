//! Rust source without what is not code: comments and the content of strings become blanks.

/// `source` with the same lines and columns, but only code in them.
pub(super) fn code_only(source: &str) -> String {
    let characters: Vec<char> = source.chars().collect();
    let mut code = String::with_capacity(source.len());
    let mut at = 0;
    while at < characters.len() {
        let end = end_of_non_code(&characters, at);
        if end == at {
            code.push(characters[at]);
            at += 1;
        } else {
            let end = end.min(characters.len());
            code.extend(characters[at..end].iter().map(|&c| if c == '\n' { '\n' } else { ' ' }));
            at = end;
        }
    }
    code
}

/// Whether `code` has `word` with no letter, digit or underscore beside it.
pub(super) fn has_word(code: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(word).any(|(at, _)| {
        !code[..at].chars().next_back().is_some_and(is_part)
            && !code[at + word.len()..].chars().next().is_some_and(is_part)
    })
}

/// Where the comment, string or character that begins here ends; `at` when none begins.
fn end_of_non_code(characters: &[char], at: usize) -> usize {
    let next = |distance: usize| characters.get(at + distance).copied();
    match characters[at] {
        '/' if next(1) == Some('/') => find(characters, at, |c| c == '\n'),
        '/' if next(1) == Some('*') => end_of_block_comment(characters, at),
        '"' => end_of_quoted(characters, at + 1, '"'),
        '\'' if next(1) == Some('\\') => end_of_quoted(characters, at + 1, '\''),
        // Anything else after a tick is a lifetime.
        '\'' if next(2) == Some('\'') => at + 3,
        'r' if !is_inside_a_word(characters, at) => end_of_raw_string(characters, at).unwrap_or(at),
        _ => at,
    }
}

fn end_of_block_comment(characters: &[char], start: usize) -> usize {
    let mut depth = 0;
    let mut at = start;
    while at < characters.len() {
        match (characters[at], characters.get(at + 1)) {
            ('/', Some('*')) => (depth, at) = (depth + 1, at + 2),
            ('*', Some('/')) => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    at
}

fn end_of_quoted(characters: &[char], start: usize, quote: char) -> usize {
    let mut at = start;
    while at < characters.len() && characters[at] != quote {
        at += if characters[at] == '\\' { 2 } else { 1 };
    }
    at + 1
}

fn end_of_raw_string(characters: &[char], start: usize) -> Option<usize> {
    let hashes = characters[start + 1..].iter().take_while(|&&c| c == '#').count();
    let first = start + 1 + hashes;
    (characters.get(first) == Some(&'"')).then_some(())?;
    let is_end = |at: usize| {
        characters[at] == '"'
            && characters[at + 1..].iter().take(hashes).filter(|&&c| c == '#').count() == hashes
    };
    Some((first + 1..characters.len()).find(|&at| is_end(at)).map_or(characters.len(), |at| at + 1 + hashes))
}

fn is_inside_a_word(characters: &[char], at: usize) -> bool {
    let before = |distance: usize| at.checked_sub(distance).map(|index| characters[index]);
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    match before(1) {
        Some('b' | 'c') => is_part(before(2)),
        other => is_part(other),
    }
}

fn find(characters: &[char], start: usize, is_end: impl Fn(char) -> bool) -> usize {
    (start..characters.len()).find(|&at| is_end(characters[at])).unwrap_or(characters.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_code_is_left() {
        for (source, has) in [
            ("unsafe { x }", true),
            ("// unsafe\nx", false),
            ("/* a /* unsafe */ unsafe */ x", false),
            ("/* a */ unsafe {}", true),
            (r#"let s = "unsafe \" unsafe"; x"#, false),
            (r##"let s = r#"unsafe " unsafe"#; x"##, false),
            (r##"let s = br#"x"#; unsafe {}"##, true),
            (r"let c = '\''; unsafe {}", true),
            ("let c = '\"'; unsafe {}", true),
            ("fn f<'a>(x: &'a u8) { unsafe {} }", true),
            ("#![forbid(unsafe_code)]", false),
            ("not_unsafe()", false),
            (r#"for "unfinished"#, false),
        ] {
            let code = code_only(source);
            assert_eq!(has_word(&code, "unsafe"), has, "{source}");
            assert_eq!(code.chars().count(), source.chars().count(), "{source}");
        }
    }
}
