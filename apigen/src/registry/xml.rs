//! Khronos' XML: from a registry file to a [`Registry`]. A declaration that cannot be read is a mistake. The registry
//! keeps the commands of the API's features and of their extensions, and all enumerants of the namespaces: programs also
//! pass values of other extensions, if only to get `GL_INVALID_ENUM`.

use std::collections::{BTreeMap, BTreeSet};

use roxmltree::{Document, Node};

use super::commands::{Command, Enumerant, Param, Registry};
use crate::apis::ApiFacts;
use crate::ctype::CType;
use crate::extension_list::extension_list;
use crate::origin::Origin;
use crate::problem::{Error, Problem};

/// Parses a registry file, of which it keeps what the APIs have.
///
/// `lists` has the texts of the lists of extensions that `api` names.
pub fn parse(
    file: &str,
    xml: &str,
    api: &ApiFacts,
    lists: &BTreeMap<String, String>,
) -> Result<Registry, Error> {
    let document =
        Document::parse(xml).map_err(|source| Error::Xml { file: file.to_owned(), source })?;
    let root = document.root_element();
    let apis: Vec<&str> = api.features.iter().map(String::as_str).collect();
    let apis = apis.as_slice();
    let kept = kept_extensions(root, api, lists);
    let typedefs = typedefs(root);
    let origins = origins(root, &kept, api, apis);
    let versions = versions_of(root, "gles2");
    let desktop_versions = versions_of(root, "gl");
    let providers = providers(&kept, apis);
    let mut problems = Vec::new();
    let mut commands = BTreeMap::new();
    for node in elements(root, "commands").flat_map(|commands| elements(commands, "command")) {
        let Some(name) = proto_name(node) else { continue };
        let Some(origin) = origins.get(name) else { continue };
        match command(node, name, *origin) {
            Some(mut command) => {
                command.resolve_types(&typedefs);
                command.version = versions.get(name).copied();
                command.desktop_version = desktop_versions.get(name).copied();
                command.extensions = providers.get(name).cloned().unwrap_or_default();
                commands.insert(name.to_owned(), command);
            }
            None => {
                let message = format!("cannot read the declaration of {name}");
                problems.push(Problem::at(file, xml, node.range(), message));
            }
        }
    }
    if !problems.is_empty() {
        return Err(Error::Inputs(problems));
    }
    Ok(Registry {
        commands,
        enumerants: enumerants(root, apis),
        constants: constants(root, apis),
        profile: profile(root, &kept, apis),
        extensions: extensions(&kept, apis),
        core: required_by_features(root, |api| apis.contains(&api)),
        embedded_core: required_by_features(root, |api| api != "gl" && apis.contains(&api)),
        ..Registry::default()
    })
}

/// The extensions of an API: of each feature all, or those that its list names.
fn kept_extensions<'a, 'b>(
    root: Node<'a, 'b>,
    api: &ApiFacts,
    lists: &BTreeMap<String, String>,
) -> Vec<Node<'a, 'b>> {
    let list = |feature: &str| {
        let text = api.exposed.get(feature).map(|file| lists.get(file).map_or("", String::as_str));
        text.map(extension_list)
    };
    let features: Vec<_> =
        api.features.iter().map(|feature| (feature.as_str(), list(feature))).collect();
    let is_kept = |extension: &Node<'_, '_>| {
        let name = extension.attribute("name").unwrap_or_default();
        let supported = extension.attribute("supported").unwrap_or_default();
        let mut has =
            features.iter().filter(|(feature, _)| supported.split('|').any(|api| api == *feature));
        has.any(|(_, list)| list.as_ref().is_none_or(|list| list.contains(name)))
    };
    let all = elements(root, "extensions").flat_map(|all| elements(all, "extension"));
    all.filter(is_kept).collect()
}

