//! The stack machine that runs a pickle. It supports the instructions that build values, and no others.

use super::chunks::Chunks;
use super::cursor::Cursor;
use super::{Global, Object, Pickle, Span, Value};

/// Looks a name up; anything unknown is refused.
fn global(module: &[u8], name: &[u8]) -> Option<Global> {
    Some(match (module, name) {
        (b"scipy.sparse.csr" | b"scipy.sparse._csr", b"csr_matrix") => Global::Csr,
        (b"numpy.core.multiarray" | b"numpy._core.multiarray", b"_reconstruct") => Global::Reconstruct,
        (b"numpy", b"ndarray") => Global::NdArray,
        (b"numpy", b"dtype") => Global::Dtype,
        (b"collections", b"defaultdict") => Global::DefaultDict,
        (b"__builtin__" | b"builtins", b"list") => Global::List,
        (b"__builtin__" | b"builtins", b"object") => Global::Object,
        (b"copy_reg" | b"copyreg", b"_reconstructor") => Global::CopyReg,
        _ => return None,
    })
}

/// The state of the machine: remaining code, stack and memo.
struct Machine<'a> {
    code: Cursor<'a>,
    stack: Chunks<Value>,
    memo: Chunks<Value>,
    /// The remaining memory budget in bytes.
    room: usize,
    made: Pickle<'a>,
}

type Step<T = ()> = std::result::Result<T, String>;

const SHORT: &str = "ends too early";

/// Runs the program in `bytes`; the error says where it stopped and why.
pub(super) fn run<'a>(made: Pickle<'a>, bytes: &'a [u8]) -> std::result::Result<Pickle<'a>, (usize, String)> {
    let mut machine = Machine {
        code: Cursor::new(bytes),
        stack: Chunks::new(),
        memo: Chunks::new(),
        // part of the free mebibyte is left for everything else
        room: bytes.len() + (1 << 20) - (64 << 10),
        made,
    };
    match machine.run() {
        Ok(root) => {
            machine.made.root = root;
            Ok(machine.made)
        }
        Err(what) => Err((machine.code.at(), what)),
    }
}

