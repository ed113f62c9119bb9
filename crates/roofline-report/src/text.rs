//! Text for a terminal: escaped, cut and wrapped by display width.

use crate::Style;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// What stands for a value that is not there.
pub(crate) const NONE: &str = "–";

/// `text` without anything that moves the cursor, changes colours, hides or reorders what is read.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        // Of width 0 are combining and joining characters, directions, variation selectors.
        if c.is_control() || c.width().unwrap_or(0) == 0 || matches!(c, '\u{2028}' | '\u{2029}' | '\u{ad}') {
            escaped.extend(c.escape_default());
        } else {
            escaped.push(c);
        }
    }
    escaped
}

/// `text` for a terminal whose locale has no other characters than those of ASCII.
pub fn to_ascii(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '×' => plain.push('x'),
            '±' => plain += "+-",
            'µ' | 'μ' => plain.push('u'),
            '–' | '─' => plain.push('-'),
            // One column, so that what was cut to a width keeps it.
            '…' => plain.push('~'),
            '\u{a0}' => plain.push(' '),
            '▁' | '▂' | '▃' => plain.push('.'),
            '▄' | '▅' | '▆' => plain.push(':'),
            '▇' | '█' => plain.push('#'),
            '┃' | '│' => plain.push('|'),
            '━' => plain.push('='),
            '└' | '╭' | '╰' => plain.push('+'),
            '·' => plain.push('*'),
            '−' => plain.push('-'),
            c if c.is_ascii() => plain.push(c),
            c => match FORMULAS.iter().find(|(sign, _)| *sign == c) {
                Some((_, words)) => plain += words,
                None => plain.extend(c.escape_default()),
            },
        }
    }
    plain
}

/// Signs of formulas, as plain text writes them.
const FORMULAS: [(char, &str); 18] = [
    ('ᵀ', "^T"),
    ('²', "^2"),
    ('³', "^3"),
    ('⁻', "^-"),
    ('ˣ', "^x"),
    ('√', "sqrt "),
    ('Σ', "sum "),
    ('σ', "sigma"),
    ('φ', "phi"),
    ('π', "pi"),
    ('α', "alpha"),
    ('γ', "gamma"),
    ('∞', "inf"),
    ('→', "->"),
    ('‖', "||"),
    ('½', "1/2"),
    ('⌈', "ceil("),
    ('⌉', ")"),
];

/// `text` as a style has it, to be done before anything is measured or cut.
pub(crate) fn spelled(text: &str, style: Style) -> String {
    if style.ascii { to_ascii(text) } else { text.to_owned() }
}

pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// `text` in at most `most` columns, an ellipsis at a word's end where it was cut.
pub(crate) fn shorten(text: &str, most: usize) -> String {
    if width(text) <= most {
        return text.to_owned();
    }
    let cut = &text[..fitting(text, most.saturating_sub(1))];
    let whole_words = cut.rsplit_once(' ').map_or(cut, |(words, _)| words);
    let kept = if whole_words.len() * 2 > cut.len() { whole_words } else { cut };
    format!("{}…", kept.trim_end_matches([' ', ',', ':', ';']))
}

/// A name in at most `most` columns, without its middle where it was cut: names often differ at their ends.
pub(crate) fn shorten_name(name: &str, most: usize) -> String {
    if width(name) <= most {
        return name.to_owned();
    }
    let room = most.saturating_sub(1);
    let start = &name[..fitting(name, room.div_ceil(2))];
    let room = room - width(start);
    let from = name.char_indices().map(|(place, _)| place).find(|place| width(&name[*place..]) <= room);
    format!("{start}…{}", from.map_or("", |from| &name[from..]))
}