/// The commands of `apis`, and the first version or extension that has each.
fn origins<'a>(
    root: Node<'a, '_>,
    kept: &[Node<'a, '_>],
    api: &ApiFacts,
    apis: &[&str],
) -> BTreeMap<&'a str, Origin> {
    let mut origins: BTreeMap<&str, Origin> = BTreeMap::new();
    let mut add = |node: Node<'a, '_>, origin: Origin| {
        for name in required_commands(node, apis) {
            let first = origins.entry(name).or_insert(origin);
            *first = origin.min(*first);
        }
    };
    for feature in elements(root, "feature") {
        let number = feature.attribute("number").unwrap_or_default();
        match feature.attribute("api").filter(|api| apis.contains(api)) {
            Some(_) if !api.is_split() => add(feature, Origin::Whole),
            Some("gles1") => add(feature, Origin::Es1),
            Some("gles2") if number == "2.0" => add(feature, Origin::Es2),
            Some("gl") => add(feature, Origin::Desktop),
            Some(_) => add(feature, Origin::Es3),
            None => {}
        }
    }
    for extension in kept {
        add(*extension, if api.is_split() { extension_origin(*extension) } else { Origin::Whole });
    }
    origins
}

/// The first version of a feature that has each command.
fn versions_of<'a>(root: Node<'a, '_>, api: &str) -> BTreeMap<&'a str, (u8, u8)> {
    let mut versions = BTreeMap::new();
    for feature in elements(root, "feature").filter(|it| it.attribute("api") == Some(api)) {
        let number = feature.attribute("number").and_then(|number| number.split_once('.'));
        let number = number.and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
        let Some(number) = number else { continue };
        let requires = elements(feature, "require");
        for command in requires.flat_map(|require| elements(require, "command")) {
            if let Some(name) = command.attribute("name") {
                let first = versions.entry(name).or_insert(number);
                *first = number.min(*first);
            }
        }
    }
    versions
}

/// The sorted extensions that have each command.
fn providers<'a>(kept: &[Node<'a, '_>], apis: &[&str]) -> BTreeMap<&'a str, Vec<String>> {
    let mut providers: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for extension in kept {
        let Some(name) = extension.attribute("name") else { continue };
        for command in required_commands(*extension, apis) {
            let known = providers.entry(command).or_default();
            if !known.iter().any(|known| known == name) {
                known.push(name.to_owned());
            }
        }
    }
    providers.values_mut().for_each(|names| names.sort());
    providers
}

/// The commands that a version or an extension requires in `apis`.
fn required_commands<'a, 'b: 'a>(
    node: Node<'a, 'b>,
    apis: &[&str],
) -> impl Iterator<Item = &'a str> {
    required(node, apis, "command")
}

/// The names of the `tag` elements that a version or an extension requires in `apis`.
fn required<'a, 'b: 'a>(
    node: Node<'a, 'b>,
    apis: &[&str],
    tag: &'static str,
) -> impl Iterator<Item = &'a str> {
    elements(node, "require")
        .filter(move |require| require.attribute("api").is_none_or(|api| apis.contains(&api)))
        .flat_map(move |require| elements(require, tag))
        .filter_map(|item| item.attribute("name"))
}

