//! Digests and encodings of text.

use sha2::{Digest, Sha256};

use super::failure::Failure;

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

pub(super) fn apply(name: &str, of: &str) -> Result<String, Failure> {
    match name {
        "sha256" => Ok(hex(&Sha256::digest(of.as_bytes()))),
        "hex_encode" => Ok(hex(of.as_bytes())),
        "hex_decode" => readable(from_hex(of), name),
        "base64_encode" => Ok(base64(of.as_bytes())),
        _ => readable(from_base64(of), name),
    }
}

fn readable(bytes: Option<Vec<u8>>, name: &str) -> Result<String, Failure> {
    bytes
        .and_then(|bytes| String::from_utf8(bytes).ok())
        .ok_or_else(|| Failure::throw_text(format!("`{name}` cannot read this")))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let byte = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).ok();
    (0..text.len()).step_by(2).map(byte).collect()
}

fn base64(bytes: &[u8]) -> String {
    let mut out = String::new();
    for group in bytes.chunks(3) {
        let at = |index: usize| u32::from(group.get(index).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for digit in 0..4 {
            let index = (bits >> (18 - 6 * digit) & 63) as usize;
            out.push(if digit <= group.len() {
                DIGITS[index] as char
            } else {
                '='
            });
        }
    }
    out
}

fn from_base64(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=');
    if !text.len().is_multiple_of(4) || text.len() - digits.len() > 2 {
        return None;
    }
    let mut out = Vec::new();
    for group in digits.as_bytes().chunks(4) {
        let mut bits = 0;
        for at in 0..4 {
            let value = match group.get(at) {
                Some(digit) => DIGITS.iter().position(|known| known == digit)?,
                None => 0,
            };
            bits = bits << 6 | value;
        }
        let bytes = [(bits >> 16) as u8, (bits >> 8) as u8, bits as u8];
        out.extend_from_slice(&bytes[..group.len() - 1]);
    }
    Some(out)
}
