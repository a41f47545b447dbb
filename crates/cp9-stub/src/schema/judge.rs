//! Says whether a value meets schemas. Only the parts of the document that a question reaches are
//! ever compiled.

use std::collections::HashMap;
use std::error::Error;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use boon::{Compiler, Draft, Format, SchemaIndex, Schemas};
use serde_json::{Value, json};

use super::normalise::Normaliser;
use crate::contract::Document;
use crate::reason::Reason;

/// The validator over one document.
pub(crate) struct Judge<'d> {
    document: &'d Document,
    compiler: Compiler,
    schemas: Schemas,
    /// Referenced nodes by address, and the number of their resource.
    resources: HashMap<usize, usize>,
    waiting: Vec<(usize, &'d Value)>,
    questions: HashMap<Vec<usize>, SchemaIndex>,
    next: usize,
}

impl<'d> Judge<'d> {
    /// A judge that knows nothing yet.
    pub(crate) fn new(document: &'d Document) -> Self {
        let mut compiler = Compiler::new();
        compiler.set_default_draft(Draft::V4);
        compiler.enable_format_assertions();
        for format in FORMATS {
            compiler.register_format(format);
        }
        Self {
            document,
            compiler,
            schemas: Schemas::new(),
            resources: HashMap::new(),
            waiting: Vec::new(),
            questions: HashMap::new(),
            next: 0,
        }
    }

    /// Passes if the value meets every schema of the list.
    pub(crate) fn check(&mut self, list: &[&'d Value], value: &Value) -> Result<(), Reason> {
        let key: Vec<usize> = list
            .iter()
            .map(|node| std::ptr::from_ref(*node).addr())
            .collect();
        let index = if let Some(index) = self.questions.get(&key) {
            *index
        } else {
            let index = self.compile(list)?;
            self.questions.insert(key, index);
            index
        };
        let verdict = self.schemas.validate(value, index);
        verdict.map_err(|error| Reason::new(one_line(&error.to_string())))
    }

    fn compile(&mut self, list: &[&'d Value]) -> Result<SchemaIndex, Reason> {
        let parts: Vec<Value> = list
            .iter()
            .map(|node| self.normalised(node))
            .collect::<Result<_, _>>()?;
        let root = self.next;
        self.next += 1;
        // Draft 4 wants at least one member; no schema at all is met by everything.
        let schema = if parts.is_empty() {
            json!({})
        } else {
            json!({ "allOf": parts })
        };
        self.add(root, schema)?;
        while let Some((number, node)) = self.waiting.pop() {
            let schema = self.normalised(node)?;
            self.add(number, schema)?;
        }
        let compiled = self.compiler.compile(&location(root), &mut self.schemas);
        compiled.map_err(|error| Reason::new(one_line(&format!("{error:#}"))))
    }

    fn add(&mut self, number: usize, schema: Value) -> Result<(), Reason> {
        let added = self.compiler.add_resource(&location(number), schema);
        added.map_err(|error| Reason::new(one_line(&error.to_string())))
    }

    fn normalised(&mut self, node: &'d Value) -> Result<Value, Reason> {
        let Self {
            document,
            resources,
            waiting,
            next,
            ..
        } = self;
        let document: &'d Document = document;
        let mut rename = |name: &str| {
            let target = document.target(name)?;
            let address = std::ptr::from_ref(target).addr();
            let number = *resources.entry(address).or_insert_with(|| {
                waiting.push((*next, target));
                *next += 1;
                *next - 1
            });
            Ok(location(number))
        };
        Normaliser {
            document,
            rename: &mut rename,
        }
        .schema(node)
    }
}

fn location(number: usize) -> String {
    format!("stub:///{number}")
}

/// A validator's report as one fragment.
fn one_line(text: &str) -> String {
    let lines = text
        .lines()
        .map(|line| line.trim().trim_start_matches("- "))
        .map(|line| line.trim_start_matches("at '': "));
    let told: Vec<String> = lines
        .filter(|line| !line.starts_with("jsonschema validation failed"))
        .map(|line| ambiguous(line).unwrap_or_else(|| line.to_owned()))
        .collect();
    let mut told = told.join("; ");
    if let Some((end, _)) = told.char_indices().nth(300) {
        told.truncate(end);
        told.push('…');
    }
    told
}

/// What boon tells as `oneOf failed, subschemas 0, 1 matched`, for those who wrote the schema.
fn ambiguous(line: &str) -> Option<String> {
    let branches = line.strip_prefix("oneOf failed, subschemas ")?;
    let branches = branches.strip_suffix(" matched")?;
    Some(format!(
        "branches {branches} of its `oneOf` are met by the same value"
    ))
}

/// The formats that OpenAPI adds to those of JSON Schema.
const FORMATS: [Format; 3] = [
    Format {
        name: "int32",
        func: int32,
    },
    Format {
        name: "int64",
        func: int64,
    },
    Format {
        name: "byte",
        func: byte,
    },
];

fn int32(value: &Value) -> Result<(), Box<dyn Error>> {
    within(value, |n| i32::try_from(n).is_ok(), "32 bits")
}

fn int64(value: &Value) -> Result<(), Box<dyn Error>> {
    within(value, |_| true, "64 bits")
}

fn within(value: &Value, fits: fn(i64) -> bool, size: &str) -> Result<(), Box<dyn Error>> {
    let Value::Number(number) = value else {
        return Ok(());
    };
    let whole = number
        .as_i64()
        .or_else(|| number.as_f64().and_then(crate::zero::exact_i64));
    match whole {
        Some(n) if fits(n) => Ok(()),
        _ => Err(format!("not within {size}").into()),
    }
}

fn byte(value: &Value) -> Result<(), Box<dyn Error>> {
    match value {
        Value::String(text) => Ok(STANDARD.decode(text).map(drop)?),
        _ => Ok(()),
    }
}
