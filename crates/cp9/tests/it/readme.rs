//! The commands of the documents for newcomers, run as they stand there, and their outputs as shown there.
//! In a fenced block of `console`, a line that begins with `$ ` is a command and what follows is its output. It ends
//! with 0, unless the next command is `$ echo $?`, which then shows the code. Digits and blanks may differ;
//! `[..]` and `...` stand for what is left out. `cargo run` and `cargo build` are the cp9 under test. A block
//! below `<!-- not run: why -->` is left out, and listed here.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use cp9_testkit::{Run, Sandbox};

use crate::prebuilt::{CP9, own_name};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
/// The documents whose commands are run.
const DOCUMENTS: [&str; 3] = [
    "README.md",
    "docs/get-started.md",
    "examples/quickstart/README.md",
];
/// The blocks that are not run, with the reasons given there.
const NOT_RUN: [(&str, &str); 1] = [("README.md", "it runs this test")];
/// What fenced blocks may hold: commands, or nothing that could be meant to be typed.
const FENCES: [&str; 5] = ["console", "yaml", "json", "rust", "text"];
/// A few builds by the real compiler, under a full load of tests.
const LIMIT: Duration = Duration::from_mins(8);

/// A fenced block.
#[derive(Debug, PartialEq)]
struct Block {
    /// The line of its first content.
    line: usize,
    language: String,
    not_run: Option<String>,
    lines: Vec<String>,
}

/// A command with what is shown of it.
#[derive(Debug, PartialEq)]
struct Step {
    line: usize,
    command: String,
    shown: String,
    /// Its exit code.
    code: i32,
}

fn blocks(text: &str) -> Vec<Block> {
    let mut found: Vec<Block> = Vec::new();
    let mut open = false;
    let mut before = "";
    for (number, line) in text.lines().enumerate() {
        if let Some(language) = line.strip_prefix("```") {
            if !open {
                found.push(Block {
                    line: number + 2,
                    language: language.to_owned(),
                    not_run: before
                        .strip_prefix("<!-- not run: ")
                        .and_then(|rest| rest.strip_suffix(" -->"))
                        .map(str::to_owned),
                    lines: Vec::new(),
                });
            }
            open = !open;
        } else if open {
            found
                .last_mut()
                .expect("an open block")
                .lines
                .push(line.to_owned());
        }
        if !line.trim().is_empty() {
            before = line;
        }
    }
    assert!(!open, "the last fence is open");
    found
}

fn steps(blocks: &[Block]) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let run = blocks
        .iter()
        .filter(|block| block.language == "console" && block.not_run.is_none());
    for block in run {
        for (number, line) in block.lines.iter().enumerate() {
            if let Some(command) = line.strip_prefix("$ ") {
                steps.push(Step {
                    line: block.line + number,
                    command: command.to_owned(),
                    shown: String::new(),
                    code: 0,
                });
                continue;
            }
            let step = steps
                .last_mut()
                .filter(|step| step.line >= block.line)
                .unwrap_or_else(|| panic!("line {}: output before a command", block.line + number));
            if step.command.ends_with('\\') {
                step.command.push('\n');
                step.command.push_str(line);
            } else {
                step.shown.push_str(line);
                step.shown.push('\n');
            }
        }
    }
    for at in 1..steps.len() {
        if steps[at].command == "echo $?" {
            let code = steps[at].shown.trim().parse();
            steps[at - 1].code =
                code.unwrap_or_else(|_| panic!("line {}: no exit code", steps[at].line));
        }
    }
    steps
}

/// One script for all commands, as they share a folder and variables. It ends at the first that does not
/// end as it should, so that the others do not hide what happened.
fn script(steps: &[Step], outputs: &Utf8Path) -> String {
    use std::fmt::Write as _;
    let mut text = String::from("status=0\n");
    for (number, step) in steps.iter().enumerate() {
        let Step { command, code, .. } = step;
        let _ = write!(
            text,
            "(exit $status)\n{{ {command}\n}} >'{outputs}/{number}' 2>&1 </dev/null\nstatus=$?\n[ $status = {code} ] || exit 1\n"
        );
    }
    text
}

/// A text in which runs of blanks are one, and runs of digits, and words of hexadecimal digits, are 0.
fn calm(text: &str) -> String {
    let mut calm = String::new();
    for line in text.lines() {
        let mut words: Vec<String> = Vec::new();
        for word in line.split_whitespace() {
            words.push(numbers(word));
        }
        calm.push_str(&words.join(" "));
        calm.push('\n');
    }
    calm.trim_end().to_owned()
}

