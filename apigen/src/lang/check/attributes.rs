//! Attributes: `@tracked`, `@effect(leave)` and the others. One that its item does not allow, a repeated one, and one
//! with wrong arguments are mistakes.

use super::super::ast::{Attribute, Name};
use super::super::diagnostic::Diagnostic;
use super::super::typed::{Ask, Effect, Hook, Replay};
use super::checker::Checker;
use super::names::did_you_mean;

impl<'a> Checker<'a> {
    /// Reports attributes that are not in `allowed`, and repeated ones.
    pub(super) fn allow_attributes(&mut self, found: &[Attribute], allowed: &[&str]) {
        for (at, attribute) in found.iter().enumerate() {
            let name = attribute.name.text.as_str();
            if !allowed.contains(&name) {
                let help = if allowed.is_empty() {
                    "no attribute is allowed".to_owned()
                } else {
                    let all: Vec<_> = allowed.iter().map(|name| format!("`@{name}`")).collect();
                    format!("allowed here: {}", all.join(", "))
                };
                let message = format!("`@{name}` is not allowed here");
                self.report(Diagnostic::at(attribute.span, message).help(help));
            } else if found[..at].iter().any(|first| first.name.text == name) {
                self.mistake(attribute.span, format!("`@{name}` is repeated"));
            }
        }
    }

    /// Whether `found` contains an attribute without arguments, such as `@tracked`.
    pub(super) fn has_word(&mut self, found: &[Attribute], word: &str) -> bool {
        let Some(attribute) = find(found, word) else { return false };
        if !attribute.arguments.is_empty() {
            self.mistake(attribute.span, format!("`@{word}` takes no arguments"));
        }
        true
    }

    /// `@effect(leave)`
    pub(super) fn effect(&mut self, found: &[Attribute]) -> Option<Effect> {
        let attribute = find(found, "effect")?;
        match attribute.arguments.as_slice() {
            [word] if word.text == "enter" => Some(Effect::Enter),
            [word] if word.text == "leave" => Some(Effect::Leave),
            [word] if word.text == "recorded" => Some(Effect::Recorded),
            _ => {
                let message = "expected `enter`, `leave` or `recorded`";
                self.mistake(attribute.span, message);
                None
            }
        }
    }

    /// `@hook`, `@hook(enter_flags, leave_flags)`, `@hook(before)`
    pub(super) fn hook(&mut self, found: &[Attribute]) -> Option<Hook> {
        let attribute = find(found, "hook")?;
        let mut hook = Hook::default();
        for argument in &attribute.arguments {
            match argument.text.as_str() {
                "enter_flags" => hook.enter_flags = true,
                "leave_flags" => hook.leave_flags = true,
                "before" => hook.before = true,
                _ => {
                    let message = "expected `enter_flags`, `leave_flags` or `before`";
                    self.mistake(argument.span, message);
                }
            }
        }
        Some(hook)
    }

    /// `@frame(EGL_TRUE)`: the result with which the command ends a frame.
    pub(super) fn frame(&mut self, found: &[Attribute]) -> Option<i64> {
        let attribute = find(found, "frame")?;
        let [result] = attribute.arguments.as_slice() else {
            let message = "`@frame` needs the result with which the command ends a frame";
            self.mistake(attribute.span, message);
            return None;
        };
        if let Some(hook) = find(found, "hook") {
            self.mistake(hook.span, "`@frame` generates the command's hook: remove `@hook`");
        }
        self.enumerant(result)
    }

    /// `@replay(by_hand)`
    pub(super) fn replay(&mut self, found: &[Attribute]) -> Replay {
        let Some(attribute) = find(found, "replay") else { return Replay::Generated };
        match attribute.arguments.as_slice() {
            [word] if word.text == "by_hand" => Replay::ByHand,
            [word] if word.text == "outside" => Replay::Outside,
            _ => {
                let message = "expected `by_hand` or `outside`";
                self.mistake(attribute.span, message);
                Replay::Generated
            }
        }
    }

