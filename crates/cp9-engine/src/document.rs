//! JSON documents of a session as they stand on disk: indented, with a line end.

use serde::Serialize;

/// The bytes of a document; the same value gives the same bytes.
pub(crate) fn bytes<T: Serialize>(value: &T) -> Vec<u8> {
    let mut bytes =
        serde_json::to_vec_pretty(value).expect("documents are plain data and always serialise");
    bytes.push(b'\n');
    bytes
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_document_is_indented_and_ends_its_line() {
        let value = serde_json::json!({"a": [1]});
        assert_eq!(super::bytes(&value), b"{\n  \"a\": [\n    1\n  ]\n}\n");
    }
}
