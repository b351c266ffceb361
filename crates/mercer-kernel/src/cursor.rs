//! The common part of the parsers of kernels and features: a position in a text, its tokens, and errors that show the
//! position.

use std::fmt;
use std::marker::PhantomData;
use std::ops::DerefMut;

use super::expr::Function;
use super::size::MAX_DEPTH;
use super::token::{Kind, Token, tokens};

/// Characters of the text that an error message shows.
const WINDOW: usize = 72;

/// Characters of a token that an error message shows.
const SHOWN: usize = 40;

/// The errors of one language.
pub trait TextProblem: fmt::Display + From<SyntaxProblem> {
    /// The name of a text of the language in messages, such as `kernel text`.
    const TEXT: &'static str;
    /// What a text describes, such as `a kernel`.
    const NOUN: &'static str;
    /// Whether names may stand in backquotes.
    const QUOTED_NAMES: bool;
}

/// Errors common to all languages.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SyntaxProblem {
    /// The text has more characters than allowed.
    #[error("the text has {length} characters or more, at most {limit} are allowed")]
    TooLong {
        /// Characters, or a lower bound of them.
        length: usize,
        /// Characters allowed.
        limit: usize,
    },
    /// Brackets, signs, powers or quotients are nested too deeply.
    #[error("nested more than {limit} levels deep")]
    TooDeep {
        /// Levels allowed.
        limit: usize,
    },
    /// A character that is not part of the language.
    #[error("`{}` has no meaning in {noun}", found.escape_debug())]
    UnknownCharacter {
        /// The character.
        found: char,
        /// What a text describes.
        noun: &'static str,
    },
    /// A backquote that is not closed.
    #[error("the backquote before a column's name is not closed")]
    OpenQuote,
    /// An unexpected token.
    #[error("expected {expected}, found {found}")]
    Unexpected {
        /// The tokens expected.
        expected: &'static str,
        /// The token found.
        found: String,
    },
    /// A constant that overflows or is undefined.
    #[error("{value} is not a finite number")]
    NotFinite {
        /// The constant, as written or as computed.
        value: String,
    },
    /// A function with the wrong number of arguments.
    #[error("{function} takes {expected}, found {found}")]
    ArgumentCount {
        /// The function.
        function: &'static str,
        /// The number of arguments that it takes, in words.
        expected: &'static str,
        /// The number given.
        found: usize,
    },
}

/// Why a text cannot be read, and where.
///
/// Displayed as one line that says what was found and what was expected, then the text with a caret under the position.
/// For a long text only the surroundings of the position are shown.
#[derive(Debug, Clone, PartialEq)]
pub struct TextError<P>(Box<Details<P>>);

#[derive(Debug, Clone, PartialEq)]
struct Details<P> {
    problem: P,
    /// The number of the character, counted from 1.
    column: usize,
    /// The text around the position.
    excerpt: String,
    /// The index of the position in this text.
    caret: usize,
}

impl<P: TextProblem> TextError<P> {
    /// A problem at character `at`, counted from 0, of `text`.
    pub fn new(problem: impl Into<P>, text: &[char], at: usize) -> Self {
        let start = if text.len() <= WINDOW {
            0
        } else {
            at.saturating_sub(WINDOW / 2).min(text.len().saturating_sub(WINDOW))
        };
        let end = text.len().min(start + WINDOW);
        let mut excerpt = String::new();
        if start > 0 {
            excerpt.push('…');
        }
        let caret = excerpt.chars().count() + at.saturating_sub(start);
        excerpt.extend(text[start..end].iter().map(|&c| if c.is_control() { ' ' } else { c }));
        if end < text.len() {
            excerpt.push('…');
        }
        Self(Box::new(Details { problem: problem.into(), column: at + 1, excerpt, caret }))
    }

    /// The position: the number of the character, counted from 1.
    #[must_use]
    pub fn column(&self) -> usize {
        self.0.column
    }

    /// The problem.
    #[must_use]
    pub fn problem(&self) -> &P {
        &self.0.problem
    }
}

impl<P: TextProblem> fmt::Display for TextError<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Details { problem, column, excerpt, caret } = &*self.0;
        write!(f, "{}, column {column}: {problem}", P::TEXT)?;
        if !excerpt.is_empty() {
            write!(f, "\n  {excerpt}\n  {:caret$}^", "")?;
        }
        Ok(())
    }
}

impl<P: TextProblem + fmt::Debug> std::error::Error for TextError<P> {}

/// The tokens of a text, and the current position.
pub struct Cursor<P> {
    text: Vec<char>,
    tokens: Vec<Token>,
    next: usize,
    nesting: usize,
    problem: PhantomData<P>,
}

