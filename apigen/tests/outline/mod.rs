//! Writes a checked program as an outline of a few lines per declaration, for comparisons.

use std::fmt::Write as _;

use apigen::lang::source::{Sources, Span};
use apigen::lang::typed::{
    Answers, Block, Command, Direction, Extent, Field, Layout, LayoutFieldKind, Observation,
    Program, Scope, Slot, Stmt, StmtKind,
};

/// The outline of the declarations in the file with the index `file`.
pub fn outline(program: &Program, sources: &Sources, file: u32) -> String {
    let mut outline = Outline { program, sources, text: String::new() };
    let is_here = |span: Span| span.file == file;
    for scope in [Scope::Context, Scope::ShareGroup, Scope::Thread, Scope::Process] {
        let fields = program[scope].fields.iter().filter(|field| is_here(field.span));
        let fields: Vec<&Field> = fields.collect();
        if !fields.is_empty() {
            outline.line(0, &format!("state {scope:?}"));
            fields.into_iter().for_each(|field| outline.field(field));
        }
    }
    for object in program.objects.iter().filter(|object| is_here(object.span)) {
        let tracked = if object.tracked { "tracked " } else { "" };
        outline.line(0, &format!("{tracked}object {} in {:?}", object.name, object.scope));
        object.fields.iter().for_each(|field| outline.field(field));
    }
    for item in program.structs.iter().filter(|item| is_here(item.span)) {
        let tracked = if item.tracked { "tracked " } else { "" };
        outline.line(0, &format!("{tracked}struct {}", item.name));
        item.fields.iter().for_each(|field| outline.field(field));
    }
    for layout in program.layouts.iter().filter(|layout| is_here(layout.span)) {
        outline.layout(layout);
    }
    for function in program.functions.iter().filter(|function| is_here(function.span)) {
        let what = match (function.of_arguments, function.tools_only) {
            (true, _) => "of arguments",
            (_, true) => "of the tools",
            _ => "of state",
        };
        outline.line(0, &format!("fn {}: {:?}, {what}", function.name, function.result));
    }
    let described_here = |command: &&Command| {
        let by = command.described_by.as_deref();
        let by = program.commands.iter().find(|known| Some(known.name.as_str()) == by);
        by.and_then(|by| by.span).is_some_and(is_here)
    };
    for command in program.commands.iter().filter(described_here) {
        outline.command(command);
    }
    if program.answers.iter().any(|answers| is_here(answers.span)) {
        // Facts have no place of their own: the file with the answers has them.
        program.roles.iter().for_each(|role| outline.line(0, &format!("{role:?}")));
        program.reaches.iter().for_each(|reach| outline.line(0, &format!("{reach:?}")));
        program.refusals.iter().for_each(|refusal| outline.line(0, &format!("{refusal:?}")));
    }
    for answers in program.answers.iter().filter(|answers| is_here(answers.span)) {
        let Answers { target, part, commands, rule, .. } = answers;
        outline.line(0, &format!("answers {target}: {rule:?}, {part:?} of {commands:?}"));
    }
    outline.text
}

struct Outline<'a> {
    program: &'a Program,
    sources: &'a Sources,
    text: String,
}

