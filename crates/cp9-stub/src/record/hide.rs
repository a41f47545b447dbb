//! What a recorder leaves out of what it was sent.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::{Map, Value};

/// What stands in place of a value that nobody should find in a file.
pub(super) const HIDDEN: &str = "***";

type Redact = dyn Fn(&str) -> String + Send + Sync;
type Renew = dyn Fn() + Send + Sync;

/// Knows which texts are to be hidden; by default none.
#[derive(Clone, Default)]
pub struct Hide {
    redact: Option<Arc<Redact>>,
    renew: Option<Arc<Renew>>,
}

impl std::fmt::Debug for Hide {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Hide")
    }
}

impl Hide {
    /// Hides what the function replaces in a text. It must find a secret in each form in which one travels,
    /// that in JSON strings included.
    pub fn new(redact: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        Self {
            redact: Some(Arc::new(redact)),
            renew: None,
        }
    }

    /// Calls the other function before each request, so that what is to be hidden may change.
    #[must_use]
    pub fn renewed_by(mut self, renew: impl Fn() + Send + Sync + 'static) -> Self {
        self.renew = Some(Arc::new(renew));
        self
    }

    /// To be called before each request.
    pub(super) fn renew(&self) {
        if let Some(renew) = &self.renew {
            renew();
        }
    }

    /// The text without what is to be hidden.
    pub(super) fn from<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match &self.redact {
            Some(redact) => Cow::Owned(redact(text)),
            None => Cow::Borrowed(text),
        }
    }

    /// True if something is to be hidden.
    pub(super) fn finds(&self, text: &str) -> bool {
        self.from(text) != text
    }

    /// A token of JSON; one that is hidden in part is a string.
    pub(super) fn token<'t>(&self, token: &'t str) -> Cow<'t, str> {
        if self.redact.is_none() {
            return Cow::Borrowed(token);
        }
        if let Ok(text) = serde_json::from_str::<String>(token) {
            let hidden = self.from(&text);
            if hidden == text && !self.finds(token) {
                return Cow::Borrowed(token);
            }
            return Cow::Owned(Value::from(self.from(&hidden)).to_string());
        }
        let is_scalar = token.len() > 1 && self.finds(token);
        if is_scalar {
            Cow::Owned(Value::from(HIDDEN).to_string())
        } else {
            Cow::Borrowed(token)
        }
    }

    /// Texts and lists of texts by their names.
    pub(super) fn map(&self, map: Map<String, Value>) -> Map<String, Value> {
        let text = |value| match value {
            Value::String(text) => Value::from(self.from(&text)),
            other => other,
        };
        map.into_iter()
            .map(|(name, value)| {
                let value = match value {
                    Value::Array(list) => Value::Array(list.into_iter().map(text).collect()),
                    value => text(value),
                };
                (self.from(&name).into_owned(), value)
            })
            .collect()
    }
}
