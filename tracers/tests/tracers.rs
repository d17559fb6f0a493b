//! Guarantees of tracers, tested with calls that the tests make: the callbacks that run, their order, and the calls
//! that destroying waits for.

use std::ffi::c_void;
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use gapii_tracers::{Callback, Moment, Refusal, TracerId, Tracers};

const FUNCTIONS: usize = 4;

unsafe extern "C" fn callback() {}

/// A callback that is never called: the tests compare the callbacks that a call reports.
const CALLBACK: Option<Callback> = Some(callback);

fn tracers() -> &'static Tracers {
    Box::leak(Box::new(Tracers::new(FUNCTIONS, |_| {})))
}

/// Creates a tracer of `function` with the user data `label`, which marks its events.
fn add(tracers: &Tracers, label: usize, function: usize) -> TracerId {
    let tracer = tracers.create(ptr::without_provenance_mut(label));
    for moment in [Moment::Prologue, Moment::Epilogue] {
        tracers.register(tracer, function, moment, CALLBACK).expect("it is disabled");
    }
    tracer
}

/// Makes a call and returns its events: `+1` is the prologue of the tracer with the label 1, `-1` its epilogue.
fn call(tracers: &Tracers, function: usize, inside: impl FnOnce()) -> Vec<String> {
    let mut events = Vec::new();
    let Some(mut call) = tracers.begin(function) else {
        inside();
        return events;
    };
    call.prologues(|_, label, instance| {
        events.push(format!("+{}", label.addr()));
        assert!(instance.is_null(), "it is null at first");
        *instance = label;
    });
    inside();
    call.epilogues(|_, label: *mut c_void, instance| {
        events.push(format!("-{}", label.addr()));
        assert_eq!(*instance, label, "what the prologue left");
    });
    events
}

/// A thread that stays in a call of `function` until a message arrives.
struct InCall {
    end: Sender<()>,
    thread: thread::JoinHandle<Vec<String>>,
}

impl InCall {
    fn begin(tracers: &'static Tracers, function: usize) -> Self {
        let (end, ended): (Sender<()>, Receiver<()>) = channel();
        let (begin, begun) = channel();
        let thread = thread::spawn(move || {
            call(tracers, function, || {
                begin.send(()).expect("somebody waits for it");
                ended.recv().expect("somebody ends it");
            })
        });
        begun.recv().expect("it begins");
        Self { end, thread }
    }

    fn finish(self) -> Vec<String> {
        self.end.send(()).expect("it waits for this");
        self.thread.join().expect("a call does not panic")
    }
}

/// Waits until another thread has begun to destroy `tracer`.
fn wait_until_unknown(tracers: &Tracers, tracer: TracerId) {
    while tracers.register(tracer, 0, Moment::Prologue, CALLBACK) != Err(Refusal::Unknown) {
        thread::yield_now();
    }
}

#[test]
fn nothing_is_traced_without_an_enabled_tracer() {
    let tracers = tracers();
    add(tracers, 1, 0);
    assert_eq!(call(tracers, 0, || {}), [""; 0]);
}

#[test]
fn tracers_run_in_the_order_in_which_they_were_enabled() {
    let tracers = tracers();
    let [one, two] = [1, 2].map(|label| add(tracers, label, 0));
    tracers.set_enabled(two, true).unwrap();
    tracers.set_enabled(one, true).unwrap();
    assert_eq!(call(tracers, 0, || {}), ["+2", "+1", "-2", "-1"]);
    tracers.set_enabled(two, false).unwrap();
    tracers.set_enabled(two, true).unwrap();
    assert_eq!(call(tracers, 0, || {}), ["+1", "+2", "-1", "-2"]);
}

#[test]
fn tracers_beyond_the_preallocated_pointers_run() {
    let tracers = tracers();
    for label in 1..=20 {
        tracers.set_enabled(add(tracers, label, 0), true).unwrap();
    }
    assert_eq!(call(tracers, 0, || {}).len(), 40);
}

