//! Files and items.

use super::super::ast::{
    Attribute, Expr, Field, File, Initial, Item, ItemKind, LayoutField, Name, Param, SizesCase,
    Target,
};
use super::super::lexer::Kind;
use super::super::source::Span;
use super::{Failed, Parsed, Parser};

impl Parser<'_> {
    pub(super) fn file(&mut self) -> File {
        let docs = self.docs(Kind::InnerDoc);
        let api = self.api().unwrap_or_else(|_| {
            self.skip_to_item();
            Name { text: String::new(), span: Span::default() }
        });
        let mut items = Vec::new();
        while self.peek().kind != Kind::End {
            match self.item() {
                Ok(item) => items.push(item),
                Err(_) => self.skip_to_item(),
            }
        }
        File { docs, api, items }
    }

    fn api(&mut self) -> Parsed<Name> {
        if !self.is_word("api") {
            return self.unexpected("`api egl;` or another API's name");
        }
        self.advance();
        let name = self.name("an API")?;
        self.expect(";")?;
        Ok(name)
    }

    /// Skips tokens up to the next item.
    fn skip_to_item(&mut self) {
        while self.peek().kind != Kind::End && !self.is_item() {
            self.advance();
        }
    }

    fn docs(&mut self, kind: Kind) -> Vec<String> {
        let mut docs = Vec::new();
        while self.peek().kind == kind {
            docs.push(self.advance().text[3..].trim().to_owned());
        }
        docs
    }

    fn item(&mut self) -> Parsed<Item> {
        let docs = self.docs(Kind::Doc);
        let start = self.peek().span;
        let attributes = self.attributes()?;
        let word = self.peek();
        let kind = match (word.kind, word.text) {
            (Kind::Word, "state") => self.state(),
            (Kind::Word, "object") => self.object(),
            (Kind::Word, "struct") => self.struct_(),
            (Kind::Word, "enum") => self.enum_(),
            (Kind::Word, "layout") => self.layout(),
            (Kind::Word, "sizes") => self.sizes(),
            (Kind::Word, "fn") => self.function(),
            (Kind::Word, "procedure") => self.procedure(),
            (Kind::Word, "extern") => self.extern_(),
            (Kind::Word, "group") => self.group(),
            (Kind::Word, "class") => self.class(),
            (Kind::Word, "prefer") => self.prefer(),
            (Kind::Word, "play") => self.play(),
            (Kind::Word, "role") => self.role(),
            (Kind::Word, "reach") => self.reach(),
            (Kind::Word, "refuse") => self.refuse(),
            (Kind::Word, "asked") => self.asked(),
            (Kind::Word, "answers") => self.answers(),
            (Kind::Word, "command") => self.command(),
            _ => {
                let failed = self.unexpected("an item, such as `command` or `state`");
                self.advance();
                failed
            }
        }?;
        Ok(Item { docs, attributes, kind, span: start.to(self.last()) })
    }

    fn attributes(&mut self) -> Parsed<Vec<Attribute>> {
        let mut attributes = Vec::new();
        while self.is_sign("@") {
            let start = self.advance().span;
            let name = self.name("an attribute")?;
            let mut arguments = Vec::new();
            if self.accept("(") {
                arguments = self.names("a word")?;
                self.expect(")")?;
            }
            attributes.push(Attribute { name, arguments, span: start.to(self.last()) });
        }
        Ok(attributes)
    }

    /// `{ field field … }`; a field with a mistake is left out.
    fn fields<T>(&mut self, field: impl Fn(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        self.expect("{")?;
        let mut fields = Vec::new();
        while !self.ends_braces() {
            match field(self) {
                Ok(field) => fields.push(field),
                Err(_) => self.skip_statement(),
            }
        }
        self.expect("}")?;
        Ok(fields)
    }

    fn field(&mut self) -> Parsed<Field> {
        let docs = self.docs(Kind::Doc);
        let start = self.peek().span;
        let attributes = self.attributes()?;
        let name = self.name("a field")?;
        self.expect(":")?;
        let ty = self.ty()?;
        let default = if self.accept("=") { Some(self.initial()?) } else { None };
        let end = self.expect(";")?;
        Ok(Field { docs, attributes, name, ty, default, span: start.to(end) })
    }

    /// An expression, or `[a, b]` for an array.
    fn initial(&mut self) -> Parsed<Initial<Expr>> {
        if !self.accept("[") {
            return Ok(Initial::Value(self.expr()?));
        }
        let mut elements = Vec::new();
        while !self.is_sign("]") {
            elements.push(self.expr()?);
            if !self.accept(",") {
                break;
            }
        }
        self.expect("]")?;
        Ok(Initial::Elements(elements))
    }

    fn state(&mut self) -> Parsed<ItemKind> {
        self.expect_word("state")?;
        let scope = self.name("`context`, `share_group`, `thread` or `process`")?;
        Ok(ItemKind::State { scope, fields: self.fields(Self::field)? })
    }

    fn object(&mut self) -> Parsed<ItemKind> {
        self.expect_word("object")?;
        let name = self.name("the name of an object")?;
        self.expect_word("in")?;
        let scope = self.name("`context`, `share_group` or `process`")?;
        let by_handle = self.accept_word("by");
        if by_handle {
            self.expect_word("handle")?;
        }
        Ok(ItemKind::Object { name, scope, by_handle, fields: self.fields(Self::field)? })
    }

    fn struct_(&mut self) -> Parsed<ItemKind> {
        self.expect_word("struct")?;
        let name = self.name("the name of a struct")?;
        Ok(ItemKind::Struct { name, fields: self.fields(Self::field)? })
    }

    fn enum_(&mut self) -> Parsed<ItemKind> {
        self.expect_word("enum")?;
        let name = self.name("the name of an enum")?;
        self.expect("{")?;
        let mut variants = Vec::new();
        while !self.is_sign("}") {
            variants.push(self.name("a variant")?);
            if !self.accept(",") {
                break;
            }
        }
        self.expect("}")?;
        Ok(ItemKind::Enum { name, variants })
    }

    fn layout(&mut self) -> Parsed<ItemKind> {
        self.expect_word("layout")?;
        let name = self.name("the name of a layout")?;
        Ok(ItemKind::Layout { name, fields: self.fields(Self::layout_field)? })
    }

    fn layout_field(&mut self) -> Parsed<LayoutField> {
        let docs = self.docs(Kind::Doc);
        let name = self.name("a field")?;
        self.expect(":")?;
        let ty = self.layout_type()?;
        let value = if self.accept("=") { Some(self.expr()?) } else { None };
        let span = name.span.to(self.expect(";")?);
        Ok(LayoutField { docs, name, ty, value, span })
    }

    fn sizes(&mut self) -> Parsed<ItemKind> {
        self.expect_word("sizes")?;
        let name = self.name("the name of a table")?;
        self.expect("{")?;
        let mut cases = Vec::new();
        let mut default = None;
        while !self.is_sign("}") {
            let mut enumerants = vec![self.name("an enumerant or `_`")?];
            while self.accept("|") {
                enumerants.push(self.name("an enumerant")?);
            }
            self.expect("=>")?;
            let elements = self.number()?;
            match (enumerants.as_slice(), &default) {
                ([only], None) if only.text == "_" => default = Some(elements),
                _ => cases.push(SizesCase { enumerants, elements }),
            }
            if !self.accept(",") {
                break;
            }
        }
        self.expect("}")?;
        Ok(ItemKind::Sizes { name, cases, default })
    }

    fn function(&mut self) -> Parsed<ItemKind> {
        self.expect_word("fn")?;
        let name = self.name("the name of a function")?;
        let params = self.params()?;
        let result = if self.accept(":") { Some(self.ty()?) } else { None };
        Ok(ItemKind::Function { name, params, result, body: self.function_body()? })
    }

    fn procedure(&mut self) -> Parsed<ItemKind> {
        self.expect_word("procedure")?;
        let name = self.name("the name of a procedure")?;
        let params = self.params()?;
        Ok(ItemKind::Procedure { name, params, body: self.block()? })
    }

    fn extern_(&mut self) -> Parsed<ItemKind> {
        self.expect_word("extern")?;
        let kind = self.name("`read`, `write`, `fn` or `update`")?;
        let name = self.name("the name of a function")?;
        let params = self.params()?;
        let result = if self.accept(":") { Some(self.ty()?) } else { None };
        self.expect(";")?;
        Ok(ItemKind::Extern { kind, name, params, result })
    }

    fn params(&mut self) -> Parsed<Vec<Param>> {
        self.expect("(")?;
        let mut params = Vec::new();
        while !self.is_sign(")") {
            let name = self.name("a parameter")?;
            self.expect(":")?;
            params.push(Param { name, ty: self.ty()? });
            if !self.accept(",") {
                break;
            }
        }
        self.expect(")")?;
        Ok(params)
    }

    fn group(&mut self) -> Parsed<ItemKind> {
        self.expect_word("group")?;
        let name = self.name("an enum group")?;
        Ok(ItemKind::Group { name, targets: self.targets()? })
    }

    fn class(&mut self) -> Parsed<ItemKind> {
        self.expect_word("class")?;
        let name = self.name("a kind of object")?;
        Ok(ItemKind::Class { name, targets: self.targets()? })
    }

    /// `: target, target;`
    fn targets(&mut self) -> Parsed<Vec<Target>> {
        self.expect(":")?;
        let mut targets = Vec::new();
        while !self.is_sign(";") {
            targets.push(self.target()?);
            if !self.accept(",") {
                break;
            }
        }
        self.expect(";")?;
        Ok(targets)
    }

    fn target(&mut self) -> Parsed<Target> {
        let command = self.name("a command")?;
        let is_pattern = self.accept("*");
        self.expect(".")?;
        let slot = self.name("a parameter or `result`")?;
        let span = command.span.to(slot.span);
        Ok(Target { command, is_pattern, slot, span })
    }

    fn prefer(&mut self) -> Parsed<ItemKind> {
        self.expect_word("prefer")?;
        let names = self.names("an enumerant")?;
        self.expect(";")?;
        Ok(ItemKind::Prefer { names })
    }

    fn command(&mut self) -> Parsed<ItemKind> {
        self.expect_word("command")?;
        let names = self.names("a command")?;
        if self.accept(";") {
            return Ok(ItemKind::Command { names, body: None });
        }
        if !self.is_sign("{") {
            self.unexpected::<()>("`{` or `;`").map_err(|_| Failed)?;
        }
        Ok(ItemKind::Command { names, body: Some(self.block()?) })
    }
}
