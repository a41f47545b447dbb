//! The builder: events in, documents out. Keeps the budgets, applies merge keys, watches for
//! repeated keys. Works with a stack of its own, so that nesting never recurses.

use std::collections::HashMap;
use std::ops::{ControlFlow, Range};

use granit_parser::{Event, ScalarStyle, Span, StructureStyle, Tag};

use super::node::{Document, Entry, Node, Style, Value};
use super::options::Options;
use super::scalar::{self, Resolved};
use crate::diagnostic::{Code, Finding, Severity, Source};

/// An unfinished collection.
struct Frame {
    node: Node,
    anchor: usize,
    weight: usize,
    key: Option<Key>,
    seen: HashMap<String, usize>,
    merges: Vec<Node>,
}

/// A key that waits for its value.
struct Key {
    text: String,
    span: Range<usize>,
    merge: bool,
}

/// A node that aliases may copy.
struct Anchored {
    node: Node,
    weight: usize,
    height: usize,
}

/// Builds the documents of one text.
pub(super) struct Builder<'a> {
    source: &'a Source<'a>,
    options: Options,
    frames: Vec<Frame>,
    anchors: HashMap<usize, Anchored>,
    root: Option<Node>,
    documents: Vec<Document>,
    start: usize,
    weight: usize,
    copies: usize,
    errors: Vec<Finding>,
    warnings: Vec<Finding>,
    fatal: bool,
}

impl<'a> Builder<'a> {
    pub(super) fn new(source: &'a Source<'a>, options: Options) -> Self {
        Self {
            source,
            options,
            frames: Vec::new(),
            anchors: HashMap::new(),
            root: None,
            documents: Vec::new(),
            start: 0,
            weight: 0,
            copies: 0,
            errors: Vec::new(),
            warnings: Vec::new(),
            fatal: false,
        }
    }

    /// Notes what ends the read.
    pub(super) fn fail(&mut self, finding: Finding) {
        self.errors.push(finding);
        self.fatal = true;
    }

    /// The documents with their warnings, or every error.
    pub(super) fn finish(self) -> Result<(Vec<Document>, Vec<Finding>), Vec<Finding>> {
        if self.errors.is_empty() {
            Ok((self.documents, self.warnings))
        } else {
            Err(self.errors)
        }
    }

