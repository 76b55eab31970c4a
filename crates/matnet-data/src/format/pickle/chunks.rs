//! A list that grows without copying its values.

/// The number of values per piece.
const PIECE: usize = 512;

/// Values in pieces of one size, charged to a budget of bytes.
#[derive(Debug)]
pub(crate) struct Chunks<T> {
    pieces: Vec<Vec<T>>,
    len: usize,
}

impl<T: Copy> Chunks<T> {
    pub fn new() -> Self {
        Self { pieces: Vec::new(), len: 0 }
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// Appends a value; a new piece is charged to `room`, and refused if that is too small.
    pub fn push(&mut self, value: T, room: &mut usize) -> Result<(), String> {
        if self.len == self.pieces.len() * PIECE {
            // the list of pieces may be copied when it grows, so it counts twice
            let bytes = PIECE * size_of::<T>() + 4 * size_of::<Vec<T>>();
            *room = room.checked_sub(bytes).ok_or("needs more memory than twice its size")?;
            self.pieces.push(Vec::with_capacity(PIECE));
        }
        let piece = &mut self.pieces[self.len / PIECE];
        piece.push(value);
        self.len += 1;
        Ok(())
    }

    pub fn get(&self, at: usize) -> Option<T> {
        self.pieces.get(at / PIECE)?.get(at % PIECE).copied()
    }

    pub fn set(&mut self, at: usize, value: T) {
        if let Some(place) = self.pieces.get_mut(at / PIECE).and_then(|piece| piece.get_mut(at % PIECE)) {
            *place = value;
        }
    }

    pub fn last(&self) -> Option<T> {
        self.get(self.len.checked_sub(1)?)
    }

    pub fn pop(&mut self) -> Option<T> {
        let last = self.last()?;
        self.truncate(self.len - 1);
        Some(last)
    }

    /// Keeps the first `len` values, and the capacity.
    pub fn truncate(&mut self, len: usize) {
        while self.len > len {
            let piece = (self.len - 1) / PIECE;
            let keep = len.saturating_sub(piece * PIECE);
            self.pieces[piece].truncate(keep);
            self.len = piece * PIECE + keep;
        }
    }

    /// The values from `start` up to `end`.
    pub fn range(&self, start: usize, end: usize) -> impl Iterator<Item = T> + '_ {
        (start..end.min(self.len)).filter_map(|at| self.get(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn behaves_as_a_list() {
        let mut room = 1 << 20;
        let mut list = Chunks::new();
        for value in 0..2000u32 {
            list.push(value, &mut room).unwrap();
        }
        assert_eq!((list.len(), list.get(1999), list.get(2000)), (2000, Some(1999), None));
        list.truncate(511);
        list.push(7, &mut room).unwrap();
        assert_eq!(list.pop(), Some(7));
        list.push(8, &mut room).unwrap();
        list.push(9, &mut room).unwrap();
        assert_eq!(list.range(509, 513).collect::<Vec<_>>(), [509, 510, 8, 9]);
        let mut none = 0;
        assert!(Chunks::new().push(1u8, &mut none).is_err());
    }
}
