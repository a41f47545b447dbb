//! Words that no file of the repository holds: leftovers, paths of one machine, hosts of package
//! registries, names of the tools somebody typed with. Each is spelt in two halves here, so that
//! this file passes its own check.

use crate::report::Finding;

/// A word and why it is refused.
struct Word {
    text: &'static str,
    why: &'static str,
    /// Where it counts.
    place: Place,
}

/// Where a word counts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// As a word, in this spelling.
    Exact,
    /// As a word, in any spelling.
    AnyCase,
    /// In Rust files only.
    Rust,
    /// Where a path begins.
    PathStart,
}

const LEFTOVER: &str = "open an issue instead, or finish it";
const MACHINE: &str = "a path of one machine; make it relative or derive it";
const HOST: &str =
    "the host of a package registry; name the package and leave its source to the client";
const MAKING: &str = "the repository speaks of itself, not of how it is written";

const fn word(text: &'static str, place: Place, why: &'static str) -> Word {
    Word { text, why, place }
}

const WORDS: [Word; 28] = [
    word(concat!("TO", "DO"), Place::Exact, LEFTOVER),
    word(concat!("FIX", "ME"), Place::Exact, LEFTOVER),
    word(concat!("XX", "X"), Place::Exact, LEFTOVER),
    word(concat!("dbg", "!"), Place::Rust, LEFTOVER),
    word(concat!("todo", "!"), Place::Rust, LEFTOVER),
    word(concat!("unimplemented", "!"), Place::Rust, LEFTOVER),
    word(concat!("/wo", "rk/"), Place::PathStart, MACHINE),
    word(concat!("/ro", "ot/"), Place::PathStart, MACHINE),
    word(concat!("/Us", "ers/"), Place::PathStart, MACHINE),
    word(concat!("/home/", "runner"), Place::PathStart, MACHINE),
    word(concat!("index.", "crates.io"), Place::AnyCase, HOST),
    word(concat!("static.", "crates.io"), Place::AnyCase, HOST),
    word(concat!("proxy.", "golang.org"), Place::AnyCase, HOST),
    word(concat!("registry.", "npmjs.org"), Place::AnyCase, HOST),
    word(concat!("py", "pi.org"), Place::AnyCase, HOST),
    word(concat!("files.", "pythonhosted.org"), Place::AnyCase, HOST),
    word(concat!("repo1.", "maven.org"), Place::AnyCase, HOST),
    word(concat!("deb.", "debian.org"), Place::AnyCase, HOST),
    word(concat!("arti", "factory"), Place::AnyCase, HOST),
    word(concat!("clau", "de"), Place::AnyCase, MAKING),
    word(concat!("anth", "ropic"), Place::AnyCase, MAKING),
    word(concat!("open", "ai"), Place::AnyCase, MAKING),
    word(concat!("chat", "gpt"), Place::AnyCase, MAKING),
    word(concat!("co", "pilot"), Place::AnyCase, MAKING),
    word(concat!("language ", "model"), Place::AnyCase, MAKING),
    word(concat!("ai", "-generated"), Place::AnyCase, MAKING),
    word(concat!("sub", "agent"), Place::AnyCase, MAKING),
    word(concat!("co-authored", "-by"), Place::AnyCase, MAKING),
];

/// Looks for every word, and for the absolute path of this very checkout.
pub(crate) fn check(path: &str, text: &str, checkout: &str) -> Vec<Finding> {
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let lower = line.to_lowercase();
        for word in WORDS.iter().filter(|word| holds(path, line, &lower, word)) {
            found.push(Finding::at(
                path,
                index + 1,
                format!("`{}`: {}", word.text, word.why),
            ));
        }
        if checkout.len() > 4 && line.contains(checkout) {
            found.push(Finding::at(
                path,
                index + 1,
                format!("the path of this checkout: {MACHINE}"),
            ));
        }
    }
    found
}

fn holds(path: &str, line: &str, lower: &str, word: &Word) -> bool {
    match word.place {
        Place::Rust if path.rsplit('.').next() != Some("rs") => false,
        Place::Exact | Place::Rust => matches(line, word.text, is_word),
        Place::AnyCase => matches(lower, word.text, is_word),
        Place::PathStart => line
            .match_indices(word.text)
            .any(|(at, _)| !before(line, at).is_some_and(is_path)),
    }
}

/// True where the needle stands with no word character on either side.
fn matches(line: &str, needle: &str, inner: fn(char) -> bool) -> bool {
    line.match_indices(needle).any(|(at, _)| {
        let after = line[at + needle.len()..].chars().next();
        let open_end = needle.ends_with(is_word) && after.is_some_and(inner);
        !before(line, at).is_some_and(inner) && !open_end
    })
}

fn before(line: &str, at: usize) -> Option<char> {
    line[..at].chars().next_back()
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Characters after which a slash goes on with a path instead of beginning one.
fn is_path(c: char) -> bool {
    is_word(c) || "-./>}~*".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHECKOUT: &str = "/srv/build/here";

    #[test]
    fn every_word_is_found() {
        for word in &WORDS {
            let line = format!("  // see {} (later)\n", word.text);
            let found = check("crates/a/src/b.rs", &line, CHECKOUT);
            assert_eq!(found.len(), 1, "{}", word.text);
            assert_eq!(found[0].place, "crates/a/src/b.rs:1");
        }
    }

    #[test]
    fn the_checkout_itself_is_a_machine_path() {
        assert_eq!(
            check("README.md", "fine\ncd /srv/build/here/x\n", CHECKOUT).len(),
            1
        );
    }

    #[test]
    fn spelling_counts_where_it_should() {
        let shout = concat!("CLAU", "DE");
        assert_eq!(check("a.md", shout, CHECKOUT).len(), 1);
        assert_eq!(check("a.md", concat!("a to", "do list"), CHECKOUT), []);
        assert_eq!(
            check("a.md", concat!("todo", "!()"), CHECKOUT),
            [],
            "only Rust has macros"
        );
    }

    #[test]
    fn parts_of_longer_words_and_paths_pass() {
        let fine = [
            "mktemp -d x.XXXXXX",
            ".cp9/<name>/run/<svc>/root/etc",
            "${session}/root/etc",
            "/workspace/service",
            "an OpenAPI document",
            "~/work/project",
            "/home/alice/project",
        ];
        for line in fine {
            assert_eq!(check("a.rs", line, CHECKOUT), [], "{line}");
        }
    }
}
