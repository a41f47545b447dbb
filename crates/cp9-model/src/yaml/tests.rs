//! Tests of this module's rules on values.

use serde_json::json;

use super::*;

fn read(text: &str) -> Vec<Document> {
    parse_bytes("f.yaml", text.as_bytes(), Options::manifest()).expect("YAML")
}

fn json(text: &str) -> serde_json::Value {
    read(text).remove(0).to_json()
}

fn refused(bytes: &[u8], options: Options) -> (String, String, usize, usize) {
    let found = parse_bytes("f.yaml", bytes, options).expect_err("refused");
    (
        found[0].code.clone(),
        found[0].message.clone(),
        found[0].line,
        found[0].column,
    )
}

#[test]
fn scalars_mean_what_kubectl_reads() {
    let text = "[yes, on, Off, n, 0777, 0o17, 0x1F, 0b11, 1_000, 1e3, 1.5, .5, -0, 08, 12:30, 2001-01-01, ~, null, \
                'yes', \"1\", !!str 1, !!int '3', !mine 4, 1e999, +1, 18446744073709551615, '']";
    assert_eq!(
        json(text),
        json!([
            true,
            true,
            false,
            false,
            511,
            15,
            31,
            3,
            1000,
            1000,
            1.5,
            0.5,
            0,
            8,
            "12:30",
            "2001-01-01",
            null,
            null,
            "yes",
            "1",
            "1",
            3,
            "4",
            "1e999",
            1,
            18_446_744_073_709_551_615_u64,
            ""
        ])
    );
}

#[test]
fn documents_cover_the_text_without_gaps() {
    for text in [
        "a: 1\n---\nb: 2\n",
        "# head\n---\na: 1\n# tail\n--- # x\nb: |\n  ---\n  c\n---\n",
        "a: 1\n...\n# between\n%YAML 1.2\n---\nb: 2\n...\n# end\n",
        "--- 1\n--- 2\n---\n--- 4",
        "\u{feff}a: ü\r\n---\r\nb: 2\r\n",
    ] {
        let documents = read(text);
        let joined: String = documents.iter().map(|d| &text[d.range.clone()]).collect();
        assert_eq!(joined, text);
        for document in &documents {
            let alone = read(&text[document.range.clone()]);
            assert_eq!(
                alone.len(),
                1,
                "{:?} in {text:?}",
                &text[document.range.clone()]
            );
            assert_eq!(alone[0].to_json(), document.to_json());
        }
    }
    let empties: Vec<_> = read("--- 1\n--- 2\n---\n--- 4")
        .iter()
        .map(|d| d.empty)
        .collect();
    assert_eq!(empties, [false, false, true, false]);
    assert!(read("").is_empty() && read("# only\n").is_empty());
}

#[test]
fn repeated_keys_are_refused_in_every_kind_of_file() {
    let text = "x: 1\n---\na:\n  - b: 1\n    c: 2\n    b: 3\n";
    for options in [Options::config(), Options::manifest()] {
        let found = parse_bytes("f", text.as_bytes(), options).expect_err("refused");
        let told = (
            found[0].code.as_str(),
            found[0].pointer.as_str(),
            found[0].line,
        );
        assert_eq!(told, ("CP9-C005", "/a/0/b", 6));
        assert_eq!(found[0].message, "key `b` stands twice, first in line 4");
    }
}

#[test]
fn keys_are_text_as_json_spells_them() {
    let text = "{on: 1, 0x10: 2, 1.0: 3, ~: 4, 'yes': 5, <<: {z: 6}}";
    assert_eq!(
        json(text),
        json!({"true": 1, "16": 2, "1": 3, "null": 4, "yes": 5, "z": 6})
    );
    let config = parse_bytes("f", b"{on: 1, 0x10: 2, ~: 3}", Options::config())
        .expect("YAML")
        .remove(0);
    assert_eq!(config.to_json(), json!({"on": 1, "0x10": 2, "~": 3}));
}

#[test]
fn a_block_scalar_ends_with_the_text() {
    assert_eq!(json("a: |\n  x"), json!({"a": "x"}));
    assert_eq!(json("a: |\n  x\n"), json!({"a": "x\n"}));
}

#[test]
fn template_text_is_named_as_such() {
    let found =
        parse_bytes("f", b"name: {{ .Values.name }}\n", Options::manifest()).expect_err("refused");
    let help = found[0].help.clone().unwrap_or_default();
    assert!(help.contains("template"), "{found:?}");
}

#[test]
fn merges_follow_the_specification() {
    let text = "a: &a {x: 1, w: 1}\nb: &b {x: 2, z: 2}\nc:\n  <<: [*a, *b]\n  w: 3\nd: {<<: *a, <<: *b}\ne: {'<<': *a}\n";
    let value = json(text);
    assert_eq!(value["c"], json!({"w": 3, "x": 1, "z": 2}));
    assert_eq!(value["d"], json!({"x": 1, "w": 1, "z": 2}));
    assert_eq!(value["e"], json!({"<<": {"x": 1, "w": 1}}));
    let found = refused(b"a: {<<: 1}\n", Options::manifest());
    assert_eq!(
        (found.1.as_str(), found.2, found.3),
        ("a merge needs a mapping or a list of mappings", 1, 5)
    );
}

#[test]
fn values_without_json_form_are_refused() {
    for (text, message) in [
        ("a: .inf", "the value is no JSON number"),
        (
            "a: 123456789012345678901234567890",
            "the value does not fit in 64 bits",
        ),
        ("a: !!int x", "the value is no `!!int`"),
        ("a: !!binary '*'", "the value is no `!!binary`"),
        ("{[a]: 1}", "a key must be text, not a list or mapping"),
    ] {
        assert_eq!(
            refused(text.as_bytes(), Options::manifest()).1,
            message,
            "{text}"
        );
    }
    assert_eq!(json("a: !!binary aGk="), json!({"a": "hi"}));
    assert_eq!(json("a: !!float 1"), json!({"a": 1}));
}

#[test]
fn places_of_errors_count_characters() {
    let found = refused("# ü\nä: [ü, *x]\n".as_bytes(), Options::manifest());
    assert_eq!((found.0.as_str(), found.2, found.3), ("CP9-C006", 2, 8));
    assert_eq!(refused(b"a: 1\nb: \xff\n", Options::manifest()).2, 2);
}

#[test]
fn ten_megabytes_of_manifests_are_read() {
    let one = format!(
        "---\nkind: ConfigMap\ndata:\n  text: |\n{}",
        "    line of text, well beyond any key: x\n".repeat(2_000)
    );
    let text = one.repeat(10 * 1024 * 1024 / one.len());
    let documents = read(&text);
    assert_eq!(documents.len(), 10 * 1024 * 1024 / one.len());
    assert_eq!(
        documents.last().map(|document| document.range.end),
        Some(text.len())
    );
}
