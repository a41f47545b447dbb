//! Hostile files: an error with a line, in time, and never a panic.

use std::fmt::Write;
use std::time::{Duration, Instant};

use camino::Utf8Path;
use cp9_model::config;
use cp9_model::diagnostic::Diagnostic;
use cp9_model::yaml::{Options, parse_bytes};
use proptest::prelude::*;

const HEAD: &str = "apiVersion: cp9.tidbcloud.com/v1alpha2\nkind: Session\nname: abc\n";

fn refused(name: &str, bytes: &[u8], code: &str) {
    let begin = Instant::now();
    let found = config::load(Utf8Path::new("/w/cp9.yaml"), bytes)
        .map(|_| ())
        .expect_err(name);
    let took = begin.elapsed();
    // Alone each takes a fraction of a second; the rest is for a busy machine.
    assert!(took < Duration::from_secs(4), "{name} took {took:?}");
    assert!(
        found
            .iter()
            .all(|one| one.line >= 1 && one.column >= 1 && !one.snippet.is_empty()),
        "{name}"
    );
    assert_eq!(found[0].code, code, "{name}: {:?}", summary(&found));
}

fn summary(found: &[Diagnostic]) -> Vec<String> {
    found
        .iter()
        .take(3)
        .map(|one| format!("{}:{} {}", one.line, one.column, one.message))
        .collect()
}

fn bomb(levels: usize) -> String {
    let mut text = format!("{HEAD}a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for level in 1..levels {
        let alias = format!("*a{}", level - 1);
        writeln!(text, "a{level}: &a{level} [{}]", vec![alias; 9].join(", ")).expect("text");
    }
    text
}

#[test]
fn huge_files() {
    refused(
        "10 MB of text",
        "x".repeat(10_000_000).as_bytes(),
        "CP9-C002",
    );
    refused(
        "10 MB of pairs",
        "key: value\n".repeat(1_000_000).as_bytes(),
        "CP9-C002",
    );
    let keys = (0..4_900)
        .map(|n| format!("key{n}: {n}\n"))
        .collect::<Vec<_>>()
        .concat();
    refused(
        "just below the limit",
        format!("{HEAD}{keys}").as_bytes(),
        "CP9-C010",
    );
    refused(
        "one long line",
        format!("{HEAD}x: \"{}\"\n", "y".repeat(500_000)).as_bytes(),
        "CP9-C010",
    );
    refused(
        "one long key",
        format!("{HEAD}? {}\n: 1\n", "y".repeat(500_000)).as_bytes(),
        "CP9-C010",
    );
    refused(
        "many items",
        format!("{HEAD}source_build_services: [{}]\n", "a,".repeat(9_000)).as_bytes(),
        "CP9-C022",
    );
    let values = format!("{HEAD}x: [{}]\n", "a,".repeat(200_000));
    refused("too many items", values.as_bytes(), "CP9-C002");
    refused(
        "all lines wrong",
        "- [}\n".repeat(90_000).as_bytes(),
        "CP9-C003",
    );
    refused("many services", many_services(500).as_bytes(), "CP9-C024");
}

/// A long chain of needs that closes into a circle.
fn many_services(count: usize) -> String {
    let mut text = format!("{HEAD}appDelivery: {{repo: ., env: dev}}\nservices:\n  source:\n");
    for n in 0..count {
        let next = (n + 1) % count;
        writeln!(
            text,
            "    s{n}: {{repo: ., build: {{main: m.rs}}, app: {{registry: r}}, needs: [s{next}]}}"
        )
        .expect("text");
    }
    text
}

#[test]
fn deep_files() {
    refused(
        "flow",
        format!("{HEAD}x: {}", "[".repeat(100_000)).as_bytes(),
        "CP9-C004",
    );
    refused(
        "flow maps",
        format!("{HEAD}x: {}", "{a: ".repeat(100_000)).as_bytes(),
        "CP9-C004",
    );
    let block = (0..500)
        .map(|n| format!("{}a:\n", " ".repeat(n)))
        .collect::<Vec<_>>()
        .concat();
    refused(
        "block",
        format!("{HEAD}x:\n{}", block.replace("a:", " a:")).as_bytes(),
        "CP9-C004",
    );
    refused(
        "dashes",
        format!("{HEAD}x:\n  {}1\n", "- ".repeat(5_000)).as_bytes(),
        "CP9-C004",
    );
    refused(
        "question marks",
        format!("{}1\n", "? ".repeat(5_000)).as_bytes(),
        "CP9-C007",
    );
    let mut chain = format!("{HEAD}a0: &a0 [x]\n");
    for n in 1..200 {
        writeln!(chain, "a{n}: &a{n} [*a{}]", n - 1).expect("text");
    }
    refused("by aliases", chain.as_bytes(), "CP9-C004");
}

