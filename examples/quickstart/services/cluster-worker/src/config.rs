//! The configuration file: `key = value, value` lines, and `#` for comments.

/// What may be made. No list is empty; the first of each is the default.
#[derive(Debug, PartialEq)]
pub struct Config {
    pub tiers: Vec<String>,
    pub regions: Vec<String>,
}

/// Reads a file; errors name it.
pub fn load(path: &str) -> Result<Config, String> {
    let text =
        std::fs::read_to_string(path).map_err(|error| format!("cannot read {path}: {error}"))?;
    parse(&text).map_err(|error| format!("{path}: {error}"))
}

/// Reads the file's text; errors name the line.
pub fn parse(text: &str) -> Result<Config, String> {
    let (mut tiers, mut regions) = (Vec::new(), Vec::new());
    for (at, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or("").trim();
        if line.is_empty() {
            continue;
        }
        let (key, values) =
            line.split_once('=').ok_or_else(|| format!("line {}: `=` is missing", at + 1))?;
        let list = match key.trim() {
            "tiers" => &mut tiers,
            "regions" => &mut regions,
            other => return Err(format!("line {}: unknown key `{other}`", at + 1)),
        };
        *list = values
            .split(',')
            .map(|value| value.trim().to_owned())
            .filter(|value| !value.is_empty())
            .collect();
    }
    if tiers.is_empty() || regions.is_empty() {
        return Err("`tiers` and `regions` need at least one value each".to_owned());
    }
    Ok(Config { tiers, regions })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_lists_and_comments() {
        let config =
            parse("# offer\n\ntiers = starter, premium # two\nregions=local-1,\n").expect("good");
        assert_eq!(config.tiers, ["starter", "premium"]);
        assert_eq!(config.regions, ["local-1"]);
    }

    #[test]
    fn names_the_line() {
        assert_eq!(
            parse("tiers = a\nregion = b").expect_err("typo"),
            "line 2: unknown key `region`"
        );
        assert_eq!(parse("tiers").expect_err("no value"), "line 1: `=` is missing");
        assert!(parse("tiers = a\nregions = ,").expect_err("empty").contains("at least one"));
        assert!(load("/nowhere/worker.conf").expect_err("absent").contains("/nowhere/worker.conf"));
    }
}
