//! Percent-decoding that takes what it gets.

/// The bytes that a text stands for; a `%` without two hexadecimal digits stays one.
pub(crate) fn percent_decode(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let decoded = (*byte == b'%')
            .then(|| Some(digit(*bytes.get(at + 1)?)? << 4 | digit(*bytes.get(at + 2)?)?));
        let (byte, width) = decoded.flatten().map_or((*byte, 1), |byte| (byte, 3));
        out.push(byte);
        at += width;
    }
    out
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte)
        .to_digit(16)
        .and_then(|digit| u8::try_from(digit).ok())
}
