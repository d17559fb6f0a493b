//! Models of BEGIN and ORDER: a thread that follows an epoch sees what its beginner had seen and done, and knows which
//! order the epoch follows.
//!
//! Run them with `cargo xtask models`.

#![cfg(loom)]

mod plain;
mod support;

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use gapii_edges::Epoch;
use gapii_ringbuf::{Mode, ModePage, ModeSettings};
use loom::sync::Arc;
use loom::thread;
use plain::Plain;
use support::{Turnstile, bounds, model};

#[test]
fn thread_that_follows_a_capture_sees_its_blob_epoch() {
    let followed = std::sync::Arc::new(AtomicUsize::new(0));
    let counted = std::sync::Arc::clone(&followed);
    let (preemptions, at_least) = bounds((0, 1_000), (1, 100_000));
    model(preemptions, at_least, move || {
        let (page, epoch) = (Arc::new(ModePage::modelled()), Arc::new(Epoch::none()));
        let turnstile = Arc::new(Turnstile::default());
        let beginner = {
            let (page, epoch) = (Arc::clone(&page), Arc::clone(&epoch));
            let turnstile = Arc::clone(&turnstile);
            thread::spawn(move || {
                turnstile.pass();
                let settings = page.settings();
                if settings.is_some_and(|(_, settings)| settings.mode == Mode::Capturing) {
                    epoch.begin(17, 2);
                }
            })
        };
        let follower = {
            let (page, epoch) = (Arc::clone(&page), Arc::clone(&epoch));
            let (turnstile, counted) = (Arc::clone(&turnstile), counted.clone());
            thread::spawn(move || {
                turnstile.pass();
                if epoch.follow() == Some(17) {
                    counted.fetch_add(1, Relaxed);
                    assert_eq!(page.blob_epoch(), 1);
                }
            })
        };
        // The daemon.
        turnstile.pass();
        page.raise_blob_epoch_modelled();
        page.publish_modelled(ModeSettings { mode: Mode::Capturing, ..ModeSettings::default() });
        beginner.join().expect("no thread panics");
        follower.join().expect("no thread panics");
    });
    assert!(followed.load(Relaxed) > 0, "no order has a thread that follows");
}

#[test]
fn thread_that_follows_a_keyframe_comes_after_it() {
    model(3, 5, || {
        let (epoch, keyframe) = (Arc::new(Epoch::none()), Arc::new(Plain::default()));
        let turnstile = Arc::new(Turnstile::default());
        epoch.begin(17, 2);
        let beginner = {
            let (epoch, keyframe) = (Arc::clone(&epoch), Arc::clone(&keyframe));
            let turnstile = Arc::clone(&turnstile);
            thread::spawn(move || {
                turnstile.pass();
                keyframe.write(18);
                epoch.begin(18, 2);
            })
        };
        turnstile.pass();
        if epoch.follow() == Some(18) {
            assert_eq!(keyframe.read(), 18);
        }
        beginner.join().expect("no thread panics");
    });
}

#[test]
fn epoch_does_not_follow_a_later_order() {
    model(3, 10, || {
        let epoch = Arc::new(Epoch::none());
        let turnstile = Arc::new(Turnstile::default());
        epoch.begin(17, 2);
        let beginner = {
            let (epoch, turnstile) = (Arc::clone(&epoch), Arc::clone(&turnstile));
            thread::spawn(move || {
                turnstile.pass();
                epoch.end();
                turnstile.pass();
                epoch.begin(18, 4);
            })
        };
        turnstile.pass();
        if let Some(followed) = epoch.follow() {
            turnstile.pass();
            let order = epoch.order_of(followed);
            assert!(order.is_none_or(|order| order == (followed - 16) * 2), "{order:?}");
        }
        beginner.join().expect("no thread panics");
        assert_eq!((epoch.order_of(17), epoch.order_of(18)), (None, Some(4)));
    });
}
