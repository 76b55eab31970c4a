//! Pickles, as data only: nothing that a pickle names is ever called.
//!
//! A pickle is a program that may call anything. This reader builds numbers, strings, lists, tuples, dictionaries, NumPy arrays and
//! SciPy CSR matrices, which is all that Planetoid's files contain, and refuses every other name. Values take eight bytes each and
//! strings refer to the bytes of the file, so that a pickle takes little more memory than its size; one that would take more is refused.

mod chunks;
mod cursor;
mod machine;
mod numpy;

use std::path::{Path, PathBuf};

use self::chunks::Chunks;
use crate::{Error, Result};

pub use numpy::CsrMatrix;

/// The names a pickle may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Global {
    Csr,
    Reconstruct,
    NdArray,
    Dtype,
    DefaultDict,
    List,
    Object,
    CopyReg,
}

/// One value; what does not fit into four bytes is in a table of the [`Pickle`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Value {
    None,
    Bool(bool),
    Int(i32),
    Wide(u32),
    Float(u32),
    Text(u32),
    Sequence(u32),
    Dict(u32),
    Object(u32),
    Global(Global),
    Mark,
}

/// An object of a known name: the name, the constructor arguments, and the state set afterwards.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Object {
    pub global: Global,
    pub args: Value,
    pub state: Value,
}

/// A range of values in the pool, or of bytes in the file.
#[derive(Clone, Copy, Debug)]
struct Span {
    start: u32,
    len: u32,
}

/// A parsed pickle.
#[derive(Debug)]
pub struct Pickle<'a> {
    name: PathBuf,
    bytes: &'a [u8],
    root: Value,
    pool: Chunks<Value>,
    sequences: Chunks<Span>,
    dicts: Vec<Chunks<Value>>,
    objects: Chunks<Object>,
    texts: Chunks<Span>,
    wides: Chunks<u64>,
}

impl<'a> Pickle<'a> {
    /// Parses the pickle in `bytes`; `name` is used in errors.
    pub fn parse(name: impl AsRef<Path>, bytes: &'a [u8]) -> Result<Self> {
        let name = name.as_ref();
        if u32::try_from(bytes.len()).is_err() {
            return Err(Error::format(name, "a pickle of more than 4 GiB"));
        }
        let made = Pickle {
            name: name.to_owned(),
            bytes,
            root: Value::None,
            pool: Chunks::new(),
            sequences: Chunks::new(),
            dicts: Vec::new(),
            objects: Chunks::new(),
            texts: Chunks::new(),
            wides: Chunks::new(),
        };
        let run = machine::run(made, bytes);
        run.map_err(|(at, what)| Error::format(name, format!("pickle, near byte {at}: {what}")))
    }

    pub(crate) fn root(&self) -> Value {
        self.root
    }

    pub(crate) fn error(&self, what: impl Into<String>) -> Error {
        Error::format(&self.name, what)
    }

    pub(crate) fn name(&self) -> &Path {
        &self.name
    }

    /// An integer, from any of the values that can hold one.
    pub(crate) fn int(&self, value: Value) -> Option<i64> {
        match value {
            Value::Int(int) => Some(int.into()),
            Value::Bool(bit) => Some(bit.into()),
            Value::Wide(at) => Some(self.wides.get(at as usize)? as i64),
            _ => None,
        }
    }

    /// The items of a list or tuple.
    pub(crate) fn items(&self, value: Value) -> Option<impl Iterator<Item = Value>> {
        let Value::Sequence(at) = value else { return None };
        let span = self.sequences.get(at as usize)?;
        Some(self.pool.range(span.start as usize, span.start as usize + span.len as usize))
    }

    /// The items of a tuple of `N`.
    pub(crate) fn tuple<const N: usize>(&self, value: Value) -> Option<[Value; N]> {
        let Value::Sequence(at) = value else { return None };
        let span = self.sequences.get(at as usize).filter(|span| span.len as usize == N)?;
        let mut items = [Value::None; N];
        for (item, at) in items.iter_mut().zip(span.start as usize..) {
            *item = self.pool.get(at)?;
        }
        Some(items)
    }

    /// Keys and values of a dictionary.
    pub(crate) fn pairs(&self, value: Value) -> Option<impl Iterator<Item = (Value, Value)>> {
        let Value::Dict(at) = value else { return None };
        let items = self.dicts.get(at as usize)?;
        let pair = |at| Some((items.get(2 * at)?, items.get(2 * at + 1)?));
        Some((0..items.len() / 2).filter_map(pair))
    }

    /// The bytes of a string.
    pub(crate) fn text(&self, value: Value) -> Option<&'a [u8]> {
        let Value::Text(at) = value else { return None };
        let span = self.texts.get(at as usize)?;
        self.bytes.get(span.start as usize..span.start as usize + span.len as usize)
    }

    pub(crate) fn object(&self, value: Value) -> Option<Object> {
        let Value::Object(at) = value else { return None };
        self.objects.get(at as usize)
    }
}
