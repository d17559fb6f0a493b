//! Blocks and statements.

use super::super::ast::{Arm, Block, FunctionBody, Stmt, StmtKind};
use super::super::lexer::Kind;
use super::{Parsed, Parser};

impl Parser<'_> {
    pub(super) fn block(&mut self) -> Parsed<Block> {
        let start = self.expect("{")?;
        let statements = self.nested(|parser| {
            let mut statements = Vec::new();
            while !parser.ends_braces() {
                match parser.statement() {
                    Ok(statement) => statements.push(statement),
                    Err(_) => parser.skip_statement(),
                }
            }
            Ok(statements)
        })?;
        let end = self.expect("}")?;
        Ok(Block { statements, span: start.to(end) })
    }

    /// `{ let …; let …; result }`
    pub(super) fn function_body(&mut self) -> Parsed<FunctionBody> {
        let start = self.expect("{")?;
        let mut lets = Vec::new();
        while self.is_word("let") {
            lets.push(self.let_()?);
        }
        let result = self.expr()?;
        let end = self.expect("}")?;
        Ok(FunctionBody { lets, result, span: start.to(end) })
    }

    fn statement(&mut self) -> Parsed<Stmt> {
        let start = self.peek().span;
        let kind = self.statement_kind()?;
        Ok(Stmt { kind, span: start.to(self.last()) })
    }

    fn statement_kind(&mut self) -> Parsed<StmtKind> {
        let word = self.peek();
        // In `read = …` or `fence.…` the word is a name.
        let is_name = ["=", ".", "[", "("].iter().any(|sign| self.is_sign_at(1, sign));
        match word.text {
            "if" => return self.if_(),
            "match" => return self.match_(),
            "for" if !is_name => return self.for_(),
            "let" if !is_name => {
                let (name, value) = self.let_()?;
                return Ok(StmtKind::Let { name, value });
            }
            _ => {}
        }
        let kind = match word.text {
            "fence" | "frame" | "return" if self.is_sign_at(1, ";") => {
                self.advance();
                match word.text {
                    "fence" => StmtKind::Fence,
                    "frame" => StmtKind::Frame,
                    _ => StmtKind::Return,
                }
            }
            "read" if !is_name => {
                self.advance();
                StmtKind::Read(self.extent()?)
            }
            "write" if !is_name => {
                self.advance();
                StmtKind::Write(self.extent()?)
            }
            "ignore" if !is_name => {
                self.advance();
                StmtKind::Ignore(self.names("a parameter")?)
            }
            _ => self.expression_statement()?,
        };
        self.expect(";")?;
        Ok(kind)
    }

    fn expression_statement(&mut self) -> Parsed<StmtKind> {
        if self.peek().kind != Kind::Word {
            return self.unexpected("a statement");
        }
        let expr = self.expr()?;
        if self.accept("=") {
            return Ok(StmtKind::Assign { place: expr, value: self.expr()? });
        }
        Ok(StmtKind::Expr(expr))
    }

    fn let_(&mut self) -> Parsed<(super::super::ast::Name, super::super::ast::Expr)> {
        self.expect_word("let")?;
        let name = self.name("the name of a variable")?;
        self.expect("=")?;
        let value = self.expr()?;
        self.expect(";")?;
        Ok((name, value))
    }

    fn if_(&mut self) -> Parsed<StmtKind> {
        self.expect_word("if")?;
        let condition = self.expr()?;
        let then = self.block()?;
        let otherwise = if self.accept_word("else") { Some(self.else_()?) } else { None };
        Ok(StmtKind::If { condition, then, otherwise })
    }

    /// A block, or `else if` as a block with a single statement.
    fn else_(&mut self) -> Parsed<Block> {
        if !self.is_word("if") {
            return self.block();
        }
        let statement = self.nested(Self::statement)?;
        let span = statement.span;
        Ok(Block { statements: vec![statement], span })
    }

    fn match_(&mut self) -> Parsed<StmtKind> {
        self.expect_word("match")?;
        let value = self.expr()?;
        self.expect("{")?;
        let mut arms = Vec::new();
        while !self.ends_braces() {
            match self.arm() {
                Ok(arm) => arms.push(arm),
                Err(_) => self.skip_statement(),
            }
        }
        self.expect("}")?;
        Ok(StmtKind::Match { value, arms })
    }

    fn arm(&mut self) -> Parsed<Arm<Block>> {
        let patterns = self.patterns()?;
        if self.is_sign("{") {
            return Ok(Arm { patterns, body: self.block()? });
        }
        let statement = self.nested(Self::statement)?;
        let span = statement.span;
        Ok(Arm { patterns, body: Block { statements: vec![statement], span } })
    }

    fn for_(&mut self) -> Parsed<StmtKind> {
        self.expect_word("for")?;
        let variable = self.name("the name of a variable")?;
        self.expect_word("in")?;
        let from = self.expr()?;
        self.expect("..")?;
        let to = self.expr()?;
        Ok(StmtKind::For { variable, from, to, body: self.block()? })
    }
}
