//! The arguments of `cp9-stub`, the same as those of `cp9 stub serve`.

use cp9_stub::{Config, Kind};

/// What `--help` prints.
pub(crate) const HELP: &str = "\
Serve a stub until SIGINT or SIGTERM

Usage: cp9-stub [--option VALUE]...

  --kind KIND          openapi, metering-recorder, billing-recorder or permissive [default: openapi]
  --definition PATH    the OpenAPI 3.0 document, JSON or YAML
  --output PATH        where a recorder appends, one JSON line per request
  --listen ADDR        the address to listen on [default: 127.0.0.1:0]
  --name SVC           the service it stands for [default: stub]
  --trace-header NAME  the header that carries the trace id [default: X-Trace-Id]
";

/// What the arguments ask for.
#[derive(Debug)]
pub(crate) enum Parsed {
    /// To serve.
    Serve(Config),
    /// To explain.
    Help,
}

/// Reads `--option value` and `--option=value`.
pub(crate) fn parse(args: &[String]) -> Result<Parsed, String> {
    let mut config = Config::new(Kind::OpenApi);
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        if arg == "--help" || arg == "-h" {
            return Ok(Parsed::Help);
        }
        let (option, own) = match arg.split_once('=') {
            Some((option, value)) => (option, Some(value.to_owned())),
            None => (arg.as_str(), None),
        };
        let value = own.or_else(|| rest.next().cloned());
        set(&mut config, option, value)?;
    }
    Ok(Parsed::Serve(config))
}

fn set(config: &mut Config, option: &str, value: Option<String>) -> Result<(), String> {
    let known = [
        "--kind",
        "--definition",
        "--output",
        "--listen",
        "--name",
        "--trace-header",
    ];
    if !known.contains(&option) {
        return Err(format!("unexpected argument `{option}`"));
    }
    let value = value.filter(|value| !value.is_empty());
    let value = value.ok_or_else(|| format!("`{option}` needs a value"))?;
    match option {
        "--kind" => {
            let wanted = |expected| format!("`--kind {value}` must be {expected}");
            config.kind = value.parse().map_err(wanted)?;
        }
        "--definition" => config.definition = Some(value.into()),
        "--output" => config.output = Some(value.into()),
        "--listen" => config.listen = value,
        "--name" => config.name = value,
        _ => config.trace_header = value,
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Parsed, String> {
        let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        parse(&args)
    }

    #[test]
    fn both_spellings_are_read() {
        let line = "--kind=billing-recorder --output a.jsonl --listen 0.0.0.0:80 --name=b";
        let Ok(Parsed::Serve(config)) = parsed(line) else {
            panic!("not understood");
        };
        assert_eq!(config.kind, Kind::BillingRecorder);
        assert_eq!(config.output.as_deref(), Some("a.jsonl".into()));
        assert_eq!(
            (config.listen.as_str(), config.name.as_str()),
            ("0.0.0.0:80", "b")
        );
    }

    #[test]
    fn mistakes_are_named() {
        let wrong = |line: &str| parsed(line).err().unwrap_or_default();
        assert_eq!(
            wrong("--kind thrift"),
            "`--kind thrift` must be one of openapi, metering-recorder, billing-recorder, permissive"
        );
        assert_eq!(wrong("--listen"), "`--listen` needs a value");
        assert_eq!(wrong("--output="), "`--output` needs a value");
        assert_eq!(wrong("--port 80"), "unexpected argument `--port`");
        assert!(matches!(parsed("--kind permissive -h"), Ok(Parsed::Help)));
    }
}