impl Machine<'_> {
    fn run(&mut self) -> Step<Value> {
        loop {
            let op = self.code.byte().ok_or(SHORT)?;
            match op {
                // protocol, frame: nothing to do
                0x80 => drop(self.code.byte().ok_or(SHORT)?),
                0x95 => drop(self.code.take(8).ok_or(SHORT)?),
                b'.' => return self.pop(),
                b'(' => self.put(Value::Mark)?,
                b'0' => drop(self.pop()?),
                b'N' => self.put(Value::None)?,
                0x88 => self.put(Value::Bool(true))?,
                0x89 => self.put(Value::Bool(false))?,
                b'K' => {
                    let byte = self.code.byte().ok_or(SHORT)?;
                    self.put(Value::Int(byte.into()))?;
                }
                b'M' => {
                    let word = u16::from_le_bytes(self.code.array().ok_or(SHORT)?);
                    self.put(Value::Int(word.into()))?;
                }
                b'J' => {
                    let word = i32::from_le_bytes(self.code.array().ok_or(SHORT)?);
                    self.put(Value::Int(word))?;
                }
                0x8a => self.long()?,
                b'I' => self.text_int()?,
                b'G' => {
                    let bits = u64::from_be_bytes(self.code.array().ok_or(SHORT)?);
                    let at = self.wide(bits)?;
                    self.put(Value::Float(at))?;
                }
                // strings and bytes: a length of one byte, or of four
                b'U' | b'C' | 0x8c => {
                    let len = self.code.byte().ok_or(SHORT)?;
                    self.text(len.into())?;
                }
                b'T' | b'B' | b'X' => {
                    let len = u32::from_le_bytes(self.code.array().ok_or(SHORT)?);
                    self.text(len)?;
                }
                b']' | b')' => self.sequence(self.stack.len())?,
                b'}' => self.dict()?,
                0x85..=0x87 => {
                    let count = usize::from(op - 0x84);
                    let from = self.stack.len().checked_sub(count).ok_or("takes from an empty stack")?;
                    self.sequence(from)?;
                }
                b't' | b'l' => {
                    let from = self.mark()?;
                    self.sequence(from)?;
                    // the mark is replaced by the new value
                    let made = self.pop()?;
                    self.stack.set(from - 1, made);
                }
                b'a' => {
                    let from = self.stack.len().checked_sub(1).ok_or("takes from an empty stack")?;
                    self.append(from, from)?;
                }
                b'e' => {
                    let from = self.mark()?;
                    self.append(from, from - 1)?;
                }
                b's' => {
                    let from = self.stack.len().checked_sub(2).ok_or("takes from an empty stack")?;
                    self.set_items(from, from)?;
                }
                b'u' => {
                    let from = self.mark()?;
                    self.set_items(from, from - 1)?;
                }
                b'c' => self.global()?,
                0x93 => self.stack_global()?,
                b'R' | 0x81 => self.make()?,
                b'b' => self.build()?,
                b'q' => {
                    let at = self.code.byte().ok_or(SHORT)?;
                    self.remember(at.into())?;
                }
                b'r' => {
                    let at = u32::from_le_bytes(self.code.array().ok_or(SHORT)?);
                    self.remember(at)?;
                }
                0x94 => self.remember(self.memo.len() as u32)?,
                b'h' => {
                    let at = self.code.byte().ok_or(SHORT)?;
                    self.recall(at.into())?;
                }
                b'j' => {
                    let at = u32::from_le_bytes(self.code.array().ok_or(SHORT)?);
                    self.recall(at)?;
                }
                other => return Err(format!("instruction 0x{other:02x} is not supported")),
            }
        }
    }

    fn put(&mut self, value: Value) -> Step {
        self.stack.push(value, &mut self.room)
    }

    fn pop(&mut self) -> Step<Value> {
        self.stack.pop().ok_or_else(|| "takes from an empty stack".into())
    }

    /// The position after the last mark.
    fn mark(&self) -> Step<usize> {
        let at = (0..self.stack.len()).rev().find(|&at| self.stack.get(at) == Some(Value::Mark));
        at.map(|at| at + 1).ok_or_else(|| "refers to a mark that is not there".into())
    }

    fn wide(&mut self, bits: u64) -> Step<u32> {
        self.made.wides.push(bits, &mut self.room)?;
        Ok(self.made.wides.len() as u32 - 1)
    }

    /// An integer of up to eight little-endian bytes.
    fn long(&mut self) -> Step {
        let len = self.code.byte().ok_or(SHORT)?;
        let bytes = self.code.take(len.into()).ok_or(SHORT)?;
        if bytes.len() > 8 {
            return Err(format!("an integer of {len} bytes; at most 8 are supported"));
        }
        let fill = if bytes.last().is_some_and(|&b| b >= 0x80) { 0xff } else { 0 };
        let mut wide = [fill; 8];
        wide[..bytes.len()].copy_from_slice(bytes);
        let at = self.wide(u64::from_le_bytes(wide))?;
        self.put(Value::Wide(at))
    }

    /// An integer in digits; `00` and `01` are false and true in protocol 0.
    fn text_int(&mut self) -> Step {
        let line = self.code.line().ok_or(SHORT)?;
        let value = match line {
            b"00" => Value::Bool(false),
            b"01" => Value::Bool(true),
            digits => {
                let digits = std::str::from_utf8(digits).ok().and_then(|d| d.parse::<i64>().ok());
                let wide = self.wide(digits.ok_or("an integer is not written in digits")? as u64)?;
                Value::Wide(wide)
            }
        };
        self.put(value)
    }

    /// A string of `len` bytes, by reference.
    fn text(&mut self, len: u32) -> Step {
        let start = self.code.at() as u32;
        if self.code.take(len as usize).is_none() {
            return Err(format!("a string of {len} bytes, but only {} follow", self.code.left()));
        }
        self.made.texts.push(Span { start, len }, &mut self.room)?;
        self.put(Value::Text(self.made.texts.len() as u32 - 1))
    }

    /// Builds a list or tuple from the stack from `from` on.
    fn sequence(&mut self, from: usize) -> Step {
        let start = self.made.pool.len() as u32;
        let len = (self.stack.len() - from) as u32;
        for value in self.stack.range(from, self.stack.len()) {
            self.made.pool.push(value, &mut self.room)?;
        }
        self.stack.truncate(from);
        self.made.sequences.push(Span { start, len }, &mut self.room)?;
        self.put(Value::Sequence(self.made.sequences.len() as u32 - 1))
    }

    fn dict(&mut self) -> Step {
        let bytes = 4 * size_of::<Chunks<Value>>();
        self.room = self.room.checked_sub(bytes).ok_or("needs more memory than twice its size")?;
        self.made.dicts.push(Chunks::new());
        self.put(Value::Dict(self.made.dicts.len() as u32 - 1))
    }

    /// Appends the stack from `from` on to the list below; the stack ends at `end`.
    fn append(&mut self, from: usize, end: usize) -> Step {
        let Some(Value::Sequence(list)) = end.checked_sub(1).and_then(|at| self.stack.get(at)) else {
            return Err("appends to a value that is not a list".into());
        };
        let mut span = self.made.sequences.get(list as usize).ok_or("no such list")?;
        // a list that is not the last in the pool moves to its end; the budget keeps that rare
        if span.start as usize + span.len as usize != self.made.pool.len() {
            let start = self.made.pool.len() as u32;
            for at in span.start..span.start + span.len {
                let value = self.made.pool.get(at as usize).ok_or("no such value")?;
                self.made.pool.push(value, &mut self.room)?;
            }
            span.start = start;
        }
        for value in self.stack.range(from, self.stack.len()) {
            self.made.pool.push(value, &mut self.room)?;
        }
        span.len += (self.stack.len() - from) as u32;
        self.made.sequences.set(list as usize, span);
        self.stack.truncate(end);
        Ok(())
    }

    /// Inserts the stack from `from` on, pair by pair, into the dictionary below; the stack ends at `end`.
    fn set_items(&mut self, from: usize, end: usize) -> Step {
        let Some(Value::Dict(dict)) = end.checked_sub(1).and_then(|at| self.stack.get(at)) else {
            return Err("sets items of a value that is not a dictionary".into());
        };
        if !(self.stack.len() - from).is_multiple_of(2) {
            return Err("a key without a value".into());
        }
        let items = self.made.dicts.get_mut(dict as usize).ok_or("no such dictionary")?;
        for value in self.stack.range(from, self.stack.len()) {
            items.push(value, &mut self.room)?;
        }
        self.stack.truncate(end);
        Ok(())
    }

    fn global(&mut self) -> Step {
        let module = self.code.line().ok_or(SHORT)?;
        let name = self.code.line().ok_or(SHORT)?;
        self.named(module, name)
    }

    fn stack_global(&mut self) -> Step {
        let (name, module) = (self.pop()?, self.pop()?);
        match (self.made.text(module), self.made.text(name)) {
            (Some(module), Some(name)) => self.named(module, name),
            _ => Err("a name that is not a string".into()),
        }
    }

    fn named(&mut self, module: &[u8], name: &[u8]) -> Step {
        match global(module, name) {
            Some(known) => self.put(Value::Global(known)),
            None => {
                let show = |b: &[u8]| String::from_utf8_lossy(&b[..b.len().min(80)]).into_owned();
                Err(format!(
                    "names {}.{}, which is not one of the supported types; nothing was run",
                    show(module),
                    show(name)
                ))
            }
        }
    }

    /// In place of a call, records the name and the arguments.
    fn make(&mut self) -> Step {
        let (args, callee) = (self.pop()?, self.pop()?);
        let Value::Global(callee) = callee else { return Err("calls a value that is not a name".into()) };
        let first = self.made.items(args).ok_or("calls with arguments that are not a tuple")?.next();
        let global = match (callee, first) {
            (Global::DefaultDict, _) => return self.dict(),
            (Global::CopyReg, Some(Value::Global(made))) => made,
            (Global::Csr | Global::Reconstruct | Global::Dtype, _) => callee,
            _ => return Err(format!("calls {callee:?}, which builds no value")),
        };
        self.made.objects.push(Object { global, args, state: Value::None }, &mut self.room)?;
        self.put(Value::Object(self.made.objects.len() as u32 - 1))
    }

    fn build(&mut self) -> Step {
        let state = self.pop()?;
        let Some(Value::Object(at)) = self.stack.last() else {
            return Err("sets the state of a value that has none".into());
        };
        let mut object = self.made.objects.get(at as usize).ok_or("no such object")?;
        object.state = state;
        self.made.objects.set(at as usize, object);
        Ok(())
    }

    fn remember(&mut self, at: u32) -> Step {
        let value = self.stack.last().ok_or("stores the top of an empty stack")?;
        // numbering may start at one, and may not jump
        while self.memo.len() <= at as usize {
            if at as usize > self.memo.len() + 16 {
                return Err(format!("stores memo {at} after memo {}", self.memo.len()));
            }
            self.memo.push(Value::None, &mut self.room)?;
        }
        self.memo.set(at as usize, value);
        Ok(())
    }

    fn recall(&mut self, at: u32) -> Step {
        let value = self.memo.get(at as usize).ok_or("reads a memo that was not stored")?;
        self.put(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_built() {
        // [1, -2, 'ab', None] with a list appended to twice, then a dictionary {3: that list}
        let code = b"\x80\x02}](K\x01J\xfe\xff\xff\xffU\x02abeNaK\x03\x85";
        let mut file = code.to_vec();
        file.extend(b"0u.");
        // a mark is missing before the last instruction
        assert!(Pickle::parse("t", &file).unwrap_err().to_string().contains("mark"));
        let file = b"\x80\x02}(K\x03](K\x01J\xfe\xff\xff\xffU\x02abeNau.";
        let pickle = Pickle::parse("t", file).unwrap();
        let (key, list) = pickle.pairs(pickle.root()).unwrap().next().unwrap();
        assert_eq!(pickle.int(key), Some(3));
        let items: [Value; 4] = pickle.tuple(list).unwrap();
        assert_eq!((pickle.int(items[0]), pickle.int(items[1])), (Some(1), Some(-2)));
        assert_eq!((pickle.text(items[2]), items[3]), (Some(&b"ab"[..]), Value::None));
    }

    #[test]
    fn other_names_are_refused_by_name() {
        for file in [&b"cos\nsystem\n(U\x02lstR."[..], b"\x80\x04\x8c\x02os\x8c\x06system\x93U\x02ls\x85R."] {
            let error = Pickle::parse("t", file).unwrap_err().to_string();
            assert!(error.contains("names os.system"), "{error}");
        }
        let error = Pickle::parse("t", b"c__builtin__\nlist\n)R.").unwrap_err().to_string();
        assert!(error.contains("builds no value"), "{error}");
    }

    #[test]
    fn memory_is_refused_beyond_twice_the_file() {
        let mut file = vec![b'N'; 4 << 20];
        file.push(b'.');
        assert!(Pickle::parse("t", &file).unwrap_err().to_string().contains("more memory"));
    }

    #[test]
    fn a_value_is_eight_bytes() {
        assert_eq!(size_of::<Value>(), 8);
    }
}
