//! The files of the page, which are part of the program (`viewer/site`).

/// Returns the content type and the content of a file of the page; the page itself has the empty name.
pub fn file(name: &str) -> Option<(&'static str, &'static str)> {
    let (name, content) = *FILES.iter().find(|(known, _)| *known == name)?;
    let content_type = match name.rsplit('.').next() {
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "text/html; charset=utf-8",
    };
    Some((content_type, content))
}

macro_rules! files {
    ($($name:literal,)*) => {
        /// Names and contents.
        const FILES: &[(&str, &str)] = &[
            ("", include_str!("../site/index.html")),
            $(($name, include_str!(concat!("../site/", $name))),)*
        ];
    };
}

files! {
    "axis.js",
    "bound.js",
    "divider.js",
    "icon.svg",
    "inputs.js",
    "labels.js",
    "layout.js",
    "live.html",
    "live.js",
    "livetable.js",
    "mark.js",
    "owner.js",
    "style.css",
    "main.js",
    "ask.js",
    "colour.js",
    "element.js",
    "pictures.js",
    "place.js",
    "png.js",
    "runs.js",
    "sections.js",
    "sparkline.js",
    "stage.js",
    "state.js",
    "struct.js",
    "text.js",
    "timeline.js",
    "tracks.js",
    "tree.js",
    "commands.js",
    "panes/call.js",
    "panes/state.js",
    "panes/picture.js",
    "panes/objects.js",
    "panes/mesh.js",
    "panes/shaders.js",
    "panes/statistics.js",
    "panes/problems.js",
    "panes/compare.js",
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_folder_is_served() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("site");
        let mut names = vec![];
        for below in ["", "panes/"] {
            for entry in std::fs::read_dir(folder.join(below)).unwrap() {
                let entry = entry.unwrap();
                if entry.file_type().unwrap().is_file() {
                    names.push(format!("{below}{}", entry.file_name().to_string_lossy()));
                }
            }
        }
        for name in names.iter().filter(|name| *name != "index.html") {
            assert!(file(name).is_some(), "{name}");
        }
        assert_eq!(names.len(), FILES.len());
    }

    #[test]
    fn modules_import_files_that_are_served() {
        for (name, content) in FILES.iter().filter(|(name, _)| name.ends_with(".js")) {
            for line in content.lines().filter(|line| line.starts_with("import ")) {
                let from = line.rsplit('"').nth(1).unwrap_or_else(|| panic!("{name}: {line}"));
                let path = match (from.strip_prefix("../"), name.split_once('/')) {
                    (Some(rest), Some(_)) => rest.to_owned(),
                    (None, Some((folder, _))) => format!("{folder}/{}", &from[2..]),
                    _ => from[2..].to_owned(),
                };
                assert!(file(&path).is_some(), "{name} imports {path}");
            }
        }
    }

    #[test]
    fn nothing_else_is_served() {
        for name in ["index.html", "../Cargo.toml", "/style.css", "panes", "panes/../main.js"] {
            assert!(file(name).is_none(), "{name}");
        }
    }
}
