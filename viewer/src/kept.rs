//! `Kept`: things that take long to make, each made once however many ask for it. The ones that were asked for last are kept.

use std::collections::VecDeque;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::OnceCell;

/// A thing that is being made, or is made.
type Cell<V> = Arc<OnceCell<V>>;

/// At most `most` things, by key.
pub struct Kept<K, V> {
    most: usize,
    /// The one that was asked for last is at the end.
    cells: Mutex<VecDeque<(K, Cell<V>)>>,
}

impl<K: PartialEq, V: Clone> Kept<K, V> {
    /// Keeps the last `most` things.
    pub fn new(most: usize) -> Self {
        Self { most, cells: Mutex::default() }
    }

    /// Returns the thing with this key, and makes it if there is none. The oldest one, if it is one too many, is passed to
    /// `forget`.
    ///
    /// # Errors
    /// That of `make`. A failure is not kept: the next question tries again.
    pub async fn get<E, F: Future<Output = Result<V, E>>>(
        &self,
        key: K,
        make: impl FnOnce() -> F,
        forget: impl FnOnce(&V),
    ) -> Result<V, E> {
        let cell = self.cell(key, forget);
        cell.get_or_try_init(make).await.cloned()
    }

    fn cell(&self, key: K, forget: impl FnOnce(&V)) -> Cell<V> {
        let mut cells = self.cells.lock().unwrap_or_else(PoisonError::into_inner);
        let at = cells.iter().position(|(known, _)| *known == key);
        let entry = at.and_then(|at| cells.remove(at)).unwrap_or_else(|| (key, Cell::default()));
        let cell = Arc::clone(&entry.1);
        cells.push_back(entry);
        if cells.len() > self.most
            && let Some((_, oldest)) = cells.pop_front()
            && let Some(value) = oldest.get()
        {
            forget(value);
        }
        cell
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    /// Asks for a key, and returns what was made and what was forgotten.
    async fn ask(kept: &Kept<u32, u32>, key: u32) -> (u32, bool, Option<u32>) {
        let (mut is_made, mut forgotten) = (false, None);
        let make = || {
            is_made = true;
            async move { Ok::<_, Infallible>(10 * key) }
        };
        let value = kept.get(key, make, |value| forgotten = Some(*value)).await.unwrap_or_default();
        (value, is_made, forgotten)
    }

    #[tokio::test]
    async fn thing_that_was_not_asked_for_longest_is_forgotten() {
        let kept = Kept::new(2);
        assert_eq!(ask(&kept, 1).await, (10, true, None));
        assert_eq!(ask(&kept, 2).await, (20, true, None));
        assert_eq!(ask(&kept, 1).await, (10, false, None));
        assert_eq!(ask(&kept, 3).await, (30, true, Some(20)));
        assert_eq!(ask(&kept, 2).await, (20, true, Some(10)));
    }

    #[tokio::test]
    async fn failure_is_not_kept() {
        let kept = Kept::<u32, u32>::new(2);
        let failed = kept.get(1, || async { Err("no") }, |_| {}).await;
        assert_eq!(failed, Err("no"));
        assert_eq!(ask(&kept, 1).await, (10, true, None));
    }
}