impl<P: TextProblem> Cursor<P> {
    /// The start of a text of at most `limit` characters.
    ///
    /// # Errors
    /// If the text is longer, or a part of it is no token.
    pub fn new(text: &str, limit: usize) -> Result<Self, TextError<P>> {
        // A character has at most four bytes: a text that is far too long is rejected without counting its characters.
        let length = if text.len() > 4 * limit { text.len() / 4 } else { text.chars().count() };
        if length > limit {
            let head: Vec<char> = text.chars().take(100).collect();
            return Err(TextError::new(SyntaxProblem::TooLong { length, limit }, &head, 0));
        }
        let text: Vec<char> = text.chars().collect();
        let tokens = tokens(&text)?;
        Ok(Self { text, tokens, next: 0, nesting: 0, problem: PhantomData })
    }

    /// The next token.
    #[must_use]
    pub fn token(&self) -> Token {
        self.tokens[self.next]
    }

    /// The kind of the next token.
    #[must_use]
    pub fn peek(&self) -> Kind {
        self.token().kind
    }

    /// The kind of the token `ahead` positions after the next one; after the end of the text, the end.
    #[must_use]
    pub fn peek_ahead(&self, ahead: usize) -> Kind {
        self.tokens[(self.next + ahead).min(self.tokens.len() - 1)].kind
    }

    /// Consumes the next token and returns it.
    pub fn advance(&mut self) -> Token {
        let token = self.token();
        self.next = (self.next + 1).min(self.tokens.len() - 1);
        token
    }

    /// Consumes the next token if it is of this kind; returns whether it was.
    pub fn eat(&mut self, kind: Kind) -> bool {
        let found = self.peek() == kind;
        if found {
            self.advance();
        }
        found
    }

    /// Consumes the next token, which must be of this kind.
    ///
    /// # Errors
    /// If it is not.
    pub fn expect(&mut self, kind: Kind, expected: &'static str) -> Result<Token, TextError<P>> {
        if self.peek() == kind { Ok(self.advance()) } else { Err(self.unexpected(expected)) }
    }

    /// The characters that a token covers.
    #[must_use]
    pub fn characters(&self, token: Token) -> &[char] {
        &self.text[token.start..token.end]
    }

    /// The characters that a token covers, as text.
    #[must_use]
    pub fn written(&self, token: Token) -> String {
        self.characters(token).iter().collect()
    }

    /// As [`written`](Self::written), cut short.
    #[must_use]
    pub fn shortened(&self, token: Token) -> String {
        let written = self.written(token);
        match written.char_indices().nth(SHOWN) {
            Some((end, _)) => format!("{}…", &written[..end]),
            None => written,
        }
    }

    /// A token, for messages.
    #[must_use]
    pub fn describe(&self, token: Token) -> String {
        match token.kind {
            Kind::End => "the end of the text".into(),
            _ => format!("`{}`", self.shortened(token)),
        }
    }

    /// A problem at a token.
    pub fn error(&self, problem: impl Into<P>, at: Token) -> TextError<P> {
        TextError::new(problem, &self.text, at.start)
    }

    /// An error for an unexpected next token.
    pub fn unexpected(&self, expected: &'static str) -> TextError<P> {
        let token = self.token();
        self.error(SyntaxProblem::Unexpected { expected, found: self.describe(token) }, token)
    }

    /// Checks the number of arguments of a function.
    ///
    /// # Errors
    /// If the function takes another number.
    pub fn check_arguments(&self, function: Function, found: usize, at: Token) -> Result<(), TextError<P>> {
        let (right, expected) = match function.is_variadic() {
            true => (found >= 2, "two or more arguments"),
            false => (found == 1, "one argument"),
        };
        if right {
            return Ok(());
        }
        Err(self.error(SyntaxProblem::ArgumentCount { function: function.name(), expected, found }, at))
    }
}

/// Parses one level further down, within the limit that keeps the stack safe.
///
/// # Errors
/// Those of `parse`, and if the text is nested too deeply.
pub fn nested<P: TextProblem, C: DerefMut<Target = Cursor<P>>, T>(
    parser: &mut C,
    at: Token,
    parse: impl FnOnce(&mut C) -> Result<T, TextError<P>>,
) -> Result<T, TextError<P>> {
    if parser.nesting >= MAX_DEPTH {
        return Err(parser.error(SyntaxProblem::TooDeep { limit: MAX_DEPTH }, at));
    }
    parser.nesting += 1;
    let result = parse(parser);
    parser.nesting -= 1;
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ParseError, Problem};

    #[test]
    fn the_caret_stands_under_the_place_in_long_texts() {
        for at in [0, 5, 60, 500, 999, 1000] {
            let mut text = vec!['a'; 1000];
            if at < 1000 {
                text[at] = '#';
            }
            let shown = ParseError::new(Problem::NotConstant, &text, at).to_string();
            let lines: Vec<&str> = shown.lines().collect();
            assert!(lines[1].chars().count() <= WINDOW + 4);
            let caret = lines[2].chars().position(|c| c == '^').unwrap();
            assert_eq!(lines[1].chars().nth(caret), (at < 1000).then_some('#'));
        }
    }
}
