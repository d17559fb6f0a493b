//! The registry's `len` attributes: how many elements are behind a pointer, as `n`, `count*4`, `bufSize / 4`.
//! `COMPSIZE(…)` gives no length, because the registry does not say how it is computed; other text is a syntax error.

use std::fmt;

/// A number that is computed from arguments.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Len {
    Number(i64),
    Argument(String),
    Product(Box<Len>, Box<Len>),
    Quotient(Box<Len>, i64),
}

/// A syntax error in a `len` attribute.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SyntaxError(String);

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Parses the value of a `len` attribute. `None` for `COMPSIZE(…)`: the registry does not say how the length is
/// computed.
pub fn parse(text: &str) -> Result<Option<Len>, SyntaxError> {
    if text.contains("COMPSIZE") {
        return Ok(None);
    }
    let mut parser = Parser { tokens: tokens(text)?, at: 0 };
    let len = parser.product()?;
    parser.end()?;
    Ok(Some(len))
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Token {
    Word(String),
    Number(i64),
    Sign(char),
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
}

impl Parser {
    fn product(&mut self) -> Result<Len, SyntaxError> {
        let mut left = self.factor()?;
        loop {
            match self.peek() {
                Some(Token::Sign('*')) => {
                    self.at += 1;
                    left = Len::Product(Box::new(left), Box::new(self.factor()?));
                }
                Some(Token::Sign('/')) => {
                    self.at += 1;
                    left = Len::Quotient(Box::new(left), self.divisor()?);
                }
                _ => return Ok(left),
            }
        }
    }

    fn factor(&mut self) -> Result<Len, SyntaxError> {
        match self.next() {
            Some(Token::Number(number)) => Ok(Len::Number(number)),
            Some(Token::Word(argument)) => Ok(Len::Argument(argument)),
            other => Err(unexpected("a number or a parameter", other.as_ref())),
        }
    }

    fn divisor(&mut self) -> Result<i64, SyntaxError> {
        match self.next() {
            Some(Token::Number(number)) if number != 0 => Ok(number),
            other => Err(unexpected("a number other than 0", other.as_ref())),
        }
    }

    fn end(&mut self) -> Result<(), SyntaxError> {
        match self.next() {
            None => Ok(()),
            other => Err(unexpected("the end", other.as_ref())),
        }
    }

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn next(&mut self) -> Option<Token> {
        let token = self.tokens.get(self.at).cloned();
        self.at += 1;
        token
    }
}

fn unexpected(wanted: &str, found: Option<&Token>) -> SyntaxError {
    let found = match found {
        None => "the end".to_owned(),
        Some(Token::Word(word)) => format!("`{word}`"),
        Some(Token::Number(number)) => format!("`{number}`"),
        Some(Token::Sign(sign)) => format!("`{sign}`"),
    };
    SyntaxError(format!("expected {wanted}, found {found}"))
}

fn tokens(text: &str) -> Result<Vec<Token>, SyntaxError> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let (head, tail) =
            if end == 0 { rest.split_at(first.len_utf8()) } else { rest.split_at(end) };
        tokens.push(match first {
            '*' | '/' => Token::Sign(first),
            '0'..='9' => Token::Number(
                head.parse().map_err(|_| SyntaxError(format!("`{head}` is not a number")))?,
            ),
            _ if is_word(first) => Token::Word(head.to_owned()),
            _ => return Err(SyntaxError(format!("unexpected `{first}`"))),
        });
        rest = tail.trim_start();
    }
    Ok(tokens)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn argument(name: &str) -> Len {
        Len::Argument(name.to_owned())
    }

    fn product(left: Len, right: Len) -> Len {
        Len::Product(Box::new(left), Box::new(right))
    }

    #[test]
    fn registry_len_is_parsed() {
        let check = |text: &str, expected: Option<Len>| {
            assert_eq!(parse(text), Ok(expected), "{text}");
        };
        check("16", Some(Len::Number(16)));
        check("n", Some(argument("n")));
        check("count*3", Some(product(argument("count"), Len::Number(3))));
        check("bufSize / 4", Some(Len::Quotient(Box::new(argument("bufSize")), 4)));
        check("a*b*2", Some(product(product(argument("a"), argument("b")), Len::Number(2))));
        check("COMPSIZE(format,type)", None);
        check("COMPSIZE(count)*2", None);
    }

    #[test]
    fn malformed_len_is_rejected_with_what_was_expected() {
        let check = |text: &str, message: &str| {
            assert_eq!(parse(text).unwrap_err().to_string(), message, "{text}");
        };
        check("", "expected a number or a parameter, found the end");
        check("count*", "expected a number or a parameter, found the end");
        check("count 4", "expected the end, found `4`");
        check("count/0", "expected a number other than 0, found `0`");
        check("count % 2", "unexpected `%`");
        check("99999999999999999999", "`99999999999999999999` is not a number");
    }
}
