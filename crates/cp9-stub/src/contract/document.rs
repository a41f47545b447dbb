//! One definition as a tree of values, and the references inside it.

use camino::Utf8Path;
use serde_json::Value;

use crate::error::StubError;
use crate::reason::Reason;

/// The largest definition, in bytes.
const LIMIT: u64 = 16 * 1024 * 1024;
/// The longest chain of references to references.
const CHAIN: usize = 32;

/// A parsed OpenAPI 3.0 document.
#[derive(Debug)]
pub(crate) struct Document {
    root: Value,
}

impl Document {
    /// Reads and parses a file.
    pub(crate) fn read(path: &Utf8Path) -> Result<Self, StubError> {
        let named = |source| StubError::Read {
            path: path.to_owned(),
            source,
        };
        let length = std::fs::metadata(path).map_err(named)?.len();
        if length > LIMIT {
            return Err(StubError::TooLarge {
                path: path.to_owned(),
                limit: LIMIT,
            });
        }
        Self::parse(&std::fs::read(path).map_err(named)?, path)
    }

    /// Parses bytes; `path` only names them.
    pub(crate) fn parse(bytes: &[u8], path: &Utf8Path) -> Result<Self, StubError> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let (format, root) = read(bytes, path.extension());
        let root = root.map_err(|source| StubError::Syntax {
            path: path.to_owned(),
            format,
            source,
        })?;
        match other_version(&root) {
            None => Ok(Self { root }),
            Some(found) => Err(StubError::Version {
                path: path.to_owned(),
                found,
            }),
        }
    }

    /// The root object.
    pub(crate) fn root(&self) -> &Value {
        &self.root
    }

    /// The node that a reference names; it may be a reference itself.
    pub(crate) fn target(&self, reference: &str) -> Result<&Value, Reason> {
        let Some(fragment) = reference.strip_prefix('#') else {
            return Err(Reason::foreign(reference));
        };
        let found = percent_decoded(fragment).and_then(|pointer| self.root.pointer(&pointer));
        found.ok_or_else(|| Reason::new(format!("reference `{reference}` leads nowhere")))
    }

    /// The node itself, or what its chain of references ends at.
    pub(crate) fn follow<'d>(&'d self, mut node: &'d Value) -> Result<&'d Value, Reason> {
        for _ in 0..CHAIN {
            match reference(node) {
                Some(name) => node = self.target(name)?,
                None => return Ok(node),
            }
        }
        let name = reference(node).unwrap_or_default();
        Err(Reason::new(format!("reference `{name}` leads to itself")))
    }
}

/// The reference that a node is, if it is one.
pub(crate) fn reference(node: &Value) -> Option<&str> {
    node.as_object()?.get("$ref")?.as_str()
}

fn percent_decoded(text: &str) -> Option<String> {
    String::from_utf8(crate::route::percent_decode(text)).ok()
}

type Parsed = Result<Value, Box<dyn std::error::Error + Send + Sync>>;

/// JSON where the text begins as an object does; that may be YAML in one line as well, but then
/// the file is not called JSON.
fn read(bytes: &[u8], extension: Option<&str>) -> (&'static str, Parsed) {
    if !bytes.trim_ascii_start().starts_with(b"{") {
        return ("YAML", yaml(bytes));
    }
    match json(bytes) {
        Err(refused) if extension != Some("json") => match yaml(bytes) {
            Ok(root) => ("YAML", Ok(root)),
            Err(_) => ("JSON", Err(refused)),
        },
        parsed => ("JSON", parsed),
    }
}

fn json(bytes: &[u8]) -> Parsed {
    Ok(serde_json::from_slice(bytes)?)
}

fn yaml(bytes: &[u8]) -> Parsed {
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_events: 4_000_000,
            max_nodes: 2_000_000,
            max_depth: 100,
            max_documents: 1,
            max_aliases: 10_000,
            enforce_alias_anchor_ratio: false,
        },
        // Keys and values are JSON's: `on`, `no` and `0o17` are text.
        strict_booleans: true,
    };
    let parsed = serde_saphyr::from_slice_with_options(bytes, options);
    parsed.map_err(|error| error.without_snippet().to_string().into())
}

/// What the document is, unless it is OpenAPI 3.0.
fn other_version(root: &Value) -> Option<String> {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let Some(map) = root.as_object() else {
        return Some("no object".into());
    };
    match (map.get("openapi"), map.get("swagger")) {
        (Some(version), _) => {
            let version = text(version);
            let is_ours = version == "3.0" || version.starts_with("3.0.");
            (!is_ours).then(|| format!("OpenAPI `{version}`"))
        }
        (None, Some(version)) => Some(format!("OpenAPI `{}` (Swagger)", text(version))),
        (None, None) => Some("no OpenAPI document: it has neither `openapi` nor `swagger`".into()),
    }
}
