//! Paths and addresses as URIs.

use std::fmt::Write as _;

/// A path as a URI reference: a relative one stays relative, an absolute one becomes
/// `file://`. Whatever is no letter, digit or one of `-._~/` is percent-encoded, a colon
/// too, which could begin a scheme.
pub(super) fn of_path(path: &str) -> String {
    let mut uri = String::with_capacity(path.len() + 8);
    if path.starts_with('/') {
        uri.push_str("file://");
        // A second slash would name a host.
        uri.push('/');
    }
    encode(&mut uri, path.trim_start_matches('/'), "-._~/");
    uri
}

/// The most bytes of an address; browsers take hardly more.
const LONGEST: usize = 2000;

/// An address that a predicate gives, if it is one of the web: of its host only letters,
/// digits, dots and hyphens are taken, and what may not stand in a URI is encoded.
pub(in crate::report) fn of_web(address: &str) -> Option<String> {
    if address.len() > LONGEST {
        return None;
    }
    let (scheme, rest) = address.split_once("://")?;
    if !matches!(scheme, "http" | "https") {
        return None;
    }
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, rest) = rest.split_at(end);
    let (host, port) = authority.split_once(':').unwrap_or((authority, ""));
    let is_host = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-');
    let digits = |byte: u8| byte.is_ascii_digit();
    if host.is_empty() || !host.bytes().all(is_host) || !port.bytes().all(digits) {
        return None;
    }
    let mut uri = format!("{scheme}://{authority}");
    let (path, fragment) = rest
        .split_once('#')
        .map_or((rest, None), |(path, it)| (path, Some(it)));
    encode_web(&mut uri, path);
    if let Some(fragment) = fragment {
        uri.push('#');
        encode_web(&mut uri, fragment);
    }
    Some(uri)
}

/// Encodes, and leaves what is encoded.
fn encode_web(out: &mut String, text: &str) {
    let mut parts = text.split('%');
    encode(out, parts.next().unwrap_or_default(), WEB);
    for part in parts {
        let is_encoded =
            part.len() >= 2 && part.bytes().take(2).all(|byte| byte.is_ascii_hexdigit());
        out.push_str(if is_encoded { "%" } else { "%25" });
        encode(out, part, WEB);
    }
}

/// What stays in a path, query or fragment.
const WEB: &str = "-._~/?!$&'()*+,;=:@";

fn encode(out: &mut String, text: &str, kept: &str) {
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || kept.as_bytes().contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_encoded() {
        assert_eq!(of_path("src/lib.rs"), "src/lib.rs");
        assert_eq!(of_path("a b/ä%#?.rs"), "a%20b/%C3%A4%25%23%3F.rs");
        assert_eq!(of_path("c:\\x\n"), "c%3A%5Cx%0A");
        assert_eq!(of_path("//host/x"), "file:///host/x");
    }

    #[test]
    fn only_addresses_of_the_web_are_taken() {
        for (address, uri) in [
            (
                "https://example.com/a?b#c",
                Some("https://example.com/a?b#c"),
            ),
            ("https://example.com:8080", Some("https://example.com:8080")),
            (
                "https://example.com/a b%20c%zz[#d#e",
                Some("https://example.com/a%20b%20c%25zz%5B#d%23e"),
            ),
            ("javascript://example.com/%0aalert(1)", None),
            ("https://user@example.com/", None),
            ("https:///x", None),
            ("example.com", None),
            ("", None),
        ] {
            assert_eq!(of_web(address).as_deref(), uri, "{address}");
        }
    }
}
