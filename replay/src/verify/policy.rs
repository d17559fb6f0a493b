//! Which rule each answer is compared by: a look-up in the table of the descriptions' `answers` items, of which the
//! first that fits counts. An answer without an item must be equal.
//!
//! Decides by ids of commands, indices of parameters and values of enums, and by no command's name.

use std::sync::OnceLock;

use gapii_commands::{COUNT, CommandId};

use super::rule::{Answers, Rule, Target};
use crate::generated::answers::TARGETS;

/// The part of a command's answer that is compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part<'a> {
    /// The result.
    Result,
    /// Values that the driver wrote at the parameter of this index.
    Output(usize),
    /// A field of a struct that the driver wrote at the parameter of this index: the field's name.
    Field(usize, &'a str),
}

/// The rule for a part of a command's answer. `value` returns the value of a parameter which is an enum,
/// and `None` for other parameters. An answer of no target is [`Rule::Exact`].
pub fn rule(command: CommandId, part: Part<'_>, value: impl Fn(usize) -> Option<u64>) -> Rule {
    let targets = of_commands().get(command.index()).map_or(&[][..], |targets| targets);
    let fits = |(target, param): &&(&Target, u8)| match (target.answers, part) {
        (Answers::All, _) | (Answers::Result, Part::Result) => true,
        (Answers::Output, Part::Output(index)) => index == usize::from(*param),
        (Answers::Field(name), Part::Field(index, field)) => {
            index == usize::from(*param) && name == field
        }
        (Answers::Values(values), _) => {
            value(usize::from(*param)).is_some_and(|value| values.binary_search(&value).is_ok())
        }
        _ => false,
    };
    targets.iter().find(fits).map_or(Rule::Exact, |(target, _)| target.rule)
}

/// The targets of each command in their order, with the parameter that each is about.
fn of_commands() -> &'static [Vec<(&'static Target, u8)>] {
    static INDEX: OnceLock<Vec<Vec<(&'static Target, u8)>>> = OnceLock::new();
    INDEX.get_or_init(|| {
        let mut index = vec![Vec::new(); COUNT];
        for target in TARGETS {
            for (command, param) in target.commands {
                index[command.index()].push((target, *param));
            }
        }
        index
    })
}

#[cfg(test)]
mod tests {
    use gapii_trace::Description;

    use super::Rule::{Driver, Exact, Names, Presence, Varies};
    use super::*;
    use crate::names::Kind;
    use crate::verify::Why;

    fn command(name: &str) -> CommandId {
        CommandId::named(name).unwrap_or_else(|| panic!("no command is {name}"))
    }

    fn asked(name: &str) -> u64 {
        let groups = Description::built_in().groups().iter();
        let mut values = groups.flat_map(|group| &group.values);
        let found = values.find(|(_, known)| known == name);
        found.unwrap_or_else(|| panic!("the registry has no {name}")).0
    }

    /// Checks the rule for an output that no target names.
    fn check(function: &str, name: &str, expected: Rule) {
        let found = rule(command(function), Part::Output(9), |_| Some(asked(name)));
        assert_eq!(found, expected, "{function} {name}");
    }

    #[test]
    fn state_is_exact_and_limits_are_the_driver_s() {
        check("glGetIntegerv", "GL_VIEWPORT", Exact);
        check("glGetIntegerv", "GL_UNPACK_ALIGNMENT", Exact);
        check("glGetIntegerv", "GL_UNIFORM_BUFFER_OFFSET_ALIGNMENT", Driver);
        check("glGetFloatv", "GL_DEPTH_RANGE", Exact);
        check("glGetFloatv", "GL_ALIASED_LINE_WIDTH_RANGE", Driver);
        check("glGetInteger64v", "GL_MAX_ELEMENT_INDEX", Driver);
        check("glGetInteger64v", "GL_TIMESTAMP", Varies(Why::Time));
        check("glGetTexParameteriv", "GL_TEXTURE_MAX_LEVEL", Exact);
        check("glGetProgramiv", "GL_LINK_STATUS", Exact);
        check("glGetProgramiv", "GL_ACTIVE_UNIFORMS", Driver);
    }

    #[test]
    fn bindings_are_names_of_their_kind() {
        check("glGetIntegerv", "GL_ARRAY_BUFFER_BINDING", Names(Kind::Buffer));
        check("glGetIntegeri_v", "GL_UNIFORM_BUFFER_BINDING", Names(Kind::Buffer));
        check("glGetFloatv", "GL_TEXTURE_BINDING_2D", Names(Kind::Texture));
        check("glGetIntegerv", "GL_VERTEX_ARRAY_BINDING", Names(Kind::VertexArray));
        check("glGetQueryiv", "GL_CURRENT_QUERY", Names(Kind::Query));
        check("glGetTexLevelParameteriv", "GL_TEXTURE_DEPTH_TYPE", Driver);
    }

    #[test]
    fn pixels_errors_and_statuses_have_no_tolerance() {
        let rule = |function: &str, part, asked| rule(command(function), part, |_| asked);
        for function in ["glReadPixels", "glReadnPixels", "glReadnPixelsEXT"] {
            for param in 0..8 {
                assert_eq!(rule(function, Part::Output(param), None), Exact);
            }
        }
        assert_eq!(rule("glGetError", Part::Result, None), Exact);
        assert_eq!(rule("glCheckFramebufferStatus", Part::Result, Some(0x8D40)), Exact);
        assert_eq!(rule("glMapBufferRange", Part::Result, Some(0x8892)), Presence);
        assert_eq!(rule("glIsTexture", Part::Result, None), Exact);
    }

    #[test]
    fn logs_are_the_driver_s_under_every_name_of_their_command() {
        for function in ["glGetProgramPipelineInfoLog", "glGetProgramPipelineInfoLogEXT"] {
            assert_eq!(rule(command(function), Part::Output(3), |_| None), Driver, "{function}");
        }
    }

    #[test]
    fn sets_of_the_table_are_sorted() {
        for target in TARGETS {
            assert!(target.commands.is_sorted() && !target.commands.is_empty(), "{target:?}");
            if let Answers::Values(values) = target.answers {
                assert!(values.is_sorted() && !values.is_empty(), "{target:?}");
            }
        }
    }
}
