//! Programs as bytes: the format of the disk cache and of the loader.
//!
//! ```text
//! magic "PRBY"  format version u16  language u8  registers u16
//! source        string
//! instructions  count u32, then u32 each
//! spans         one for each instruction: u32 u32
//! facts         count u32, then primitive u8, flags u8, glob u8,
//!               limit (u8 0 | u8 1 u64), span, one or two strings
//! constants     count u32, then tag u8 and the value
//! warnings      count u32, then severity u8, code u8, span, message, help
//! ```
//!
//! Numbers are little-endian, a string is a u32 length and UTF-8. There is
//! nothing after the last warning. Decoding checks every length against what is
//! left before it allocates, and ends in the verifier: arbitrary bytes give an
//! error or a sound program.

use std::sync::Arc;

use crate::code::verify::MAX_INSNS;
use crate::code::{
    Const, FactSpec, Insn, MAX_FACTS, Needle, Parts, Program, TextRegex, VerifyError, verify,
};
use crate::diagnostic::{Code, Diagnostic, Severity, Span};
use crate::facts::{FactKey, PathSpec, Pattern, Primitive, RegexFlags};
use crate::language::Language;

/// Raised with every change of the format, of the meaning of an opcode, or of what
/// the checker accepts: programs that are kept elsewhere were made by older rules.
pub const FORMAT_VERSION: u16 = 1;

const MAGIC: &[u8; 4] = b"PRBY";

/// Far more than the checker has to say about one source.
const MAX_WARNINGS: usize = 4096;