    /// Takes one event.
    pub(super) fn take(&mut self, event: Event<'_>, span: Span) -> ControlFlow<()> {
        let range = span.byte_range().unwrap_or(0..0);
        match event {
            Event::DocumentStart(..) => self.begin_document(range.start),
            Event::DocumentEnd => self.end_document(&range),
            Event::Scalar(text, style, anchor, tag) => {
                self.scalar(&text, style, anchor, tag.as_deref(), &span)
            }
            Event::SequenceStart(style, anchor, tag) => {
                self.open(
                    Value::Sequence(Vec::new()),
                    style,
                    anchor,
                    tag.as_deref(),
                    &span,
                );
            }
            Event::MappingStart(style, anchor, tag) => {
                self.open(
                    Value::Mapping(Vec::new()),
                    style,
                    anchor,
                    tag.as_deref(),
                    &span,
                );
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(&range),
            Event::Alias(id) => self.alias(id, range),
            Event::UnresolvedAlias(name) => {
                let message = format!("alias `*{name}` has no anchor before it");
                self.errors
                    .push(Finding::error(Code::ALIASES, range.clone(), message));
                self.attach(leaf(Value::Null, range, &span, Style::Plain));
            }
            _ => {}
        }
        if self.fatal {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn begin_document(&mut self, marker: usize) {
        let Some(last) = self.documents.last_mut() else {
            return;
        };
        // After `...` the boundary is known; else the text up to the marker still belongs to the last one.
        if self.start <= last.range.start {
            self.start = marker;
        }
        last.range.end = self.start;
    }

    fn end_document(&mut self, range: &Range<usize>) {
        let explicit = !range.is_empty();
        let rest = &self.source.text[range.end.min(self.source.text.len())..];
        let next = rest
            .find('\n')
            .map_or(self.source.text.len(), |at| range.end + at + 1);
        let root = self.root.take();
        let empty = root
            .as_ref()
            .is_none_or(|node| node.value == Value::Null && node.span.is_empty());
        let root = root.unwrap_or_else(|| {
            let (line, column) = self.source.place(range.start);
            let span = range.start..range.start;
            Node {
                value: Value::Null,
                span,
                line,
                column,
                style: Style::Plain,
                tag: None,
            }
        });
        let whole = self.start..self.source.text.len();
        self.documents.push(Document {
            root,
            range: whole,
            empty,
            warnings: Vec::new(),
        });
        if explicit && next < self.source.text.len() {
            self.start = next;
        }
        self.anchors.clear();
    }

    fn scalar(
        &mut self,
        text: &str,
        style: ScalarStyle,
        anchor: usize,
        tag: Option<&Tag>,
        span: &Span,
    ) {
        let range = span.byte_range().unwrap_or(0..0);
        // The parser reports a left-out value as `~` with an empty span.
        let text = if range.is_empty() { "" } else { text };
        let style = match style {
            ScalarStyle::Plain => Style::Plain,
            ScalarStyle::SingleQuoted => Style::SingleQuoted,
            ScalarStyle::DoubleQuoted => Style::DoubleQuoted,
            ScalarStyle::Literal => Style::Literal,
            ScalarStyle::Folded => Style::Folded,
        };
        let tag = self.tag(tag, &range);
        if self.is_key_place() && self.options.text_keys {
            self.key(
                text.to_owned(),
                range,
                style == Style::Plain && text == "<<",
            );
            return;
        }
        let merge = style == Style::Plain && tag.is_none() && text == "<<";
        let value = match scalar::resolve(text, style == Style::Plain, tag.as_deref()) {
            Resolved::Value(value) => value,
            Resolved::NoJson(why) => self.refuse(&range, format!("the value {why}")),
            Resolved::Mismatch(tag) => self.refuse(&range, format!("the value is no `{tag}`")),
        };
        if !self.spend(1 + text.len() / 64, &range) {
            return;
        }
        if self.is_key_place() {
            self.key(key_text(&value, text), range, merge);
            return;
        }
        let node = Node {
            tag,
            ..leaf(value, range, span, style)
        };
        let weight = 1 + text.len() / 64;
        self.anchor(anchor, &node, weight);
        self.attach(node);
    }

    fn refuse(&mut self, range: &Range<usize>, message: String) -> Value {
        let finding = Finding::error(Code::SCALAR, range.clone(), message);
        self.errors
            .push(finding.help("put it in quotes if it is text"));
        Value::Null
    }

    fn tag(&mut self, tag: Option<&Tag>, range: &Range<usize>) -> Option<Box<str>> {
        let tag = tag?;
        let full = format!("{}{}", tag.handle(), tag.suffix());
        if !self.options.custom_tags && tag.is_custom() && full != "!" {
            let message = format!("tag `{}` is not supported", brief(&tag.original()));
            self.errors
                .push(Finding::error(Code::SCALAR, range.clone(), message).help("remove the tag"));
        }
        Some(full.into())
    }

    /// Counts what is built; false, and the end of the read, when it is too much.
    fn spend(&mut self, weight: usize, range: &Range<usize>) -> bool {
        self.weight += weight;
        let within = self.weight - self.copies
            <= self
                .options
                .max_nodes
                .saturating_add(self.source.text.len() / 64);
        if !within {
            let message = format!("more than {} values", self.options.max_nodes);
            self.fail(Finding::error(Code::TOO_LARGE, range.clone(), message));
        }
        within
    }

    fn open(
        &mut self,
        value: Value,
        style: StructureStyle,
        anchor: usize,
        tag: Option<&Tag>,
        span: &Span,
    ) {
        let range = span.byte_range().unwrap_or(0..0);
        let tag = self.tag(tag, &range);
        if self.is_key_place() {
            let message = "a key must be text, not a list or mapping";
            self.fail(Finding::error(Code::SCALAR, range, message));
            return;
        }
        if self.frames.len() >= self.options.max_depth {
            self.fail(Finding::error(Code::TOO_DEEP, range, "nested too deeply"));
            return;
        }
        let weight = self.weight;
        if !self.spend(1, &range) {
            return;
        }
        let style = if style == StructureStyle::Flow {
            Style::Flow
        } else {
            Style::Block
        };
        let node = Node {
            tag,
            ..leaf(value, range, span, style)
        };
        let frame = Frame {
            node,
            anchor,
            weight,
            key: None,
            seen: HashMap::new(),
            merges: Vec::new(),
        };
        self.frames.push(frame);
    }

    fn close(&mut self, range: &Range<usize>) {
        let Some(mut frame) = self.frames.pop() else {
            return;
        };
        let children = match &frame.node.value {
            Value::Sequence(items) => items.last().map(|item| item.span.end),
            Value::Mapping(entries) => entries
                .last()
                .map(|entry| entry.value.span.end.max(entry.key_span.end)),
            _ => None,
        };
        let end = if frame.node.style == Style::Flow {
            range.end
        } else {
            children.unwrap_or(frame.node.span.end)
        };
        frame.node.span.end = end.max(frame.node.span.end);
        merge(&mut frame);
        let weight = self.weight - frame.weight;
        self.anchor(frame.anchor, &frame.node, weight);
        self.attach(frame.node);
    }

    fn anchor(&mut self, id: usize, node: &Node, weight: usize) {
        if id != 0 && self.copy(weight, &node.span) {
            let anchored = Anchored {
                node: node.clone(),
                weight,
                height: height(node),
            };
            self.anchors.insert(id, anchored);
        }
    }

    /// Counts a copy; false, and the end of the read, when it is too much.
    fn copy(&mut self, weight: usize, range: &Range<usize>) -> bool {
        self.copies += weight;
        self.weight += weight;
        let within = self.copies <= self.options.max_copies;
        if !within {
            let message = format!(
                "aliases expand to more than {} values",
                self.options.max_copies
            );
            self.fail(
                Finding::error(Code::ALIASES, range.clone(), message).help("write the values out"),
            );
        }
        within
    }

    fn alias(&mut self, id: usize, range: Range<usize>) {
        let Some(found) = self.anchors.get(&id) else {
            self.fail(Finding::error(
                Code::ALIASES,
                range,
                "an alias inside of what it stands for",
            ));
            return;
        };
        let (weight, height) = (found.weight, found.height);
        if self.frames.len() + height > self.options.max_depth {
            self.fail(Finding::error(
                Code::TOO_DEEP,
                range,
                "nested too deeply through an alias",
            ));
            return;
        }
        if !self.copy(weight, &range) {
            return;
        }
        let Some(node) = self.anchors.get(&id).map(|found| found.node.clone()) else {
            return;
        };
        if self.is_key_place() {
            let text = node
                .as_str()
                .map(str::to_owned)
                .unwrap_or_else(|| key_text(&node.value, ""));
            self.key(text, range, false);
        } else {
            self.attach(node);
        }
    }

    fn is_key_place(&self) -> bool {
        self.frames.last().is_some_and(|frame| {
            matches!(frame.node.value, Value::Mapping(_)) && frame.key.is_none()
        })
    }

    fn key(&mut self, text: String, span: Range<usize>, merge: bool) {
        let Some(frame) = self.frames.last_mut() else {
            return;
        };
        if let Some(first) = frame.seen.get(&text).filter(|_| !merge) {
            let (line, _) = self.source.place(*first);
            let message = format!("key `{}` stands twice, first in line {line}", brief(&text));
            let finding = Finding {
                severity: self.options.duplicate_keys,
                ..Finding::error(Code::DUPLICATE_KEY, span.clone(), message)
            };
            let list = match finding.severity {
                Severity::Error => &mut self.errors,
                Severity::Warning => &mut self.warnings,
            };
            list.push(finding.help("remove one of them"));
        } else {
            frame.seen.insert(text.clone(), span.start);
        }
        frame.key = Some(Key { text, span, merge });
    }

    fn attach(&mut self, node: Node) {
        let Some(frame) = self.frames.last_mut() else {
            self.root = Some(node);
            return;
        };
        let Some(key) = frame.key.take() else {
            if let Value::Sequence(items) = &mut frame.node.value {
                items.push(node);
            }
            return;
        };
        if !key.merge {
            if let Value::Mapping(entries) = &mut frame.node.value {
                entries.push(Entry {
                    key: key.text,
                    key_span: key.span,
                    value: node,
                });
            }
            return;
        }
        match node.value {
            Value::Mapping(_) => frame.merges.push(node),
            Value::Sequence(items)
                if items
                    .iter()
                    .all(|item| matches!(item.value, Value::Mapping(_))) =>
            {
                frame.merges.extend(items);
            }
            _ => {
                let message = "a merge needs a mapping or a list of mappings";
                self.errors
                    .push(Finding::error(Code::SCALAR, key.span, message));
            }
        }
    }
}

/// Adds the merged pairs that the mapping does not set itself; earlier merges win.
fn merge(frame: &mut Frame) {
    let Value::Mapping(entries) = &mut frame.node.value else {
        return;
    };
    for node in std::mem::take(&mut frame.merges) {
        let Value::Mapping(pairs) = node.value else {
            continue;
        };
        for pair in pairs {
            if !frame.seen.contains_key(&pair.key) {
                frame.seen.insert(pair.key.clone(), pair.key_span.start);
                entries.push(pair);
            }
        }
    }
}

fn leaf(value: Value, range: Range<usize>, span: &Span, style: Style) -> Node {
    let (line, column) = (span.start.line(), span.start.col() + 1);
    Node {
        value,
        span: range,
        line,
        column,
        style,
        tag: None,
    }
}

/// A key as JSON spells it.
fn key_text(value: &Value, text: &str) -> String {
    match value {
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.clone(),
        Value::Null => "null".into(),
        Value::Sequence(_) | Value::Mapping(_) => text.to_owned(),
    }
}

fn height(node: &Node) -> usize {
    let below = match &node.value {
        Value::Sequence(items) => items.iter().map(height).max(),
        Value::Mapping(entries) => entries.iter().map(|entry| height(&entry.value)).max(),
        _ => return 0,
    };
    1 + below.unwrap_or(0)
}

/// The first characters of a text, for messages.
fn brief(text: &str) -> String {
    let mut short: String = text
        .chars()
        .take(40)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if text.chars().nth(40).is_some() {
        short.push('…');
    }
    short
}
