//! The builder: events in, documents out. Keeps the budget and watches for repeated keys. Works
//! with a stack of its own, so that nesting never recurses.

use std::collections::HashMap;
use std::ops::{ControlFlow, Range};

use granit_parser::{Event, ScalarStyle, Span, StructureStyle, Tag};

use super::budget::Budget;
use super::frame::{Frame, Key};
use super::node::{Document, Node, Style, Value};
use super::options::Options;
use super::scalar::{self, Resolved};
use super::spans::escape;
use crate::diagnostic::{Code, Finding, Source};

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
    budget: Budget,
    frames: Vec<Frame>,
    anchors: HashMap<usize, Anchored>,
    root: Option<Node>,
    documents: Vec<Document>,
    start: usize,
}

/// Where and how a node is written, from its event.
struct Written<'e> {
    range: Range<usize>,
    line: usize,
    column: usize,
    anchor: usize,
    tag: Option<&'e Tag>,
    tag_range: Range<usize>,
}

impl<'e> Written<'e> {
    fn new(span: &Span, anchor: usize, tag: Option<&'e Tag>) -> Self {
        let range = span.byte_range().unwrap_or(0..0);
        let tag_range = span.tag_span().and_then(|span| span.byte_range());
        let tag_range = tag_range.unwrap_or_else(|| range.clone());
        let (line, column) = (span.start.line(), span.start.col() + 1);
        Self {
            range,
            line,
            column,
            anchor,
            tag,
            tag_range,
        }
    }

    fn node(&self, value: Value, style: Style, tag: Option<Box<str>>) -> Node {
        Node {
            value,
            span: self.range.clone(),
            line: self.line,
            column: self.column,
            style,
            tag,
        }
    }
}

impl<'a> Builder<'a> {
    pub(super) fn new(source: &'a Source<'a>, options: Options) -> Self {
        Self {
            source,
            budget: Budget::new(&options),
            options,
            frames: Vec::new(),
            anchors: HashMap::new(),
            root: None,
            documents: Vec::new(),
            start: 0,
        }
    }

    /// Notes what ends the read.
    pub(super) fn fail(&mut self, finding: Finding) {
        self.budget.fail(finding);
    }

    /// The documents, or every error.
    pub(super) fn finish(self) -> Result<Vec<Document>, Vec<Finding>> {
        let errors = self.budget.errors;
        if errors.is_empty() {
            Ok(self.documents)
        } else {
            Err(errors)
        }
    }

