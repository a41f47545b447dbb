//! Loads a contract: every operation with its answer, or every reason why not.

use std::fmt;

use camino::Utf8Path;
use serde::Serialize;
use serde_json::Value;

use super::document::Document;
use super::operation::{Name, Operation};
use super::response;
use super::rules;
use crate::error::StubError;
use crate::reason::Reason;
use crate::route::{Table, Template};
use crate::zero::Search;

/// The methods that OpenAPI 3.0 knows.
pub(super) const METHODS: [&str; 8] = [
    "get", "put", "post", "delete", "options", "head", "patch", "trace",
];

/// The most operations of one contract.
const MOST: usize = 10_000;

/// A contract that is ready to be served.
#[derive(Debug)]
pub(crate) struct Contract {
    pub(crate) routes: Table<Operation>,
    /// The path of the first server, without its last slash; empty for none.
    pub(crate) base: String,
    pub(crate) operations: usize,
}

/// An operation without a valid answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// Its `operationId`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Its method, in capitals.
    pub method: String,
    /// Its path template.
    pub path: String,
    /// Why.
    pub reason: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, self.path)?;
        if let Some(id) = &self.id {
            write!(f, " (`{id}`)")?;
        }
        write!(f, ": {}", self.reason)
    }
}

/// An operation that is served.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OperationFacts {
    /// Its `operationId`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Its method, in capitals.
    pub method: String,
    /// Its path template.
    pub path: String,
    /// The status it answers with.
    pub status: u16,
    /// The media types it answers in, the default first.
    pub content_types: Vec<String>,
}

/// What a definition would serve, and what it would not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Survey {
    /// Its title.
    pub title: String,
    /// The operations that are served.
    pub operations: Vec<OperationFacts>,
    /// The operations without a valid answer.
    pub refusals: Vec<Refusal>,
}

impl Survey {
    /// The error that serving this would end in, if it would.
    pub fn refused(&self, path: &Utf8Path) -> Option<StubError> {
        (!self.refusals.is_empty()).then(|| StubError::Refused {
            path: path.to_owned(),
            total: self.operations.len() + self.refusals.len(),
            refusals: self.refusals.clone(),
        })
    }
}

/// Reads a definition without serving it.
pub fn survey(path: &Utf8Path) -> Result<Survey, StubError> {
    let document = Document::read(path)?;
    let Read {
        operations,
        refusals,
        ..
    } = read(&document, path)?;
    let title = document.root().pointer("/info/title");
    Ok(Survey {
        title: title.and_then(Value::as_str).unwrap_or_default().to_owned(),
        operations: operations.iter().map(facts).collect(),
        refusals,
    })
}

fn facts(operation: &Operation) -> OperationFacts {
    let Operation { name, response } = operation;
    OperationFacts {
        id: name.id.clone(),
        method: name.method.clone(),
        path: name.path.clone(),
        status: response.status.as_u16(),
        content_types: response
            .bodies
            .iter()
            .map(|(media, _)| media.text.clone())
            .collect(),
    }
}

impl Contract {
    /// Reads a definition; one operation without an answer fails the whole.
    pub(crate) fn load(path: &Utf8Path) -> Result<Self, StubError> {
        Self::of(&Document::read(path)?, path)
    }

    /// The same for a parsed document.
    pub(crate) fn of(document: &Document, path: &Utf8Path) -> Result<Self, StubError> {
        let Read {
            routes,
            operations,
            refusals,
        } = read(document, path)?;
        let total = operations.len() + refusals.len();
        if !refusals.is_empty() {
            return Err(StubError::Refused {
                path: path.to_owned(),
                total,
                refusals,
            });
        }
        Ok(Self {
            routes,
            base: base(document.root()),
            operations: total,
        })
    }
}

/// Everything that was read.
struct Read {
    routes: Table<Operation>,
    operations: Vec<Operation>,
    refusals: Vec<Refusal>,
}

fn read(document: &Document, path: &Utf8Path) -> Result<Read, StubError> {
    let invalid = |reason: String| StubError::Invalid {
        path: path.to_owned(),
        faults: vec![reason],
    };
    let faults = rules::faults(document);
    if !faults.is_empty() {
        return Err(StubError::Invalid {
            path: path.to_owned(),
            faults,
        });
    }
    let Some(paths) = document.root().get("paths") else {
        return Err(invalid("it has no `paths`".into()));
    };
    let Some(paths) = paths.as_object() else {
        return Err(invalid("its `paths` is no object".into()));
    };
    let mut reader = Reader {
        document,
        search: Search::new(document),
        found: Read {
            routes: Table::new(),
            operations: Vec::new(),
            refusals: Vec::new(),
        },
    };
    for (template, item) in paths.iter().filter(|(key, _)| !key.starts_with("x-")) {
        reader
            .path_item(template, item)
            .map_err(|reason| invalid(format!("path `{template}`: {reason}")))?;
        if reader.found.operations.len() + reader.found.refusals.len() > MOST {
            return Err(invalid(format!("it has more than {MOST} operations")));
        }
    }
    Ok(reader.found)
}

struct Reader<'d> {
    document: &'d Document,
    search: Search<'d>,
    found: Read,
}

impl<'d> Reader<'d> {
    fn path_item(&mut self, path: &str, item: &'d Value) -> Result<(), Reason> {
        let item = self.document.follow(item)?;
        let Some(item) = item.as_object() else {
            return Err(Reason::new("it is no object"));
        };
        for method in METHODS {
            let Some(operation) = item.get(method) else {
                continue;
            };
            let name = Name {
                id: operation
                    .get("operationId")
                    .and_then(Value::as_str)
                    .map(str::to_owned),
                method: method.to_uppercase(),
                path: path.to_owned(),
            };
            match self.operation(&name, operation) {
                Ok(operation) => self.found.operations.push(operation),
                Err(reason) => self.found.refusals.push(Refusal {
                    id: name.id,
                    method: name.method,
                    path: name.path,
                    reason: reason.to_string(),
                }),
            }
        }
        Ok(())
    }

    fn operation(&mut self, name: &Name, operation: &'d Value) -> Result<Operation, Reason> {
        let template = Template::parse(&name.path).map_err(Reason::new)?;
        let Some(map) = operation.as_object() else {
            return Err(Reason::new("it is no object"));
        };
        let response = response::success(self.document, &mut self.search, map.get("responses"))?;
        let found = Operation {
            name: name.clone(),
            response,
        };
        let routes = &mut self.found.routes;
        let added = routes.add(&name.path, template, &name.method, found.clone());
        added.map_err(|other| {
            Reason::new(format!("path `{other}` has the same template and method"))
        })?;
        Ok(found)
    }
}

/// The path of the first server, its variables at their defaults.
fn base(root: &Value) -> String {
    let Some(server) = root.pointer("/servers/0") else {
        return String::new();
    };
    let mut url = server
        .get("url")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned();
    let variables = server.get("variables").and_then(Value::as_object);
    for (name, variable) in variables.into_iter().flatten() {
        let value = match variable.get("default") {
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
            None => continue,
        };
        url = url.replace(&format!("{{{name}}}"), &value);
    }
    let path = match url.split_once("://") {
        Some((_, rest)) => rest.find('/').map_or("", |at| &rest[at..]),
        None => url.as_str(),
    };
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let path = path.trim_matches('/');
    if path.is_empty() {
        String::new()
    } else {
        format!("/{path}")
    }
}