fn numbers(word: &str) -> String {
    let mut calm = String::new();
    let mut piece = String::new();
    for c in word.chars().chain([' ']) {
        if c.is_ascii_alphanumeric() {
            piece.push(c);
        } else {
            calm.push_str(&digits(&piece));
            calm.push(c);
            piece.clear();
        }
    }
    // Fractions may end with the point, and addresses are numbers, too.
    while calm.contains("0.0") {
        calm = calm.replace("0.0", "0");
    }
    calm.trim_end().to_owned()
}

fn digits(piece: &str) -> String {
    if piece.len() >= 8 && piece.bytes().all(|b| b.is_ascii_hexdigit()) {
        return "0".to_owned();
    }
    let mut calm = String::new();
    for c in piece.chars() {
        match c {
            '0'..='9' if calm.ends_with('0') => {}
            '0'..='9' => calm.push('0'),
            c => calm.push(c),
        }
    }
    calm
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        if entry.file_name() == ".cp9" {
            continue;
        }
        if entry.file_type().expect("a type").is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("a copy");
        }
    }
}

/// A fresh clone in which cp9 was built, as far as a newcomer can tell.
fn clone(with_cp9: bool) -> Sandbox {
    let sandbox = Sandbox::new(CP9);
    let quickstart = "examples/quickstart";
    copy(
        &Path::new(ROOT).join(quickstart),
        sandbox.path(quickstart).as_std_path(),
    );
    let release = sandbox.path("target/release");
    fs::create_dir_all(&release).expect("a folder");
    let bin = sandbox.root().join("bin");
    let cargo = format!(
        "#!/bin/sh\ncase \"$*\" in\n'build --release') ;;\n'run --release -- '*) shift 3; exec '{CP9}' \"$@\" ;;\n\
         *) echo \"no such cargo command: $*\" >&2; exit 64 ;;\nesac\n"
    );
    fs::write(bin.join("cargo"), cargo).expect("a program");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(bin.join("cargo"), executable).expect("an executable program");
    let places: &[Utf8PathBuf] = if with_cp9 {
        &[release, bin]
    } else {
        &[release]
    };
    for place in places {
        std::os::unix::fs::symlink(CP9, place.join("cp9")).expect("a link");
    }
    sandbox
}

fn has_curl() -> bool {
    let found = Command::new("curl").arg("--version").output();
    let found = found.is_ok_and(|output| output.status.success());
    if !found {
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), "SKIP: curl: not on PATH");
    }
    found
}

fn run(document: &str, folder: &str, with_cp9: bool) {
    if !has_curl() {
        return;
    }
    let text = fs::read_to_string(Path::new(ROOT).join(document)).expect("the document");
    let steps = steps(&blocks(&text));
    assert!(!steps.is_empty(), "{document} has commands");
    let _name = own_name();
    let sandbox = clone(with_cp9);
    let outputs = sandbox.root().join("outputs");
    fs::create_dir(&outputs).expect("a folder");
    let shell = sandbox
        .program("/bin/sh")
        .args(["-c", &script(&steps, &outputs)])
        .cwd(sandbox.path(folder))
        .limit(LIMIT)
        .run();
    let mut wrong = Vec::new();
    for (number, step) in steps.iter().enumerate() {
        let output = fs::read_to_string(outputs.join(number.to_string()));
        wrong.extend(judge(document, step, output.ok().as_deref()));
    }
    assert!(
        wrong.is_empty(),
        "{}\n{}",
        wrong.join("\n"),
        end(&shell, &outputs)
    );
    assert_eq!(shell.code, Some(0), "{}", end(&shell, &outputs));
    sandbox.assert_nothing_left();
    assert!(!sandbox.path(folder).join(".cp9/quickstart").exists());
}

/// What is wrong with a step, if anything. Nothing is said of steps that were never reached.
fn judge(document: &str, step: &Step, output: Option<&str>) -> Option<String> {
    let output = output?;
    let at = format!("{document}:{}: $ {}", step.line, step.command);
    if step.shown.is_empty() {
        return None;
    }
    let assert = snapbox::Assert::new();
    let (actual, shown) = (calm(output), calm(&step.shown));
    assert
        .try_eq(Some(&at), actual.into(), shown.into())
        .err()
        .map(|difference| format!("{at}\n{difference}"))
}

