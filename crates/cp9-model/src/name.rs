//! Names with rules: session, service, owner. Parsed once at the edge.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::explain::{Category, Explain};

/// Why a name is refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NameError {
    /// Too short or too long.
    #[error("{kind} `{value}` has {length} characters, {min} to {max} are allowed")]
    Length {
        /// What the name names.
        kind: &'static str,
        /// The name as given.
        value: String,
        /// Its length in characters.
        length: usize,
        /// The least allowed.
        min: usize,
        /// The most allowed.
        max: usize,
    },
    /// A character outside the allowed set.
    #[error("{kind} `{value}` may hold only lower-case letters, digits and inner hyphens")]
    Characters {
        /// What the name names.
        kind: &'static str,
        /// The name as given.
        value: String,
    },
}

impl Explain for NameError {
    fn category(&self) -> Category {
        Category::Config
    }
    fn code(&self) -> &'static str {
        "name-invalid"
    }
    fn remedy(&self) -> Option<String> {
        Some("use lower-case letters, digits and hyphens, starting with a letter".into())
    }
}

fn check(kind: &'static str, value: &str, min: usize, max: usize) -> Result<(), NameError> {
    let length = value.chars().count();
    if length < min || length > max {
        let value = value.chars().take(64).collect();
        return Err(NameError::Length {
            kind,
            value,
            length,
            min,
            max,
        });
    }
    let inner = value
        .chars()
        .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    let starts = value.starts_with(|c: char| c.is_ascii_lowercase());
    if !inner || !starts || value.ends_with('-') {
        return Err(NameError::Characters {
            kind,
            value: value.into(),
        });
    }
    Ok(())
}

macro_rules! name {
    ($(#[$doc:meta])* $type:ident, $kind:literal, $min:literal, $max:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $type(String);

        impl $type {
            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $type {
            type Err = NameError;
            fn from_str(value: &str) -> Result<Self, NameError> {
                check($kind, value, $min, $max)?;
                Ok(Self(value.to_owned()))
            }
        }

        impl TryFrom<String> for $type {
            type Error = NameError;
            fn try_from(value: String) -> Result<Self, NameError> {
                value.parse()
            }
        }

        impl From<$type> for String {
            fn from(name: $type) -> Self {
                name.0
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

name!(
    /// The name of a session: prefix, tag value and folder name at once (3 to 32 characters).
    SessionName, "session name", 3, 32
);
name!(
    /// The name of a service, a DNS label.
    ServiceName, "service name", 1, 63
);

/// Who a session belongs to, in lower case.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Owner(String);

impl Owner {
    /// The owner of a session on the `local` cloud when nobody is named.
    pub const LOCAL: &'static str = "local";

    /// Takes an owner as given and folds it to lower case.
    pub fn new(value: &str) -> Self {
        Self(value.trim().to_lowercase())
    }

    /// The owner as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn session_names_follow_the_rule() {
        for good in ["abc", "cp9-cara-rs1", "a23456789012345678901234567890ab"] {
            assert!(good.parse::<SessionName>().is_ok(), "{good}");
        }
        for bad in [
            "ab", "", "Abc", "abc-", "-abc", "9ab", "a_b", "a b", "a.b", "ümlaut",
        ] {
            assert!(bad.parse::<SessionName>().is_err(), "{bad}");
        }
        let long = "a".repeat(33);
        let err = long.parse::<SessionName>().expect_err("33 characters");
        assert_eq!(
            err.to_string(),
            format!("session name `{long}` has 33 characters, 3 to 32 are allowed")
        );
    }

    #[test]
    fn owners_are_lower_case() {
        assert_eq!(
            Owner::new(" Alice@Example.COM ").as_str(),
            "alice@example.com"
        );
    }
}
