//! Joins each command of the registries with the description that holds for it: its own, else the first one along its
//! aliases with as many parameters, else the only one in its family of aliases. Pointers that the description does not
//! mention get slots from the registry's `len`. Two descriptions of a command are a mistake, and so is a missing
//! `@effect` of a command that begins with `Gen`, `Create`, `Map`, `Finish` or `Wait`. A pattern (`egl*.attribute`)
//! gives way to a named target.

use std::collections::{BTreeMap, BTreeSet};

use super::super::ast::{self, ExtentKind, File, Item, ItemKind, StmtKind};
use super::super::diagnostic::Diagnostic;
use super::super::source::Span;
use super::super::typed::{
    Block, CResult, Command, Direction, Effect, Expr, ExprKind, Extent, Hook, MemoryUse, Param,
    Slot, Type,
};
use super::api::Api;
use super::body::{Body, Subject, element_of};
use super::checker::Checker;
use super::types;
use crate::ctype::Sense;
use crate::len::{self, Len};
use crate::naming::{UNIFORM_BLOCK, UNIFORM_LOCATION, snake_case};
use crate::registry;

/// A description, and the command that it names.
#[derive(Clone, Copy)]
struct Described<'a> {
    item: &'a Item,
    body: Option<&'a ast::Block>,
    /// The span of the name.
    span: Span,
}

type Descriptions<'a> = BTreeMap<&'a str, Described<'a>>;

impl<'a> Checker<'a> {
    pub(super) fn commands(&mut self, files: &'a [File]) {
        let items = || files.iter().flat_map(|file| &file.items);
        let mut descriptions = Descriptions::new();
        for item in items() {
            self.describe(item, &mut descriptions);
            if let ItemKind::Prefer { names } = &item.kind {
                for name in names {
                    if self.enumerant(name).is_some() {
                        self.program.prefer.insert(name.text.clone());
                    }
                }
            }
        }
        let slots = Slots { groups: self.groups(files), classes: self.classes(files) };
        let families = self.families();
        for api in self.names.apis.clone() {
            for command in api.registry.commands.values() {
                let by = self.describer(command, &descriptions, &families);
                let typed = self.command(&api, command, by, &descriptions, &slots);
                self.program.commands.push(typed);
            }
        }
    }

    fn describe(&mut self, item: &'a Item, descriptions: &mut Descriptions<'a>) {
        let ItemKind::Command { names, body } = &item.kind else { return };
        for name in names {
            if self.command_named(name).is_none() {
                continue;
            }
            let described = Described { item, body: body.as_ref(), span: name.span };
            if let Some(first) = descriptions.insert(&name.text, described) {
                let mistake =
                    Diagnostic::at(name.span, format!("`{}` is described twice", name.text))
                        .label("here again")
                        .also(first.span, "described here");
                self.report(mistake);
                descriptions.insert(&name.text, first);
            }
        }
    }

    /// Commands grouped by the command that all of them are aliases of.
    fn families(&self) -> BTreeMap<&'a str, Vec<&'a registry::Command>> {
        let mut families: BTreeMap<&str, Vec<_>> = BTreeMap::new();
        for api in &self.names.apis {
            for command in api.registry.commands.values() {
                families.entry(self.root(command)).or_default().push(command);
            }
        }
        families
    }

