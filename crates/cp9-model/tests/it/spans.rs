//! Places: for random documents the text of each scalar's span means the scalar again, and each
//! key's span holds the key.

use cp9_model::yaml::{Document, Node, Options, Style, Value, parse_bytes};
use proptest::prelude::*;
use serde_json::json;
use std::fmt::Write;

fn one(text: &str) -> Document {
    parse_bytes("f", text.as_bytes(), Options::manifest())
        .unwrap_or_else(|found| panic!("{text}\n{found:?}"))
        .remove(0)
}

/// A tree of plain data.
#[derive(Debug, Clone)]
enum Data {
    Scalar(String),
    Text(String),
    List(Vec<Data>),
    Map(Vec<Data>),
}

fn data() -> impl Strategy<Value = Data> {
    let plain = prop::sample::select(vec![
        "yes",
        "0777",
        "1e3",
        "12:30",
        "~",
        "x y",
        "0x1f",
        "1_000",
        "-5",
        "2001-01-01",
        "true",
        "ü",
        "a#b",
        "http://x/y",
    ]);
    let leaf = prop_oneof![
        plain.prop_map(|text| Data::Scalar(text.into())),
        "[a-zA-Z0-9 äöü:#'\"\\\\\n\t-]{0,20}".prop_map(Data::Text),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..5).prop_map(Data::List),
            prop::collection::vec(inner, 1..5).prop_map(Data::Map),
        ]
    })
}

fn write(data: &Data, indent: usize, flow: bool, out: &mut String) {
    let pad = "  ".repeat(indent);
    match data {
        Data::Scalar(text) => out.push_str(text),
        Data::Text(text) => out.push_str(&serde_json::to_string(text).expect("text")),
        Data::List(items) if flow => {
            out.push('[');
            for item in items {
                write(item, indent, true, out);
                out.push_str(", ");
            }
            out.push(']');
        }
        Data::Map(items) if flow => {
            out.push('{');
            for (n, item) in items.iter().enumerate() {
                write!(out, "kéy{n}: ").expect("text");
                write(item, indent, true, out);
                out.push_str(", ");
            }
            out.push('}');
        }
        Data::List(items) => {
            for item in items {
                write!(out, "\n{pad}- ").expect("text");
                write(item, indent + 1, indent > 2, out);
            }
        }
        Data::Map(items) => {
            for (n, item) in items.iter().enumerate() {
                write!(out, "\n{pad}\"k/{n}\": ").expect("text");
                write(item, indent + 1, indent > 2, out);
            }
        }
    }
}

fn scalars_mean_themselves(text: &str, node: &Node, pointer: &str, document: &Document) {
    let place = document
        .spans()
        .get(pointer)
        .unwrap_or_else(|| panic!("{pointer} in {text}"));
    assert_eq!(place.value, node.span);
    let (line, before) = (
        text[..node.span.start].matches('\n').count() + 1,
        text[..node.span.start].rsplit('\n').next(),
    );
    assert_eq!(
        (node.line, node.column),
        (line, before.unwrap_or_default().chars().count() + 1),
        "{pointer} in {text}"
    );
    match &node.value {
        Value::Sequence(items) => {
            for (at, item) in items.iter().enumerate() {
                assert!(node.span.start <= item.span.start && item.span.end <= node.span.end);
                scalars_mean_themselves(text, item, &format!("{pointer}/{at}"), document);
            }
        }
        Value::Mapping(entries) => {
            for entry in entries {
                assert_eq!(text[entry.key_span.clone()].trim_matches('"'), entry.key);
                let pointer = format!("{pointer}/{}", entry.key.replace('/', "~1"));
                scalars_mean_themselves(text, &entry.value, &pointer, document);
            }
        }
        scalar => {
            let own = &text[node.span.clone()];
            let again = one(&format!("- {own}\n"));
            let Value::Sequence(items) = &again.root.value else {
                panic!("{own}")
            };
            assert_eq!(&items[0].value, scalar, "{own:?} in {text}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn spans_hold_what_they_stand_for(data in data(), flow in any::<bool>(), crlf in any::<bool>()) {
        let mut text = String::from("# ü\n---");
        if flow || matches!(data, Data::Scalar(_) | Data::Text(_)) {
            text.push(' ');
        }
        write(&data, 0, flow, &mut text);
        text.push('\n');
        let text = if crlf { text.replace('\n', "\r\n") } else { text };
        let document = one(&text);
        scalars_mean_themselves(&text, &document.root, "", &document);
    }
}

#[test]
fn block_scalars_and_left_out_values_have_places() {
    let text = "a: |\n  one\n  two\nb: >-\n    x\n    y\n\nc:\nd: {}\n";
    let document = one(text);
    let place = |pointer: &str| document.spans().get(pointer).expect("place");
    assert!(
        text[place("/a").value].contains("one\n  two"),
        "{:?}",
        &text[place("/a").value]
    );
    assert!(text[place("/b").value].contains('y'));
    assert_eq!(place("/c").value_or_key(), place("/c").key.expect("key"));
    assert_eq!(&text[place("/d").value], "{}");
    assert_eq!(
        document.to_json(),
        json!({"a": "one\ntwo\n", "b": "x y", "c": null, "d": {}})
    );
    let styles: Vec<_> = ["a", "b", "c", "d"]
        .iter()
        .filter_map(|key| document.root.get(key))
        .map(|node| node.style)
        .collect();
    assert_eq!(
        styles,
        [Style::Literal, Style::Folded, Style::Plain, Style::Flow]
    );
    assert_eq!(document.spans().nearest("/d/x/y").value, place("/d").value);
}
