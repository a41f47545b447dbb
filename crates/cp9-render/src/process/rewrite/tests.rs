//! Whole tokens, and nothing but whole tokens.

use super::*;
use crate::process::names::Endpoint;
use crate::process::workload::ServicePort;

fn with<T>(check: impl FnOnce(&Rewriter<'_>) -> T) -> T {
    let own: ServiceName = "api".parse().expect("a name");
    let mut names = Names::default();
    let port = ServicePort {
        port: 80,
        name: None,
        target: Some(9000),
    };
    let endpoint = Endpoint {
        service: "worker".parse().expect("a name"),
        namespace: Some("prod".to_owned()),
        ports: vec![(port, Some(20_002))],
        any: None,
    };
    names.add("worker".to_owned(), endpoint);
    let ports = BTreeMap::from([(8080, 20_001), (20_001, 8080)]);
    let mounts = vec!["/etc/app/conf.d".to_owned(), "/etc/app".to_owned()];
    check(&Rewriter {
        own: &own,
        ports: &ports,
        names: &names,
        mounts,
    })
}

fn text(text: &str) -> String {
    with(|rewriter| rewriter.text(text, "/R").text)
}

#[test]
fn own_ports_are_whole_tokens() {
    for (from, to) in [
        (":8080", "127.0.0.1:20001"),
        ("0.0.0.0:8080", "127.0.0.1:20001"),
        ("listen=localhost:8080,", "listen=127.0.0.1:20001,"),
        ("http://127.0.0.1:8080/x", "http://127.0.0.1:20001/x"),
        (
            "http://*:8080;http://+:8080",
            "http://127.0.0.1:20001;http://127.0.0.1:20001",
        ),
        ("[::]:8080", "127.0.0.1:20001"),
        ("tcp(:8080)", "tcp(127.0.0.1:20001)"),
        ("{\"listen\":\":8080\"}", "{\"listen\":\"127.0.0.1:20001\"}"),
        (":8080.", "127.0.0.1:20001."),
    ] {
        assert_eq!(text(from), to, "{from}");
    }
}

#[test]
fn what_only_looks_like_an_own_port_stays() {
    for same in [
        ":80801",
        ":808",
        "x:8080",
        "18080",
        "a.0.0.0.0:8080",
        "example.com:8080",
        "{\"port\":8080}",
        "{\"port\":8080,\"x\":1}",
        "$(HOST):8080",
        "${HOST}:8080",
        "::8080",
        ":8080-9",
        ":8080:80",
        ":8080x",
        "ü:8080",
        "\u{1F980}",
    ] {
        assert_eq!(text(same), same);
    }
}

#[test]
fn names_take_the_allocated_port() {
    for (from, to) in [
        ("worker:80", "127.0.0.1:20002"),
        ("http://worker", "http://127.0.0.1:20002"),
        ("http://worker/path", "http://127.0.0.1:20002/path"),
        (
            "http://worker.prod.svc.cluster.local:80/x",
            "http://127.0.0.1:20002/x",
        ),
        (
            "user:pw@tcp(worker.prod:80)/db",
            "user:pw@tcp(127.0.0.1:20002)/db",
        ),
        (
            "a=worker:80,b=http://worker.",
            "a=127.0.0.1:20002,b=http://worker.",
        ),
    ] {
        assert_eq!(text(from), to, "{from}");
    }
}

#[test]
fn other_names_stay() {
    for same in [
        "my-worker:80",
        "worker-2:80",
        "reg/worker:80",
        "worker",
        "worker.other:80",
        "worker:latest",
        "http://worker:$(P)",
        "_worker:80",
        "http://worker.io/",
    ] {
        assert_eq!(text(same), same);
    }
}

#[test]
fn names_with_unknown_ports_are_reported() {
    with(|rewriter| {
        assert_eq!(
            rewriter.text("worker:81 https://worker", "/R").left,
            ["worker:81", "worker"]
        );
        assert_eq!(rewriter.value("worker", "/R").left, ["worker"]);
    });
}

#[test]
fn paths_are_whole_and_the_longest_wins() {
    for (from, to) in [
        ("/etc/app/config.yaml", "/R/etc/app/config.yaml"),
        ("--c=/etc/app", "--c=/R/etc/app"),
        ("/etc/app/conf.d/x", "/R/etc/app/conf.d/x"),
        ("file:///etc/app", "file:///R/etc/app"),
        ("/etc/app.", "/R/etc/app."),
        ("/etc/app:/etc/app/conf.d", "/R/etc/app:/R/etc/app/conf.d"),
    ] {
        assert_eq!(text(from), to, "{from}");
    }
    for same in [
        "/etc/application",
        "/etc/app.d",
        "/usr/etc/app",
        "x/etc/app",
        "/etc/app-1",
        "${D}/etc/app",
    ] {
        assert_eq!(text(same), same);
    }
    with(|rewriter| {
        let hits = rewriter.text("/etc/app/conf.d/x", "/R").hits;
        assert_eq!(hits[0].rule, Rule::Path("/etc/app/conf.d".to_owned()));
    });
}

#[test]
fn nothing_is_replaced_twice() {
    assert_eq!(
        text("a=:8080 b=:20001"),
        "a=127.0.0.1:20001 b=127.0.0.1:8080"
    );
}

#[test]
fn bare_ports_count_in_variables_and_port_flags() {
    with(|rewriter| {
        assert_eq!(rewriter.value("8080", "/R").text, "20001");
        assert_eq!(rewriter.value("08080", "/R").text, "08080");
        assert_eq!(rewriter.text("8080", "/R").text, "8080");
        let argv = [
            "--http-port=8080",
            "--port",
            "8080",
            "--limit=8080",
            "8080",
            "-addr=:8080",
        ]
        .map(str::to_owned);
        let texts: Vec<String> = rewriter
            .argv(&argv, "/R")
            .into_iter()
            .map(|arg| arg.text)
            .collect();
        assert_eq!(
            texts,
            [
                "--http-port=20001",
                "--port",
                "20001",
                "--limit=8080",
                "8080",
                "-addr=127.0.0.1:20001"
            ]
        );
    });
}

proptest::proptest! {
    #[test]
    fn no_text_panics(input in ".*") {
        with(|rewriter| rewriter.value(&input, "/R"));
    }

    #[test]
    fn dense_texts_do_not_panic(input in "[:/.\\[\\]{}$()\"0-9workeü8 *+]{0,40}") {
        with(|rewriter| rewriter.value(&input, "/R"));
    }
}
