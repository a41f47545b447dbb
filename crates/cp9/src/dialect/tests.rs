//! Tables for each rule of the dialect, and properties over the whole command tree.

use clap::{Arg, ArgAction, Command, FromArgMatches as _};
use proptest::prelude::*;

use super::link::takes_value;
use super::*;
use crate::cli::{self, Cli};

fn parsed(line: &str) -> Result<Vec<Invocation>, DialectError> {
    parse(&words(line), &cli::command())
}

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

/// The arguments of every command of the chain.
fn args(line: &str) -> Vec<String> {
    parsed(line)
        .expect(line)
        .into_iter()
        .map(|link| link.args.join(" "))
        .collect()
}

#[test]
fn keys_become_flags_only_where_the_command_has_them() {
    for (line, flags) in [
        (
            "destroy session=abc force=true yes=false",
            "destroy --session=abc --force",
        ),
        (
            "logs follow=true since=5m level=error",
            "logs --follow --since=5m --level=error",
        ),
        ("logs api", "logs api"),
        ("logs servce=x", "logs servce=x"),
        ("logs Service=x", "logs Service=x"),
        ("status json=lines wait=5m", "status --json=lines --wait=5m"),
        ("status json=true wait=true", "status --json --wait"),
        ("status json=false wait=false", "status"),
        ("status --wait 5m", "status --wait=5m"),
        ("status --wait --json", "status --wait --json"),
        ("logs --json api", "logs --json api"),
        ("config=a.yaml up", "--config=a.yaml up"),
        ("up config=a=b.yaml", "up --config=a=b.yaml"),
        ("status session=", "status --session="),
    ] {
        assert_eq!(args(line), [flags], "{line}");
    }
}

#[test]
fn values_of_flags_and_all_after_the_dashes_stay_as_they_are() {
    for line in [
        "up --config force=true",
        "logs --service : --follow",
        "logs --service {env.A=1}",
        "logs -- follow=true",
        "logs -- a : b {env.A=1}",
    ] {
        assert_eq!(args(line), [line], "{line}");
    }
}

#[test]
fn what_is_neither_flag_nor_word_is_refused() {
    let refused = |line: &str| parsed(line).expect_err(line);
    let unknown = refused("destroy sesion=x");
    assert_eq!(
        unknown.to_string(),
        "unknown argument `sesion` in `sesion=x`"
    );
    assert_eq!(unknown.hints()[0], "did you mean `session=`?");
    assert_eq!(
        refused("logs api foo=1").to_string(),
        "unknown argument `foo` in `foo=1`"
    );
    assert_eq!(
        refused("destroy yes=1").to_string(),
        "`yes` takes `true` or `false`, not `1`"
    );
    assert_eq!(
        refused("destroy yes=").to_string(),
        "`yes` takes `true` or `false`, not ``"
    );
    assert_eq!(refused("comfig=a up").hints()[0], "did you mean `config=`?");
}

#[test]
fn an_unknown_command_is_left_for_clap_to_name() {
    assert_eq!(
        args("stauts follow=true : up"),
        ["stauts follow=true", "up"]
    );
}

#[test]
fn chains_are_cut_at_lone_colons() {
    assert_eq!(
        args("up : status --json : logs a:b"),
        ["up", "status --json", "logs a:b"]
    );
    let names: Vec<String> = parsed("up : controller serve --folder x")
        .expect("a chain")
        .into_iter()
        .map(|l| l.name)
        .collect();
    assert_eq!(names, ["up", "controller serve"]);
    for (line, message) in [
        (": up", "there is no command before `:`"),
        ("up :", "there is no command after `:`"),
        ("up : : status", "there is no command before `:`"),
        (":", "there is no command before `:`"),
    ] {
        assert_eq!(parsed(line).expect_err(line).to_string(), message, "{line}");
    }
    assert_eq!(args(""), [""]);
}

#[test]
fn settings_hold_for_the_rest_of_the_chain() {
    let chain =
        parsed("{env.A=1} : up {cp9.verbose=true} : status {env.A=2} {sys.output.format=json}")
            .expect("a chain");
    let [up, status] = chain.as_slice() else {
        panic!("two commands: {chain:?}")
    };
    assert_eq!(up.overlay.env.get("A").map(String::as_str), Some("1"));
    assert_eq!((up.overlay.verbose, up.overlay.format), (Some(true), None));
    assert_eq!(status.overlay.env.get("A").map(String::as_str), Some("2"));
    assert_eq!(
        (status.overlay.verbose, status.overlay.format),
        (Some(true), Some(Format::Envelope))
    );
    let empty = parsed("up {env.A=}").expect("an empty value");
    assert_eq!(empty[0].overlay.env.get("A").map(String::as_str), Some(""));
}

#[test]
fn wrong_settings_are_refused() {
    for (token, message) in [
        ("{cp9.verbos=true}", "unknown setting `{cp9.verbos=true}`"),
        ("{cp9.verbose}", "unknown setting `{cp9.verbose}`"),
        ("{}", "unknown setting `{}`"),
        ("{A=1}", "unknown setting `{A=1}`"),
        (
            "{cp9.verbose=yes}",
            "`cp9.verbose` takes `true` or `false`, not `yes`",
        ),
        (
            "{sys.output.format=yaml}",
            "`sys.output.format` takes `json`, `lines` or `text`, not `yaml`",
        ),
        ("{env.1A=x}", "`1A` cannot be the name of a variable"),
        ("{env.=x}", "`` cannot be the name of a variable"),
    ] {
        assert_eq!(
            parsed(&format!("up {token}")).expect_err(token).to_string(),
            message
        );
    }
}

