//! Plays one call of a fake program.

use std::env;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::process::ExitCode;
use std::thread;

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};

use super::UNSCRIPTED;
use super::script::{Line, Script};

/// A call as it is recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// The arguments, without the program's name.
    pub argv: Vec<String>,
    /// The working directory.
    pub cwd: String,
    /// Which line of the script answered; none if the call was not expected.
    pub line: Option<usize>,
}

/// The whole program: `fn main() -> ExitCode { cp9_testkit::fake::main() }`.
pub fn main() -> ExitCode {
    let exe = env::current_exe()
        .ok()
        .and_then(|path| Utf8PathBuf::from_path_buf(path).ok());
    let cwd = env::current_dir()
        .ok()
        .and_then(|path| Utf8PathBuf::from_path_buf(path).ok());
    let argv: Vec<String> = env::args_os()
        .skip(1)
        .map(|arg| arg.to_string_lossy().into_owned())
        .collect();
    let (Some(exe), Some(cwd)) = (exe, cwd) else {
        let _ = writeln!(io::stderr(), "the fake program does not know where it is");
        return ExitCode::from(UNSCRIPTED);
    };
    match play(&exe, &argv, &cwd, &mut io::stdout(), &mut io::stderr()) {
        Ok(Some(code)) => ExitCode::from(code),
        Ok(None) => loop {
            thread::park();
        },
        Err(err) => {
            let _ = writeln!(io::stderr(), "the fake program {exe} cannot play: {err}");
            ExitCode::from(UNSCRIPTED)
        }
    }
}

/// Answers one call, and gives the exit code, or none if the program is to hang.
pub fn play(
    exe: &Utf8Path,
    argv: &[String],
    cwd: &Utf8Path,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Option<u8>> {
    let script = load_script(exe)?;
    let Some(line) = choose(exe, &script, argv, cwd)? else {
        let name = exe.file_name().unwrap_or_default();
        writeln!(
            err,
            "the script of `{name}` does not expect this call: {}",
            serde_json::to_string(argv)?
        )?;
        return Ok(Some(UNSCRIPTED));
    };
    for (path, content) in &line.touch {
        let path = cwd.join(path);
        fs::create_dir_all(path.parent().unwrap_or(cwd))?;
        fs::write(path, content)?;
    }
    out.write_all(line.stdout.as_bytes())?;
    out.flush()?;
    err.write_all(line.stderr.as_bytes())?;
    Ok((!line.hang).then_some(line.exit))
}

/// Finds the line that answers and records the call, both under a lock: calls come in parallel.
fn choose<'a>(
    exe: &Utf8Path,
    script: &'a Script,
    argv: &[String],
    cwd: &Utf8Path,
) -> io::Result<Option<&'a Line>> {
    let mut record = OpenOptions::new()
        .create(true)
        .append(true)
        .open(calls_path(exe))?;
    record.lock()?;
    let used: Vec<usize> = load_calls(exe)?
        .iter()
        .filter_map(|call| call.line)
        .collect();
    let line = script.answer(&used, argv);
    let call = Call {
        argv: argv.to_vec(),
        cwd: cwd.to_string(),
        line,
    };
    record.write_all(format!("{}\n", serde_json::to_string(&call)?).as_bytes())?;
    File::unlock(&record)?;
    Ok(line.map(|at| &script.0[at]))
}

pub(crate) fn script_path(exe: &Utf8Path) -> Utf8PathBuf {
    Utf8PathBuf::from(format!("{exe}.script.json"))
}

pub(crate) fn calls_path(exe: &Utf8Path) -> Utf8PathBuf {
    Utf8PathBuf::from(format!("{exe}.calls.jsonl"))
}

pub(crate) fn load_script(exe: &Utf8Path) -> io::Result<Script> {
    Ok(Script::parse(&fs::read_to_string(script_path(exe))?)?)
}