/// The values of the enumerants of `apis`, without those of other APIs. Where the value of a name depends on the API,
/// it is that of OpenGL ES.
fn profile(root: Node<'_, '_>, kept: &[Node<'_, '_>], apis: &[&str]) -> BTreeMap<String, u64> {
    let features = elements(root, "feature")
        .filter(|feature| feature.attribute("api").is_some_and(|api| apis.contains(&api)));
    // Commands of an extension may take values that only its desktop version lists.
    let requires = kept.iter().flat_map(|extension| elements(*extension, "require"));
    let listed = requires.flat_map(|require| elements(require, "enum"));
    let listed = listed.filter_map(|item| item.attribute("name"));
    let of_features = features.flat_map(|feature| required(feature, apis, "enum"));
    let names: BTreeSet<&str> = of_features.chain(listed).collect();
    let nodes = elements(root, "enums").flat_map(|block| elements(block, "enum"));
    let ours = nodes.filter(|node| is_first_value(*node, apis));
    let valued = ours.filter_map(|node| {
        let value = node.attribute("value")?;
        Some((node.attribute("name")?, enum_value(value).or_else(|| wide_value(value))?))
    });
    let profiled = valued.filter(|(name, _)| names.contains(name));
    profiled.map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Parses a hexadecimal value that may exceed 32 bits.
fn wide_value(text: &str) -> Option<u64> {
    u64::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}

/// Whether an enumerant has this value in `apis`. Where the value depends on the API, that of OpenGL ES counts.
fn is_first_value(enumerant: Node<'_, '_>, apis: &[&str]) -> bool {
    enumerant.attribute("api").is_none_or(|api| apis.contains(&api) && api != "gl")
}

/// The origin of an extension's commands, from the APIs that it extends and from the vendor in a name such as
/// `GL_OES_mapbuffer`.
fn extension_origin(extension: Node<'_, '_>) -> Origin {
    let supported = extension.attribute("supported").unwrap_or_default();
    if !supported.split('|').any(|api| api.starts_with("gles")) {
        return Origin::DesktopExtension;
    }
    let mut words = extension.attribute("name").unwrap_or_default().split('_');
    match (words.next(), words.next()) {
        (_, Some("KHR" | "OES" | "EXT" | "OVR")) => Origin::SharedExtension,
        _ => Origin::VendorExtension,
    }
}

/// Types that the registry defines by `typedef`: `typedef uint32_t toyFlags;`.
fn typedefs(root: Node<'_, '_>) -> BTreeMap<String, CType> {
    let types = elements(root, "types").flat_map(|types| elements(types, "type"));
    let defined = types.filter_map(|node| {
        let name = elements(node, "name").next()?.text()?;
        let text: String = node
            .descendants()
            .filter_map(|inner| inner.text().filter(|_| inner.is_text()))
            .collect();
        let target = text.trim().strip_prefix("typedef")?.strip_suffix(';')?.trim();
        Some((name.to_owned(), CType::parse(target.strip_suffix(name)?)?))
    });
    defined.collect()
}

impl Command {
    /// Replaces types that [`CType`] does not know by their `typedef`s. A type that is defined as `void *` is a
    /// handle, and so is Xlib's `Display *`.
    fn resolve_types(&mut self, typedefs: &BTreeMap<String, CType>) {
        for ty in self.params.iter_mut().map(|param| &mut param.ty).chain([&mut self.result]) {
            if ty.base == "Display" && ty.pointers.len() == 1 {
                *ty = CType { base: "handle".to_owned(), pointers: Vec::new() };
            }
            let is_known = CType { base: ty.base.clone(), pointers: Vec::new() }.scalar().is_some();
            let Some(target) = typedefs.get(&ty.base).filter(|_| !is_known) else { continue };
            ty.base = match target.is_pointer() {
                true => "handle".to_owned(),
                false => target.base.clone(),
            };
        }
    }
}

fn command(node: Node<'_, '_>, name: &str, origin: Origin) -> Option<Command> {
    let proto = elements(node, "proto").next()?;
    let params = elements(node, "param").map(param).collect::<Option<Vec<_>>>()?;
    let result = declared_type(proto)?;
    Some(Command {
        name: name.to_owned(),
        declared_result: result.clone(),
        result,
        result_group: proto.attribute("group").map(str::to_owned),
        params,
        alias: elements(node, "alias").next().and_then(|alias| owned(alias, "name")),
        origin,
        version: None,
        desktop_version: None,
        extensions: Vec::new(),
        slot_since: None,
        registration: None,
    })
}

fn param(node: Node<'_, '_>) -> Option<Param> {
    let ty = declared_type(node)?;
    Some(Param {
        name: declared_name(node)?.to_owned(),
        declared: ty.clone(),
        ty,
        group: owned(node, "group"),
        class: owned(node, "class"),
        len: owned(node, "len"),
        layout: None,
        direction: None,
        range: None,
        is_released: false,
    })
}

fn proto_name<'a>(command: Node<'a, '_>) -> Option<&'a str> {
    declared_name(elements(command, "proto").next()?)
}

fn declared_name<'a>(node: Node<'a, '_>) -> Option<&'a str> {
    elements(node, "name").next()?.text().map(str::trim)
}

/// The text of a `<proto>` or `<param>` without its `<name>`.
fn declared_type(node: Node<'_, '_>) -> Option<CType> {
    let text: Vec<&str> = node
        .descendants()
        .filter(|inner| inner.is_text())
        .filter(|inner| inner.parent().is_none_or(|parent| !parent.has_tag_name("name")))
        .filter_map(|inner| inner.text())
        .collect();
    CType::parse(&text.join(" "))
}

fn enumerants(root: Node<'_, '_>, apis: &[&str]) -> Vec<Enumerant> {
    let mut all = Vec::new();
    for block in elements(root, "enums") {
        for node in elements(block, "enum") {
            let is_ours = is_first_value(node, apis);
            let value = node.attribute("value").and_then(enum_value);
            let (Some(name), Some(value), true) = (owned(node, "name"), value, is_ours) else {
                continue;
            };
            all.push(Enumerant {
                name,
                value,
                groups: enum_groups(block, node),
                is_bit: block.attribute("type") == Some("bitmask"),
            });
        }
    }
    all
}

fn constants(root: Node<'_, '_>, apis: &[&str]) -> BTreeMap<String, i64> {
    let nodes = elements(root, "enums").flat_map(|block| elements(block, "enum"));
    let ours = nodes.filter(|node| is_first_value(*node, apis));
    let named = ours.filter_map(|node| {
        Some((owned(node, "name")?, node.attribute("value").and_then(constant)?))
    });
    named.collect()
}

/// Parses an enumerant's value: `0x8B8D`, `-1`, `EGL_CAST(EGLContext,0)`.
fn constant(text: &str) -> Option<i64> {
    let inner = text.strip_prefix("EGL_CAST(").and_then(|rest| rest.strip_suffix(')'));
    let text = inner.map_or(text, |inner| inner.split(',').next_back().unwrap_or_default()).trim();
    let value: i128 = match text.strip_prefix("0x") {
        Some(digits) => i128::from_str_radix(digits, 16).ok()?,
        None => text.parse().ok()?,
    };
    Some(i64::try_from(value).unwrap_or(i64::MAX))
}

/// The groups of an enumerant. gl.xml lists them; egl.xml and glx.xml give each bitfield a namespace instead.
fn enum_groups(block: Node<'_, '_>, node: Node<'_, '_>) -> Vec<String> {
    let namespace =
        block.attribute("namespace").filter(|name| !["GL", "EGL", "GLX"].contains(name));
    let listed = [block.attribute("group"), node.attribute("group"), namespace];
    let mut groups: Vec<String> =
        listed.into_iter().flatten().flat_map(|list| list.split(',')).map(str::to_owned).collect();
    groups.sort();
    groups.dedup();
    groups
}

/// Parses a value of at most 32 bits; `None` for casts to handle types.
fn enum_value(text: &str) -> Option<u64> {
    let inner = text.strip_prefix("EGL_CAST(EGLint,").and_then(|rest| rest.strip_suffix(')'));
    let text = inner.unwrap_or(text);
    if let Some(digits) = text.strip_prefix("0x") {
        return u32::from_str_radix(digits, 16).ok().map(u64::from);
    }
    let value: i64 = text.parse().ok()?;
    let bits = i32::try_from(value).map(i32::cast_unsigned).or_else(|_| u32::try_from(value));
    bits.ok().map(u64::from)
}

fn extensions(kept: &[Node<'_, '_>], apis: &[&str]) -> BTreeMap<String, BTreeSet<String>> {
    let named = kept.iter().filter_map(|extension| Some((owned(*extension, "name")?, *extension)));
    let commands_of = |extension| required_commands(extension, apis).map(str::to_owned).collect();
    named.map(|(name, extension)| (name, commands_of(extension))).collect()
}

fn required_by_features(root: Node<'_, '_>, is_wanted: impl Fn(&str) -> bool) -> BTreeSet<String> {
    elements(root, "feature")
        .filter(|feature| feature.attribute("api").is_some_and(&is_wanted))
        .flat_map(|feature| elements(feature, "require"))
        .flat_map(|require| require.children().filter(Node::is_element))
        .filter_map(|item| owned(item, "name"))
        .collect()
}

fn elements<'a, 'b: 'a>(
    node: Node<'a, 'b>,
    tag: &'static str,
) -> impl Iterator<Item = Node<'a, 'b>> {
    node.children().filter(move |child| child.has_tag_name(tag))
}

