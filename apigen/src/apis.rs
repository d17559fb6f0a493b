//! The list of APIs: `apis/apis.json`. Everything that is generated for every API is generated from this list. A key
//! that `ApiFacts` lacks is an error. Only the code of OpenGL (`gl`) is split into modules by version and extension.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;

use crate::naming;
use crate::problem::Error;
use crate::tree;

/// Path of the list, from the repository's root.
pub const LIST: &str = "apis/apis.json";

/// Facts of an API that its registry does not say.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApiFacts {
    /// The name in traces, in filters and in `api NAME;`: `level_zero`.
    pub name: String,
    /// The name in messages: `Level Zero`.
    pub title: String,
    /// The first line of the API's documentation.
    pub about: String,
    /// File that declares the commands: an XML file of Khronos (`egl.xml`, `gl.xml`), an XML file in the
    /// same format under `apis/`, or Level Zero's `functions.json`, with `types.json` and `tables.json` beside it.
    pub registry: String,
    /// The `api` attributes of the registry's features and extensions that belong to the API.
    pub features: Vec<String>,
    /// Feature, and the file that lists the extensions of that feature which belong to the API. Without a file all do.
    #[serde(default)]
    pub exposed: BTreeMap<String, String>,
    /// Folders of the API's descriptions, in the order in which they are read.
    pub folders: Vec<String>,
    /// The enum group of all the API's names. Descriptions may use it in `group` items.
    pub names: String,
    /// Whether commands act on the current context or on the process.
    pub state: StateOf,
    /// How `replay` plays the API's commands.
    pub replay: Played,
}

/// Whether an API's commands need a current context.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StateOf {
    /// A command without a current context does nothing.
    Context,
    /// Commands work in every thread of the process.
    Process,
}

/// How `replay` plays the commands of an API.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Played {
    /// By generated functions, except for commands that say `@replay`.
    Generated,
    /// By hand-written functions, or not at all.
    ByHand,
}

/// An entry of the list, shared by the API's commands.
pub type Api = Arc<ApiFacts>;

impl ApiFacts {
    /// The variant of `gapii_commands::Api`: `level_zero` is `LevelZero`.
    pub fn variant(&self) -> String {
        naming::camel_case(&self.name)
    }

    /// Whether its commands concern the process rather than the current context.
    pub fn is_of_process(&self) -> bool {
        self.state == StateOf::Process
    }

    /// Whether generated functions play its commands.
    pub fn is_played(&self) -> bool {
        self.replay == Played::Generated
    }

    /// Whether its commands are split into modules by version and extension. Only OpenGL has enough
    /// commands for that.
    pub fn is_split(&self) -> bool {
        self.name == "gl"
    }

    /// Whether the registry is Level Zero's JSON.
    pub fn is_json(&self) -> bool {
        self.registry.ends_with(".json")
    }

    /// The files of the registry. JSON declares commands in one file, and types and tables in two files beside it.
    pub fn registry_files(&self) -> Vec<String> {
        let others: &[&str] = if self.is_json() { &["types.json", "tables.json"] } else { &[] };
        let beside = |name| Path::new(&self.registry).with_file_name(name).display().to_string();
        [self.registry.clone()].into_iter().chain(others.iter().map(beside)).collect()
    }
}

impl fmt::Display for ApiFacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// Reads the list of the repository at `root`.
pub fn read(root: &Path) -> Result<Vec<Api>, Error> {
    parse(&tree::read(&root.join(LIST))?)
}

/// Parses a list.
pub fn parse(text: &str) -> Result<Vec<Api>, Error> {
    let list: Vec<ApiFacts> = serde_json::from_str(text)
        .map_err(|source| Error::Json { path: Path::new(LIST).to_owned(), source })?;
    Ok(list.into_iter().map(Arc::new).collect())
}