    /// The last name of the chain of aliases, which need not be in the API.
    fn root(&self, command: &'a registry::Command) -> &'a str {
        self.aliases(command).last().map_or(command.name.as_str(), |last| {
            last.alias.as_deref().unwrap_or(last.name.as_str())
        })
    }

    /// The command, the command that it is an alias of, and so on. The walk ends at a name that it has visited.
    fn aliases(&self, command: &'a registry::Command) -> Vec<&'a registry::Command> {
        let mut chain = vec![command];
        while let Some(next) = chain.last().and_then(|last| last.alias.as_deref()) {
            match self.names.command(next) {
                Some(next) if chain.iter().all(|known| known.name != next.name) => chain.push(next),
                _ => break,
            }
        }
        chain
    }

    /// The command whose description holds for `command`: itself, else the first described one along its aliases,
    /// else the only described one of its family.
    fn describer(
        &self,
        command: &'a registry::Command,
        descriptions: &Descriptions<'a>,
        families: &BTreeMap<&'a str, Vec<&'a registry::Command>>,
    ) -> Option<&'a registry::Command> {
        let is_described = |known: &&registry::Command| {
            descriptions.contains_key(known.name.as_str())
                && known.params.len() == command.params.len()
        };
        let chain = self.aliases(command);
        if let Some(found) = chain.iter().copied().find(is_described) {
            return Some(found);
        }
        let family = families.get(self.root(command))?;
        let mut described = family.iter().copied().filter(is_described);
        let first = described.next()?;
        let item = |known: &registry::Command| {
            descriptions.get(known.name.as_str()).map(|described| described.span)
        };
        let is_only = described.all(|other| same_item(descriptions, first, other));
        (is_only && item(first).is_some()).then_some(first)
    }

    fn command(
        &mut self,
        api: &Api<'_>,
        command: &'a registry::Command,
        by: Option<&'a registry::Command>,
        descriptions: &Descriptions<'a>,
        slots: &Slots,
    ) -> Command {
        let described = by.and_then(|by| descriptions.get(by.name.as_str())).copied();
        let attributes = described.map_or(&[][..], |described| &described.item.attributes);
        let frame = self.frame(attributes);
        let of_frame = frame.map(|_| Hook { leave_flags: true, ..Hook::default() });
        let (effect, hook) = (self.effect(attributes), self.hook(attributes).or(of_frame));
        let consumes = self.has_word(attributes, "consumes");
        self.check_effect(command, effect, hook, described.map(|described| described.span));
        let mut typed = Command {
            name: command.name.clone(),
            api: api.name.to_owned(),
            needs_context: api.needs_context,
            origin: command.origin,
            version: command.version,
            desktop_version: command.desktop_version,
            extensions: command.extensions.clone(),
            docs: described.map_or_else(Vec::new, |described| described.item.docs.clone()),
            described_by: by.map(|by| by.name.clone()),
            params: self.params(command, slots),
            result: self.result(command, slots),
            effect: effect.unwrap_or_default(),
            hook,
            frame,
            consumes,
            draws: self.has_word(attributes, "draws"),
            replay: self.replay(attributes),
            nullable: self.nullable(attributes, by.unwrap_or(command)),
            array: self.array(attributes, by.unwrap_or(command)),
            offset: self.offset(attributes, by.unwrap_or(command)),
            locals: Vec::new(),
            slots: Vec::new(),
            enter: Block::default(),
            leave: Block::default(),
            span: descriptions.get(command.name.as_str()).map(|described| described.span),
        };
        let no_body = ast::Block { statements: Vec::new(), span: Span::default() };
        let body = described.and_then(|described| described.body).unwrap_or(&no_body);
        self.body(command, by.unwrap_or(command), body, &mut typed);
        typed
    }

    fn body(
        &mut self,
        command: &registry::Command,
        by: &registry::Command,
        written: &ast::Block,
        typed: &mut Command,
    ) {
        let names: Vec<String> = by.params.iter().map(|param| param.name.clone()).collect();
        let mut mentions = Mentions::default();
        mentions.block(written, &names);
        let by_registry = self.slots_of_registry(command, &mentions);
        let subject = Subject {
            name: by.name.clone(),
            is_procedure: false,
            names,
            params: std::mem::take(&mut typed.params),
            result: typed.result.ty.clone(),
            reads: mentions.reads,
            writes: mentions.writes,
            ignores: mentions.ignores,
            by_registry: by_registry.iter().map(|slot| slot.param).collect(),
            has_fence: mentions.has_fence,
        };
        let mut body = Body::command(self, subject);
        let (enter, leave) = body.parts(written);
        (typed.enter, typed.leave) = (enter, leave);
        typed.locals = body.locals;
        typed.slots = body.slots;
        typed.slots.extend(by_registry);
        typed.slots.sort_by_key(|slot| slot.param);
        let Some(mut subject) = body.subject else { return };
        for at in 0..subject.params.len() {
            subject.params[at].memory = subject.memory(at);
        }
        typed.params = subject.params;
    }

    fn params(&self, command: &registry::Command, slots: &Slots) -> Vec<Param> {
        let all = command.params.iter().enumerate();
        all.map(|(at, param)| Param {
            name: param.name.clone(),
            ctype: param.ty.clone(),
            // No parameter has the type `void`. An unknown type is reported where its size is needed.
            ty: types::scalar(&param.ty).unwrap_or(Type::Address),
            group: slots.groups.of(command, Some(at)).or_else(|| param.group.clone()),
            class: slots.classes.of(command, Some(at)).or_else(|| class_of(param)),
            layout: param.layout.clone(),
            memory: MemoryUse::None,
        })
        .collect()
    }

    fn result(&self, command: &registry::Command, slots: &Slots) -> CResult {
        let is_void = command.result.is_void();
        CResult {
            ctype: command.result.clone(),
            ty: (!is_void).then(|| types::scalar(&command.result).unwrap_or(Type::Address)),
            group: slots.groups.of(command, None).or_else(|| command.result_group.clone()),
            class: slots.classes.of(command, None),
        }
    }

    /// Slots from the registry's `len`s, for pointers that the description does not mention.
    fn slots_of_registry(&self, command: &registry::Command, mentions: &Mentions) -> Vec<Slot> {
        let all = command.params.iter().enumerate();
        all.filter(|(at, _)| !mentions.has(*at))
            .filter_map(|(at, param)| {
                let len = len::parse(param.len.as_deref()?).ok()??;
                let element = element_of(&param.ty)?;
                let count = len_expr(&len, command)?;
                let is_text = param.ty.base == "GLchar" && element.size == 1;
                let extent = match is_text {
                    true => Extent::Text { within: Some(count) },
                    false => Extent::Elements(count),
                };
                let direction =
                    if param.ty.points_at_const() { Direction::In } else { Direction::Out };
                Some(Slot { param: at, direction, extent, element, span: Span::default() })
            })
            .collect()
    }

    fn check_effect(
        &mut self,
        command: &registry::Command,
        effect: Option<Effect>,
        hook: Option<super::super::typed::Hook>,
        span: Option<Span>,
    ) {
        let is_told = hook.is_some_and(|hook| hook.enter_flags && hook.leave_flags);
        if effect == Some(Effect::Recorded) && !is_told {
            let message = "`@effect(recorded)` needs a hook that computes both flags";
            let help = "add `@hook(enter_flags, leave_flags)`";
            if let Some(span) = span {
                self.report(Diagnostic::at(span, message).help(help));
            }
        }
        if effect.is_none() && seems_to_take_effect_at_leave(&command.name) {
            let message = format!("{} needs `@effect`", command.name);
            let help = "a command that creates, acquires or waits takes effect at leave: say \
                        `@effect(leave)` or another";
            match span {
                Some(span) => self.report(Diagnostic::at(span, message).help(help)),
                None => self.undescribed.push(Diagnostic::without_place(message).help(help)),
            }
        }
    }

    /// Collects the enum groups from `group` items.
    fn groups(&mut self, files: &[File]) -> Groups {
        let items = files.iter().flat_map(|file| &file.items);
        let all = items.filter_map(|item| match &item.kind {
            ItemKind::Group { name, targets } => Some((name, targets.as_slice())),
            _ => None,
        });
        let known: Vec<_> = all.filter(|(name, _)| self.group_named(name)).collect();
        self.by_slot("group", &known, |param| param.group.is_none())
    }

    /// Collects the kinds of objects from `class` items.
    fn classes(&mut self, files: &[File]) -> Groups {
        let items = files.iter().flat_map(|file| &file.items);
        let all = items.filter_map(|item| match &item.kind {
            ItemKind::Class { name, targets } => Some((name, targets.as_slice())),
            _ => None,
        });
        let known: Vec<_> = all.filter(|(name, _)| self.class_named(name)).collect();
        self.by_slot("class", &known, |param| param.class.is_none())
    }

    /// Assigns the names of items to their targets: first to named targets, then to patterns that match parameters
    /// without a name. `what` is the noun for messages.
    fn by_slot(
        &mut self,
        what: &str,
        items: &[(&ast::Name, &[ast::Target])],
        is_free: impl Fn(&registry::Param) -> bool,
    ) -> Groups {
        let mut groups = Groups::default();
        let mut patterns = Vec::new();
        for (name, targets) in items {
            for target in *targets {
                if target.is_pattern {
                    patterns.push((&name.text, target));
                } else if let Some(slot) = self.target(target) {
                    let key = (target.command.text.clone(), slot);
                    if groups.0.insert(key, name.text.clone()).is_some() {
                        self.mistake(target.span, format!("this target has a {what} already"));
                    }
                }
            }
        }
        for (name, target) in patterns {
            self.pattern(name, target, &mut groups, &is_free);
        }
        groups
    }

    /// Kinds of objects are those of the registries and of the descriptions.
    pub(super) fn class_named(&mut self, name: &ast::Name) -> bool {
        let commands = self.names.apis.iter().flat_map(|api| api.registry.commands.values());
        let of_registries = commands.flat_map(|command| &command.params).filter_map(class_of);
        let objects = self.program.objects.iter().map(|object| snake_case(&object.name));
        let mut all = of_registries
            .chain(objects)
            .chain([UNIFORM_LOCATION, UNIFORM_BLOCK].map(str::to_owned));
        let is_known = all.any(|known| known == name.text);
        if !is_known {
            self.mistake(name.span, format!("no kind of object `{}`", name.text));
        }
        is_known
    }

    /// The parameter index of a target that names a command; the inner `None` is the result.
    fn target(&mut self, target: &ast::Target) -> Option<Option<usize>> {
        let command = self.command_named(&target.command)?;
        let found = command.params.iter().position(|param| param.name == target.slot.text);
        if found.is_none() && target.slot.text == "result" {
            return Some(None);
        }
        if found.is_none() {
            let message =
                format!("{} has no parameter `{}`", target.command.text, target.slot.text);
            self.mistake(target.slot.span, message);
        }
        found.map(Some)
    }

    /// `egl*.attribute`: assigns a name to integer parameters of that name in all commands, except for parameters that
    /// have one already.
    fn pattern(
        &mut self,
        group: &str,
        target: &ast::Target,
        groups: &mut Groups,
        is_free: impl Fn(&registry::Param) -> bool,
    ) {
        let mut is_used = false;
        for command in self.names.apis.iter().flat_map(|api| api.registry.commands.values()) {
            let found = command.params.iter().position(|param| {
                param.name == target.slot.text && !param.ty.is_pointer() && is_free(param)
            });
            if let Some(at) = found.filter(|_| command.name.starts_with(&target.command.text)) {
                is_used = true;
                let key = (command.name.clone(), Some(at));
                groups.0.entry(key).or_insert_with(|| group.to_owned());
            }
        }
        if !is_used {
            self.mistake(target.span, "this pattern matches no parameter");
        }
    }
}

/// Enum groups and object kinds of parameters, from `group` and `class` items.
struct Slots {
    groups: Groups,
    classes: Groups,
}

/// The class that the registry gives a parameter, as descriptions spell it.
fn class_of(param: &registry::Param) -> Option<String> {
    param.class.as_ref().map(|class| class.replace(' ', "_"))
}

/// Groups or classes by command and parameter index; the index of the result is `None`.
#[derive(Default)]
struct Groups(BTreeMap<(String, Option<usize>), String>);

impl Groups {
    fn of(&self, command: &registry::Command, slot: Option<usize>) -> Option<String> {
        self.0.get(&(command.name.clone(), slot)).cloned()
    }
}

impl Subject {
    /// How the memory behind a parameter is described.
    fn memory(&self, at: usize) -> MemoryUse {
        let ctype = &self.params[at].ctype;
        if !ctype.is_pointer() {
            let is_pointer = matches!(ctype.scalar(), Some((_, Sense::Pointer)));
            return if is_pointer { MemoryUse::Address } else { MemoryUse::None };
        }
        if self.reads.contains(&at) || self.writes.contains(&at) {
            MemoryUse::Declared
        } else if self.ignores.contains(&at) {
            MemoryUse::Address
        } else if self.by_registry.contains(&at) {
            MemoryUse::Registry
        } else {
            MemoryUse::Unknown
        }
    }
}

/// The parameters that a body observes or ignores, at any depth.
#[derive(Default)]
struct Mentions {
    reads: BTreeSet<usize>,
    writes: BTreeSet<usize>,
    ignores: BTreeSet<usize>,
    has_fence: bool,
}

impl Mentions {
    fn has(&self, param: usize) -> bool {
        [&self.reads, &self.writes, &self.ignores].iter().any(|set| set.contains(&param))
    }

