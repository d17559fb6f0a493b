//! `Kept`: things that take long to make, each made once however many ask for it. The ones that were asked for last are kept.
//! One that is no longer kept lives on as long as somebody uses it.

use std::collections::VecDeque;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::OnceCell;

/// A thing that is being made, or is made.
type Cell<V> = Arc<OnceCell<V>>;

/// Things by key, up to a number and a weight.
pub struct Kept<K, V> {
    most: usize,
    heaviest: u64,
    weigh: fn(&V) -> u64,
    /// The one that was asked for last is at the end.
    cells: Mutex<VecDeque<(K, Cell<V>)>>,
}

impl<K: PartialEq, V: Clone> Kept<K, V> {
    /// Keeps the last `most` things, and fewer if they weigh more than `heaviest` together. The last one is always kept.
    pub fn new(most: usize, heaviest: u64, weigh: fn(&V) -> u64) -> Self {
        Self { most, heaviest, weigh, cells: Mutex::default() }
    }

    /// Returns the thing with this key, and makes it if there is none.
    ///
    /// # Errors
    /// That of `make`. A failure is not kept: the next question tries again.
    pub async fn get<E, F: Future<Output = Result<V, E>>>(
        &self,
        key: K,
        make: impl FnOnce() -> F,
    ) -> Result<V, E> {
        let cell = self.cell(key);
        let value = cell.get_or_try_init(make).await.cloned();
        drop(cell);
        self.forget();
        value
    }

    fn cell(&self, key: K) -> Cell<V> {
        let mut cells = self.cells.lock().unwrap_or_else(PoisonError::into_inner);
        let at = cells.iter().position(|(known, _)| *known == key);
        let entry = at.and_then(|at| cells.remove(at)).unwrap_or_else(|| (key, Cell::default()));
        let cell = Arc::clone(&entry.1);
        cells.push_back(entry);
        cell
    }

    /// Forgets the oldest things that are too many or too heavy.
    fn forget(&self) {
        let mut cells = self.cells.lock().unwrap_or_else(PoisonError::into_inner);
        // A thing that could not be made, or that nobody waits for any more, is none.
        cells.retain(|(_, cell)| cell.initialized() || Arc::strong_count(cell) > 1);
        let weights = cells.iter().map(|(_, cell)| cell.get().map_or(0, self.weigh));
        let mut weight = weights.fold(0, u64::saturating_add);
        while cells.len() > 1 && (cells.len() > self.most || weight > self.heaviest) {
            let oldest = cells.pop_front();
            let its = oldest.and_then(|(_, cell)| cell.get().map(self.weigh));
            weight = weight.saturating_sub(its.unwrap_or(0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    /// Keeps 3 things, or fewer if they weigh more than 100 together; each weighs as much as it is.
    fn kept() -> Kept<u32, u32> {
        Kept::new(3, 100, |weight| u64::from(*weight))
    }

    /// Asks for the thing with a key, and returns whether it was made for that.
    async fn is_made(kept: &Kept<u32, u32>, key: u32) -> bool {
        let mut is_made = false;
        let make = || {
            is_made = true;
            async move { Ok::<_, Infallible>(key) }
        };
        assert_eq!(kept.get(key, make).await, Ok(key));
        is_made
    }

    #[tokio::test]
    async fn thing_that_was_not_asked_for_longest_is_forgotten() {
        let kept = kept();
        for key in [1, 2, 3] {
            assert!(is_made(&kept, key).await);
        }
        assert!(!is_made(&kept, 1).await);
        assert!(is_made(&kept, 4).await);
        assert!(!is_made(&kept, 1).await && !is_made(&kept, 3).await);
        assert!(is_made(&kept, 2).await);
    }

    #[tokio::test]
    async fn heavy_things_leave_less_room_but_the_last_one_is_kept() {
        let kept = kept();
        assert!(is_made(&kept, 30).await && is_made(&kept, 60).await);
        assert!(!is_made(&kept, 30).await);
        assert!(is_made(&kept, 50).await);
        assert!(!is_made(&kept, 30).await && is_made(&kept, 60).await);
        assert!(is_made(&kept, 1000).await && !is_made(&kept, 1000).await);
        assert!(is_made(&kept, 30).await);
    }

    #[tokio::test]
    async fn failure_is_not_kept() {
        let kept = kept();
        assert_eq!(kept.get(1, || async { Err("no") }).await, Err("no"));
        assert!(is_made(&kept, 1).await);
        // Nor does it take the place of a thing that is.
        assert!(is_made(&kept, 2).await && is_made(&kept, 3).await);
        assert_eq!(kept.get(4, || async { Err("no") }).await, Err("no"));
        assert!(!is_made(&kept, 1).await);
    }

    #[tokio::test]
    async fn question_that_was_given_up_takes_no_place() {
        let kept = kept();
        for key in [1, 2, 3] {
            assert!(is_made(&kept, key).await);
        }
        let never = kept.get(4, std::future::pending::<Result<u32, Infallible>>);
        assert!(tokio::time::timeout(std::time::Duration::ZERO, never).await.is_err());
        assert!(!is_made(&kept, 1).await);
        assert!(!is_made(&kept, 2).await && !is_made(&kept, 3).await);
    }
}
