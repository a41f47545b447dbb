//! One file per command.

pub mod controller;
pub mod credentials;
pub mod deploy;
pub mod destroy;
pub mod doctor;
pub mod logs;
pub mod pause;
pub mod setup;
pub mod status;
pub mod up;
mod wait;

/// A word as a shell takes it back.
pub(crate) fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn words_survive_a_shell() {
        assert_eq!(super::quote("/a/b-c.yaml"), "/a/b-c.yaml");
        assert_eq!(super::quote("it's here"), r"'it'\''s here'");
        assert_eq!(super::quote(""), "''");
    }
}
