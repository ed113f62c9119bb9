//! Element types of tensors and accumulators.

use crate::format::{self, Format};
use crate::nearest::nearest;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// An element type. Its name is the one of case ids, suites and the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Dtype {
    F64,
    F32,
    F16,
    Bf16,
    Fp8E4m3,
    Fp8E5m2,
    I8,
    U8,
    I32,
}

impl Dtype {
    pub const ALL: &[Dtype] = &[
        Dtype::F64,
        Dtype::F32,
        Dtype::F16,
        Dtype::Bf16,
        Dtype::Fp8E4m3,
        Dtype::Fp8E5m2,
        Dtype::I8,
        Dtype::U8,
        Dtype::I32,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Dtype::F64 => "f64",
            Dtype::F32 => "f32",
            Dtype::F16 => "f16",
            Dtype::Bf16 => "bf16",
            Dtype::Fp8E4m3 => "fp8-e4m3",
            Dtype::Fp8E5m2 => "fp8-e5m2",
            Dtype::I8 => "i8",
            Dtype::U8 => "u8",
            Dtype::I32 => "i32",
        }
    }

    /// Bytes of one element.
    #[inline]
    pub fn size(self) -> usize {
        match self {
            Dtype::F64 => 8,
            Dtype::F32 | Dtype::I32 => 4,
            Dtype::F16 | Dtype::Bf16 => 2,
            Dtype::Fp8E4m3 | Dtype::Fp8E5m2 | Dtype::I8 | Dtype::U8 => 1,
        }
    }

    /// The floating-point format; `None` for integers.
    #[inline]
    pub fn format(self) -> Option<Format> {
        match self {
            Dtype::F64 => Some(format::F64),
            Dtype::F32 => Some(format::F32),
            Dtype::F16 => Some(format::F16),
            Dtype::Bf16 => Some(format::BF16),
            Dtype::Fp8E4m3 => Some(format::FP8_E4M3),
            Dtype::Fp8E5m2 => Some(format::FP8_E5M2),
            Dtype::I8 | Dtype::U8 | Dtype::I32 => None,
        }
    }

    /// Relative error of one rounding to this type; 0 for integers.
    #[inline]
    pub fn unit_roundoff(self) -> f64 {
        self.format().map_or(0.0, |format| format.unit_roundoff())
    }

    /// Smallest positive number; 0 for integers, which do not round.
    #[inline]
    pub fn smallest_subnormal(self) -> f64 {
        self.format().map_or(0.0, |format| format.smallest_subnormal())
    }

    /// Smallest positive number with all its digits; 0 for integers.
    #[inline]
    pub fn smallest_normal(self) -> f64 {
        self.format().map_or(0.0, |format| format.smallest_normal())
    }

    /// Largest finite value.
    #[inline]
    pub fn max_finite(self) -> f64 {
        match self {
            Dtype::I8 => 127.0,
            Dtype::U8 => 255.0,
            Dtype::I32 => f64::from(i32::MAX),
            _ => self.format().map_or(f64::MAX, |format| format.max_finite),
        }
    }

    /// Element `index` of a little-endian buffer.
    #[inline(always)]
    pub fn read(self, bytes: &[u8], index: usize) -> f64 {
        let at = index * self.size();
        match self {
            Dtype::F64 => f64::from_le_bytes(take(bytes, at)),
            Dtype::F32 => f64::from(f32::from_le_bytes(take(bytes, at))),
            Dtype::I32 => f64::from(i32::from_le_bytes(take(bytes, at))),
            Dtype::I8 => f64::from(bytes[at] as i8),
            Dtype::U8 => f64::from(bytes[at]),
            Dtype::Bf16 => f64::from(f32::from_bits(u32::from(u16::from_le_bytes(take(bytes, at))) << 16)),
            Dtype::F16 => format::F16.decode(u32::from(u16::from_le_bytes(take(bytes, at)))),
            Dtype::Fp8E4m3 => format::FP8_E4M3.decode(u32::from(bytes[at])),
            Dtype::Fp8E5m2 => format::FP8_E5M2.decode(u32::from(bytes[at])),
        }
    }

    /// Writes the value nearest to `value`; integers are clamped to their range.
    #[inline]
    pub fn write(self, bytes: &mut [u8], index: usize, value: f64) {
        let at = index * self.size();
        let target = &mut bytes[at..at + self.size()];
        match self {
            Dtype::F64 => target.copy_from_slice(&value.to_le_bytes()),
            Dtype::F32 => target.copy_from_slice(&(value as f32).to_le_bytes()),
            Dtype::I32 => target.copy_from_slice(&(value as i32).to_le_bytes()),
            Dtype::I8 => target[0] = value as i8 as u8,
            Dtype::U8 => target[0] = value as u8,
            Dtype::F16 => target.copy_from_slice(&(format::F16.encode(value) as u16).to_le_bytes()),
            Dtype::Bf16 => {
                target.copy_from_slice(&(format::BF16.encode(value) as u16).to_le_bytes());
            }
            Dtype::Fp8E4m3 => target[0] = format::FP8_E4M3.encode(value) as u8,
            Dtype::Fp8E5m2 => target[0] = format::FP8_E5M2.encode(value) as u8,
        }
    }
}

#[inline]
fn take<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes[at..at + N].try_into().expect("a slice of N bytes is an array of N bytes")
}

impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that is no element type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown dtype `{name}`; did you mean `{near}`?")]
pub struct UnknownDtype {
    pub name: String,
    pub near: &'static str,
}

impl FromStr for Dtype {
    type Err = UnknownDtype;

    fn from_str(name: &str) -> Result<Self, UnknownDtype> {
        Dtype::ALL.iter().copied().find(|dtype| dtype.name() == name).ok_or_else(|| UnknownDtype {
            name: name.to_owned(),
            near: nearest(name, Dtype::ALL.iter().map(|dtype| dtype.name())).unwrap_or("f32"),
        })
    }
}

impl TryFrom<String> for Dtype {
    type Error = UnknownDtype;

    fn try_from(name: String) -> Result<Self, UnknownDtype> {
        name.parse()
    }
}

impl From<Dtype> for String {
    fn from(dtype: Dtype) -> String {
        dtype.name().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_parse_back() {
        for dtype in Dtype::ALL {
            assert_eq!(dtype.name().parse(), Ok(*dtype));
        }
        assert_eq!("fp16".parse::<Dtype>().unwrap_err().near, "f16");
    }

    #[test]
    fn write_then_read_rounds_once() {
        for dtype in Dtype::ALL {
            let mut bytes = [0u8; 24];
            for value in [0.0, 1.0, -3.0, 0.3, 7.9] {
                dtype.write(&mut bytes, 2, value);
                let expected = match dtype.format() {
                    Some(format) => format.round(value),
                    None if *dtype == Dtype::U8 => value.trunc().max(0.0),
                    None => value.trunc(),
                };
                assert_eq!(dtype.read(&bytes, 2), expected, "{dtype} {value}");
            }
        }
    }
}
