//! Env files: what is read, what is refused where, and that no value is ever shown.

use cp9_model::config::envfile::parse;
use proptest::prelude::*;

fn pairs(text: &str) -> Vec<(String, String)> {
    parse(".env", text.as_bytes()).unwrap_or_else(|found| panic!("{text:?}: {found:?}"))
}

fn refused(text: &str) -> (usize, usize, String) {
    let found = parse(".env", text.as_bytes()).expect_err(text);
    assert!(found.iter().all(|one| one.code == "CP9-C040"), "{text:?}");
    (found[0].line, found[0].column, found[0].message.clone())
}

fn own(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs
        .iter()
        .map(|(key, value)| ((*key).into(), (*value).into()))
        .collect()
}

#[test]
fn reads_what_the_grammar_says() {
    let text = "\u{feff}# head\r\n\r\nA=1\r\nB=\"two words\"\nexport C='#x'\n\texport\tD=\n  E=a=b \n_F=123#not-a-comment\nexportG=2\nH='a\"b'\nI=\"\"\nJ=$X\\n\nexport=k\n";
    let want = [
        ("A", "1"),
        ("B", "two words"),
        ("C", "#x"),
        ("D", ""),
        ("E", "a=b"),
        ("_F", "123#not-a-comment"),
        ("exportG", "2"),
        ("H", "a\"b"),
        ("I", ""),
        ("J", "$X\\n"),
        ("export", "k"),
    ];
    assert_eq!(pairs(text), own(&want));
    assert!(pairs("").is_empty() && pairs("# x\n\n").is_empty());
    assert_eq!(pairs("A=1\nB=2"), own(&[("A", "1"), ("B", "2")]));
    let long = "x".repeat(70_000);
    assert_eq!(pairs(&format!("A={long}\n"))[0].1.len(), 70_000);
}

#[test]
fn refuses_with_line_and_column() {
    for (text, line, column, message) in [
        ("A=1\nnonsense\n", 2, 1, "no `=` in the line"),
        ("A =1\n", 1, 2, "a blank before `=`"),
        ("A= 1\n", 1, 3, "a blank after `=`"),
        ("=1\n", 1, 1, "no name before `=`"),
        ("1A=x\n", 1, 1, "the name before `=` is not a variable name"),
        (
            "A-B=x\n",
            1,
            1,
            "the name before `=` is not a variable name",
        ),
        (
            "A=x # y\n",
            1,
            5,
            "` #` in a value without quotes: comment or not?",
        ),
        ("A=\"x\" y\n", 1, 7, "text after the closing quote"),
        ("A=\"x\\\"y\"\n", 1, 7, "text after the closing quote"),
        ("A='x\nB=y'\n", 1, 3, "the closing quote is missing"),
        ("A=1\nB=2\nA=3\n", 3, 1, "`A` stands twice, first in line 1"),
        ("ä=1\n", 1, 1, "the name before `=` is not a variable name"),
        ("A=ü\u{1b}x\n", 1, 4, "a control character in the value"),
        (
            "OPTION_A: x=y\n",
            1,
            1,
            "the name before `=` is not a variable name",
        ),
    ] {
        assert_eq!(
            refused(text),
            (line, column, message.to_owned()),
            "{text:?}"
        );
    }
    let found = parse(".env", b"A=1\nB=\xe9\0\n").expect_err("not text");
    assert_eq!((found[0].code.as_str(), found[0].line), ("CP9-C001", 2));
    let long = format!("A={}\n", "x".repeat(140_000));
    assert!(
        refused(&long)
            .2
            .contains("longer than a process can be given")
    );
    let all = parse(".env", b"A\nB\nC=1\nD D=1\n").expect_err("three");
    assert_eq!(all.len(), 3);
}

proptest! {
    #[test]
    fn no_snippet_shows_a_value(
        before in "[A-Z]{1,3}=|[a-z -]{1,4}=|export |[\"'#]|",
        after in "\"|'| #x|'x|\"x| |",
    ) {
        let text = format!("{before}hunter2{after}\nBROKEN\nX=hunter2{after}\nY='hunter2\n");
        if let Err(found) = parse(".env", text.as_bytes()) {
            for one in found {
                prop_assert!(!format!("{one:?}").contains("hunter2"), "{text:?} {one:?}");
            }
        }
    }

    #[test]
    fn written_pairs_read_back(values in prop::collection::vec("[^'\\x00-\\x1f\\x7f\u{80}-\u{9f}]{0,30}", 0..8)) {
        let lines: Vec<_> = values.iter().enumerate().map(|(n, value)| format!("K{n}='{value}'
")).collect();
        let text = lines.concat();
        let read: Vec<_> = pairs(&text).into_iter().map(|(_, value)| value).collect();
        prop_assert_eq!(read, values);
    }
}