    /// Takes one event.
    pub(super) fn take(&mut self, event: Event<'_>, span: &Span) -> ControlFlow<()> {
        match event {
            Event::DocumentStart(..) => self.begin_document(span),
            Event::DocumentEnd => self.end_document(span),
            Event::Scalar(text, style, anchor, tag) => {
                self.scalar(&text, style, &Written::new(span, anchor, tag.as_deref()));
            }
            Event::SequenceStart(style, anchor, tag) => {
                self.open(
                    Value::Sequence(Vec::new()),
                    style,
                    &Written::new(span, anchor, tag.as_deref()),
                );
            }
            Event::MappingStart(style, anchor, tag) => {
                self.open(
                    Value::Mapping(Vec::new()),
                    style,
                    &Written::new(span, anchor, tag.as_deref()),
                );
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(span),
            Event::Alias(id) => self.alias(id, &Written::new(span, 0, None)),
            Event::UnresolvedAlias(name) => {
                let written = Written::new(span, 0, None);
                let name = self.named(&written.range, &format!("*{name}"));
                let message = format!("alias{name} has no anchor before it");
                self.budget.add(Finding::error(
                    Code::ALIASES,
                    written.range.clone(),
                    message,
                ));
                self.place(written.node(Value::Null, Style::Plain, None));
            }
            _ => {}
        }
        if self.budget.fatal {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn begin_document(&mut self, span: &Span) {
        let Some(last) = self.documents.last_mut() else {
            return;
        };
        // After `...` the boundary is known; else the text up to the marker is the last one's.
        if self.start <= last.range.start {
            self.start = span.byte_range().unwrap_or(0..0).start;
        }
        last.range.end = self.start;
    }

    fn end_document(&mut self, span: &Span) {
        let written = Written::new(span, 0, None);
        let end = self.source.text.len();
        let root = self.root.take();
        let root = root.unwrap_or_else(|| written.node(Value::Null, Style::Plain, None));
        let empty = root.value == Value::Null && root.style == Style::Plain && root.span.is_empty();
        self.documents.push(Document {
            root,
            range: self.start..end,
            empty,
        });
        if !written.range.is_empty() {
            let rest = &self.source.text[self.source.boundary(written.range.end)..];
            let next = rest.find('\n').map_or(end, |at| written.range.end + at + 1);
            self.start = if next < end { next } else { self.start };
        }
        self.anchors.clear();
    }

    fn scalar(&mut self, text: &str, style: ScalarStyle, written: &Written<'_>) {
        // The parser reports a left-out value as `~` with an empty span.
        let text = if written.range.is_empty() { "" } else { text };
        let style = match style {
            ScalarStyle::Plain => Style::Plain,
            ScalarStyle::SingleQuoted => Style::SingleQuoted,
            ScalarStyle::DoubleQuoted => Style::DoubleQuoted,
            ScalarStyle::Literal => Style::Literal,
            ScalarStyle::Folded => Style::Folded,
        };
        let plain = style == Style::Plain;
        let tag = self.tag(written);
        let before = self.budget.spent();
        self.budget.write(&written.range);
        let as_text = self.options.text_keys && self.wants_key();
        let resolved = if as_text {
            Resolved::Value(Value::String(text.to_owned()))
        } else {
            scalar::resolve(text, plain, tag.as_deref())
        };
        let value = match resolved {
            Resolved::Value(value) => value,
            Resolved::NoJson(why) => self.refuse(&written.range, format!("the value {why}")),
            Resolved::Mismatch(tag) => {
                self.refuse(&written.range, format!("the value is no `{tag}`"))
            }
        };
        let merge = plain && tag.is_none() && text == "<<";
        let node = written.node(value, style, tag);
        self.anchor(
            written.anchor,
            &node,
            self.budget.spent() - before + text.len() / 64,
        );
        if self.wants_key() {
            self.key(key_text(&node.value), written, merge);
        } else {
            self.place(node);
        }
    }

    /// No message may hold the value: it may be a secret.
    fn refuse(&mut self, range: &Range<usize>, message: String) -> Value {
        let finding = Finding::error(Code::SCALAR, range.clone(), message);
        self.budget
            .add(finding.help("put it in quotes if it is text"));
        Value::Null
    }

    fn tag(&mut self, written: &Written<'_>) -> Option<Box<str>> {
        let tag = written.tag?;
        let full = format!("{}{}", tag.handle(), tag.suffix());
        if !self.options.custom_tags && tag.is_custom() && full != "!" {
            let name = self.named(&written.tag_range, &tag.original());
            let message = format!("tag{name} is not supported");
            let finding = Finding::error(Code::SCALAR, written.tag_range.clone(), message);
            self.budget.add(finding.help("remove the tag"));
        }
        Some(full.into())
    }

    /// A word in a message, left out where a secret stands.
    fn named(&self, range: &Range<usize>, word: &str) -> String {
        if self.source.hides(range) {
            String::new()
        } else {
            format!(" `{}`", brief(word))
        }
    }

    fn open(&mut self, value: Value, style: StructureStyle, written: &Written<'_>) {
        let tag = self.tag(written);
        if self.wants_key() {
            return self.fail(self.collection_as_key(&written.range));
        }
        if self.frames.len() >= self.options.max_depth {
            return self.fail(Finding::error(
                Code::TOO_DEEP,
                written.range.clone(),
                "nested too deeply",
            ));
        }
        let before = self.budget.spent();
        self.budget.write(&written.range);
        let style = if style == StructureStyle::Flow {
            Style::Flow
        } else {
            Style::Block
        };
        self.frames.push(Frame::new(
            written.node(value, style, tag),
            written.anchor,
            before,
        ));
    }

    fn close(&mut self, span: &Span) {
        let Some(frame) = self.frames.pop() else {
            return;
        };
        let flow = frame.node.style == Style::Flow;
        let end = span.byte_range().filter(|_| flow).map(|range| range.end);
        let (anchor, weight) = (frame.anchor, self.budget.spent() - frame.weight);
        let node = frame.finish(end);
        self.anchor(anchor, &node, weight);
        self.place(node);
    }

    /// Keeps a node for its aliases; the kept copy counts, or nested anchors would be free.
    fn anchor(&mut self, id: usize, node: &Node, weight: usize) {
        if id != 0 && self.budget.copy(weight, &node.span) {
            let anchored = Anchored {
                node: node.clone(),
                weight,
                height: height(node),
            };
            self.anchors.insert(id, anchored);
        }
    }

    fn alias(&mut self, id: usize, written: &Written<'_>) {
        let range = &written.range;
        let Some(found) = self.anchors.get(&id) else {
            let message = "an alias inside of what it stands for";
            return self
                .budget
                .fail(Finding::error(Code::ALIASES, range.clone(), message));
        };
        if self.frames.len() + found.height > self.options.max_depth {
            let message = "nested too deeply through an alias";
            return self
                .budget
                .fail(Finding::error(Code::TOO_DEEP, range.clone(), message));
        }
        if !self.budget.copy(found.weight, range) {
            return;
        }
        let node = found.node.clone();
        if !self.wants_key() {
            self.place(node);
        } else if matches!(node.value, Value::Sequence(_) | Value::Mapping(_)) {
            self.fail(self.collection_as_key(range));
        } else {
            self.key(key_text(&node.value), written, false);
        }
    }

    fn collection_as_key(&self, range: &Range<usize>) -> Finding {
        let message = "a key must be text, not a list or mapping";
        let found = Finding::error(Code::SCALAR, range.clone(), message);
        let before = &self.source.text[..self.source.boundary(range.start)];
        if before.ends_with('{') && self.source.text[before.len()..].starts_with('{') {
            return found.help("`{{` is template text; render it first, or put it in quotes");
        }
        found
    }

    fn wants_key(&self) -> bool {
        self.frames.last().is_some_and(Frame::wants_key)
    }

    fn key(&mut self, text: String, written: &Written<'_>, merge: bool) {
        let Some(frame) = self.frames.last_mut() else {
            return;
        };
        let span = written.range.clone();
        if let Some(first) = frame.seen.get(&text).copied().filter(|_| !merge) {
            let above = self.frames.iter().rev().skip(1).rev().map(Frame::token);
            let tokens: Vec<_> = above.chain([escape(&text)]).collect();
            let pointer = format!("/{}", tokens.join("/"));
            let name = self.named(&span, &text);
            let message = format!("key{name} stands twice, first in line {first}");
            let finding = Finding::error(Code::DUPLICATE_KEY, span.clone(), message);
            self.budget
                .add(finding.at(pointer).help("remove one of them"));
        } else if !merge {
            frame.seen.insert(text.clone(), written.line);
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.key = Some(Key { text, span, merge });
        }
    }

    fn place(&mut self, node: Node) {
        let Some(frame) = self.frames.last_mut() else {
            self.root = Some(node);
            return;
        };
        if let Err(span) = frame.attach(node) {
            let message = "a merge needs a mapping or a list of mappings";
            self.budget.add(Finding::error(Code::SCALAR, span, message));
        }
    }
}

/// A key as JSON spells it.
fn key_text(value: &Value) -> String {
    match value {
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.clone(),
        Value::Null | Value::Sequence(_) | Value::Mapping(_) => "null".into(),
    }
}

/// Levels below a node; bounded by the depth limit.
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
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    let mut short: String = text.chars().take(40).map(plain).collect();
    if text.chars().nth(40).is_some() {
        short.push('…');
    }
    short
}
