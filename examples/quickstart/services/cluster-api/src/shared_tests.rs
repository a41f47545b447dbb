//! Tests of the files that both services have.

mod http {
    use crate::http::{serve, Peer, Request, Response};
    use crate::json::Json;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    /// A server on a free port that says what it was asked.
    fn start() -> String {
        let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
        let address = listener.local_addr().expect("address").to_string();
        std::thread::spawn(move || serve(listener, echo));
        address
    }

    fn echo(request: &Request) -> Response {
        assert_ne!(request.path, "/panic");
        let text = format!("{} {} {}", request.method, request.path, request.body);
        Response::new(
            if request.path == "/down" { 503 } else { 200 },
            Json::from(text),
        )
    }

    /// Sends bytes as they are and reads to the end.
    fn raw(address: &str, bytes: &[u8]) -> String {
        let mut stream = TcpStream::connect(address).expect("connect");
        stream.write_all(bytes).expect("write");
        let mut reply = String::new();
        stream.read_to_string(&mut reply).expect("read");
        reply
    }

    #[test]
    fn answers_and_carries_the_trace_id() {
        let address = start();
        let head = "POST /a?b=c HTTP/1.1\r\nHost: x\r\ncontent-length: 2\r\nx-trace-id: ";
        let reply = raw(&address, format!("{head}t1\r\n\r\nü and more").as_bytes());
        assert!(reply.starts_with("HTTP/1.1 200 OK\r\n"), "{reply}");
        assert!(reply.contains("X-Trace-Id: t1\r\n"), "{reply}");
        assert!(reply.ends_with("\r\n\r\n\"POST /a ü\"\n"), "{reply}");
        let reply = raw(&address, format!("{head}a b\r\n\r\nü").as_bytes());
        assert!(
            reply.contains("X-Trace-Id: ") && !reply.contains("a b"),
            "{reply}"
        );
        let reply = raw(&address, b"HEAD /a HTTP/1.1\r\nHost: x\r\n\r\n");
        assert!(
            reply.starts_with("HTTP/1.1 200 ") && reply.ends_with("\r\n\r\n"),
            "{reply}"
        );
    }

    #[test]
    fn a_panic_is_a_500_and_not_the_end() {
        let address = start();
        let get = |path: &str| raw(&address, format!("GET {path} HTTP/1.0\r\n\r\n").as_bytes());
        assert!(get("/panic").starts_with("HTTP/1.1 500 "));
        assert!(get("/a").starts_with("HTTP/1.1 200 "));
    }

    #[test]
    fn refuses_bad_requests() {
        let address = start();
        for (head, status) in [
            ("nonsense", 400),
            ("GET  / HTTP/1.1", 400),
            ("get / HTTP/1.1", 400),
            ("GET a HTTP/1.1", 400),
            ("GET / HTTP/2.0", 400),
            ("GET / HTTP/1.1\r\nno colon", 400),
            ("POST / HTTP/1.1\r\nContent-Length: -1", 400),
            (
                "POST / HTTP/1.1\r\nContent-Length: 99999999999999999999999",
                413,
            ),
            ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked", 501),
            (&format!("GET /{} HTTP/1.1", "a".repeat(20_000)), 431),
        ] {
            let reply = raw(&address, format!("{head}\r\n\r\n").as_bytes());
            assert!(
                reply.starts_with(&format!("HTTP/1.1 {status} ")),
                "{head:.60}: {reply}"
            );
        }
        let reply = raw(
            &address,
            b"POST / HTTP/1.1\r\nContent-Length: 1\r\n\r\n\xff",
        );
        assert!(reply.starts_with("HTTP/1.1 400 "), "{reply}");
    }

    #[test]
    fn calls_other_services_by_address_and_by_url() {
        let address = start();
        for (url, path) in [
            (address.clone(), "/a"),
            (format!("http://{address}/base/"), "/base/a"),
        ] {
            let reply = Peer { name: "other", url }.call("POST /a", "t1", "{}");
            assert_eq!(reply, Ok((200, Json::from(format!("POST {path} {{}}")))));
        }
        let nobody = TcpListener::bind("127.0.0.1:0")
            .expect("bind")
            .local_addr()
            .expect("address");
        for (url, path) in [
            (nobody.to_string(), "GET /"),
            (address, "GET /down"),
            ("http://".to_owned(), "GET /"),
        ] {
            let failed = Peer { name: "other", url }
                .call(path, "t1", "")
                .expect_err("down");
            assert_eq!(
                (
                    failed.status,
                    failed
                        .body
                        .text("error")
                        .map(|why| why.starts_with("other "))
                ),
                (502, Some(true))
            );
        }
    }
}

mod json {
    use crate::json::parse;

    #[test]
    fn reads_what_it_writes() {
        let text = r#"{"a":[1,-0.5e+3,true,null,[]],"b":{"c":"x \"y\" \\ \u0001 ü 😀"},"d":{}}"#;
        assert_eq!(parse(text).expect("good").to_string(), text);
        let spaced = parse(" { \"a\" : [ 1 , 2 ] } \n").expect("good");
        assert_eq!(spaced.to_string(), r#"{"a":[1,2]}"#);
        let escaped = parse(r#"{"name":"a\u00fc\/\t\ud83d\ude00"}"#).expect("good");
        assert_eq!(
            (escaped.text("name"), escaped.text("other")),
            (Some("aü/\t😀"), None)
        );
    }

    #[test]
    fn refuses_what_is_not_json() {
        let texts = "|nul|{|[1,]|[1 2]|{\"a\"}|{\"a\":1,}|{a:1}|-|+1|1e|1-1|{} {}|\"|\"\\|\"\\x\"|\
                     \"\n\"|\"\\u12\"|\"\\u00é\"|\"\\ud83d\"|\"\\ud83dx\"|\"\\ud83d\\u0041\"|\"\\ude00\"";
        for bad in texts.split('|') {
            assert!(parse(bad).is_err(), "{bad:?}");
        }
        assert!(parse(&"[".repeat(100_000))
            .expect_err("deep")
            .contains("deeper"));
    }
}

mod log {
    use crate::log::{new_trace_id, timestamp};
    use std::time::{Duration, UNIX_EPOCH};

    #[test]
    fn times_are_rfc_3339_and_trace_ids_differ() {
        let at = |millis| timestamp(UNIX_EPOCH + Duration::from_millis(millis));
        assert_eq!(at(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(at(951_827_696_789), "2000-02-29T12:34:56.789Z");
        assert_eq!(at(1_709_251_199_999), "2024-02-29T23:59:59.999Z");
        assert_eq!(at(4_107_542_400_000), "2100-03-01T00:00:00.000Z");
        assert_eq!(new_trace_id().len(), 32);
        assert_ne!(new_trace_id(), new_trace_id());
    }
}
