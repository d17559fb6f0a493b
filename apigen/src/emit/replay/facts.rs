//! `facts.rs`: what `role`, `reach` and `refuse` items say, by the ids of commands and the indices of
//! parameters, structs and fields.
//!
//! The file is one call of the macro `facts!` (`replay/src/facts.rs`).

use std::collections::{BTreeMap, BTreeSet};

use super::super::output::{file, wrapped};
use crate::lang::typed::{LayoutId, Program, ReachSize, Refused, Role, Slotted};
use crate::model::Model;
use crate::naming;

pub fn emit(model: &Model, program: &Program) -> String {
    let index = Index::new(model, program);
    let roles: String = Role::OF_REPLAY.into_iter().map(|role| index.role(role)).collect();
    let items = format!(
        "facts! {{\n    roles {{\n{roles}    }}\n    reach {{\n{}    }}\n    refused {{\n{}    }}\n    \
         refused_layouts {{\n{}    }}\n}}\n",
        index.reach(),
        index.refused(),
        index.refused_layouts()
    );
    file("use crate::facts::facts;", &[items])
}

struct Index<'a> {
    program: &'a Program,
    /// Id and constant of each command.
    commands: BTreeMap<&'a str, (u16, &'a str)>,
    /// Index of each struct in the descriptions of traces.
    layouts: BTreeMap<&'a str, usize>,
}

impl<'a> Index<'a> {
    fn new(model: &'a Model, program: &'a Program) -> Self {
        let commands = model.functions.iter();
        let commands =
            commands.map(|it| (it.name.as_str(), (it.id, it.constant.as_str()))).collect();
        let layouts = model.layouts.iter().enumerate();
        let layouts = layouts.map(|(at, layout)| (layout.name.as_str(), at)).collect();
        Self { program, commands, layouts }
    }

    /// The id of a command, for sorting, and its constant.
    fn command(&self, name: &str) -> Option<(u16, &'a str)> {
        self.commands.get(name).copied()
    }

    fn layout(&self, id: LayoutId) -> Option<(usize, &'a str)> {
        let name = self.program[id].name.as_str();
        Some((*self.layouts.get(name)?, name))
    }

    /// `NAME [commands or parameters] [fields];`
    fn role(&self, wanted: Role) -> String {
        let mut commands = BTreeSet::new();
        let mut fields = BTreeSet::new();
        let here = self.program.roles.iter().filter(|(role, _)| *role == wanted);
        for (_, subject) in here {
            match subject {
                Slotted::Command(name) => {
                    let found = self.command(name);
                    commands.extend(found.map(|(id, constant)| (id, 0, constant.to_owned())));
                }
                Slotted::Param(name, at) => {
                    let found = self.command(name);
                    let found = found.map(|(id, constant)| (id, *at, format!("{constant}.{at}")));
                    commands.extend(found);
                }
                Slotted::Field(id, at) => {
                    fields.extend(self.layout(*id).map(|(layout, _)| (layout, *at)));
                }
            }
        }
        let name = naming::snake_case(&format!("{wanted:?}")).to_uppercase();
        let commands = commands.into_iter().map(|(.., text)| text);
        let fields: Vec<_> = fields.iter().map(|(layout, at)| format!("({layout} {at})")).collect();
        let fields = fields.join(" ");
        wrapped(&format!("        {name} ["), commands, &format!("] [{fields}];"))
    }

    fn reach(&self) -> String {
        let reaches = self.program.reaches.iter();
        let lines: BTreeSet<(u16, usize, String)> = reaches
            .filter_map(|reach| {
                let (id, constant) = self.command(&reach.command)?;
                let at = reach.param;
                let size = match reach.size {
                    ReachSize::Bytes(bytes) => format!("Bytes({bytes})"),
                    ReachSize::Param(param) => format!("Param({param})"),
                    ReachSize::Region(region, pitch, slice_pitch) => {
                        format!("Region({region}, {pitch}, {slice_pitch})")
                    }
                    ReachSize::Unknown => "Unknown".to_owned(),
                };
                Some((id, at, format!("        {constant}.{at} {size};\n")))
            })
            .collect();
        lines.into_iter().map(|(.., line)| line).collect()
    }

    fn refused(&self) -> String {
        let refusals = self.program.refusals.iter();
        let lines: BTreeSet<(u16, String)> = refusals
            .filter_map(|refusal| {
                let Refused::Command(name) = &refusal.subject else { return None };
                let (id, constant) = self.command(name)?;
                Some((id, format!("        {constant} {:?};\n", refusal.reason)))
            })
            .collect();
        lines.into_iter().map(|(_, line)| line).collect()
    }

    fn refused_layouts(&self) -> String {
        let refusals = self.program.refusals.iter();
        let lines: BTreeSet<(usize, String)> = refusals
            .filter_map(|refusal| {
                let Refused::Layout(id) = &refusal.subject else { return None };
                let (at, name) = self.layout(*id)?;
                let reason = &refusal.reason;
                Some((at, format!("        // {name}\n        {at} {reason:?};\n")))
            })
            .collect();
        lines.into_iter().map(|(_, line)| line).collect()
    }
}