/// `text` as lines of at most the style's columns, the first after `first`, the others after `next`.
///
/// Breaks at spaces; a word longer than a line is broken where the line ends.
pub(crate) fn wrap(text: &str, style: Style, first: &str, next: &str) -> String {
    let text = &spelled(text, style);
    let Some(most) = style.width.map(usize::from) else { return format!("{first}{text}\n") };
    let mut lines = String::new();
    let mut line = first.to_owned();
    let mut empty = true;
    for word in text.split(' ') {
        let mut word = word;
        if !empty && width(&line) + 1 + width(word) > most {
            lines += line.trim_end();
            lines.push('\n');
            line = next.to_owned();
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        while width(&line) + width(word) > most {
            let room = most.saturating_sub(width(&line));
            // At least one character a line, or a narrow terminal would take forever.
            let cut = fitting(word, room).max(word.chars().next().map_or(0, char::len_utf8));
            line += &word[..cut];
            word = &word[cut..];
            if word.is_empty() {
                break;
            }
            lines += line.trim_end();
            lines.push('\n');
            line = next.to_owned();
        }
        line += word;
        empty = false;
    }
    lines += line.trim_end();
    lines.push('\n');
    lines
}

/// Bytes of the longest start of `text` that fits in `most` columns.
fn fitting(text: &str, most: usize) -> usize {
    let mut used = 0;
    for (place, c) in text.char_indices() {
        used += c.width().unwrap_or(0);
        if used > most {
            return place;
        }
    }
    text.len()
}

/// A count for people: exact below ten thousand, then three digits, as `16.8 M`.
pub(crate) fn count(n: u64) -> String {
    const PREFIXES: [(f64, &str); 6] =
        [(1e18, "E"), (1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
    if n < 10_000 {
        return n.to_string();
    }
    let value = n as f64;
    let (scale, prefix) =
        PREFIXES.into_iter().find(|(scale, _)| value >= scale * 0.9995).unwrap_or((1e3, "k"));
    let scaled = value / scale;
    let places = if scaled >= 99.95 {
        0
    } else if scaled >= 9.995 {
        1
    } else {
        2
    };
    format!("{scaled:.places$} {prefix}")
}

/// `1 row`, `2 rows`.
pub(crate) fn plural(n: u64, noun: &str) -> String {
    format!("{} {noun}{}", count(n), if n == 1 { "" } else { "s" })
}

/// The colours that are used, as ANSI numbers them.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Colour {
    Red,
    Green,
    Yellow,
    Dim,
    Bold,
}

/// `text` in a colour when colours are wanted.
pub(crate) fn paint(text: &str, colour: Colour, wanted: bool) -> String {
    let code = match colour {
        Colour::Red => "31",
        Colour::Green => "32",
        Colour::Yellow => "33",
        Colour::Dim => "2",
        Colour::Bold => "1",
    };
    if wanted { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moves_or_hides_is_escaped() {
        assert_eq!(escape("a\u{1b}[31mb\nc\u{7}"), "a\\u{1b}[31mb\\nc\\u{7}");
        assert_eq!(escape("\u{9b}2J\u{202e}x\u{200b}"), "\\u{9b}2J\\u{202e}x\\u{200b}");
        assert_eq!(escape("µs ± 3 × ä 漢"), "µs ± 3 × ä 漢");
    }

    #[test]
    fn counts_and_cuts() {
        assert_eq!(count(9_999), "9999");
        assert_eq!(count(16_777_216), "16.8 M");
        assert_eq!(count(999_999), "1.00 M");
        assert_eq!(count(u64::MAX), "18.4 E");
        assert_eq!(shorten("ended by signal 11, after 3 launches", 24), "ended by signal 11…");
        assert_eq!(shorten("abcdefghij", 5), "abcd…");
        assert_eq!(plural(1, "row"), "1 row");
    }

    #[test]
    fn wrapping_keeps_every_character_and_the_width() {
        let wrap = |text, width, first, next| wrap(text, Style { width, ..Style::default() }, first, next);
        assert_eq!(wrap("one two three", Some(9), "- ", "  "), "- one two\n  three\n");
        assert_eq!(wrap("abcdefgh", Some(5), "> ", "> "), "> abc\n> def\n> gh\n");
        assert_eq!(wrap("漢漢漢", Some(5), "", ""), "漢漢\n漢\n");
        assert_eq!(wrap("x y", None, "", ""), "x y\n");
        assert_eq!(wrap("漢", Some(0), "", ""), "漢\n");
    }

    #[test]
    fn names_keep_both_ends_and_ascii_has_no_other() {
        assert_eq!(shorten_name("mine/tiled:tile=16", 18), "mine/tiled:tile=16");
        assert_eq!(shorten_name("mine/tiled:tile=16", 11), "mine/…le=16");
        assert_eq!(shorten_name("漢漢漢漢", 5), "漢…漢");
        assert_eq!(shorten_name("abc", 1), "…");
        assert_eq!(to_ascii("1.54× ±0.4 % 3 µs – ok… 漢"), "1.54x +-0.4 % 3 us - ok~ \\u{6f22}");
        assert_eq!(to_ascii("C = A · Bᵀ, y = √x, m²"), "C = A * B^T, y = sqrt x, m^2");
    }
}