/// The end of a script: its own words, and what its last command printed.
fn end(shell: &Run, outputs: &Utf8Path) -> String {
    let count = outputs.read_dir().expect("a folder").count();
    let last = outputs.join(count.saturating_sub(1).to_string());
    let last = fs::read_to_string(last).unwrap_or_default();
    format!(
        "the script ended after {count} commands\n{last}\n{}",
        shell.snapshot()
    )
}

#[test]
fn the_readme_does_what_it_says() {
    run("README.md", "", false);
}

#[test]
fn get_started_does_what_it_says() {
    run("docs/get-started.md", "", false);
}

#[test]
fn the_quickstart_does_what_it_says() {
    run("examples/quickstart/README.md", "examples/quickstart", true);
}

#[test]
fn no_command_is_left_out_unseen() {
    let mut not_run = Vec::new();
    for document in DOCUMENTS {
        let text = fs::read_to_string(Path::new(ROOT).join(document)).expect("the document");
        let mut inside = false;
        for (number, line) in text.lines().enumerate() {
            inside ^= line.starts_with("```");
            let at = format!("{document}:{}", number + 1);
            let indented = line.starts_with("    ") || line.starts_with('\t');
            assert!(
                inside || !indented,
                "{at}: an indented block is not run; fence it"
            );
            assert!(
                inside || !line.starts_with("$ "),
                "{at}: a command outside of a block"
            );
        }
        for block in blocks(&text) {
            let at = format!("{document}:{}", block.line);
            let language = block.language.as_str();
            assert!(
                FENCES.contains(&language),
                "{at}: `{language}` is not one of {FENCES:?}"
            );
            let commands = block.lines.iter().any(|line| line.starts_with("$ "));
            assert_eq!(
                commands,
                language == "console",
                "{at}: `$ ` marks the commands of a console block"
            );
            not_run.extend(block.not_run.map(|why| (document, why)));
        }
    }
    let not_run: Vec<_> = not_run
        .iter()
        .map(|(document, why)| (*document, why.as_str()))
        .collect();
    assert_eq!(not_run, NOT_RUN);
}

#[test]
fn blocks_are_read_as_commands_and_outputs() {
    let text = "a\n```console\n$ one\nout\n\nmore\n$ two \\\n  on\n$ echo $?\n6\n```\n\n<!-- not run: why -->\n\n```console\n$ never\n```\n";
    let blocks = blocks(text);
    assert_eq!(blocks[1].not_run.as_deref(), Some("why"));
    let steps = steps(&blocks);
    let read: Vec<_> = steps
        .iter()
        .map(|step| {
            (
                step.line,
                step.command.as_str(),
                step.shown.as_str(),
                step.code,
            )
        })
        .collect();
    assert_eq!(
        read,
        [
            (3, "one", "out\n\nmore\n", 0),
            (7, "two \\\n  on", "", 6),
            (9, "echo $?", "6\n", 0),
        ]
    );
}

#[test]
fn the_script_keeps_folder_variables_and_codes() {
    let sandbox = Sandbox::new(CP9);
    let outputs = sandbox.root().join("outputs");
    fs::create_dir(&outputs).expect("a folder");
    let text = "```console\n$ mkdir -p a && cd a\n$ X=1\n$ echo $X; pwd; (exit 7)\n$ echo $?\n7\n$ false\n$ echo late\n```\n";
    let steps = steps(&blocks(text));
    let shell = sandbox
        .program("/bin/sh")
        .args(["-c", &script(&steps, &outputs)])
        .run();
    assert_eq!(shell.code, Some(1), "`false` should have ended with 0");
    let output = |number: usize| fs::read_to_string(outputs.join(number.to_string())).ok();
    assert_eq!(output(2), Some(format!("1\n{}\n", sandbox.path("a"))));
    assert_eq!(output(3).as_deref(), Some("7\n"));
    assert_eq!(output(5), None, "nothing runs after a failure");
}

#[test]
fn numbers_and_blanks_do_not_count_and_words_do() {
    assert_eq!(
        calm("ready  12.5 s\nhttp://127.0.0.1:20123 c-00ff12ab deadbeef\nfeed\n\n"),
        "ready 0 s\nhttp://0:0 c-0 0\nfeed"
    );
    let step = |shown: &str| Step {
        line: 1,
        command: "x".into(),
        shown: shown.into(),
        code: 0,
    };
    assert_eq!(
        judge("d", &step("a 1\n...\nz [..]\n"), Some("a 22\nb\nc\nz y\n")),
        None
    );
    let wrong = judge("d", &step("a\n"), Some("b\n")).expect("a difference");
    assert!(wrong.starts_with("d:1: $ x\n"), "{wrong}");
}
