//! The language of extents: how much memory a pointer parameter points at.
//!
//! The registry's `len` attributes are the part of it without words: `n`, `count*4`, `bufSize / 4`.
//! `apis/README.md` describes the words that annotations may use.

use std::fmt;

/// How much is behind a pointer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Extent {
    /// Not known from the arguments alone.
    Unobserved,
    /// So many elements; bytes behind `void *`.
    Elements(Expr),
    /// As many elements as another output says, at most so many: `counted(num_config, size)`.
    Counted { count: String, most: Expr },
    /// Text up to its terminating zero.
    Text,
    /// Text up to its terminating zero, at most so many bytes.
    TextWithin(Expr),
    /// Text of a given length, or up to its terminating zero where the length says so.
    TextOf { length: String, terminated: Terminated },
    /// An array of texts, with an optional array of their lengths.
    Strings { count: String, lengths: Option<String> },
    /// Pairs of attribute and value, ended by `EGL_NONE`.
    Attributes,
}

/// Which lengths mean that a text is zero-terminated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Terminated {
    IfNegative,
    IfZero,
}

/// A number computed from arguments.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Expr {
    Number(i64),
    Argument(String),
    /// A table of sizes, looked up by an argument.
    Sizes {
        table: String,
        argument: String,
    },
    Product(Box<Expr>, Box<Expr>),
    Quotient(Box<Expr>, i64),
}

impl Expr {
    /// The arguments that occur.
    pub fn arguments(&self) -> Vec<&str> {
        match self {
            Expr::Number(_) => vec![],
            Expr::Argument(name) | Expr::Sizes { argument: name, .. } => vec![name],
            Expr::Product(left, right) => [left.arguments(), right.arguments()].concat(),
            Expr::Quotient(left, _) => left.arguments(),
        }
    }

    /// The tables of sizes that occur.
    pub fn tables(&self) -> Vec<&str> {
        match self {
            Expr::Number(_) | Expr::Argument(_) => vec![],
            Expr::Sizes { table, .. } => vec![table],
            Expr::Product(left, right) => [left.tables(), right.tables()].concat(),
            Expr::Quotient(left, _) => left.tables(),
        }
    }
}

/// What is wrong with the text of an extent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SyntaxError(String);

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Parses the value of a `len` attribute of the registry.
///
/// `COMPSIZE(…)` is the registry's way to say "it depends".
pub fn parse_len(text: &str) -> Result<Extent, SyntaxError> {
    if text.contains("COMPSIZE") {
        return Ok(Extent::Unobserved);
    }
    let mut parser = Parser::new(text)?;
    let expr = parser.product()?;
    parser.end()?;
    Ok(Extent::Elements(expr))
}

