//! A list with holes, by the drain's indices.

/// Values by the index that the drain gives their member or lane. A capture has some of the drain's indices only.
pub(super) struct Sparse<T>(Vec<Option<T>>);

impl<T> Default for Sparse<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Sparse<T> {
    /// Puts a value at an index, in place of an earlier one.
    pub(super) fn put(&mut self, index: usize, value: T) {
        if self.0.len() <= index {
            self.0.resize_with(index + 1, || None);
        }
        self.0[index] = Some(value);
    }

    pub(super) fn get(&self, index: usize) -> Option<&T> {
        self.0.get(index)?.as_ref()
    }

    pub(super) fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        self.0.get_mut(index)?.as_mut()
    }

    /// Returns all values with their indices.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, &T)> {
        self.0.iter().enumerate().filter_map(|(index, value)| Some((index, value.as_ref()?)))
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &T> {
        self.0.iter().flatten()
    }

    pub(super) fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.iter_mut().flatten()
    }

    /// Returns the index behind the last value.
    pub(super) fn end(&self) -> usize {
        self.0.len()
    }
}
