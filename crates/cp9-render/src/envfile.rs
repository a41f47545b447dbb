//! The literal env-file format of `secrets/<svc>.env`: `KEY=VALUE`, `KEY="VALUE"` or `KEY='VALUE'`,
//! no escapes, no expansion, one line each.

/// Why a value has no form in the format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unwritable {
    /// It spans lines or holds a NUL.
    Multiline,
    /// It needs quotes and holds both kinds.
    Quotes,
}

impl Unwritable {
    /// The reason as a fragment.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Multiline => "it spans lines or holds a NUL byte",
            Self::Quotes => "it needs quotes and holds both kinds of them",
        }
    }
}

/// One line of the file, without its end.
pub fn line(key: &str, value: &str) -> Result<String, Unwritable> {
    if value.contains(['\n', '\r', '\0']) {
        return Err(Unwritable::Multiline);
    }
    if plain(value) {
        return Ok(format!("{key}={value}"));
    }
    if !value.contains('"') {
        return Ok(format!("{key}=\"{value}\""));
    }
    if value.contains('\'') {
        return Err(Unwritable::Quotes);
    }
    Ok(format!("{key}='{value}'"))
}

/// True when the value can stand without quotes: no blank at an end, no quote in front, nothing
/// that could be read as a comment, no control character.
fn plain(value: &str) -> bool {
    let comment = value.starts_with('#')
        || value
            .char_indices()
            .any(|(at, c)| c.is_whitespace() && value[at + c.len_utf8()..].starts_with('#'));
    let control = value.contains(|c: char| c.is_control() && c != '\t');
    value == value.trim() && !control && !value.starts_with(['"', '\'']) && !comment
}

/// True when the key is a name that every reader of the format takes.
pub fn is_key(key: &str) -> bool {
    !key.is_empty()
        && !key.starts_with(|c: char| c.is_ascii_digit())
        && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_take_the_plainest_form() {
        for (value, expected) in [
            ("abc", "K=abc"),
            ("", "K="),
            ("a\\n$b", "K=a\\n$b"),
            ("a b", "K=a b"),
            (" a", "K=\" a\""),
            ("#a", "K=\"#a\""),
            ("a\x1bb", "K=\"a\x1bb\""),
            ("a #b", "K=\"a #b\""),
            ("a#b", "K=a#b"),
            ("\"a", "K='\"a'"),
            ("it's \"x\"", "K=it's \"x\""),
        ] {
            assert_eq!(line("K", value).as_deref(), Ok(expected), "{value}");
        }
    }

    #[test]
    fn what_cannot_be_written_is_refused() {
        assert_eq!(line("K", "a\nb"), Err(Unwritable::Multiline));
        assert_eq!(line("K", "a\0b"), Err(Unwritable::Multiline));
        assert_eq!(line("K", " it's \"x\""), Err(Unwritable::Quotes));
    }

    #[test]
    fn keys_are_variable_names() {
        assert!(is_key("A_1") && !is_key("1A") && !is_key("tls.crt") && !is_key(""));
    }

    proptest::proptest! {
        #[test]
        fn what_is_written_is_read_back(value in "[\x01-\x1f -~\u{7f}\u{85}é]{0,24}") {
            if let Ok(line) = line("KEY", &value) {
                let read = cp9_model::config::envfile::parse("x.env", format!("{line}\n").as_bytes());
                proptest::prop_assert_eq!(read, Ok(vec![("KEY".to_owned(), value)]));
            }
        }

        #[test]
        fn most_values_can_be_written(value in "[!-~]{0,24}") {
            let quotes = value.contains('"') && value.contains('\'');
            proptest::prop_assert!(quotes || line("KEY", &value).is_ok());
        }
    }
}