#[test]
fn change_of_a_tracer_does_not_affect_a_call_in_flight() {
    let tracers = tracers();
    let [one, two] = [1, 2].map(|label| add(tracers, label, 0));
    tracers.set_enabled(one, true).unwrap();
    let events = call(tracers, 0, || {
        tracers.set_enabled(one, false).unwrap();
        tracers.set_enabled(two, true).unwrap();
    });
    assert_eq!(events, ["+1", "-1"]);
    assert_eq!(call(tracers, 0, || {}), ["+2", "-2"]);
}

#[test]
fn calls_of_any_function_inside_a_call_are_not_traced() {
    let tracers = tracers();
    let tracer = add(tracers, 1, 0);
    tracers.set_enabled(tracer, true).unwrap();
    call(tracers, 0, || assert_eq!(call(tracers, 0, || {}), [""; 0]));
    call(tracers, 1, || assert_eq!(call(tracers, 0, || {}), [""; 0]));
    assert_eq!(call(tracers, 0, || {}), ["+1", "-1"]);
}

#[test]
fn only_a_disabled_tracer_takes_callbacks() {
    let tracers = tracers();
    let tracer = add(tracers, 1, 0);
    let register = || tracers.register(tracer, 1, Moment::Prologue, CALLBACK);
    tracers.set_enabled(tracer, true).unwrap();
    assert_eq!(register(), Err(Refusal::Enabled));
    let in_call = InCall::begin(tracers, 0);
    tracers.set_enabled(tracer, false).unwrap();
    assert_eq!(register(), Err(Refusal::Draining));
    assert_eq!(tracers.reset(tracer), Err(Refusal::Draining));
    in_call.finish();
    assert_eq!(register(), Ok(()));
    assert_eq!(tracers.reset(tracer), Ok(()));
    tracers.set_enabled(tracer, true).unwrap();
    assert_eq!(call(tracers, 0, || {}), [""; 0]);
}

#[test]
fn draining_tracer_is_enabled_again_when_its_calls_have_ended() {
    let tracers = tracers();
    let tracer = add(tracers, 1, 0);
    tracers.set_enabled(tracer, true).unwrap();
    let in_call = InCall::begin(tracers, 0);
    tracers.set_enabled(tracer, false).unwrap();
    for enable in [true, false] {
        assert_eq!(tracers.set_enabled(tracer, enable), Err(Refusal::Draining));
    }
    assert_eq!(in_call.finish(), ["+1", "-1"]);
    tracers.set_enabled(tracer, true).unwrap();
    assert_eq!(call(tracers, 0, || {}), ["+1", "-1"]);
}

#[test]
fn tracer_that_is_disabled_by_its_own_callback_is_enabled_again_later() {
    let tracers = tracers();
    let tracer = add(tracers, 1, 0);
    tracers.set_enabled(tracer, true).unwrap();
    call(tracers, 0, || tracers.set_enabled(tracer, false).unwrap());
    tracers.set_enabled(tracer, true).unwrap();
    assert_eq!(call(tracers, 0, || {}), ["+1", "-1"]);
}

#[test]
fn destroying_an_enabled_tracer_fails_and_changes_nothing() {
    let tracers = tracers();
    let tracer = add(tracers, 1, 0);
    tracers.set_enabled(tracer, true).unwrap();
    assert_eq!(tracers.destroy(tracer), Err(Refusal::Enabled));
    assert_eq!(call(tracers, 0, || {}), ["+1", "-1"]);
}

#[test]
fn destroyed_tracer_is_unknown() {
    let tracers = tracers();
    let tracer = add(tracers, 1, 0);
    tracers.destroy(tracer).unwrap();
    assert_eq!(tracers.destroy(tracer), Err(Refusal::Unknown));
    assert_eq!(tracers.set_enabled(tracer, true), Err(Refusal::Unknown));
    assert_ne!(add(tracers, 2, 0), tracer, "no number is reused");
}