    fn block(&mut self, block: &ast::Block, names: &[String]) {
        let at = |name: &ast::Name| names.iter().position(|known| *known == name.text);
        for statement in &block.statements {
            match &statement.kind {
                StmtKind::Fence => self.has_fence = true,
                StmtKind::Read(extent) => self.reads.extend(param_of(extent).and_then(at)),
                StmtKind::Write(extent) => self.writes.extend(param_of(extent).and_then(at)),
                StmtKind::Ignore(ignored) => self.ignores.extend(ignored.iter().filter_map(at)),
                StmtKind::If { then, otherwise, .. } => {
                    self.block(then, names);
                    otherwise.iter().for_each(|block| self.block(block, names));
                }
                StmtKind::Match { arms, .. } => {
                    arms.iter().for_each(|arm| self.block(&arm.body, names));
                }
                StmtKind::For { body, .. } => self.block(body, names),
                _ => {}
            }
        }
    }
}

fn param_of(extent: &ast::Extent) -> Option<&ast::Name> {
    match &extent.kind {
        ExtentKind::One(param)
        | ExtentKind::Elements(param, _)
        | ExtentKind::Slice(param, ..)
        | ExtentKind::Counted { param, .. }
        | ExtentKind::Text { param, .. }
        | ExtentKind::TextOf { param, .. }
        | ExtentKind::Strings { param, .. }
        | ExtentKind::Attributes { param, .. }
        | ExtentKind::By { param, .. }
        | ExtentKind::Chain { param, .. } => Some(param),
        ExtentKind::Memory(..) | ExtentKind::Call { .. } => None,
    }
}

fn same_item(
    descriptions: &Descriptions<'_>,
    left: &registry::Command,
    right: &registry::Command,
) -> bool {
    let span = |command: &registry::Command| {
        descriptions.get(command.name.as_str()).map(|described| described.item.span)
    };
    span(left) == span(right)
}

/// A `len` of the registry as an expression of parameters; `None` if it uses a parameter that is not an integer.
fn len_expr(len: &Len, command: &registry::Command) -> Option<Expr> {
    use super::super::typed::BinaryOp;
    let int = |kind| Expr { kind, ty: Type::INT, span: Span::default() };
    let binary = |operator, left, right| {
        Some(int(ExprKind::Binary(operator, Box::new(left), Box::new(right))))
    };
    match len {
        Len::Number(value) => Some(int(ExprKind::Int(*value, None))),
        Len::Argument(name) => {
            let at = command.params.iter().position(|param| param.name == *name)?;
            let ty = types::scalar(&command.params[at].ty).filter(Type::is_integer)?;
            Some(Expr { kind: ExprKind::Param(at), ty, span: Span::default() })
        }
        Len::Product(left, right) => {
            binary(BinaryOp::Multiply, len_expr(left, command)?, len_expr(right, command)?)
        }
        Len::Quotient(left, divisor) => {
            binary(BinaryOp::Divide, len_expr(left, command)?, int(ExprKind::Int(*divisor, None)))
        }
    }
}

/// Whether the command's name suggests that it takes effect at leave. A description must then state the effect.
fn seems_to_take_effect_at_leave(command: &str) -> bool {
    let prefix = command.find(|c: char| c.is_ascii_uppercase()).unwrap_or(0);
    let verb = &command[prefix..];
    ["Gen", "Create", "Map", "Finish", "Wait"].iter().any(|word| verb.starts_with(word))
        || verb.contains("WaitSync")
}
