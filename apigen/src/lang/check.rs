//! Descriptions and registries joined: names resolved, types and order checked, everything typed. The check continues
//! after a mistake, so that one run reports all of them; only if there is none it returns a program. Missing
//! descriptions are reported only if there is no other mistake.

mod analysis;
mod answers;
mod api;
mod attributes;
mod body;
mod calls;
mod checker;
mod commands;
mod declarations;
mod expressions;
mod extents;
mod facts;
mod functions;
mod items;
mod layouts;
mod names;
mod operators;
mod places;
mod procedures;
mod progress;
mod reserved;
mod statements;
mod types;

use super::ast;
use super::diagnostic::{Diagnostic, Report, Sink};
use super::parser;
use super::source::Sources;
use super::typed::Program;
use crate::registry::Registries;

pub use api::Api;
use checker::Checker;
use names::Names;

/// The checker's view of all APIs.
pub fn apis(registries: &Registries) -> Vec<Api<'_>> {
    registries.0.iter().map(|(facts, registry)| Api::new(facts, registry)).collect()
}

/// Parses and checks all files of all APIs together.
pub fn compile(sources: &Sources, apis: &[Api<'_>]) -> Result<Program, Report> {
    let mut sink = Sink::default();
    let mut files = Vec::new();
    for (at, source) in sources.files.iter().enumerate() {
        let (file, mistakes) = parser::parse(at as u32, &source.text);
        sink.extend(mistakes);
        files.push(file);
    }
    let catch_alls =
        apis.iter().map(|api| (api.name.to_owned(), api.catch_all.to_owned())).collect();
    let mut checker = Checker {
        names: Names::new(apis),
        program: Program { catch_alls, ..Program::default() },
        functions: Vec::new(),
        procedures: Vec::new(),
        sink,
        undescribed: Vec::new(),
    };
    checker.program(&files);
    if checker.sink.is_empty() {
        checker.sink.extend(checker.undescribed);
    }
    if checker.sink.is_empty() {
        Ok(checker.program)
    } else {
        Err(Report { sources: sources.clone(), diagnostics: checker.sink.into_sorted() })
    }
}

impl<'a> Checker<'a> {
    fn program(&mut self, files: &'a [ast::File]) {
        for file in files {
            self.api_of_file(file);
        }
        let items = || {
            files.iter().flat_map(|file| file.items.iter().map(move |item| (&file.api.text, item)))
        };
        for (api, item) in items() {
            self.declare(api, item);
        }
        for (_, item) in items() {
            self.refuse_reserved_names(item);
            self.fields(item);
        }
        self.refuse_endless_structs();
        self.check_lifetimes();
        self.track();
        for (_, item) in items() {
            self.defaults(item);
            self.sizes(item);
            self.signature(item);
        }
        for (_, item) in items() {
            self.layout(item);
        }
        self.refuse_endless_layouts();
        self.check_functions();
        self.track_structs();
        self.check_procedures();
        self.commands(files);
        self.facts(files);
        self.answers(files);
    }

    fn api_of_file(&mut self, file: &ast::File) {
        let known = self.names.apis.iter().map(|api| api.name);
        let is_known = known.clone().any(|name| name == file.api.text);
        if !is_known && !file.api.text.is_empty() {
            let help = format!("APIs are {}", known.collect::<Vec<_>>().join(", "));
            let message = format!("no API `{}`", file.api.text);
            self.report(Diagnostic::at(file.api.span, message).help(help));
        }
    }
}
