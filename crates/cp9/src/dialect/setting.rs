//! The `{…}` tokens: variables and switches for the rest of a chain.

use std::collections::BTreeMap;

use super::DialectError;
use crate::suggest::closest;
use crate::ui::Format;

/// What `{…}` tokens set, for the rest of the chain.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Overlay {
    /// Variables.
    pub(crate) env: BTreeMap<String, String>,
    /// `{cp9.verbose=…}`.
    pub(crate) verbose: Option<bool>,
    /// `{sys.output.format=…}`.
    pub(crate) format: Option<Format>,
}

/// The inside of a `{…}` token.
pub(super) fn inside(token: &str) -> Option<&str> {
    token.strip_prefix('{')?.strip_suffix('}')
}

const VERBOSE: &str = "cp9.verbose";
const FORMAT: &str = "sys.output.format";

impl Overlay {
    /// Takes a `{…}` token and what is inside it.
    pub(super) fn set(&mut self, token: &str, inside: &str) -> Result<(), DialectError> {
        let (key, value) = inside.split_once('=').unwrap_or((inside, ""));
        let given = inside.contains('=');
        match key {
            VERBOSE if given => self.verbose = Some(boolean(value)?),
            FORMAT if given => self.format = Some(format(value)?),
            _ => match key.strip_prefix("env.").filter(|_| given) {
                Some(name) => {
                    self.env
                        .insert(variable(name)?.to_owned(), value.to_owned());
                }
                None => return Err(unknown_setting(token, key)),
            },
        }
        Ok(())
    }
}

fn unknown_setting(token: &str, key: &str) -> DialectError {
    let close = closest(key, [VERBOSE, FORMAT, "env.KEY"]).map(str::to_owned);
    DialectError::UnknownSetting {
        token: token.to_owned(),
        close,
    }
}

fn boolean(value: &str) -> Result<bool, DialectError> {
    value.parse().map_err(|_| DialectError::SettingValue {
        key: VERBOSE,
        allowed: "`true` or `false`",
        value: value.to_owned(),
    })
}

fn format(value: &str) -> Result<Format, DialectError> {
    match value {
        "text" => Ok(Format::Text),
        "json" => Ok(Format::Envelope),
        "lines" => Ok(Format::Lines),
        _ => Err(DialectError::SettingValue {
            key: FORMAT,
            allowed: "`json`, `lines` or `text`",
            value: value.to_owned(),
        }),
    }
}

fn variable(name: &str) -> Result<&str, DialectError> {
    let starts = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let inner = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if starts && inner {
        Ok(name)
    } else {
        Err(DialectError::VariableName {
            name: name.to_owned(),
        })
    }
}