#[test]
fn alias_bombs() {
    refused("list", bomb(12).as_bytes(), "CP9-C006");
    let wide = format!(
        "{HEAD}a: &a \"{}\"\nb: [{}]\n",
        "x".repeat(100_000),
        "*a,".repeat(50_000)
    );
    refused("text", wide.as_bytes(), "CP9-C006");
    let merges = bomb(12).replace("a0: &a0 [x, x, x, x, x, x, x, x, x]", "a0: &a0 {x: 1}");
    refused("mappings", merges.as_bytes(), "CP9-C006");
    refused(
        "itself",
        format!("{HEAD}a: &a [*a]\n").as_bytes(),
        "CP9-C006",
    );
    refused(
        "merge of itself",
        format!("{HEAD}a: &a {{<<: *a}}\n").as_bytes(),
        "CP9-C006",
    );
    let nested = (0..60)
        .map(|n| format!("&x{n} ["))
        .collect::<Vec<_>>()
        .concat();
    let list = vec!["x"; 2_000].join(",");
    refused(
        "anchors in anchors",
        format!("{HEAD}a: {nested}{list}{}\n", "]".repeat(60)).as_bytes(),
        "CP9-C006",
    );
    let begin = Instant::now();
    assert!(parse_bytes("m.yaml", bomb(12).as_bytes(), Options::manifest()).is_err());
    assert!(
        begin.elapsed() < Duration::from_secs(4),
        "{:?}",
        begin.elapsed()
    );
}

#[test]
fn encodings() {
    let utf16 = |mark: &[u8], swap: bool| {
        let mut bytes = mark.to_vec();
        for unit in HEAD.encode_utf16() {
            bytes.extend(if swap {
                unit.to_be_bytes()
            } else {
                unit.to_le_bytes()
            });
        }
        bytes
    };
    refused("UTF-16 LE", &utf16(&[0xff, 0xfe], false), "CP9-C001");
    refused("UTF-16 BE", &utf16(&[0xfe, 0xff], true), "CP9-C001");
    refused("UTF-16 without mark", &utf16(&[], false), "CP9-C001");
    refused("UTF-32", &[0xff, 0xfe, 0, 0, b'a', 0, 0, 0], "CP9-C001");
    refused("binary", &(0..=255).collect::<Vec<u8>>(), "CP9-C001");
    refused("cut character", &[b'a', b':', b' ', 0xe2, 0x82], "CP9-C001");
    refused("empty", b"", "CP9-C008");
    refused("blank", b"\n\n  \n", "CP9-C008");
    refused("mark alone", "\u{feff}".as_bytes(), "CP9-C008");
    refused("null", b"null\n", "CP9-C011");
}

#[test]
fn many_problems_are_counted() {
    let keys = (0..4_000)
        .map(|n| format!("key{n}: {n}\n"))
        .collect::<Vec<_>>()
        .concat();
    let found = config::load(
        Utf8Path::new("/w/cp9.yaml"),
        format!("{HEAD}{keys}").as_bytes(),
    )
    .expect_err("refused");
    assert_eq!(found.len(), 51);
    assert_eq!(found[50].message, "3950 more problems are not shown");
}

/// Pieces of YAML that meet in odd ways more often than random bytes do.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "a",
        ": ",
        ":\n",
        "\n",
        "  ",
        "    ",
        "- ",
        "? ",
        "[",
        "]",
        "{",
        "}",
        ",",
        "&x ",
        "*x",
        "<<: *x\n",
        "|\n",
        ">-\n",
        "'",
        "\"",
        "\\",
        "#",
        " # ",
        "---\n",
        "...\n",
        "%YAML 1.2\n",
        "!!int ",
        "!t ",
        "\t",
        "\r\n",
        "\u{feff}",
        "ü",
        "\u{2028}",
        "secrets:\n",
        "values:\n",
        "name: abc\n",
        "services:\n",
        "0x1F",
        "1e3",
        "~",
        "yes",
        "@",
        "`",
        "\u{85}",
        "\u{7f}",
    ]);
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = parse_bytes("f", &bytes, Options::manifest());
        let _ = config::load(Utf8Path::new("/w/cp9.yaml"), &bytes);
        let _ = config::envfile::parse("f", &bytes);
    }

    #[test]
    fn no_text_panics(text in pieces(), head in any::<bool>()) {
        let text = if head { format!("{HEAD}{text}") } else { text };
        if let Ok(documents) = parse_bytes("f", text.as_bytes(), Options::manifest()) {
            let joined: String = documents.iter().map(|document| &text[document.range.clone()]).collect();
            prop_assert!(documents.is_empty() || joined == text);
        }
        if let Err(found) = config::load(Utf8Path::new("/w/cp9.yaml"), text.as_bytes()) {
            prop_assert!(!found.is_empty());
            prop_assert!(found.iter().all(|one| one.line >= 1 && one.column >= 1));
        }
        let _ = config::envfile::parse("f", text.as_bytes());
    }
}