/// The calls so far.
pub(crate) fn load_calls(exe: &Utf8Path) -> io::Result<Vec<Call>> {
    let text = match fs::read_to_string(calls_path(exe)) {
        Err(err) if err.kind() == io::ErrorKind::NotFound => String::new(),
        text => text?,
    };
    text.lines()
        .map(|line| Ok(serde_json::from_str(line)?))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Stage {
        dir: tempfile::TempDir,
    }

    impl Stage {
        fn new(script: &str) -> Self {
            let stage = Self {
                dir: tempfile::tempdir().expect("a folder"),
            };
            fs::write(script_path(&stage.exe()), script).expect("a script");
            stage
        }

        fn cwd(&self) -> &Utf8Path {
            Utf8Path::from_path(self.dir.path()).expect("UTF-8")
        }

        fn exe(&self) -> Utf8PathBuf {
            self.cwd().join("terraform")
        }

        fn call(&self, line: &str) -> (Option<u8>, String, String) {
            let argv: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            let (mut out, mut err) = (Vec::new(), Vec::new());
            let code = play(&self.exe(), &argv, self.cwd(), &mut out, &mut err).expect("it plays");
            (
                code,
                String::from_utf8(out).expect("text"),
                String::from_utf8(err).expect("text"),
            )
        }
    }

    #[test]
    fn answers_touches_and_records() {
        let stage = Stage::new(
            r#"[{"argv":["plan","-out=*"],"stdout":"ok\n","stderr":"note","exit":2,"touch":{"a/plan":"x"}}]"#,
        );
        assert_eq!(
            stage.call("plan -out=p"),
            (Some(2), "ok\n".into(), "note".into())
        );
        assert_eq!(
            fs::read_to_string(stage.cwd().join("a/plan")).expect("touched"),
            "x"
        );
        let calls = load_calls(&stage.exe()).expect("calls");
        let argv = vec!["plan".to_owned(), "-out=p".to_owned()];
        assert_eq!(
            calls,
            [Call {
                argv,
                cwd: stage.cwd().to_string(),
                line: Some(0)
            }]
        );
    }

    #[test]
    fn an_unscripted_call_fails_and_is_recorded() {
        let stage = Stage::new(r#"[{"argv":["plan"]}]"#);
        assert_eq!(stage.call("plan").0, Some(0));
        let (code, out, err) = stage.call("plan");
        assert_eq!((code, out.as_str()), (Some(97), ""));
        assert_eq!(
            err,
            "the script of `terraform` does not expect this call: [\"plan\"]\n"
        );
        assert_eq!(load_calls(&stage.exe()).expect("calls")[1].line, None);
    }

    #[test]
    fn a_hanging_line_has_no_exit_code() {
        assert_eq!(
            Stage::new(r#"[{"argv":[],"hang":true,"stdout":"x"}]"#).call(""),
            (None, "x".into(), String::new())
        );
    }

    #[test]
    fn parallel_calls_use_each_line_once() {
        let stage = Stage::new(
            r#"[{"argv":["*"],"exit":1},{"argv":["*"],"exit":2},{"argv":["*"],"exit":3}]"#,
        );
        let mut codes: Vec<Option<u8>> = thread::scope(|scope| {
            let calls: Vec<_> = (0..3).map(|_| scope.spawn(|| stage.call("x").0)).collect();
            calls
                .into_iter()
                .map(|call| call.join().expect("no panic"))
                .collect()
        });
        codes.sort_unstable();
        assert_eq!(codes, [Some(1), Some(2), Some(3)]);
    }

    #[test]
    fn a_missing_or_broken_script_is_an_error() {
        let stage = Stage::new("nonsense");
        assert!(
            play(
                &stage.exe(),
                &[],
                stage.cwd(),
                &mut Vec::new(),
                &mut Vec::new()
            )
            .is_err()
        );
        let exe = stage.cwd().join("other");
        assert!(play(&exe, &[], stage.cwd(), &mut Vec::new(), &mut Vec::new()).is_err());
    }
}
