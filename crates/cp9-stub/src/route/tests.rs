//! Routes: which template a path is for, and that none is found or missed against the rules.

use proptest::prelude::*;

use super::{Found, Table, Template, percent_decode};

fn table(templates: &[&'static str]) -> Table<&'static str> {
    let mut table = Table::new();
    for text in templates {
        let (method, path) = text.split_once(' ').unwrap_or(("GET", text));
        let template = Template::parse(path).expect("a template");
        table
            .add(path, template, method, *text)
            .expect("a new route");
    }
    table
}

fn found<'t>(
    table: &'t Table<&'static str>,
    method: &str,
    target: &str,
) -> Result<&'t str, Vec<&'t str>> {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    match table.find(path, query, method) {
        Found::Operation { operation, .. } => Ok(operation),
        Found::OtherMethods(methods) => Err(methods),
        Found::Nothing => Err(Vec::new()),
    }
}

#[test]
fn the_more_exact_template_wins() {
    let table = table(&[
        "/{any}",
        "/pets/{id}",
        "/pets/mine",
        "/pets/{id}:feed",
        "/pets/{from}-{to}",
        "/{kind}/mine",
        "/pets/{id}/toys/",
        "/pets/{id}/toys",
        "/",
    ]);
    for (path, expected) in [
        ("/", "/"),
        ("/x", "/{any}"),
        ("/pets/mine", "/pets/mine"),
        ("/pets/7", "/pets/{id}"),
        ("/pets/7:feed", "/pets/{id}:feed"),
        ("/pets/1-2", "/pets/{from}-{to}"),
        ("/pets/-2", "/pets/{id}"),
        ("/pets/7%3Afeed", "/pets/{id}:feed"),
        ("/dogs/mine", "/{kind}/mine"),
        ("/pets/a%2Fb", "/pets/{id}"),
        ("/pets/%6Dine", "/pets/mine"),
        ("/pets/mine/", "/pets/mine"),
        ("/pets/1/toys", "/pets/{id}/toys"),
        ("/pets/1/toys/", "/pets/{id}/toys/"),
    ] {
        assert_eq!(found(&table, "GET", path), Ok(expected), "{path}");
    }
    for path in ["/pets/", "/a/b/c", "/pets//toys"] {
        let nothing = found(&table, "GET", path);
        let expected = if path == "/pets/" {
            Ok("/{any}")
        } else {
            Err(Vec::new())
        };
        assert_eq!(nothing, expected, "{path}");
    }
}

#[test]
fn a_method_is_looked_for_in_every_template_that_matches() {
    let table = table(&["GET /a/{x}", "PUT /a/{x}", "POST /a/b"]);
    assert_eq!(found(&table, "POST", "/a/b"), Ok("POST /a/b"));
    assert_eq!(found(&table, "GET", "/a/b"), Ok("GET /a/{x}"));
    assert_eq!(found(&table, "POST", "/a/c"), Err(vec!["GET", "PUT"]));
    assert_eq!(
        found(&table, "DELETE", "/a/b"),
        Err(vec!["GET", "POST", "PUT"])
    );
}

#[test]
fn a_query_in_a_template_must_come_with_the_request() {
    let table = table(&["/c?comp=list", "/c", "/c?comp=list&kind=a"]);
    assert_eq!(found(&table, "GET", "/c"), Ok("/c"));
    assert_eq!(found(&table, "GET", "/c?x=1&comp=list"), Ok("/c?comp=list"));
    assert_eq!(
        found(&table, "GET", "/c?kind=a&comp=list"),
        Ok("/c?comp=list&kind=a")
    );
}

#[test]
fn the_same_template_and_method_come_once() {
    let mut table = table(&["GET /a/{x}"]);
    let same = |text: &str| Template::parse(text).expect("a template");
    assert_eq!(
        table.add("/a/{y}", same("/a/{y}"), "GET", ""),
        Err("/a/{x}".into())
    );
    assert_eq!(table.add("/a/{y}", same("/a/{y}"), "PUT", ""), Ok(()));
    assert_eq!(table.add("/a/{y}/", same("/a/{y}/"), "GET", ""), Ok(()));
}

#[test]
fn templates_that_are_none_are_named() {
    for (text, told) in [
        ("a", "does not begin with `/`"),
        ("/{a", "`{` without its `}`"),
        ("/a}", "`}` without its `{`"),
        ("/{}", "without a name"),
        ("/{{a}}", "without a name"),
        ("/{a}/{a}", "parameter `a` twice"),
        ("/a#b", "fragment"),
    ] {
        let refused = Template::parse(text).expect_err("it is none");
        assert!(refused.contains(told), "{text}: {refused}");
    }
}

#[test]
fn decoding_takes_what_it_gets() {
    for (text, expected) in [
        ("a%20b", "a b"),
        ("%", "%"),
        ("%2", "%2"),
        ("%zz", "%zz"),
        ("%41%", "A%"),
    ] {
        assert_eq!(percent_decode(text), expected.as_bytes(), "{text}");
    }
}

/// A segment of a template and the same as a regular expression.
fn segments() -> impl Strategy<Value = Vec<(String, String)>> {
    let literal = "[ab:-]{1,3}".prop_map(|text| (text.clone(), regex::escape(&text)));
    let piece = prop_oneof![literal.clone(), Just(("{}".to_owned(), "[^/]+".to_owned())),];
    let segment = prop::collection::vec(piece, 1..4).prop_map(|pieces| {
        let (texts, patterns): (Vec<String>, Vec<String>) = pieces.into_iter().unzip();
        (texts.concat(), patterns.concat())
    });
    prop::collection::vec(segment, 1..4)
}

/// Gives the parameters of a template names of their own.
fn named(text: &str) -> String {
    let mut parts = text.split("{}");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for (index, part) in parts.enumerate() {
        out.extend([&format!("{{p{index}}}"), part]);
    }
    out
}

proptest! {
    #[test]
    fn a_template_matches_what_its_expression_matches(
        segments in segments(),
        path in "(/[ab:x-]{1,4}){1,3}",
    ) {
        let (texts, patterns): (Vec<String>, Vec<String>) = segments.into_iter().unzip();
        let template = named(&format!("/{}", texts.join("/")));
        let pattern = format!("^/{}$", patterns.join("/"));
        let expected = regex::Regex::new(&pattern).expect("a pattern").is_match(&path);
        let mut table = Table::new();
        table.add(&template, Template::parse(&template).expect("a template"), "GET", ())
            .expect("a new route");
        let found = matches!(table.find(&path, "", "GET"), Found::Operation { .. });
        prop_assert_eq!(found, expected, "{} for {}", template, path);
    }

    #[test]
    fn a_literal_route_is_always_found_whatever_else_there_is(
        others in prop::collection::vec(segments(), 0..6),
        path in "(/[ab]{1,3}){1,3}",
    ) {
        let mut table = Table::new();
        for segments in others {
            let texts: Vec<String> = segments.into_iter().map(|(text, _)| text).collect();
            let text = named(&format!("/{}", texts.join("/")));
            let template = Template::parse(&text).expect("a template");
            let _ = table.add(&text, template, "GET", false);
        }
        let template = Template::parse(&path).expect("a template");
        let known = table.add(&path, template, "GET", true).is_err();
        match table.find(&path, "", "GET") {
            Found::Operation { operation, literal } => {
                prop_assert!(literal);
                prop_assert!(*operation || known);
            }
            other => prop_assert!(false, "{:?}", other),
        }
    }

    #[test]
    fn no_path_panics(template in "/[{}a/?=&#%:-]{0,12}", path in "[^\u{0}]{0,20}") {
        let mut table = Table::new();
        if let Ok(parsed) = Template::parse(&template) {
            table.add(&template, parsed, "GET", ()).expect("a new route");
        }
        let _ = table.find(&path, &path, "GET");
    }
}
