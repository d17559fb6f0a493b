//! Clients on other machines: over TLS and through ssh, with connections that fail, and clients that are refused.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command as Process;
use std::time::{Duration, SystemTime};

use gapii_tests::artifacts::artifact;
use gapii_tests::attaching::run_idle;
use gapii_tests::fake_driver::{self, Page};
use gapii_tests::gapii::{Session, Trace, append};
use gapii_tests::loading::names;
use gapii_tests::process::{Finished, LIMIT, Running, run};
use gapii_tests::programs::program;
use gapii_tests::random::Random;
use gapii_tests::remote::{NOTICE, Remote, save_through};
use gapii_tests::wait;
use rustix::process::Signal;

/// A program that draws on the fake driver until SIGTERM, connected and not captured.
fn drawing(remote: &Remote) -> (Running, Page) {
    let path = remote.session.path("page");
    let mut process = Process::new(program("draw_forever"));
    process.arg("2");
    fake_driver::use_in(&mut process, Some(&path));
    let page = Page::new(&path);
    (run_idle(&remote.session, &process), page)
}

#[track_caller]
fn check_refused(finished: Finished, words: &[&str]) {
    let finished = finished.exited_with(3);
    for word in words {
        assert!(finished.stderr.contains(word), "{word:?} is not said: {finished}");
    }
}

/// Waits until the daemon has counted `times` refusals for the reason `why`.
#[track_caller]
fn counted(remote: &Remote, why: &str, times: u64) {
    wait::until(&format!("{times} {why} to be counted"), NOTICE, || {
        (remote.refused(why) == times).then_some(())
    });
}

#[test]
fn saved_trace_is_what_the_daemon_wrote_bit_by_bit() {
    let remote = Remote::new();
    remote.keep_a_program(5_000);
    remote.saved_here();
    remote.saved_there(remote.ctl(remote.address, &[]));
    let file = remote.session.path("token.json");
    remote.pair(&["new", "other", "--token", "-o"], &file).ok();
    remote.saved_there(remote.ctl_as(&file, remote.address, &[]));
    // The folder in which the credentials are looked for by default.
    let hosts = remote.session.path("config/gapii/hosts");
    fs::create_dir_all(&hosts).unwrap();
    fs::rename(&file, hosts.join("127.0.0.1.json")).unwrap();
    let mut unnamed = remote.session.ctl([""; 0]);
    unnamed.env("GAPII_VIA", format!("tls://{}", remote.address));
    remote.saved_there(unnamed);
}

#[test]
fn capture_is_what_the_daemon_wrote_bit_by_bit() {
    let remote = Remote::new();
    let (running, _page) = drawing(&remote);
    let apps = run(&mut remote.ctl(remote.address, &["apps"])).ok();
    assert!(apps.stdout.contains("draw_forever"), "{apps}");
    let watch = run(&mut remote.ctl(remote.address, &["watch", "--count", "1"])).ok();
    assert!(watch.stdout.contains(" draw_forever egl,gl idle: "), "{watch}");
    let trace = Trace::new(remote.session.path("remote.gapii"));
    let mut start = remote.ctl(remote.address, &["start", "--frames", "300", "-o"]);
    let started = run(start.arg(&trace.path)).ok();
    trace.is_whole("frames");
    assert!(trace.info()["frames"].as_u64() >= Some(300), "{:#}", trace.info());
    remote.is_what_was_written(&trace, 0, &started);
    // Stopped by another client, into a pipe.
    let mut start = remote.ctl(remote.address, &["start", "-o", "-"]);
    let start = Running::start(&mut start);
    remote.session.app_in_mode("capturing");
    wait::until("something to be written", LIMIT, || {
        (remote.metric("gapiid_remote_output_bytes_total") > 0).then_some(())
    });
    run(&mut remote.ctl(remote.address, &["stop"])).ok();
    start.finish(LIMIT).ok();
    run(&mut remote.ctl(remote.address, &["status"])).ok();
    wait::until("all clients to be gone", LIMIT, || {
        (remote.metric("gapiid_remote_clients") == 0).then_some(())
    });
    assert_eq!(remote.metric("gapiid_remote_tail_bytes"), 0);
    drop(running);
}

