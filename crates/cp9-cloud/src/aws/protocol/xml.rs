//! XML as a JSON value: an element with children is an object, one without is its text; children
//! named `member` or `item`, which AWS uses for lists alone, make an array of their parent, and a
//! repeated name makes an array of that name. Attributes and namespaces are left out.

use quick_xml::Reader;
use quick_xml::events::Event;
use serde_json::{Map, Value};

/// Deeper documents are none of AWS's.
const DEEPEST: usize = 64;

/// One element that is still open.
#[derive(Default)]
struct Open {
    name: String,
    text: String,
    children: Vec<(String, Value)>,
}

/// The root's name and the document's value; `None` when it is not well-formed.
pub(super) fn parse(document: &str) -> Option<(String, Value)> {
    let mut reader = Reader::from_str(document);
    let mut open: Vec<Open> = Vec::new();
    loop {
        match reader.read_event().ok()? {
            Event::Start(start) => {
                if open.len() == DEEPEST {
                    return None;
                }
                open.push(Open::named(&local(start.local_name().as_ref())));
            }
            Event::Empty(start) => {
                let empty = Open::named(&local(start.local_name().as_ref()));
                if let Some(root) = close(&mut open, empty) {
                    return Some(root);
                }
            }
            Event::End(_) => {
                let ended = open.pop()?;
                if let Some(root) = close(&mut open, ended) {
                    return Some(root);
                }
            }
            Event::Text(text) => append(&mut open, &text.xml10_content()),
            Event::CData(text) => append(&mut open, &text.xml10_content()),
            Event::GeneralRef(reference) => {
                let character = match reference.resolve_char_ref().ok()? {
                    Some(character) => character,
                    None => named_entity(&reference.xml10_content())?,
                };
                append(&mut open, character.encode_utf8(&mut [0; 4]));
            }
            Event::Eof => return None,
            _ => {}
        }
    }
}

fn local(name: &str) -> String {
    name.to_owned()
}

fn named_entity(name: &str) -> Option<char> {
    Some(match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        _ => return None,
    })
}

fn append(open: &mut [Open], text: &str) {
    if let Some(current) = open.last_mut() {
        current.text.push_str(text);
    }
}

/// Hands a finished element to its parent; gives it back when it is the root.
fn close(open: &mut [Open], ended: Open) -> Option<(String, Value)> {
    let (name, value) = ended.finish();
    match open.last_mut() {
        Some(parent) => {
            parent.children.push((name, value));
            None
        }
        None => Some((name, value)),
    }
}

impl Open {
    fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            ..Self::default()
        }
    }

    fn finish(self) -> (String, Value) {
        if self.children.is_empty() {
            return (self.name, Value::String(self.text));
        }
        let listed = |(name, _): &(String, Value)| name == "member" || name == "item";
        if self.children.iter().all(listed) {
            let items = self.children.into_iter().map(|(_, value)| value);
            return (self.name, items.collect());
        }
        let mut fields = Map::new();
        for (name, value) in self.children {
            match fields.get_mut(&name) {
                None => {
                    fields.insert(name, value);
                }
                Some(Value::Array(values)) if !values.is_empty() => values.push(value),
                Some(first) => *first = Value::Array(vec![first.take(), value]),
            }
        }
        (self.name, Value::Object(fields))
    }
}