#[test]
fn destroying_waits_for_calls_with_its_callbacks() {
    let tracers = tracers();
    let tracer = add(tracers, 1, 0);
    tracers.set_enabled(tracer, true).unwrap();
    let in_call = InCall::begin(tracers, 0);
    tracers.set_enabled(tracer, false).unwrap();
    let destroyed = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            tracers.destroy(tracer).unwrap();
            destroyed.store(true, Ordering::SeqCst);
        });
        wait_until_unknown(tracers, tracer);
        // Gives the destroying thread 1000 chances to return too early.
        for _ in 0..1000 {
            thread::yield_now();
            assert!(!destroyed.load(Ordering::SeqCst));
        }
        assert_eq!(in_call.finish(), ["+1", "-1"]);
    });
    assert!(destroyed.load(Ordering::SeqCst));
}

/// The other calls end only after `destroy` has returned.
#[test]
fn destroying_waits_for_no_other_calls() {
    let tracers = tracers();
    let [other, tracer] = [(1, 0), (2, 1)].map(|(label, function)| add(tracers, label, function));
    tracers.set_enabled(other, true).unwrap();
    tracers.set_enabled(tracer, true).unwrap();
    let in_calls = [0, 2].map(|function| InCall::begin(tracers, function));
    tracers.set_enabled(tracer, false).unwrap();
    tracers.destroy(tracer).unwrap();
    assert_eq!(in_calls.map(InCall::finish), [vec!["+1", "-1"], vec![]]);
}

#[test]
fn tracer_destroyed_inside_its_own_call_still_gets_its_epilogue() {
    let tracers = tracers();
    let tracer = add(tracers, 1, 0);
    tracers.set_enabled(tracer, true).unwrap();
    let events = call(tracers, 0, || {
        tracers.set_enabled(tracer, false).unwrap();
        tracers.destroy(tracer).unwrap();
    });
    assert_eq!(events, ["+1", "-1"]);
    assert_eq!(call(tracers, 0, || {}), [""; 0]);
}

#[test]
fn calls_that_destroy_each_others_tracers_do_not_wait_for_each_other() {
    let tracers = tracers();
    let ours = [1, 2].map(|label| add(tracers, label, 0));
    ours.iter().for_each(|tracer| tracers.set_enabled(*tracer, true).unwrap());
    let both_inside = std::sync::Barrier::new(2);
    thread::scope(|scope| {
        for tracer in ours {
            let both_inside = &both_inside;
            scope.spawn(move || {
                let events = call(tracers, 0, || {
                    both_inside.wait();
                    tracers.set_enabled(tracer, false).unwrap();
                    tracers.destroy(tracer).unwrap();
                });
                assert_eq!(events, ["+1", "+2", "-1", "-2"]);
            });
        }
    });
}

#[test]
fn tracer_is_enabled_inside_a_call_while_another_is_being_destroyed() {
    let tracers = tracers();
    let [one, two] = [1, 2].map(|label| add(tracers, label, 0));
    tracers.set_enabled(one, true).unwrap();
    let (inside, is_inside) = channel();
    thread::scope(|scope| {
        scope.spawn(|| {
            call(tracers, 0, || {
                inside.send(()).expect("somebody waits for it");
                wait_until_unknown(tracers, one);
                // The other thread waits for this call now.
                tracers.set_enabled(two, true).unwrap();
            });
        });
        is_inside.recv().expect("it gets there");
        tracers.set_enabled(one, false).unwrap();
        tracers.destroy(one).unwrap();
    });
    assert_eq!(call(tracers, 0, || {}), ["+2", "-2"]);
}

#[test]
fn switch_receives_the_traced_functions() {
    static TRACED: Mutex<Vec<usize>> = Mutex::new(Vec::new());
    let tracers = Tracers::new(FUNCTIONS, |traced| {
        let heard: Vec<usize> = (0..FUNCTIONS).filter(|function| traced.has(*function)).collect();
        assert!(traced.is_any() || heard.is_empty());
        *TRACED.lock().unwrap() = heard;
    });
    let [one, two] = [(1, 0), (2, 1)].map(|(label, function)| add(&tracers, label, function));
    for (tracer, enable, expected) in
        [(one, true, &[0][..]), (two, true, &[0, 1]), (one, false, &[1]), (two, false, &[])]
    {
        tracers.set_enabled(tracer, enable).unwrap();
        assert_eq!(*TRACED.lock().unwrap(), expected);
    }
}
