//! Units of systemd for a daemon that is not in /usr/bin.

use std::path::Path;

/// The system's units, by name.
pub const SYSTEM_UNITS: &[(&str, &str)] = &[
    ("gapiid.service", include_str!("../../systemd/gapiid.service")),
    ("gapiid.socket", include_str!("../../systemd/gapiid.socket")),
    ("gapiid-metrics.socket", include_str!("../../systemd/gapiid-metrics.socket")),
    ("gapiid-remote.socket", include_str!("../../systemd/gapiid-remote.socket")),
];

/// A user's units, by name.
pub const USER_UNITS: &[(&str, &str)] = &[
    ("gapiid.service", include_str!("../../systemd/user/gapiid.service")),
    ("gapiid.socket", include_str!("../../systemd/user/gapiid.socket")),
    ("gapiid-metrics.socket", include_str!("../../systemd/user/gapiid-metrics.socket")),
    ("gapiid-remote.socket", include_str!("../../systemd/user/gapiid-remote.socket")),
];

/// The daemon of the units as they are in the repository.
const DAEMON: &str = "ExecStart=/usr/bin/gapiid";

/// Folders that `ProtectHome=` hides from a service.
const HOMES: [&str; 3] = ["/home", "/root", "/run/user"];

/// Returns the text of a unit, with `daemon` as what a service executes.
///
/// The services see no home folders. A daemon that lies in one is shown to its service alone.
pub fn for_daemon(unit: &str, daemon: &Path) -> String {
    let path = daemon.display();
    let unit = unit.replace(DAEMON, &format!("ExecStart={path}"));
    if !HOMES.iter().any(|home| daemon.starts_with(home)) {
        return unit;
    }
    // With `yes` nothing can be shown in the hidden folders.
    let shown = format!("ProtectHome=tmpfs\nBindReadOnlyPaths={path}\n");
    unit.replace("ProtectHome=yes\n", "ProtectHome=tmpfs\n").replace("ProtectHome=tmpfs\n", &shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn services() -> [&'static str; 2] {
        [SYSTEM_UNITS[0].1, USER_UNITS[0].1]
    }

    #[test]
    fn service_executes_the_daemon_that_is_installed() {
        for service in services() {
            let text = for_daemon(service, Path::new("/usr/local/bin/gapiid"));
            assert!(text.contains("\nExecStart=/usr/local/bin/gapiid\n"), "{text}");
            assert_eq!(text.lines().count(), service.lines().count());
        }
    }

    #[test]
    fn daemon_in_a_home_folder_is_shown_to_its_service() {
        for service in services() {
            let daemon = Path::new("/home/me/.local/bin/gapiid");
            let text = for_daemon(service, daemon);
            let lines = "\nProtectHome=tmpfs\nBindReadOnlyPaths=/home/me/.local/bin/gapiid\n";
            assert_eq!(text.matches(lines).count(), 1, "{text}");
            assert!(!text.contains("ProtectHome=yes"), "{text}");
            assert_eq!(text.matches("BindReadOnlyPaths=/home").count(), 1, "{text}");
        }
    }
}