#[test]
fn connections_that_are_cut_delayed_and_garbled_lose_nothing() {
    let remote = Remote::new();
    let fetched = save_through(&remote, &mut Random::seeded("remote"), 10);
    fetched.was_an_adventure();
    assert!(remote.metric("gapiid_remote_resumed_total") > 0);
    remote.daemon.end().ok();
}

#[test]
fn client_that_does_not_come_back_ends_its_capture() {
    let remote = Remote::with(&["--remote-grace", "1"]);
    let (running, page) = drawing(&remote);
    let mut start = remote.ctl(remote.address, &["start", "-o"]);
    let start = Running::start(start.arg(remote.session.path("left.gapii")));
    remote.session.app_in_mode("capturing");
    start.signal(Signal::KILL);
    remote.session.app_in_mode("idle");
    assert_eq!(remote.metric("gapiid_remote_given_up_total"), 1);
    let calls = page.calls();
    wait::until("the program to go on", LIMIT, || (page.calls() > calls + 10_000).then_some(()));
    drop(running);
}

#[test]
fn output_that_cannot_be_written_is_said_with_the_clients_own_words() {
    let remote = Remote::new();
    remote.keep_a_program(5_000);
    let save = run(&mut remote.ctl(remote.address, &["save", "-o", "/dev/full"]));
    check_refused(save, &["No space left"]);
}

#[test]
fn held_program_is_recorded_from_its_first_command_by_a_remote_client() {
    let remote = Remote::new();
    let mut process = Process::new(program("draw_forever"));
    process.args(["1", "32"]);
    fake_driver::use_in(&mut process, None);
    let mut held = remote.session.ctl(["run", "--wait"]);
    append(&mut held, &process);
    let held = Running::start(&mut held);
    remote.session.app_in_mode("waiting");
    let apps = run(&mut remote.ctl(remote.address, &["apps"])).ok();
    assert!(apps.stdout.contains(" waiting"), "{apps}");
    let trace = Trace::new(remote.session.path("held.gapii"));
    let mut start = remote.ctl(remote.address, &["start", "-o"]);
    let started = run(start.arg(&trace.path)).ok();
    held.finish(LIMIT).ok();
    remote.is_what_was_written(&trace, 0, &started);
    trace.is_whole("exit");
    let whole = remote.session.record(&[], &process).trace.commands();
    let commands = trace.commands();
    assert_eq!(names(&commands), names(&whole));
    assert!(commands.len() > 100 && commands.iter().all(|command| !command.setup));
}