#[test]
fn the_wanted_form_is_known_before_the_arguments_are_understood() {
    for (line, format) in [
        ("stauts --json", Format::Envelope),
        ("status json=true foo=1", Format::Envelope),
        ("{sys.output.format=json} x", Format::Envelope),
        ("logs json=lines", Format::Lines),
        ("logs -- --json", Format::Text),
        ("status", Format::Text),
    ] {
        assert_eq!(wanted(&words(line)), format, "{line}");
    }
}

/// What the arguments of one command mean.
fn meaning(args: &[String]) -> Cli {
    let words = std::iter::once("cp9".to_owned()).chain(args.iter().cloned());
    let matches = cli::command()
        .try_get_matches_from(words)
        .unwrap_or_else(|error| panic!("{args:?}: {error}"));
    Cli::from_arg_matches(&matches).expect("the definition fits its type")
}

/// A value that a flag takes.
fn sample(flag: &Arg) -> String {
    let allowed = flag.get_possible_values();
    let duration =
        flag.get_value_parser().type_id() == std::any::TypeId::of::<std::time::Duration>();
    match allowed.last() {
        Some(value) => value.get_name().to_owned(),
        None if duration => "7m".to_owned(),
        None => "a=b:c".to_owned(),
    }
}

/// Every command by its words, with what it needs besides.
fn every_command(parent: &Command, words: &[String], found: &mut Vec<(Vec<String>, Command)>) {
    for sub in parent
        .get_subcommands()
        .filter(|sub| sub.get_name() != "help")
    {
        let words: Vec<String> = words
            .iter()
            .cloned()
            .chain([sub.get_name().to_owned()])
            .collect();
        if sub.has_subcommands() {
            every_command(sub, &words, found);
        } else {
            found.push((words, sub.clone()));
        }
    }
}

#[test]
fn the_rewritten_form_means_what_the_flag_form_means_for_every_flag() {
    let root = cli::command();
    let mut commands = Vec::new();
    every_command(&root, &[], &mut commands);
    let mut compared = 0;
    for (words, command) in &commands {
        let all = command
            .get_arguments()
            .filter(|arg| arg.get_long().is_some());
        for flag in
            all.filter(|arg| !matches!(arg.get_action(), ArgAction::Help | ArgAction::Version))
        {
            let long = flag.get_long().expect("only flags are left");
            let value = if takes_value(flag) {
                sample(flag)
            } else {
                "true".into()
            };
            let required = command
                .get_arguments()
                .filter(|arg| arg.is_required_set() && arg.get_id() != flag.get_id());
            let needed: Vec<String> = required
                .flat_map(|arg| {
                    let flag = arg.get_long().map(|long| format!("--{long}"));
                    // A word that is no dialect stands for a positional.
                    let value = if flag.is_some() {
                        sample(arg)
                    } else {
                        "word".to_owned()
                    };
                    flag.into_iter().chain([value])
                })
                .collect();
            let with = |more: &[String]| [words.as_slice(), &needed, more].concat();
            let plain = match (takes_value(flag), flag.is_require_equals_set()) {
                (false, _) => vec![format!("--{long}")],
                (true, true) => vec![format!("--{long}={value}")],
                (true, false) => vec![format!("--{long}"), value.clone()],
            };
            let dialect =
                parse(&with(&[format!("{long}={value}")]), &root).expect("the dialect form");
            assert_eq!(dialect.len(), 1);
            assert_eq!(
                meaning(&dialect[0].args),
                meaning(&with(&plain)),
                "{words:?} {long}"
            );
            compared += 1;
        }
    }
    assert!(compared > 20, "only {compared} flags were compared");
}

fn token() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "up",
        "status",
        "logs",
        "destroy",
        "schema",
        "controller",
        "serve",
        "help",
        ":",
        "--",
        "-",
        "",
        "=",
        "{}",
        "{",
        "}",
        "{env.A=1}",
        "{cp9.verbose=true}",
        "--config",
        "--json",
        "--wait",
        "--service",
        "json=",
        "wait=5m",
        "follow=true",
        "config=x",
        "a=b",
        "-x",
        "--x=y",
        "{env.=}",
        "--=",
        "ü=1",
        "yes=true",
    ]);
    prop_oneof![4 => known.prop_map(str::to_owned), 1 => ".{0,12}", 1 => "[a-z-]{0,8}=[^ ]{0,6}", 1 => r"\{[a-z.]{0,12}=?.{0,4}\}"]
}

proptest! {
    #[test]
    fn no_arguments_make_it_panic(tokens in prop::collection::vec(token(), 0..8)) {
        let root = cli::command();
        if let Ok(links) = parse(&tokens, &root) {
            for link in links {
                let words = std::iter::once("cp9".to_owned()).chain(link.args);
                if let Err(error) = root.clone().try_get_matches_from(words) {
                    drop(crate::usage::refusal(&error, &link.name));
                }
            }
        }
    }

    #[test]
    fn plain_flags_pass_unchanged(word in "[A-Za-z0-9_./-]{1,12}") {
        prop_assume!(!word.starts_with('-'));
        let line = [word.clone(), "x".into()];
        let chain = parse(&line, &cli::command()).expect("words are never refused");
        prop_assert_eq!(&chain[0].args, &line.to_vec());
    }
}
