//! A queue in a ring of slots.

use raddle_ptx::num::fit;

/// A queue, first in, first out. It grows when it is full.
///
/// The number of slots is a power of two, so that a place is found by masking; what is taken leaves a default behind.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Ring<T> {
    slots: Box<[T]>,
    /// Both count on; their low bits are places.
    head: u32,
    tail: u32,
}

impl<T: Default> Ring<T> {
    /// Room for `capacity` to begin with.
    #[must_use]
    pub fn new(capacity: u32) -> Self {
        let slots = (0..capacity.next_power_of_two().max(2)).map(|_| T::default()).collect();
        Self { slots, head: 0, tail: 0 }
    }

    #[inline]
    fn place(&self, count: u32) -> usize {
        count as usize & (self.slots.len() - 1)
    }

    /// How many there are.
    #[inline]
    #[must_use]
    pub fn len(&self) -> u32 {
        self.tail.wrapping_sub(self.head)
    }

    /// Whether there is none.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.head == self.tail
    }

    /// The first.
    #[inline]
    #[must_use]
    pub fn front(&self) -> Option<&T> {
        if self.is_empty() { None } else { Some(&self.slots[self.place(self.head)]) }
    }

    /// The one that `after` others come before.
    #[inline]
    #[must_use]
    pub fn get(&self, after: u32) -> Option<&T> {
        (after < self.len()).then(|| &self.slots[self.place(self.head.wrapping_add(after))])
    }

    /// The one that `after` others come before, to be changed.
    #[inline]
    pub fn get_mut(&mut self, after: u32) -> Option<&mut T> {
        let place = self.place(self.head.wrapping_add(after));
        if after < self.len() { Some(&mut self.slots[place]) } else { None }
    }

    /// The first, to be changed.
    #[inline]
    pub fn front_mut(&mut self) -> Option<&mut T> {
        let place = self.place(self.head);
        if self.is_empty() { None } else { Some(&mut self.slots[place]) }
    }

    /// The last.
    #[inline]
    #[must_use]
    pub fn back(&self) -> Option<&T> {
        if self.is_empty() { None } else { Some(&self.slots[self.place(self.tail.wrapping_sub(1))]) }
    }

    /// Adds one after the others.
    #[inline]
    pub fn push(&mut self, value: T) {
        if self.len() as usize == self.slots.len() {
            self.grow();
        }
        let place = self.place(self.tail);
        self.slots[place] = value;
        self.tail = self.tail.wrapping_add(1);
    }

    /// Takes the first.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        if self.is_empty() {
            return None;
        }
        let place = self.place(self.head);
        self.head = self.head.wrapping_add(1);
        Some(std::mem::take(&mut self.slots[place]))
    }

    /// Takes all.
    pub fn clear(&mut self) {
        while self.pop().is_some() {}
    }

    /// Forgets the first, which is there and has been looked at.
    #[inline]
    pub fn drop_front(&mut self)
    where
        T: Copy,
    {
        debug_assert!(!self.is_empty());
        self.head = self.head.wrapping_add(1);
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let count = self.len();
        let mut larger = Self::new(2 * fit::<u32, _>(self.slots.len()));
        while let Some(value) = self.pop() {
            larger.slots[larger.tail as usize] = value;
            larger.tail += 1;
        }
        debug_assert_eq!(larger.len(), count);
        *self = larger;
    }
}

#[cfg(test)]
mod tests {
    use super::Ring;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn it_is_a_queue(steps in prop::collection::vec(any::<bool>(), 1..200)) {
            let (mut ring, mut model) = (Ring::<usize>::new(1), VecDeque::new());
            for (number, push) in steps.into_iter().enumerate() {
                if push {
                    ring.push(number);
                    model.push_back(number);
                } else {
                    prop_assert_eq!(ring.pop(), model.pop_front());
                }
                prop_assert_eq!((ring.front(), ring.back()), (model.front(), model.back()));
                prop_assert_eq!(ring.get(1), model.get(1));
                prop_assert_eq!(ring.get_mut(2), model.get_mut(2));
                prop_assert_eq!((ring.len() as usize, ring.is_empty()), (model.len(), model.is_empty()));
            }
            while model.pop_front().is_some() {
                ring.drop_front();
            }
            prop_assert_eq!(ring.pop(), None);
        }
    }
}