/// Writes a program `ssh` that runs its command on this machine. The first connection is cut in the middle, the second is
/// garbled.
fn fake_ssh(remote: &Remote) -> PathBuf {
    let folder = remote.session.path("bin");
    fs::create_dir(&folder).unwrap();
    let script = format!(
        "#!/bin/sh\n\
         while [ \"$1\" != -- ]; do shift; done; shift\n\
         [ \"$1\" = me@render-7 ] || {{ echo \"ssh: no host $1\" >&2; exit 255; }}\n\
         shift\n\
         n=$(cat {folder}/count 2>/dev/null || echo 0); echo $((n + 1)) > {folder}/count\n\
         case $n in\n\
         0) \"$@\" | head -c 100000;;\n\
         1) \"$@\" | (head -c 50000; printf X; cat);;\n\
         *) exec \"$@\";;\n\
         esac\n",
        folder = folder.display()
    );
    let path = folder.join("ssh");
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

/// `gapii-ctl --via`, with `folder` at the beginning of PATH, followed by the folder of the built tools.
fn ctl_by_ssh(session: &Session, folder: &Path, url: &str) -> Process {
    let mut command = session.ctl(["--via", url]);
    let tools = artifact("gapii-ctl");
    let rest = std::env::var_os("PATH").unwrap_or_default();
    let folders = [folder, tools.parent().unwrap()].map(Path::to_owned);
    let folders = folders.into_iter().chain(std::env::split_paths(&rest));
    command.env("PATH", std::env::join_paths(folders).unwrap());
    command
}

#[test]
fn ssh_needs_no_port_and_its_connections_may_fail_too() {
    let remote = Remote::new();
    remote.keep_a_program(20_000);
    let here = remote.saved_here();
    assert!(here > 200_000, "{here} bytes are too few to be cut twice");
    let folder = fake_ssh(&remote);
    remote.saved_there(ctl_by_ssh(&remote.session, &folder, "ssh://me@render-7"));
    let count = fs::read_to_string(folder.join("count")).unwrap();
    assert_eq!(count.trim(), "3", "connections");
    let by_path = format!("ssh://me@render-7:22{}", artifact("gapii-ctl").display());
    run(ctl_by_ssh(&remote.session, &folder, &by_path).arg("apps")).ok();
    let nowhere = run(ctl_by_ssh(&remote.session, &folder, "ssh://me@render-8").arg("apps"));
    check_refused(nowhere, &["no host me@render-8", "status 255"]);
    let missing =
        run(ctl_by_ssh(&remote.session, &folder, "ssh://me@render-7/no/gapii-ctl").arg("apps"));
    check_refused(missing, &["there is no /no/gapii-ctl there"]);
    let Remote { session, daemon, .. } = remote;
    daemon.kill();
    let alone = run(ctl_by_ssh(&session, &folder, "ssh://me@render-7").arg("apps"));
    check_refused(alone, &["no daemon listens on"]);
}

#[test]
fn programs_are_not_run_on_another_machine() {
    let remote = Remote::new();
    let run = run(&mut remote.ctl(remote.address, &["run", "--", "true"])).exited_with(125);
    assert!(run.stderr.contains("run it there"), "{run}");
}

#[test]
fn wrong_credentials_are_refused_counted_and_explained() {
    let remote = Remote::new();
    let ask = |file: &Path| run(&mut remote.ctl_as(file, remote.address, &["apps"]));
    let file = |name: &str| remote.session.path(name);

    // A token with one digit changed.
    remote.pair(&["new", "token", "--token", "-o"], &file("token.json")).ok();
    ask(&file("token.json")).ok();
    let mut credentials = json(&file("token.json"));
    let token = credentials["token"].as_str().unwrap().to_owned();
    let digit = if token.starts_with('0') { "1" } else { "0" };
    credentials["token"] = format!("{digit}{}", &token[1..]).into();
    write_private(&file("wrong.json"), &credentials.to_string());
    check_refused(ask(&file("wrong.json")), &["does not admit", "wrong.json"]);
    counted(&remote, "credentials", 1);
    assert!(!remote.daemon.log().contains(&token[1..]), "{}", remote.daemon.log());

    // A revoked client.
    remote.pair(&["revoke"], Path::new("token")).ok();
    check_refused(ask(&file("token.json")), &["does not admit"]);
    counted(&remote, "credentials", 2);

    // Another daemon's credentials: the client does not trust this daemon.
    let other = remote.session.path("other-credentials");
    let mut pair = remote.session.ctl(["pair", "new", "stranger", "--folder"]);
    run(pair.arg(&other).arg("-o").arg(file("stranger.json"))).ok();
    check_refused(ask(&file("stranger.json")), &["is not the daemon that made the credentials"]);
    counted(&remote, "tls", 1);

    // The same with a client that trusts this daemon: the daemon does not trust the client.
    let mut stranger = json(&file("stranger.json"));
    stranger["authority"] = json(&remote.credentials)["authority"].clone();
    write_private(&file("bold.json"), &stranger.to_string());
    check_refused(ask(&file("bold.json")), &["refuses the certificate"]);
    counted(&remote, "certificate", 1);

    // A file that others can read.
    let mode = fs::Permissions::from_mode(0o644);
    fs::set_permissions(file("bold.json"), mode).unwrap();
    check_refused(ask(&file("bold.json")), &["chmod 600"]);
    check_refused(ask(&file("absent.json")), &["gapii-ctl pair new"]);
}

#[test]
fn expired_credentials_are_refused_counted_and_explained() {
    let remote = Remote::new();
    let file = |name: &str| remote.session.path(name);
    let ask = |name: &str| run(&mut remote.ctl_as(&file(name), remote.address, &["apps"]));
    // In the second in which they expire, the certificate may be accepted and its client refused.
    let expired = |name: &str| {
        wait::until("credentials to expire", NOTICE, || {
            let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
            (now.as_secs() > json(&file(name))["expires_unix"].as_u64().unwrap()).then_some(())
        });
        ask(name)
    };
    remote.pair(&["new", "brief", "--for", "1s", "-o"], &file("brief.json")).ok();
    check_refused(expired("brief.json"), &["refuses the certificate", "expired", "renew brief"]);
    counted(&remote, "certificate", 1);
    remote.pair(&["new", "token", "--token", "--for", "1s", "-o"], &file("token.json")).ok();
    check_refused(expired("token.json"), &["does not admit", "which expired on"]);
    counted(&remote, "credentials", 1);

    // The daemon's own certificate, which is read for each connection.
    remote.pair(&["renew", "--for"], Path::new("1s")).ok();
    let refused = wait::until("the daemon's certificate to expire", NOTICE, || {
        Some(ask("client.json")).filter(|asked| !asked.status.success())
    });
    check_refused(refused, &["has expired", "gapii-ctl pair renew"]);
    remote.pair(&["renew", "--for"], Path::new("1h")).ok();
    run(&mut remote.ctl(remote.address, &["apps"])).ok();
    let list = remote.pair(&["list"], Path::new("--json")).ok();
    let list: serde_json::Value = serde_json::from_str(&list.stdout).unwrap();
    assert_eq!(list["clients"][1]["has_expired"], true, "{list:#}");
}

#[test]
fn plain_text_and_silence_are_refused_and_counted() {
    let remote = Remote::new();
    let mut silent = TcpStream::connect(remote.address).unwrap();
    let mut plain = TcpStream::connect(remote.address).unwrap();
    plain.write_all(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n").unwrap();
    let closed = |stream: &mut TcpStream| {
        stream.set_read_timeout(Some(NOTICE)).unwrap();
        let mut said = Vec::new();
        stream.read_to_end(&mut said).unwrap();
        // An alert at most.
        assert!(said.len() < 16, "{said:?}");
    };
    closed(&mut plain);
    counted(&remote, "plain_text", 1);
    // Other clients are served meanwhile.
    run(&mut remote.ctl(remote.address, &["apps"])).ok();
    closed(&mut silent);
    counted(&remote, "timeout", 1);
    assert!(remote.daemon.log().contains("does not speak TLS"));
}

#[test]
fn address_that_fails_too_often_is_not_listened_to() {
    let remote = Remote::with(&["--remote-attempts", "3"]);
    for failed in 1..=3 {
        let mut plain = TcpStream::connect(remote.address).unwrap();
        plain.write_all(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n").unwrap();
        plain.set_read_timeout(Some(NOTICE)).unwrap();
        let _ = plain.read_to_end(&mut Vec::new());
        counted(&remote, "plain_text", failed);
    }
    check_refused(run(&mut remote.ctl(remote.address, &["apps"])), &["closed the connection"]);
    counted(&remote, "attempts", 1);
    // The limit does not apply to clients of this machine.
    run(&mut remote.session.ctl(["apps"])).ok();
}

#[test]
fn no_more_clients_are_taken_than_may_be() {
    let remote = Remote::with(&["--remote-clients", "1"]);
    let (running, _page) = drawing(&remote);
    let mut start = remote.ctl(remote.address, &["start", "-o"]);
    let start = Running::start(start.arg(remote.session.path("first.gapii")));
    remote.session.app_in_mode("capturing");
    let second = run(&mut remote.ctl(remote.address, &["apps"]));
    check_refused(second, &["1 remote clients are connected"]);
    counted(&remote, "busy", 1);
    start.signal(Signal::INT);
    start.finish(Duration::from_secs(30)).ok();
    wait::until("another to be taken", NOTICE, || {
        let again = run(&mut remote.ctl(remote.address, &["apps"]));
        (again.status.code() == Some(0)).then_some(())
    });
    drop(running);
}

fn json(path: &Path) -> serde_json::Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn write_private(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
}
