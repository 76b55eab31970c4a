//! The datatypes of input tensors.

use crate::refusal::{Allowed, Refusal};

/// A datatype that becomes `f32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataType {
    Bool,
    Uint8,
    Uint16,
    Uint32,
    Uint64,
    Int8,
    Int16,
    Int32,
    Int64,
    Fp32,
    Fp64,
}

const ALL: [DataType; 11] = [
    DataType::Bool,
    DataType::Uint8,
    DataType::Uint16,
    DataType::Uint32,
    DataType::Uint64,
    DataType::Int8,
    DataType::Int16,
    DataType::Int32,
    DataType::Int64,
    DataType::Fp32,
    DataType::Fp64,
];

impl DataType {
    /// Reads the name of the protocol.
    pub fn parse(tensor: &str, name: &str) -> Allowed<Self> {
        ALL.into_iter().find(|datatype| datatype.name() == name).ok_or_else(|| {
            Refusal::bad(format!(
                "input {tensor}: datatype {name}; FP32, FP64, BOOL, INT8 to INT64 or UINT8 to UINT64 expected"
            ))
        })
    }

    /// The name of the protocol.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bool => "BOOL",
            Self::Uint8 => "UINT8",
            Self::Uint16 => "UINT16",
            Self::Uint32 => "UINT32",
            Self::Uint64 => "UINT64",
            Self::Int8 => "INT8",
            Self::Int16 => "INT16",
            Self::Int32 => "INT32",
            Self::Int64 => "INT64",
            Self::Fp32 => "FP32",
            Self::Fp64 => "FP64",
        }
    }

    /// The least and the largest integer; `None` for floats.
    pub fn range(self) -> Option<(i128, i128)> {
        macro_rules! range {
            ($type:ty) => {
                Some((<$type>::MIN.into(), <$type>::MAX.into()))
            };
        }
        match self {
            Self::Bool => Some((0, 1)),
            Self::Uint8 => range!(u8),
            Self::Uint16 => range!(u16),
            Self::Uint32 => range!(u32),
            Self::Uint64 => range!(u64),
            Self::Int8 => range!(i8),
            Self::Int16 => range!(i16),
            Self::Int32 => range!(i32),
            Self::Int64 => range!(i64),
            Self::Fp32 | Self::Fp64 => None,
        }
    }

    /// Bytes of one value.
    pub fn size(self) -> usize {
        match self {
            Self::Bool | Self::Uint8 | Self::Int8 => 1,
            Self::Uint16 | Self::Int16 => 2,
            Self::Uint32 | Self::Int32 | Self::Fp32 => 4,
            Self::Uint64 | Self::Int64 | Self::Fp64 => 8,
        }
    }

    /// Values from bytes in little-endian order, whose number was checked.
    pub fn read(self, bytes: &[u8]) -> Vec<f32> {
        macro_rules! values {
            ($type:ty) => {
                bytes
                    .chunks_exact(size_of::<$type>())
                    .map(|value| <$type>::from_le_bytes(value.try_into().expect("so many bytes")) as f32)
                    .collect()
            };
        }
        match self {
            Self::Bool => bytes.iter().map(|&byte| f32::from(u8::from(byte != 0))).collect(),
            Self::Uint8 => values!(u8),
            Self::Uint16 => values!(u16),
            Self::Uint32 => values!(u32),
            Self::Uint64 => values!(u64),
            Self::Int8 => values!(i8),
            Self::Int16 => values!(i16),
            Self::Int32 => values!(i32),
            Self::Int64 => values!(i64),
            Self::Fp32 => values!(f32),
            Self::Fp64 => values!(f64),
        }
    }
}