impl Outline<'_> {
    fn line(&mut self, depth: usize, text: &str) {
        writeln!(self.text, "{:1$}{text}", "", depth * 4).expect("writing to a string never fails");
    }

    fn field(&mut self, field: &Field) {
        let tracked = if field.tracked { "tracked " } else { "" };
        self.line(1, &format!("{tracked}{}: {:?}", field.name, field.ty));
    }

    fn layout(&mut self, layout: &Layout) {
        let (size, align) = (layout.size, layout.align);
        self.line(0, &format!("layout {}: {size} bytes at multiples of {align}", layout.name));
        for field in &layout.fields {
            let kind = match &field.kind {
                LayoutFieldKind::Inline(id, len) => {
                    format!("{len} x {}", self.program[*id].name)
                }
                LayoutFieldKind::Layouts { element, count } => {
                    let name = &self.program[*element].name;
                    format!("read {name}[{}]", self.sources.text(count.span))
                }
                LayoutFieldKind::Numbers { element, count } => {
                    format!("read {element:?}[{}]", self.sources.text(count.span))
                }
                LayoutFieldKind::Strings { count } => {
                    format!("strings[{}]", self.sources.text(count.span))
                }
                other => format!("{other:?}"),
            };
            self.line(1, &format!("{} {}: {kind}", field.offset, field.name));
        }
    }

    fn command(&mut self, command: &Command) {
        let mut head = format!("{}: effect {:?}", command.name, command.effect);
        if let Some(hook) = command.hook {
            write!(head, ", {hook:?}").expect("writing to a string never fails");
        }
        if command.consumes {
            head.push_str(", consumes");
        }
        if let Some(by) = command.described_by.as_ref().filter(|by| **by != command.name) {
            write!(head, ", as {by}").expect("writing to a string never fails");
        }
        self.line(0, &head);
        for slot in &command.slots {
            self.slot(command, slot);
        }
        self.part("enter", command, &command.enter);
        self.part("leave", command, &command.leave);
    }

    fn slot(&mut self, command: &Command, slot: &Slot) {
        let param = &command.params[slot.param];
        let extent = self.extent(&slot.extent);
        let direction = direction(slot.direction);
        let line = format!("slot {direction} {} {:?}: {extent}", param.name, param.memory);
        self.line(1, &line);
    }

    fn part(&mut self, name: &str, command: &Command, block: &Block) {
        if !block.statements.is_empty() {
            self.line(1, name);
            self.block(2, command, block);
        }
    }

    fn block(&mut self, depth: usize, command: &Command, block: &Block) {
        for statement in &block.statements {
            self.statement(depth, command, statement);
        }
    }

    fn statement(&mut self, depth: usize, command: &Command, statement: &Stmt) {
        let tools = if statement.tools_only { "[tools] " } else { "" };
        let source = self.sources.text(statement.span).lines().next().unwrap_or_default();
        let head = match &statement.kind {
            StmtKind::Observe(observation) => self.range(command, observation),
            _ => source.to_owned(),
        };
        self.line(depth, &format!("{tools}{head}"));
        let inner: Vec<&Block> = match &statement.kind {
            StmtKind::If { then, otherwise, .. } => vec![then, otherwise],
            StmtKind::Match { arms, otherwise, .. } => {
                arms.iter().map(|arm| &arm.body).chain([otherwise]).collect()
            }
            StmtKind::For { body, .. } => vec![body],
            _ => Vec::new(),
        };
        for block in inner {
            self.block(depth + 1, command, block);
        }
    }

    fn range(&self, command: &Command, observation: &Observation) -> String {
        let direction = direction(observation.direction);
        let param = observation.param.map(|param| command.params[param].name.as_str());
        let param = param.unwrap_or("no parameter");
        format!("range {direction} {param}: {}", self.extent(&observation.extent))
    }

    fn extent(&self, extent: &Extent) -> String {
        let text = |span: Span| match self.sources.text(span) {
            "" => "the registry's len".to_owned(),
            text => text.to_owned(),
        };
        match extent {
            Extent::Elements(count) => format!("[{}]", text(count.span)),
            Extent::Slice(from, to) => format!("[{}..{}]", text(from.span), text(to.span)),
            Extent::Counted { count, most } => format!("counted({count}, {})", text(most.span)),
            Extent::Text { within } => {
                format!("text {:?}", within.as_ref().map(|within| text(within.span)))
            }
            Extent::TextOf { length, terminated } => {
                format!("text_of({}, {terminated:?})", text(length.span))
            }
            Extent::Strings { count, lengths } => {
                format!("strings({}, {lengths:?})", text(count.span))
            }
            Extent::Attributes { .. } => "attributes".to_owned(),
            Extent::Memory { address, bytes } => {
                format!("memory({}, {})", text(address.span), text(bytes.span))
            }
            Extent::By { function, arguments } | Extent::Call { function, arguments } => {
                let arguments: Vec<_> = arguments.iter().map(|expr| text(expr.span)).collect();
                format!("{}({})", self.program[*function].name, arguments.join(", "))
            }
            Extent::Chain { layout, count } => {
                format!("chain {} x {}", self.program[*layout].name, text(count.span))
            }
            Extent::AnyChain => "chain".to_owned(),
        }
    }
}

fn direction(direction: Direction) -> &'static str {
    match direction {
        Direction::In => "in",
        Direction::Out => "out",
    }
}