    /// `@nullable(data)`
    pub(super) fn nullable(
        &mut self,
        found: &[Attribute],
        command: &crate::registry::Command,
    ) -> Vec<usize> {
        let Some(attribute) = find(found, "nullable") else { return Vec::new() };
        if attribute.arguments.is_empty() {
            self.mistake(attribute.span, "`@nullable` names pointers");
        }
        attribute.arguments.iter().filter_map(|name| self.pointer_of(command, name)).collect()
    }

    /// The index of the pointer parameter called `name`; reports a mistake if there is none.
    fn pointer_of(&mut self, command: &crate::registry::Command, name: &Name) -> Option<usize> {
        let mut params = command.params.iter();
        let at = params.position(|known| known.name == name.text && known.ty.is_pointer());
        if at.is_none() {
            let message = format!("{} has no pointer `{}`", command.name, name.text);
            self.mistake(name.span, message);
        }
        at
    }

    /// `@array(pointer, stride)`
    pub(super) fn array(
        &mut self,
        found: &[Attribute],
        command: &crate::registry::Command,
    ) -> Option<(usize, usize)> {
        let attribute = find(found, "array")?;
        let [pointer, stride] = attribute.arguments.as_slice() else {
            self.mistake(attribute.span, "`@array` needs a pointer and a stride");
            return None;
        };
        let pointer = self.pointer_of(command, pointer);
        let mut params = command.params.iter();
        let at = params.position(|known| known.name == stride.text && !known.ty.is_pointer());
        if at.is_none() {
            let message = format!("{} has no number `{}`", command.name, stride.text);
            self.mistake(stride.span, message);
        }
        Some((pointer?, at?))
    }

    /// `@offset(pixels, GL_PIXEL_UNPACK_BUFFER_BINDING)`: the index of the parameter, and the enumerant that queries
    /// the buffer binding.
    pub(super) fn offset(
        &mut self,
        found: &[Attribute],
        command: &crate::registry::Command,
    ) -> Option<(usize, i64)> {
        let attribute = find(found, "offset")?;
        let [param, binding] = attribute.arguments.as_slice() else {
            let message =
                "`@offset` needs a parameter and the enumerant that queries the buffer binding";
            self.mistake(attribute.span, message);
            return None;
        };
        Some((self.pointer_of(command, param)?, self.enumerant(binding)?))
    }

    /// `@ask(glGetIntegerv, GL_VIEWPORT)`
    pub(super) fn ask(&mut self, found: &[Attribute]) -> Option<Ask> {
        let attribute = find(found, "ask")?;
        let Some((command, enumerants)) = attribute.arguments.split_first() else {
            let message = "`@ask` needs a command and enumerants";
            self.mistake(attribute.span, message);
            return None;
        };
        let is_known = self.command_named(command).is_some();
        let values = enumerants.iter().map(|name| {
            let value = self.enumerant(name)?;
            Some((name.text.clone(), value))
        });
        let enumerants = values.collect::<Option<Vec<_>>>()?;
        is_known.then(|| Ask { command: command.text.clone(), enumerants })
    }

    /// `@group(BufferUsageARB)`
    pub(super) fn group_of_field(&mut self, found: &[Attribute]) -> Option<String> {
        let attribute = find(found, "group")?;
        let [name] = attribute.arguments.as_slice() else {
            self.mistake(attribute.span, "`@group` needs one enum group");
            return None;
        };
        self.group_named(name).then(|| name.text.clone())
    }

    pub(super) fn group_named(&mut self, name: &Name) -> bool {
        let is_known = self.names.is_group(&name.text);
        if is_known {
            self.program.groups.insert(name.text.clone());
        } else {
            self.mistake(name.span, format!("no enum group `{}`", name.text));
        }
        is_known
    }

    pub(super) fn command_named(&mut self, name: &Name) -> Option<&'a crate::registry::Command> {
        let found = self.names.command(&name.text);
        if found.is_none() {
            let help = self.names.like_command(&name.text).map(did_you_mean);
            let message = format!("the registry has no command `{}`", name.text);
            self.report(Diagnostic { help, ..Diagnostic::at(name.span, message) });
        }
        found
    }
}

pub(super) fn find<'t>(found: &'t [Attribute], name: &str) -> Option<&'t Attribute> {
    found.iter().find(|attribute| attribute.name.text == name)
}
