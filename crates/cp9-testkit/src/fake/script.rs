//! The script of a fake program, and which line answers a call.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The calls that are expected, in any order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Script(pub Vec<Line>);

/// One expected call and its answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// The arguments. `*` within an argument stands for any text, and an argument `**` for
    /// any number of arguments.
    pub argv: Vec<String>,
    /// Goes to standard output.
    #[serde(default)]
    pub stdout: String,
    /// Goes to standard error.
    #[serde(default)]
    pub stderr: String,
    /// The exit code.
    #[serde(default)]
    pub exit: u8,
    /// Files that are written first, relative to the working directory, with their content.
    #[serde(default)]
    pub touch: BTreeMap<String, String>,
    /// Answers any number of calls, instead of one.
    #[serde(default)]
    pub repeat: bool,
    /// Prints, and then does not end until it is killed.
    #[serde(default)]
    pub hang: bool,
}

impl Script {
    /// Reads a script.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// The first line that expects these arguments and has an answer left; `used` holds the
    /// lines that answered before.
    pub fn answer(&self, used: &[usize], argv: &[String]) -> Option<usize> {
        let free = |at: &usize| self.0[*at].repeat || !used.contains(at);
        (0..self.0.len())
            .filter(free)
            .find(|at| matches(&self.0[*at].argv, argv))
    }

    /// The lines that never answered.
    pub fn unused(&self, used: &[usize]) -> Vec<&Line> {
        let lines = self.0.iter().enumerate();
        lines
            .filter(|(at, _)| !used.contains(at))
            .map(|(_, line)| line)
            .collect()
    }
}

/// Whether the arguments are those of a script line.
pub fn matches(pattern: &[String], argv: &[String]) -> bool {
    wild(
        pattern,
        argv,
        |part| part == "**",
        |part, arg| {
            let (part, arg): (Vec<char>, Vec<char>) =
                (part.chars().collect(), arg.chars().collect());
            wild(&part, &arg, |c| *c == '*', |one, other| one == other)
        },
    )
}

/// Matches a sequence against a pattern in which some items stand for any number of items. It goes
/// back only to the last such item, so that it cannot take exponential time.
fn wild<P, T>(
    pattern: &[P],
    items: &[T],
    any: impl Fn(&P) -> bool,
    same: impl Fn(&P, &T) -> bool,
) -> bool {
    let (mut at, mut item) = (0, 0);
    let mut last_any = None;
    while item < items.len() {
        if pattern.get(at).is_some_and(&any) {
            at += 1;
            last_any = Some((at, item));
        } else if pattern.get(at).is_some_and(|part| same(part, &items[item])) {
            (at, item) = (at + 1, item + 1);
        } else if let Some((after, tried)) = last_any {
            (at, item) = (after, tried + 1);
            last_any = Some((after, tried + 1));
        } else {
            return false;
        }
    }
    pattern[at..].iter().all(any)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn stars() {
        let good = [
            ("plan", "plan"),
            ("", ""),
            ("-out=*", "-out=/tmp/x"),
            ("a*c*e", "abcde"),
            ("a*c*e", "acce"),
            ("*", "x"),
            ("**", ""),
            ("a ** z", "a b c z"),
            ("a ** z", "a z"),
            ("** -json **", "plan -json -out"),
            ("a ** b* z", "a b1 c b2 z"),
        ];
        for (pattern, argv) in good {
            assert!(matches(&words(pattern), &words(argv)), "{pattern} | {argv}");
        }
        let bad = [
            ("plan", "apply"),
            ("plan", "plan x"),
            ("plan x", "plan"),
            ("*", ""),
            ("a*c", "ab"),
            ("a ** z", "a b"),
            ("", "x"),
        ];
        for (pattern, argv) in bad {
            assert!(
                !matches(&words(pattern), &words(argv)),
                "{pattern} | {argv}"
            );
        }
        let many = "a".repeat(5000);
        assert!(!matches(&[format!("{}b", "*a".repeat(50))], &[many]));
    }

    #[test]
    fn each_line_answers_once_unless_it_repeats() {
        let script = Script::parse(
            r#"[{"argv":["a"]},{"argv":["*"],"exit":1},{"argv":["v"],"repeat":true}]"#,
        )
        .expect("good");
        assert_eq!(script.answer(&[], &words("a")), Some(0));
        assert_eq!(script.answer(&[0], &words("a")), Some(1));
        assert_eq!(script.answer(&[0, 1], &words("a")), None);
        assert_eq!(script.answer(&[1, 2], &words("v")), Some(2));
        assert_eq!(script.unused(&[0, 2, 2]).len(), 1);
    }

    #[test]
    fn an_unknown_key_is_an_error() {
        assert!(Script::parse(r#"[{"argv":[],"stdot":"x"}]"#).is_err());
    }
}
