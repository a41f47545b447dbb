//! What a controller costs while nothing happens: a session of ten small services, left alone.

use std::fmt::Write as _;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::figure::Figure;
use super::sandbox::Sandbox;

const SERVICES: usize = 10;
const WATCHED: Duration = Duration::from_secs(20);
/// Let probes and watchers of the start settle first.
const SETTLE: Duration = Duration::from_secs(5);
/// Linux reports CPU time to programs in hundredths of a second on every architecture.
const TICKS_PER_SECOND: f64 = 100.0;

const PROGRAM: &str = r#"use std::io::{Read, Write};

fn main() {
    let address = std::env::var("LISTEN_ADDR").expect("LISTEN_ADDR");
    let listener = std::net::TcpListener::bind(address).expect("a free port");
    for mut stream in listener.incoming().flatten() {
        let _ = stream.read(&mut [0; 1024]);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\nok\n");
    }
}
"#;

/// Brings the session up, watches its controller, destroys it.
pub(crate) fn figures(cp9: &std::path::Path) -> Result<[Figure; 2]> {
    let sandbox = Sandbox::new(cp9, "cp9.yaml")?;
    lay_out(&sandbox)?;
    sandbox.cp9(&["up"])?;
    let pid = sandbox.cp9(&["status"])?.1["controller"]["pid"]
        .as_u64()
        .context("`status` names no controller")?;
    std::thread::sleep(SETTLE);
    let before = cpu_ticks(pid)?;
    std::thread::sleep(WATCHED);
    let used = cpu_ticks(pid)? - before;
    let share = used / TICKS_PER_SECOND / WATCHED.as_secs_f64() * 100.0;
    let resident = resident_megabytes(pid)?;
    sandbox.destroy()?;
    Ok([
        Figure::new(
            "controller with 10 services idle: resident",
            "MB",
            resident,
            40.0,
        ),
        Figure::new(
            "controller with 10 services idle: share of a core",
            "%",
            share,
            0.5,
        ),
    ])
}

fn lay_out(sandbox: &Sandbox) -> Result<()> {
    let mut file = String::from(
        "apiVersion: cp9.tidbcloud.com/v1alpha2\nkind: Session\nname: bench-idle\nhost:\n  mode: process\n\
         target:\n  cloud: local\nappDelivery:\n  repo: ./app-delivery\n  env: bench\nservices:\n  source:\n",
    );
    for number in 0..SERVICES {
        let name = format!("svc-{number}");
        let _ = write!(
            file,
            "    {name}:\n      repo: ./services/{name}\n      build:\n        main: main.rs\n\
             \x20     app:\n        registry: registry/{name}.yaml\n        env: bench\n"
        );
        sandbox.write(&format!("services/{name}/main.rs"), PROGRAM)?;
        sandbox.write(
            &format!("app-delivery/registry/{name}.yaml"),
            &application(&name),
        )?;
        sandbox.write(
            &format!("app-delivery/envs/bench/{name}/deployment.yaml"),
            &deployment(&name),
        )?;
    }
    sandbox.write("cp9.yaml", &file)
}

fn application(name: &str) -> String {
    format!(
        "apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
  name: {name}
  namespace: argocd
spec:
  project: default
  source:
    repoURL: https://git.example.com/app-delivery.git
    targetRevision: main
    path: envs/bench/{name}
  destination:
    server: https://kubernetes.default.svc
    namespace: bench
"
    )
}

fn deployment(name: &str) -> String {
    format!(
        "apiVersion: apps/v1
kind: Deployment
metadata:
  name: {name}
spec:
  selector:
    matchLabels:
      app: {name}
  template:
    metadata:
      labels:
        app: {name}
    spec:
      containers:
        - name: {name}
          image: example.com/bench/{name}:1
          command: [\"/app/{name}\"]
          env:
            - name: LISTEN_ADDR
              value: \"0.0.0.0:8080\"
          ports:
            - name: http
              containerPort: 8080
          readinessProbe:
            httpGet:
              path: /
              port: http
            periodSeconds: 10
"
    )
}

/// User and system time of a process, from `/proc`.
fn cpu_ticks(pid: u64) -> Result<f64> {
    ticks(&proc_file(pid, "stat")?)
}

fn ticks(stat: &str) -> Result<f64> {
    // The name in parentheses may hold spaces; after it, utime and stime are fields 12 and 13.
    let rest = stat.rsplit_once(')').context("`stat` has no name")?.1;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let [user, system] = [11, 12].map(|index| {
        fields
            .get(index)
            .and_then(|field| field.parse::<f64>().ok())
    });
    Ok(user.context("no user time")? + system.context("no system time")?)
}

fn resident_megabytes(pid: u64) -> Result<f64> {
    resident(&proc_file(pid, "status")?)
}

fn resident(status: &str) -> Result<f64> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .context("no `VmRSS`")?;
    let kilobytes: f64 = line
        .split_whitespace()
        .next()
        .context("`VmRSS` is empty")?
        .parse()?;
    Ok(kilobytes / 1024.0)
}

fn proc_file(pid: u64, name: &str) -> Result<String> {
    if !cfg!(target_os = "linux") {
        bail!("memory and CPU are read from `/proc`, which this system does not have");
    }
    let path = format!("/proc/{pid}/{name}");
    std::fs::read_to_string(&path).with_context(|| format!("cannot read `{path}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proc_files_are_read_by_field() {
        let stat = "42 (a (b) c) S 1 42 42 0 -1 4194304 100 0 0 0 17 5 0 0 20 0 3 0 99 1 2";
        assert!((ticks(stat).expect("ticks") - 22.0).abs() < f64::EPSILON);
        assert!(ticks("42 (a) S 1").is_err());
        assert!(ticks("").is_err());
        let status = "Name:\tx\nVmRSS:\t   2048 kB\n";
        assert!((resident(status).expect("megabytes") - 2.0).abs() < f64::EPSILON);
        assert!(resident("Name:\tx\n").is_err());
    }
}
