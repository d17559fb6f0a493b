//! Enum groups: the name that a trace shows for each value. If several names have one value, the first of this order is
//! used: names that a description prefers, core names of the API without desktop OpenGL, core names of desktop OpenGL, then names of
//! extensions in the order `KHR`, `OES`, `EXT`, `ARB`, vendors; of equals the first by alphabet. A value that a group
//! lacks is looked up among all names of the API, unless the group's names are bits.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::Group;
use crate::registry::{Enumerant, Registries, Registry};

/// The groups that commands refer to.
#[derive(Debug)]
pub struct Groups {
    pub all: Vec<Group>,
    by_name: BTreeMap<String, (u16, bool)>,
    /// By API: the group of all its names. Level Zero has none: each of its enums begins at 0.
    catch_alls: BTreeMap<String, u16>,
}

impl Groups {
    /// The catch-all groups, and those of `wanted` that have values, each set in its order.
    pub fn new(
        registries: &Registries,
        wanted: &[BTreeSet<(String, String)>],
        prefer: &BTreeSet<String>,
    ) -> Self {
        let mut all = Vec::new();
        let mut by_name = BTreeMap::new();
        let mut catch_alls = BTreeMap::new();
        for (api, registry) in registries.0.iter().filter(|(api, _)| !api.is_json()) {
            let names = registry.enumerants.iter().filter(|known| is_in_catch_all(known));
            by_name.insert(api.names.clone(), (all.len() as u16, false));
            catch_alls.insert(api.name.clone(), all.len() as u16);
            let values = values(registry, names, prefer);
            all.push(Group { name: api.names.clone(), values, fallback: None });
        }
        for (name, api) in wanted.iter().flatten() {
            let Some(registry) = registries.of(api) else { continue };
            let members = || registry.enumerants.iter().filter(|known| known.groups.contains(name));
            let is_bitfield = members().any(|member| member.is_bit);
            if members().next().is_some() && !by_name.contains_key(name) {
                by_name.insert(name.clone(), (all.len() as u16, is_bitfield));
                let values = values(registry, members(), prefer);
                let fallback = catch_alls.get(api).copied().filter(|_| !is_bitfield);
                all.push(Group { name: name.clone(), values, fallback });
            }
        }
        Self { all, by_name, catch_alls }
    }

    /// Index of the group of all names of an API.
    pub fn catch_all(&self, api: &str) -> Option<u16> {
        self.catch_alls.get(api).copied()
    }

    /// Number of groups that hold all names of an API. They are the first groups.
    pub fn catch_all_count(&self) -> usize {
        self.catch_alls.len()
    }

    /// Index of a group, and whether its names are bits.
    pub fn find(&self, name: &str) -> Option<(u16, bool)> {
        self.by_name.get(name).copied()
    }
}

/// Whether an enumerant is in the group of all names. Bits and EGL's named numbers are not: their small values
/// would hide the enumerants' names.
fn is_in_catch_all(known: &Enumerant) -> bool {
    let is_number = known.name.starts_with("EGL_")
        && known.groups.iter().any(|group| group == "SpecialNumbers");
    !known.is_bit && !is_number
}

/// One name for each value, sorted by value.
fn values<'a>(
    registry: &Registry,
    members: impl Iterator<Item = &'a Enumerant>,
    prefer: &BTreeSet<String>,
) -> Vec<(u64, String)> {
    let rank = |name: &'a str| {
        (
            !prefer.contains(name),
            !registry.embedded_core.contains(name),
            !registry.core.contains(name),
            suffix_rank(name),
            name,
        )
    };
    let mut best: BTreeMap<u64, &str> = BTreeMap::new();
    for member in members {
        let name = best.entry(member.value).or_insert(&member.name);
        if rank(&member.name) < rank(name) {
            *name = &member.name;
        }
    }
    best.into_iter().map(|(value, name)| (value, name.to_owned())).collect()
}

fn suffix_rank(name: &str) -> usize {
    const SHARED: [&str; 4] = ["_KHR", "_OES", "_EXT", "_ARB"];
    SHARED.iter().position(|suffix| name.ends_with(suffix)).unwrap_or(SHARED.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str, value: u64) -> Enumerant {
        Enumerant { name: name.to_owned(), value, groups: vec!["G".to_owned()], is_bit: false }
    }

    fn registries(gl: Registry) -> Registries {
        let apis = crate::apis::parse(include_str!("../../apis/apis.json")).unwrap();
        let api = apis.into_iter().find(|api| api.name == "gl").unwrap();
        Registries(vec![(api, gl)])
    }

    #[test]
    fn value_with_several_names_gets_the_least_private() {
        let check = |names: &[&str], core: &[&str], desktop: &[&str], expected: &str| {
            let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
            let gl = Registry {
                enumerants: names.iter().map(|name| named(name, 7)).collect(),
                core: set(&[core, desktop].concat()),
                embedded_core: set(core),
                ..Registry::default()
            };
            let wanted = [BTreeSet::from([("G".to_owned(), "gl".to_owned())])];
            let groups = Groups::new(&registries(gl), &wanted, &BTreeSet::new());
            let (index, _) = groups.find("G").unwrap();
            assert_eq!(groups.all[usize::from(index)].values, [(7, expected.to_owned())]);
        };
        check(&["GL_A_EXT", "GL_A", "GL_A_OES"], &["GL_A"], &[], "GL_A");
        check(&["GL_A", "GL_B"], &["GL_B"], &["GL_A"], "GL_B");
        check(&["GL_A_NV", "GL_A_ARB"], &[], &[], "GL_A_ARB");
        check(&["GL_A_EXT", "GL_A_OES"], &[], &[], "GL_A_OES");
        check(&["GL_A_QCOM", "GL_DESKTOP"], &[], &["GL_DESKTOP"], "GL_DESKTOP");
    }

    #[test]
    fn preferred_name_beats_the_rank() {
        let gl = Registry {
            enumerants: vec![named("GL_FALSE", 0), named("GL_NONE", 0)],
            ..Registry::default()
        };
        let prefer = BTreeSet::from(["GL_NONE".to_owned()]);
        let groups = Groups::new(&registries(gl), &[], &prefer);
        assert_eq!(groups.all[0].values, [(0, "GL_NONE".to_owned())]);
    }
}
