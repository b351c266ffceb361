//! Kernel text cut into tokens.

use super::parse_error::{ParseError, Problem};

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// A number without a sign.
    Number(f64),
    /// A letter or underscore, then letters, digits and underscores.
    Name,
    /// `+`.
    Plus,
    /// `-` or `−`.
    Minus,
    /// `*`.
    Star,
    /// `/`.
    Slash,
    /// `^`.
    Caret,
    /// `(`.
    Open,
    /// `)`.
    Close,
    /// `[`.
    OpenBracket,
    /// `]`.
    CloseBracket,
    /// `{`.
    OpenBrace,
    /// `}`.
    CloseBrace,
    /// `<` or `⟨`.
    Less,
    /// `>` or `⟩`.
    Greater,
    /// `|`.
    Bar,
    /// `,`.
    Comma,
    /// `=`.
    Equals,
    /// `..`.
    To,
    /// `?`.
    Question,
    /// The end of the text.
    End,
}

/// A token and the characters it covers, counted from 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Token {
    pub kind: Kind,
    pub start: usize,
    pub end: usize,
}

/// The tokens of a text, the last of them [`Kind::End`].
pub(super) fn tokens(text: &[char]) -> Result<Vec<Token>, ParseError> {
    let mut tokens = Vec::new();
    let mut start = 0;
    while start < text.len() {
        if text[start].is_whitespace() {
            start += 1;
            continue;
        }
        let (kind, length) =
            token(&text[start..]).map_err(|problem| ParseError::new(problem, text, start))?;
        tokens.push(Token { kind, start, end: start + length });
        start += length;
    }
    tokens.push(Token { kind: Kind::End, start, end: start });
    Ok(tokens)
}

/// The first token of a text that starts with one, and its length.
pub fn token(text: &[char]) -> Result<(Kind, usize), Problem> {
    let follows = |c: char| text.get(1) == Some(&c);
    let digit_follows = text.get(1).is_some_and(char::is_ascii_digit);
    let kind = match text[0] {
        '+' => Kind::Plus,
        '-' | '−' => Kind::Minus,
        '*' => Kind::Star,
        '/' => Kind::Slash,
        '^' => Kind::Caret,
        '(' => Kind::Open,
        ')' => Kind::Close,
        '[' => Kind::OpenBracket,
        ']' => Kind::CloseBracket,
        '{' => Kind::OpenBrace,
        '}' => Kind::CloseBrace,
        '<' | '⟨' => Kind::Less,
        '>' | '⟩' => Kind::Greater,
        '|' => Kind::Bar,
        ',' => Kind::Comma,
        '=' => Kind::Equals,
        '?' => Kind::Question,
        '.' if follows('.') => return Ok((Kind::To, 2)),
        '.' if digit_follows => return number(text),
        c if c.is_ascii_digit() => return number(text),
        c if c.is_alphabetic() || c == '_' => {
            let length = text.iter().take_while(|c| c.is_alphanumeric() || **c == '_').count();
            return Ok((Kind::Name, length));
        }
        c => return Err(Problem::UnknownCharacter { found: c }),
    };
    Ok((kind, 1))
}

/// `12`, `2.`, `.5`, `1.5e-3`; the two dots of `0..3` are no part of a number.
fn number(text: &[char]) -> Result<(Kind, usize), Problem> {
    let digits = |from: usize| text[from..].iter().take_while(|c| c.is_ascii_digit()).count();
    let is = |at: usize, options: &[char]| text.get(at).is_some_and(|c| options.contains(c));
    let mut end = digits(0);
    if is(end, &['.']) && !is(end + 1, &['.']) {
        end += 1;
        end += digits(end);
    }
    if is(end, &['e', 'E']) {
        let sign = usize::from(is(end + 1, &['+', '-', '−']));
        let exponent = if end + 1 + sign < text.len() { digits(end + 1 + sign) } else { 0 };
        if exponent > 0 {
            end += 1 + sign + exponent;
        }
    }
    let written: String = text[..end].iter().map(|&c| if c == '−' { '-' } else { c }).collect();
    match written.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok((Kind::Number(value), end)),
        _ => Err(Problem::NotFinite { value: written }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<Kind> {
        let characters: Vec<char> = text.chars().collect();
        tokens(&characters).unwrap().into_iter().map(|t| t.kind).collect()
    }

    #[test]
    fn numbers_leave_ranges_alone() {
        use Kind::*;
        assert_eq!(kinds("0..3"), [Number(0.0), To, Number(3.0), End]);
        assert_eq!(kinds(".5..2."), [Number(0.5), To, Number(2.0), End]);
        assert_eq!(kinds("1...5"), [Number(1.0), To, Number(0.5), End]);
        assert_eq!(kinds("1e-3 2.5E+2 1e"), [Number(1e-3), Number(250.0), Number(1.0), Name, End]);
    }

    #[test]
    fn typographic_signs_are_read_as_the_plain_ones() {
        assert_eq!(kinds("⟨x,z⟩−1"), kinds("<x,z>-1"));
    }

    #[test]
    fn unknown_characters_and_overflow_are_errors() {
        for text in ["a # b", ".", "1e999"] {
            let characters: Vec<char> = text.chars().collect();
            assert!(tokens(&characters).is_err(), "{text}");
        }
    }
}