fn owned(node: Node<'_, '_>, attribute: &str) -> Option<String> {
    node.attribute(attribute).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::apis::Api;

    fn gl() -> Api {
        let list = crate::apis::parse(include_str!("../../../apis/apis.json")).unwrap();
        list.into_iter().find(|api| api.name == "gl").unwrap()
    }

    #[test]
    fn enum_value_is_32_bits_wide() {
        let check = |text: &str, expected: Option<u64>| assert_eq!(enum_value(text), expected);
        check("0x8B8D", Some(0x8B8D));
        check("10000", Some(10000));
        check("-1", Some(0xFFFF_FFFF));
        check("EGL_CAST(EGLint,-1)", Some(0xFFFF_FFFF));
        check("EGL_CAST(EGLContext,0)", None);
        check("0xFFFFFFFFFFFFFFFF", None);
    }

    #[test]
    fn constant_is_signed_and_saturates() {
        let check = |text: &str, expected: Option<i64>| assert_eq!(constant(text), expected);
        check("0x8B8D", Some(0x8B8D));
        check("0xFFFFFFFF", Some(0xFFFF_FFFF));
        check("EGL_CAST(EGLint,-1)", Some(-1));
        check("EGL_CAST(EGLContext,0)", Some(0));
        check("0xFFFFFFFFFFFFFFFF", Some(i64::MAX));
        check("\"text\"", None);
    }

    #[test]
    fn profile_has_the_enumerants_of_the_apis_that_are_numbers() {
        const XML: &str = r#"<registry>
            <enums namespace="GL">
                <enum value="0x1" name="GL_A"/>
                <enum value="0x2" name="GL_DESKTOP"/>
                <enum value="0x5" name="GL_A_BYTE"/>
                <enum value="0x6" name="GL_UNLISTED"/>
                <enum value="0x3" name="GL_B" api="gl"/>
                <enum value="0x4" name="GL_B" api="gles2"/>
                <enum value="0xFFFFFFFFFFFFFFFF" name="GL_FOREVER"/>
                <enum value="EGL_CAST(EGLContext,0)" name="GL_NO_CONTEXT"/>
            </enums>
            <feature api="gl" number="1.0"><require><enum name="GL_DESKTOP"/></require></feature>
            <feature api="gles2" number="2.0">
                <require><enum name="GL_A"/><enum name="GL_NO_CONTEXT"/></require>
            </feature>
            <extensions>
                <extension name="GL_EXT_thing" supported="gl|gles2">
                    <require api="gles2"><enum name="GL_B"/><enum name="GL_FOREVER"/></require>
                    <require api="gl"><enum name="GL_A_BYTE"/></require>
                </extension>
                <extension name="GL_ARB_thing" supported="gl">
                    <require><enum name="GL_UNLISTED"/></require>
                </extension>
            </extensions>
        </registry>"#;
        let registry = parse("gl.xml", XML, &gl(), &BTreeMap::new()).unwrap();
        let profile: Vec<(&str, u64)> =
            registry.profile.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        let small = [("GL_A", 1), ("GL_A_BYTE", 5), ("GL_B", 4), ("GL_DESKTOP", 2)];
        assert_eq!(profile, [&small[..], &[("GL_FOREVER", u64::MAX)]].concat());
    }

    const XML: &str = r#"<registry>
        <enums namespace="GL" group="Mask" type="bitmask"><enum value="0x1" name="GL_A_BIT"/></enums>
        <enums namespace="GL"><enum value="0x2" name="GL_B" group="One,Two"/></enums>
        <commands>
            <command>
                <proto>const <ptype>GLubyte</ptype> *<name>glGetThing</name></proto>
                <param group="One"><ptype>GLenum</ptype> <name>name</name></param>
                <param len="n">const <ptype>GLint</ptype> *<name>values</name></param>
                <alias name="glThing"/>
            </command>
            <command><proto>void <name>glDesktop</name></proto></command>
            <command><proto>void <name>glListed</name></proto></command>
            <command><proto>void <name>glUnlisted</name></proto></command>
        </commands>
        <feature api="gl" number="1.0"><require><command name="glDesktop"/></require></feature>
        <feature api="gles2" number="3.0"><require><command name="glGetThing"/></require></feature>
        <extensions>
            <extension name="GL_EXT_thing" supported="gl|gles2">
                <require api="gles2"><command name="glGetThing"/></require>
                <require api="gl"><command name="glDesktop"/></require>
            </extension>
            <extension name="GL_ARB_listed" supported="gl">
                <require><command name="glGetThing"/><command name="glListed"/></require>
            </extension>
            <extension name="GL_ARB_unlisted" supported="gl">
                <require><command name="glGetThing"/><command name="glUnlisted"/></require>
            </extension>
        </extensions>
    </registry>"#;

    /// The registry of `XML`, with a list of one extension of desktop OpenGL.
    fn with_list() -> Registry {
        let gl = gl();
        let text = |file: &String| (file.clone(), "# A list.\nGL_ARB_listed\n".to_owned());
        parse("gl.xml", XML, &gl, &gl.exposed.values().map(text).collect()).unwrap()
    }

    #[test]
    fn commands_of_extensions_that_the_list_lacks_are_left_out() {
        let registry = with_list();
        let names: Vec<_> = registry.commands.keys().collect();
        assert_eq!(names, ["glDesktop", "glGetThing", "glListed"]);
        let origins: Vec<_> = registry.commands.values().map(|command| command.origin).collect();
        assert_eq!(origins, [Origin::Desktop, Origin::Es3, Origin::DesktopExtension]);
        assert!(registry.core.contains("glGetThing") && registry.core.contains("glDesktop"));
        assert!(registry.embedded_core.contains("glGetThing"));
        assert!(!registry.embedded_core.contains("glDesktop"));
    }

    #[test]
    fn command_is_read_with_types_groups_and_alias() {
        let registry = with_list();
        let command = &registry.commands["glGetThing"];
        assert_eq!(registry.commands["glDesktop"].desktop_version, Some((1, 0)));
        assert_eq!(command.origin, Origin::Es3);
        assert_eq!(command.version, Some((3, 0)));
        assert_eq!(command.desktop_version, None);
        assert_eq!(command.extensions, ["GL_ARB_listed", "GL_EXT_thing"]);
        assert_eq!(command.result, CType { base: "GLubyte".to_owned(), pointers: vec![true] });
        assert_eq!(command.alias.as_deref(), Some("glThing"));
        let params: Vec<_> = command.params.iter().map(|param| param.name.as_str()).collect();
        assert_eq!(params, ["name", "values"]);
        assert_eq!(command.params[1].len.as_deref(), Some("n"));
    }

    #[test]
    fn enumerant_belongs_to_the_groups_of_its_block_and_its_own() {
        let registry = parse("gl.xml", XML, &gl(), &BTreeMap::new()).unwrap();
        let groups: Vec<_> = registry.enumerants.iter().map(|e| e.groups.join("+")).collect();
        assert_eq!(groups, ["Mask", "One+Two"]);
        assert!(registry.enumerants[0].is_bit);
    }
}