/// Why bytes are no program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The first bytes are not those of a program.
    #[error("not a compiled program")]
    Magic,
    /// The format version is another.
    #[error("format version {0}, this engine reads {FORMAT_VERSION}")]
    Version(u16),
    /// The bytes end too early.
    #[error("cut short at byte {0}")]
    Truncated(usize),
    /// A value that the format does not have.
    #[error("bad {0} at byte {1}")]
    Value(&'static str, usize),
    /// Bytes after the end.
    #[error("bytes after the end of the program")]
    Trailing,
    /// Decoded, and refused by the verifier.
    #[error(transparent)]
    Unsound(#[from] VerifyError),
}

/// Writes a program. [`decode`] reads every output of it back to an equal
/// program.
#[must_use]
pub fn encode(program: &Program) -> Vec<u8> {
    let mut out = Writer(Vec::with_capacity(256));
    out.0.extend_from_slice(MAGIC);
    out.0.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
    out.0.push(program.language() as u8);
    out.0.extend_from_slice(&program.registers().to_le_bytes());
    out.str(program.source());
    out.count(program.insns().len());
    for insn in program.insns() {
        out.u32(insn.0);
    }
    for &span in program.spans() {
        out.span(span);
    }
    out.count(program.facts().len());
    for fact in program.facts() {
        out.fact(fact);
    }
    out.count(program.consts().len());
    for value in program.consts() {
        out.constant(value);
    }
    out.count(program.warnings().len());
    for warning in program.warnings() {
        out.warning(warning);
    }
    out.0
}

/// Reads a program and proves it sound.
///
/// # Errors
/// [`DecodeError`] for whatever [`encode`] did not write; never a panic.
pub fn decode(bytes: &[u8]) -> Result<Program, DecodeError> {
    let mut input = Reader { bytes, at: 0 };
    if input.take(4)? != MAGIC {
        return Err(DecodeError::Magic);
    }
    let version = input.u16()?;
    if version != FORMAT_VERSION {
        return Err(DecodeError::Version(version));
    }
    let language = input.choice("language", &Language::ALL)?;
    let registers = input.u16()?;
    let source: Arc<str> = input.str()?.into();
    let count = input.count(4, MAX_INSNS)?;
    let insns = (0..count)
        .map(|_| input.u32().map(Insn))
        .collect::<Result<_, _>>()?;
    let spans = (0..count).map(|_| input.span()).collect::<Result<_, _>>()?;
    let count = input.count(12, MAX_FACTS)?;
    let facts = (0..count).map(|_| input.fact()).collect::<Result<_, _>>()?;
    let count = input.count(5, 256)?;
    let consts = (0..count)
        .map(|_| input.constant())
        .collect::<Result<_, _>>()?;
    let count = input.count(15, MAX_WARNINGS)?;
    let warnings = (0..count)
        .map(|_| input.warning())
        .collect::<Result<_, _>>()?;
    if input.at != bytes.len() {
        return Err(DecodeError::Trailing);
    }
    Ok(verify(Parts {
        language,
        source,
        registers,
        insns,
        facts,
        consts,
        spans,
        warnings,
    })?)
}

struct Writer(Vec<u8>);

impl Writer {
    fn u32(&mut self, value: u32) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    fn u64(&mut self, value: u64) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    // Lengths are bounded by the source, which is at most 64 KiB.
    fn count(&mut self, count: usize) {
        self.u32(u32::try_from(count).unwrap_or(u32::MAX));
    }

    fn str(&mut self, text: &str) {
        self.count(text.len());
        self.0.extend_from_slice(text.as_bytes());
    }

    fn span(&mut self, span: Span) {
        self.u32(span.start);
        self.u32(span.end);
    }

    fn fact(&mut self, fact: &FactSpec) {
        let none = (RegexFlags::NONE, false);
        let (flags, glob) = match &fact.key {
            FactKey::Exists(path) => (RegexFlags::NONE, path.glob),
            FactKey::Grep(pattern, path) | FactKey::Count(pattern, path) => {
                (pattern.flags, path.glob)
            }
            FactKey::Test(_) | FactKey::Run(_) => none,
        };
        self.0.push(fact.key.primitive() as u8);
        self.0.push(flags.bits());
        self.0.push(u8::from(glob));
        match fact.limit {
            None => self.0.push(0),
            Some(limit) => {
                self.0.push(1);
                self.u64(limit);
            }
        }
        self.span(fact.span);
        for argument in fact.key.arguments() {
            self.str(argument);
        }
    }

    fn constant(&mut self, value: &Const) {
        match value {
            Const::Int(value) => {
                self.0.push(0);
                self.u64(value.cast_unsigned());
            }
            Const::Str(needle) => {
                self.0.push(1);
                self.count(needle.bytes().len());
                self.0.extend_from_slice(needle.bytes());
            }
            Const::Regex(regex) => {
                self.0.push(2);
                self.0.push(regex.pattern().flags.bits());
                self.str(&regex.pattern().text);
            }
        }
    }

    fn warning(&mut self, warning: &Diagnostic) {
        self.0.push(u8::from(warning.is_error()));
        self.0.push(warning.code as u8);
        self.span(warning.span);
        self.str(&warning.message);
        match &warning.help {
            None => self.0.push(0),
            Some(help) => {
                self.0.push(1);
                self.str(help);
            }
        }
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], DecodeError> {
        let taken = self
            .bytes
            .get(self.at..)
            .and_then(|rest| rest.get(..length))
            .ok_or(DecodeError::Truncated(self.at))?;
        self.at += length;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    fn u8(&mut self) -> Result<u8, DecodeError> {
        self.array().map(|[byte]| byte)
    }

    fn u16(&mut self) -> Result<u16, DecodeError> {
        self.array().map(u16::from_le_bytes)
    }

    fn u32(&mut self) -> Result<u32, DecodeError> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64, DecodeError> {
        self.array().map(u64::from_le_bytes)
    }

    /// A count of items of at least `size` bytes each, checked against what is
    /// left so that a hostile count allocates nothing.
    fn count(&mut self, size: usize, most: usize) -> Result<usize, DecodeError> {
        let count = self.u32()? as usize;
        let left = self.bytes.len() - self.at;
        if count > most {
            return Err(DecodeError::Value("count", self.at - 4));
        }
        if count.saturating_mul(size) > left {
            return Err(DecodeError::Truncated(self.at));
        }
        Ok(count)
    }

    fn str(&mut self) -> Result<&'a str, DecodeError> {
        let length = self.u32()? as usize;
        let at = self.at;
        std::str::from_utf8(self.take(length)?).map_err(|_| DecodeError::Value("string", at))
    }

    fn choice<T: Copy>(&mut self, what: &'static str, all: &[T]) -> Result<T, DecodeError> {
        let at = self.at;
        let number = usize::from(self.u8()?);
        all.get(number).copied().ok_or(DecodeError::Value(what, at))
    }

    fn flag(&mut self, what: &'static str) -> Result<bool, DecodeError> {
        self.choice(what, &[false, true])
    }

    fn flags(&mut self) -> Result<RegexFlags, DecodeError> {
        let at = self.at;
        RegexFlags::from_bits(self.u8()?).ok_or(DecodeError::Value("regex flags", at))
    }

    fn span(&mut self) -> Result<Span, DecodeError> {
        Ok(Span {
            start: self.u32()?,
            end: self.u32()?,
        })
    }

    fn fact(&mut self) -> Result<FactSpec, DecodeError> {
        let primitive = self.choice("primitive", &Primitive::ALL)?;
        let at = self.at;
        let flags = self.flags()?;
        let glob = self.flag("glob")?;
        let limit = if self.flag("limit")? {
            Some(self.u64()?)
        } else {
            None
        };
        let span = self.span()?;
        let mut text = || self.str().map(Box::<str>::from);
        let key = match primitive {
            Primitive::Exists => FactKey::Exists(PathSpec {
                text: text()?,
                glob,
            }),
            Primitive::Grep | Primitive::Count => {
                let pattern = Pattern {
                    text: text()?,
                    flags,
                };
                let path = PathSpec {
                    text: text()?,
                    glob,
                };
                if primitive == Primitive::Grep {
                    FactKey::Grep(pattern, path)
                } else {
                    FactKey::Count(pattern, path)
                }
            }
            Primitive::Test => FactKey::Test(text()?),
            Primitive::Run => FactKey::Run(text()?),
        };
        // Unused fields are zero, so that one program has one encoding.
        let scans = matches!(primitive, Primitive::Grep | Primitive::Count);
        let executes = matches!(primitive, Primitive::Test | Primitive::Run);
        if (!scans && flags != RegexFlags::NONE) || (executes && glob) {
            return Err(DecodeError::Value("fact", at));
        }
        Ok(FactSpec { key, limit, span })
    }

    fn constant(&mut self) -> Result<Const, DecodeError> {
        let at = self.at;
        Ok(match self.u8()? {
            0 => Const::Int(self.u64()?.cast_signed()),
            1 => Const::Str(Arc::new(Needle::new(self.str()?))),
            2 => {
                let flags = self.flags()?;
                let text = self.str()?.into();
                Const::Regex(Arc::new(TextRegex::new(Pattern { text, flags })))
            }
            _ => return Err(DecodeError::Value("constant", at)),
        })
    }

    fn warning(&mut self) -> Result<Diagnostic, DecodeError> {
        let severity = self.choice("severity", &[Severity::Warning, Severity::Error])?;
        let code = self.choice("diagnostic code", Code::ALL)?;
        let span = self.span()?;
        let message = self.str()?.into();
        let help = if self.flag("help")? {
            Some(self.str()?.into())
        } else {
            None
        };
        Ok(Diagnostic {
            severity,
            code,
            message,
            span,
            help,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program() -> Program {
        let span = Span::new(0, 4);
        let pattern = |text: &str| Pattern {
            text: text.into(),
            flags: RegexFlags::IGNORE_CASE,
        };
        let path = |glob| PathSpec {
            text: "a/b".into(),
            glob,
        };
        let fact = |key, limit| FactSpec { key, limit, span };
        let facts = vec![
            fact(FactKey::Exists(path(false)), None),
            fact(FactKey::Grep(pattern("x"), path(true)), Some(3)),
            fact(FactKey::Count(pattern("y"), path(false)), None),
            fact(FactKey::Test("t".into()), None),
            fact(FactKey::Run("r".into()), None),
        ];
        let insns = vec![
            Insn::abc(crate::code::Op::LoadBool, 0, 0, 0),
            Insn::abc(crate::code::Op::Ret, 0, 0, 0),
        ];
        verify(Parts {
            language: Language::ElenchV2,
            source: "source".into(),
            registers: 1,
            spans: vec![span; insns.len()],
            insns,
            facts,
            consts: vec![
                Const::Int(i64::MIN),
                Const::Str(Arc::new(Needle::new("nädel"))),
                Const::Regex(Arc::new(TextRegex::new(pattern("z+")))),
            ],
            warnings: vec![Diagnostic::warning(Code::StderrField, span, "m").help("h")],
        })
        .unwrap()
    }

    #[test]
    fn a_program_survives_the_round_trip() {
        let program = program();
        let bytes = encode(&program);
        let back = decode(&bytes).unwrap();
        assert_eq!(encode(&back), bytes);
        assert_eq!(back.facts(), program.facts());
        assert_eq!(back.warnings(), program.warnings());
        assert_eq!(back.digest(), program.digest());
        assert_eq!(crate::code::listing(&back), crate::code::listing(&program));
    }

    #[test]
    fn every_cut_is_an_error() {
        let bytes = encode(&program());
        for length in 0..bytes.len() {
            assert!(decode(&bytes[..length]).is_err(), "{length} bytes");
        }
        let mut longer = bytes;
        longer.push(0);
        assert_eq!(decode(&longer).err(), Some(DecodeError::Trailing));
    }

    #[test]
    fn a_flipped_byte_gives_an_error_or_a_sound_program() {
        let bytes = encode(&program());
        for at in 0..bytes.len() {
            for flip in [1, 0x80, 0xff] {
                let mut torn = bytes.clone();
                torn[at] ^= flip;
                if let Ok(program) = decode(&torn) {
                    assert!(!program.insns().len().eq(&0));
                    let _ = crate::vm::evaluate(&program, &crate::facts::FactTable::new());
                }
            }
        }
    }

    #[test]
    fn a_count_that_cannot_be_allocates_nothing() {
        let mut bytes = encode(&program());
        // The source's length.
        bytes[9..13].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(matches!(decode(&bytes), Err(DecodeError::Truncated(_))));
    }
}
