//! Snapshots in programs of the search: see `gapii_tests::search`.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use gapii_tests::search::driver::Driver;
use gapii_tests::search::fault::Fault;
use gapii_tests::search::generate;
use gapii_tests::search::hunt::Hunt;
use gapii_tests::search::lab::Lab;
use gapii_tests::search::program::Program;
use gapii_tests::search::world::Kind;

/// Labs side by side, since each waits for its processes most of the time.
const LABS: usize = 3;

/// Programs that the search has found and shortened, and that must not fail again.
#[test]
fn programs_that_failed_once_are_captured_exactly() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/snapshots");
    let files = std::fs::read_dir(&folder).expect("the folder is there").flatten();
    // Beside a program is the trace of its last run by hand.
    let is_program = |path: &PathBuf| path.extension().is_some_and(|it| it == "txt");
    let mut files: Vec<PathBuf> = files.map(|entry| entry.path()).filter(is_program).collect();
    files.sort_unstable();
    assert!(!files.is_empty(), "{} holds programs", folder.display());
    let next = AtomicUsize::new(0);
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let check = || {
            let mut lab = Lab::new(Driver::Llvmpipe, &[]);
            let all = std::iter::from_fn(|| files.get(next.fetch_add(1, Relaxed)));
            all.filter_map(|file| {
                Some(format!("{}: {}", file.display(), fault_of(&mut lab, file)?))
            })
            .collect::<Vec<String>>()
        };
        let labs: Vec<_> = (0..LABS).map(|_| scope.spawn(check)).collect();
        labs.into_iter().flat_map(|lab| lab.join().expect("every program can be run")).collect()
    });
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

/// How the program of a file fails.
fn fault_of(lab: &mut Lab, file: &Path) -> Option<Fault> {
    let text = std::fs::read_to_string(file).expect("the file can be read");
    let program: Program = text.parse().unwrap_or_else(|why| panic!("{}: {why}", file.display()));
    let native = lab.native(&program).expect("the program does not crash natively");
    assert!(!native.is_empty(), "{} has no answer to compare", file.display());
    lab.check(&program, &native).err()
}

/// Random programs, as `cargo xtask soak -- snapshots` tries them for hours.
#[test]
fn random_programs_are_captured_exactly() {
    let llvmpipe = [(Kind::Es, 116, 1), (Kind::Desktop, 4, 4)];
    let all = llvmpipe.map(|seeds| (Driver::Llvmpipe, seeds)).into_iter();
    for (driver, (kind, first_seed, programs)) in all.chain([(Driver::NoOp, (Kind::Es, 5000, 1))]) {
        let hunt = Hunt {
            driver,
            kind,
            first_seed,
            time: Duration::from_secs(60),
            programs,
            workers: 1,
            left_out: Vec::new(),
            known: Vec::new(),
            shortened: 1,
            faults: usize::MAX,
            found: None,
        };
        let bag = hunt.search();
        assert!(bag.faults.is_empty(), "{bag}");
        assert_eq!((bag.programs, bag.unusable), (programs, 0), "{bag}");
    }
}

/// A search on a driver that does not clear memory needs programs that read nothing but what they have written.
#[test]
fn random_programs_read_no_undefined_contents() {
    const PROGRAMS: usize = 5;
    let lab = Lab::new(Driver::Llvmpipe, &[]);
    let fits = |program: &Program| {
        // softpipe makes no context of OpenGL ES 3.2.
        !program.to_string().contains("EGL_CONTEXT_MAJOR_VERSION,3,EGL_CONTEXT_MINOR_VERSION,2")
    };
    let seeds = 9_000_000_u64..;
    let programs = seeds.map(|seed| (seed, generate::program(Kind::Es, seed).program));
    for (seed, program) in programs.filter(|(_, program)| fits(program)).take(PROGRAMS) {
        let [first, second] = [0x5A, 0xA5]
            .map(|fill| lab.native_on_softpipe(&program, fill).expect("softpipe runs it"));
        let differs = first.iter().zip(&second).find(|(first, second)| first != second);
        assert_eq!(differs, None, "seed {seed}");
        assert!(first.len() > 100, "seed {seed} has {} answers", first.len());
    }
}
