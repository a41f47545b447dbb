//! SHA-256 digests of bytes and of serialised values, as lower-case hex.

use std::fmt::Write as _;

use serde::Serialize;
use sha2::{Digest, Sha256};

/// The digest of bytes.
pub fn bytes(data: &[u8]) -> String {
    hex(&Sha256::digest(data))
}

/// The digest of a value's JSON form; keys keep their order, so give ordered maps only.
pub fn value<T: Serialize>(value: &T) -> Result<String, serde_json::Error> {
    Ok(bytes(&serde_json::to_vec(value)?))
}

fn hex(digest: &[u8]) -> String {
    digest
        .iter()
        .fold(String::with_capacity(64), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
}
