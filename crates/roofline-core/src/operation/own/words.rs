//! The words of a declaration: names, numbers and signs.

/// One word of a text.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Word<'a> {
    Name(&'a str),
    /// As it was written; what it may be depends on where it stands.
    Number(&'a str),
    Sign(&'a str),
}

/// Longer ones first, so that none is taken for its beginning.
const SIGNS: [&str; 11] = ["->", "[", "]", "(", ")", ",", "+", "-", "*", "/", "="];

/// Words that are left to read, and the text that they come from.
#[derive(Clone, Debug)]
pub(super) struct Words<'a> {
    words: Vec<Word<'a>>,
    at: usize,
}

impl<'a> Words<'a> {
    pub(super) fn of(text: &'a str) -> Result<Words<'a>, String> {
        let mut words = Vec::new();
        let mut rest = text.trim_start();
        while let Some(first) = rest.chars().next() {
            let sign = SIGNS.into_iter().find(|sign| rest.starts_with(sign));
            let (word, length) = match sign {
                Some(sign) => (Word::Sign(sign), sign.len()),
                None if first.is_ascii_digit() => {
                    let length = number_length(rest);
                    (Word::Number(&rest[..length]), length)
                }
                None if first.is_ascii_lowercase() => {
                    let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
                    let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
                    (Word::Name(&rest[..length]), length)
                }
                None => {
                    let why = "names are lowercase letters and digits";
                    return Err(format!("`{}` has no meaning here; {why}", first.escape_debug()));
                }
            };
            words.push(word);
            rest = rest[length..].trim_start();
        }
        Ok(Words { words, at: 0 })
    }

    pub(super) fn peek(&self) -> Option<&Word<'a>> {
        self.words.get(self.at)
    }

    pub(super) fn next(&mut self) -> Option<Word<'a>> {
        let word = self.words.get(self.at).cloned();
        self.at += 1;
        word
    }

    /// Whether the next word is this sign, which is then read.
    pub(super) fn takes(&mut self, sign: &str) -> bool {
        let is_next = matches!(self.peek(), Some(Word::Sign(next)) if *next == sign);
        self.at += usize::from(is_next);
        is_next
    }

    pub(super) fn needs(&mut self, sign: &str) -> Result<(), String> {
        if self.takes(sign) { Ok(()) } else { Err(format!("`{sign}` is missing before {}", self.place())) }
    }

    pub(super) fn name(&mut self, what: &str) -> Result<&'a str, String> {
        match self.peek() {
            Some(Word::Name(name)) => {
                let name = *name;
                self.at += 1;
                Ok(name)
            }
            _ => Err(format!("{what} is missing before {}", self.place())),
        }
    }

    /// A number with a sign, a point and an exponent where it has them.
    pub(super) fn number(&mut self) -> Result<f64, String> {
        let sign = if self.takes("-") { -1.0 } else { 1.0 };
        let place = self.place();
        match self.next() {
            Some(Word::Number(text)) => {
                let value = text.parse::<f64>().ok().filter(|value| value.is_finite());
                value.map(|value| sign * value).ok_or_else(|| format!("`{text}` is not a number"))
            }
            _ => Err(format!("a number is missing before {place}")),
        }
    }

    pub(super) fn is_done(&self) -> bool {
        self.at >= self.words.len()
    }

    /// The next word, for people.
    pub(super) fn place(&self) -> String {
        match self.peek() {
            Some(Word::Name(text) | Word::Number(text) | Word::Sign(text)) => format!("`{text}`"),
            None => "the end".to_owned(),
        }
    }
}

/// Bytes of the number that a text begins with: `12`, `0.5`, `1e-3`.
fn number_length(text: &str) -> usize {
    let digits = |text: &str| text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let length = digits(text);
    let exponent = text[length..].strip_prefix('e').map(|rest| {
        let sign = usize::from(rest.starts_with(['+', '-']));
        (sign, digits(&rest[sign..]))
    });
    match exponent {
        Some((sign, count @ 1..)) => length + 1 + sign + count,
        _ => length,
    }
}