/// Parses the extent of an annotation.
pub fn parse(text: &str) -> Result<Extent, SyntaxError> {
    let mut parser = Parser::new(text)?;
    let extent = parser.extent()?;
    parser.end()?;
    Ok(extent)
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
    fn new(text: &str) -> Result<Self, SyntaxError> {
        Ok(Self { tokens: tokens(text)?, at: 0 })
    }

    fn extent(&mut self) -> Result<Extent, SyntaxError> {
        let Some(Token::Word(word)) = self.peek() else {
            return self.product().map(Extent::Elements);
        };
        let extent = match word.as_str() {
            "unobserved" => Extent::Unobserved,
            "attributes" => Extent::Attributes,
            "text" => Extent::Text,
            "text_within" => return self.text_within(),
            "text_of" => return self.text_of(),
            "strings" => return self.strings(),
            "counted" => return self.counted(),
            _ => return self.product().map(Extent::Elements),
        };
        self.at += 1;
        Ok(extent)
    }

    fn text_within(&mut self) -> Result<Extent, SyntaxError> {
        self.at += 1;
        self.sign('(')?;
        let most = self.product()?;
        self.sign(')')?;
        Ok(Extent::TextWithin(most))
    }

    fn text_of(&mut self) -> Result<Extent, SyntaxError> {
        self.at += 1;
        self.sign('(')?;
        let length = self.word()?;
        self.sign(',')?;
        let terminated = match self.word()?.as_str() {
            "zero_terminated_if_negative" => Terminated::IfNegative,
            "zero_terminated_if_zero" => Terminated::IfZero,
            other => return Err(SyntaxError(format!("unknown rule for a length: {other}"))),
        };
        self.sign(')')?;
        Ok(Extent::TextOf { length, terminated })
    }

    fn strings(&mut self) -> Result<Extent, SyntaxError> {
        self.at += 1;
        self.sign('(')?;
        let count = self.word()?;
        let lengths = if self.peek() == Some(&Token::Sign(',')) {
            self.at += 1;
            Some(self.word()?)
        } else {
            None
        };
        self.sign(')')?;
        Ok(Extent::Strings { count, lengths })
    }

    fn counted(&mut self) -> Result<Extent, SyntaxError> {
        self.at += 1;
        self.sign('(')?;
        let count = self.word()?;
        self.sign(',')?;
        let most = self.product()?;
        self.sign(')')?;
        Ok(Extent::Counted { count, most })
    }

    fn product(&mut self) -> Result<Expr, SyntaxError> {
        let mut left = self.factor()?;
        loop {
            match self.peek() {
                Some(Token::Sign('*')) => {
                    self.at += 1;
                    left = Expr::Product(Box::new(left), Box::new(self.factor()?));
                }
                Some(Token::Sign('/')) => {
                    self.at += 1;
                    left = Expr::Quotient(Box::new(left), self.divisor()?);
                }
                _ => return Ok(left),
            }
        }
    }

    fn factor(&mut self) -> Result<Expr, SyntaxError> {
        match self.next() {
            Some(Token::Number(number)) => Ok(Expr::Number(number)),
            Some(Token::Word(table)) if self.peek() == Some(&Token::Sign('(')) => {
                self.at += 1;
                let argument = self.word()?;
                self.sign(')')?;
                Ok(Expr::Sizes { table, argument })
            }
            Some(Token::Word(argument)) => Ok(Expr::Argument(argument)),
            other => Err(unexpected("a number or a parameter", other.as_ref())),
        }
    }

    fn divisor(&mut self) -> Result<i64, SyntaxError> {
        match self.next() {
            Some(Token::Number(number)) if number != 0 => Ok(number),
            other => Err(unexpected("a number other than 0", other.as_ref())),
        }
    }

    fn word(&mut self) -> Result<String, SyntaxError> {
        match self.next() {
            Some(Token::Word(word)) => Ok(word),
            other => Err(unexpected("a name", other.as_ref())),
        }
    }

    fn sign(&mut self, sign: char) -> Result<(), SyntaxError> {
        match self.next() {
            Some(Token::Sign(found)) if found == sign => Ok(()),
            other => Err(unexpected(&format!("`{sign}`"), other.as_ref())),
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
            '*' | '/' | '(' | ')' | ',' => Token::Sign(first),
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

    fn argument(name: &str) -> Expr {
        Expr::Argument(name.to_owned())
    }

    fn product(left: Expr, right: Expr) -> Expr {
        Expr::Product(Box::new(left), Box::new(right))
    }

    #[test]
    fn registry_len_is_parsed() {
        let check = |text: &str, expected: Expr| {
            assert_eq!(parse_len(text), Ok(Extent::Elements(expected)), "{text}");
        };
        check("16", Expr::Number(16));
        check("n", argument("n"));
        check("count*3", product(argument("count"), Expr::Number(3)));
        check("bufSize / 4", Expr::Quotient(Box::new(argument("bufSize")), 4));
        check("a*b*2", product(product(argument("a"), argument("b")), Expr::Number(2)));
        assert_eq!(parse_len("COMPSIZE(format,type)"), Ok(Extent::Unobserved));
        assert_eq!(parse_len("COMPSIZE(count)*2"), Ok(Extent::Unobserved));
    }

    #[test]
    fn annotation_words_are_parsed() {
        let check = |text: &str, expected: Extent| assert_eq!(parse(text), Ok(expected), "{text}");
        let length = || "length".to_owned();
        check("unobserved", Extent::Unobserved);
        check("text", Extent::Text);
        check("attributes", Extent::Attributes);
        check("text_within(bufSize)", Extent::TextWithin(argument("bufSize")));
        check(
            "text_of(length, zero_terminated_if_zero)",
            Extent::TextOf { length: length(), terminated: Terminated::IfZero },
        );
        check("strings(count)", Extent::Strings { count: "count".to_owned(), lengths: None });
        check(
            "strings(count, length)",
            Extent::Strings { count: "count".to_owned(), lengths: Some(length()) },
        );
        check(
            "counted(num, size*2)",
            Extent::Counted {
                count: "num".to_owned(),
                most: product(argument("size"), Expr::Number(2)),
            },
        );
        check(
            "light(pname)*2",
            Extent::Elements(product(
                Expr::Sizes { table: "light".to_owned(), argument: "pname".to_owned() },
                Expr::Number(2),
            )),
        );
    }

    #[test]
    fn malformed_extent_is_rejected_with_what_was_expected() {
        let check = |text: &str, message: &str| {
            assert_eq!(parse(text).unwrap_err().to_string(), message, "{text}");
        };
        check("", "expected a number or a parameter, found the end");
        check("count*", "expected a number or a parameter, found the end");
        check("count 4", "expected the end, found `4`");
        check("count/0", "expected a number other than 0, found `0`");
        check("strings(count", "expected `)`, found the end");
        check("count % 2", "unexpected `%`");
        check("text_of(length, never)", "unknown rule for a length: never");
        check("99999999999999999999", "`99999999999999999999` is not a number");
    }
}
