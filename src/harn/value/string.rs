//! Strings: shared, counted in Unicode scalar values.

use std::borrow::Borrow;
use std::cell::Cell;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use crate::harn::fault::Fault;
use crate::harn::value::heap::{Charge, Heap};

/// What a string takes besides its bytes.
const OVERHEAD: usize = 80;

/// No file.
const NO_FILE: u32 = u32::MAX;

/// A text. A copy is a pointer.
#[derive(Clone, Debug)]
pub struct Str(Rc<Inner>);

#[derive(Debug)]
struct Inner {
    data: Data,
    /// How many characters it has, once somebody asked.
    chars: Cell<Option<usize>>,
    /// The number of the file of the slice that it is the whole text of.
    file: u32,
    charge: Charge,
}

#[derive(Debug)]
enum Data {
    Owned(String),
    /// A name that the machine itself gives.
    Name(&'static str),
    /// Of the program or the slice.
    Shared(Arc<str>),
    /// A part of another.
    Part(Str, Range<usize>),
}

impl Str {
    pub(crate) fn new(text: String, heap: &Heap) -> Result<Self, Fault> {
        let charge = heap.charge(OVERHEAD + text.capacity())?;
        Ok(Self::with(Data::Owned(text), NO_FILE, charge))
    }

    /// A name that is not of this heap.
    pub(crate) fn name(name: &'static str, heap: &Heap) -> Result<Self, Fault> {
        Ok(Self::with(
            Data::Name(name),
            NO_FILE,
            heap.charge(OVERHEAD)?,
        ))
    }

    /// A text that is not of this heap; its bytes are not counted.
    pub(crate) fn shared(text: Arc<str>, heap: &Heap) -> Result<Self, Fault> {
        Ok(Self::with(
            Data::Shared(text),
            NO_FILE,
            heap.charge(OVERHEAD)?,
        ))
    }

    /// The whole text of a file of the slice.
    pub(crate) fn of_file(text: Arc<str>, file: u32, heap: &Heap) -> Result<Self, Fault> {
        Ok(Self::with(Data::Shared(text), file, heap.charge(OVERHEAD)?))
    }

    fn with(data: Data, file: u32, charge: Charge) -> Self {
        Self(Rc::new(Inner {
            data,
            chars: Cell::new(None),
            file,
            charge,
        }))
    }

    /// A part, which has to lie on the bounds of characters.
    pub(crate) fn part(&self, range: Range<usize>, heap: &Heap) -> Result<Self, Fault> {
        if range.len() == self.as_str().len() {
            return Ok(self.clone());
        }
        let (base, range) = match &self.0.data {
            Data::Part(base, own) => (base, own.start + range.start..own.start + range.end),
            _ => (self, range),
        };
        let charge = heap.charge(OVERHEAD)?;
        Ok(Self::with(Data::Part(base.clone(), range), NO_FILE, charge))
    }

    #[inline]
    pub(crate) fn as_str(&self) -> &str {
        match &self.0.data {
            Data::Owned(text) => text,
            Data::Name(name) => name,
            Data::Shared(text) => text,
            Data::Part(base, range) => base.as_str().get(range.clone()).unwrap_or_default(),
        }
    }

    /// The number of the file that it is the text of.
    pub(crate) fn file(&self) -> Option<u32> {
        (self.0.file != NO_FILE).then_some(self.0.file)
    }

    /// Whether its characters are counted already, so that counting is free.
    pub(crate) fn is_counted(&self) -> bool {
        self.0.chars.get().is_some()
    }

    /// How many characters it has.
    pub(crate) fn chars(&self) -> usize {
        self.0.chars.get().unwrap_or_else(|| {
            let count = self.as_str().chars().count();
            self.0.chars.set(Some(count));
            count
        })
    }

    /// The offset in bytes of a character; the length for the one past the last.
    pub(crate) fn offset(&self, char: usize) -> Option<usize> {
        let text = self.as_str();
        if self.chars() == text.len() {
            return (char <= text.len()).then_some(char);
        }
        let offsets = text.char_indices().map(|(at, _)| at);
        offsets.chain([text.len()]).nth(char)
    }

    /// Appends, in place where nobody else has this text.
    pub(crate) fn append(mut self, more: &str, heap: &Heap) -> Result<Self, Fault> {
        if let Some(inner) = Rc::get_mut(&mut self.0)
            && let Data::Owned(text) = &mut inner.data
        {
            let needed = text.len() + more.len();
            if needed > text.capacity() {
                let grown = needed.max(text.capacity() * 2);
                inner.charge.grow(grown - text.capacity())?;
                text.reserve_exact(grown - text.len());
            }
            text.push_str(more);
            inner.chars.set(None);
            return Ok(self);
        }
        heap.has_room(self.as_str().len() + more.len())?;
        Self::new([self.as_str(), more].concat(), heap)
    }
}

impl PartialEq for Str {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0) || self.as_str() == other.as_str()
    }
}

impl Eq for Str {}

impl PartialOrd for Str {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Str {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.as_str().cmp(other.as_str())
    }
}

impl Borrow<str> for Str {
    fn borrow(&self) -> &str {
        self.as_str()
    }
}
