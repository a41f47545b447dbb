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
