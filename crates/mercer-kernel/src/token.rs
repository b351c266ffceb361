//! The tokeniser.

use super::cursor::{SyntaxProblem, TextError, TextProblem};

/// The kinds of tokens.
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
    /// `~`.
    Tilde,
    /// The end of the text.
    End,
}

/// A token and the characters it covers, counted from 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Token {
    /// Its kind.
    pub kind: Kind,
    /// Whether it is a name in backquotes, which are not part of the covered characters.
    pub quoted: bool,
    /// Its first character.
    pub start: usize,
    /// One past its last character.
    pub end: usize,
}

/// The tokens of a text, the last of them [`Kind::End`].
pub(super) fn tokens<P: TextProblem>(text: &[char]) -> Result<Vec<Token>, TextError<P>> {
    let mut tokens = Vec::new();
    let mut start = 0;
    while start < text.len() {
        if text[start].is_whitespace() {
            start += 1;
        } else if P::QUOTED_NAMES && text[start] == '`' {
            let length = text[start + 1..].iter().position(|&c| c == '`');
            let Some(length) = length.filter(|&length| length > 0) else {
                return Err(TextError::new(SyntaxProblem::OpenQuote, text, start));
            };
            let end = start + 1 + length;
            tokens.push(Token { kind: Kind::Name, quoted: true, start: start + 1, end });
            start = end + 1;
        } else {
            let (kind, length) =
                token(&text[start..], P::NOUN).map_err(|problem| TextError::new(problem, text, start))?;
            tokens.push(Token { kind, quoted: false, start, end: start + length });
            start += length;
        }
    }
    tokens.push(Token { kind: Kind::End, quoted: false, start, end: start });
    Ok(tokens)
}

/// The first token of a text that starts with one, and its length.
fn token(text: &[char], noun: &'static str) -> Result<(Kind, usize), SyntaxProblem> {
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
        '~' => Kind::Tilde,
        '.' if follows('.') => return Ok((Kind::To, 2)),
        '.' if digit_follows => return number(text),
        c if c.is_ascii_digit() => return number(text),
        c if c.is_alphabetic() || c == '_' => {
            let length = text.iter().take_while(|c| c.is_alphanumeric() || **c == '_').count();
            return Ok((Kind::Name, length));
        }
        c => return Err(SyntaxProblem::UnknownCharacter { found: c, noun }),
    };
    Ok((kind, 1))
}

/// `12`, `2.`, `.5`, `1.5e-3`; the two dots of `0..3` are not part of a number.
fn number(text: &[char]) -> Result<(Kind, usize), SyntaxProblem> {
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
        _ => Err(SyntaxProblem::NotFinite { value: written }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Problem;

    fn kinds(text: &str) -> Vec<Kind> {
        let characters: Vec<char> = text.chars().collect();
        tokens::<Problem>(&characters).unwrap().into_iter().map(|t| t.kind).collect()
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
            assert!(tokens::<Problem>(&characters).is_err(), "{text}");
        }
    }
}
