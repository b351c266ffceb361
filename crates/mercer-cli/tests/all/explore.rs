//! `mercer explore`: its answers, and that nobody but its page gets any.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::bench::Bench;

/// A server, which ends with the test.
struct Explorer {
    child: Child,
    port: u16,
    token: String,
    _bench: Bench,
}

impl Drop for Explorer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

struct Reply {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Reply {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&self.body)))
    }
}

impl Explorer {
    fn start(files: &[(&str, &str)], arguments: &[&str]) -> Self {
        let bench = Bench::new();
        files.iter().for_each(|(name, text)| {
            bench.write(name, *text);
        });
        let words: Vec<&str> = ["explore"].into_iter().chain(arguments.iter().copied()).collect();
        let mut child = bench.command(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut link = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut link).unwrap();
        let rest = link.trim().strip_prefix("http://127.0.0.1:").unwrap_or_else(|| panic!("{link}"));
        let (port, token) = rest.split_once('/').unwrap();
        Self {
            port: port.parse().unwrap(),
            token: token.trim_end_matches('/').to_owned(),
            child,
            _bench: bench,
        }
    }

    /// Sends bytes and reads what comes back, which may be nothing.
    fn send(&self, request: &[u8]) -> Option<Reply> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        // The server may refuse before it has read everything.
        let _ = stream.write_all(request);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let status = head.split(' ').nth(1)?.parse().ok()?;
        Some(Reply { status, head, body: bytes[end + 4..].to_vec() })
    }

    fn get(&self, path: &str) -> Reply {
        let host = format!("Host: 127.0.0.1:{}", self.port);
        self.send(format!("GET /{}/{path} HTTP/1.1\r\n{host}\r\n\r\n", self.token).as_bytes()).unwrap()
    }

    fn post(&self, request: &str, body: &[u8], change: impl Fn(String) -> String) -> Option<Reply> {
        let (port, token) = (self.port, &self.token);
        let head = change(format!(
            "POST /{token}/api/{request} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: http://127.0.0.1:{port}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            body.len()
        ));
        self.send(&[head.as_bytes(), body].concat())
    }

    fn ask(&self, request: &str, state: Value) -> Reply {
        let body = json!({"page": "test", "channel": request, "turn": turn(), "state": state}).to_string();
        self.post(request, body.as_bytes(), |head| head).unwrap()
    }
}

fn turn() -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    static TURN: AtomicU64 = AtomicU64::new(1);
    TURN.fetch_add(1, Ordering::Relaxed)
}

#[test]
fn the_page_and_its_answers() {
    let explorer = Explorer::start(&[], &[]);
    let page = explorer.get("");
    assert_eq!(page.status, 200);
    assert!(String::from_utf8_lossy(&page.body).contains("<title>mercer explore</title>"));
    for header in
        ["Content-Security-Policy: default-src 'none'", "nosniff", "no-referrer", "Cache-Control: no-store"]
    {
        assert!(page.head.contains(header), "{}", page.head);
    }
    assert_eq!(explorer.get("vendor/katex.min.js").status, 200);
    for (state, methods) in [
        (
            json!({"data": "moons"}),
            ["svc", "logistic", "perceptron", "knn", "smoother", "one-class"].as_slice(),
        ),
        (json!({"data": "blobs"}), &["svc", "logistic", "perceptron", "knn"]),
        (json!({"data": "sine"}), &["ridge", "lms", "svr", "gp", "knn", "smoother"]),
        (json!({"data": "peaks"}), &["ridge", "svr", "one-class"]),
    ] {
        for method in methods {
            let mut state = state.clone();
            state["method"] = json!(method);
            state["n"] = json!("60");
            let fit = explorer.ask("fit", state.clone());
            assert_eq!(fit.status, 200, "{state}");
            let fit = fit.json();
            assert!(fit["error"].is_null(), "{state}: {fit}");
            let regression = fit["decision"].is_null();
            let places =
                fit["grid"]["x"].as_array().unwrap().len() * fit["grid"]["y"].as_array().map_or(1, Vec::len);
            let values = if regression { &fit["values"] } else { &fit["decision"]["values"][0] };
            assert_eq!(values.as_array().unwrap().len(), places, "{state}");
            assert!(
                fit["lines"]["shell"]
                    .as_str()
                    .unwrap()
                    .starts_with(&format!("mercer fit {method} points.csv"))
            );
        }
    }
}

#[test]
fn verdicts_match_check() {
    let explorer = Explorer::start(&[], &[]);
    let bench = Bench::new();
    for kernel in
        ["rbf(sigma=2)", "exp(|x-z|^2/2)", "sin(<x,z>) + exp(<x,z>)", "max(0, 1-|x-z|)", "tanh(<x,z>)"]
    {
        let answer = explorer.ask("check", json!({"kernel": kernel})).json();
        let output = bench.command(&["check", kernel, "--json"]).output().unwrap();
        let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
        for key in ["kernel", "dim", "domain", "verdict", "refutation"] {
            assert_eq!(answer[key], printed[key], "{kernel}: {key}");
        }
        assert!(answer["tex"].is_string());
    }
    let answer = explorer.ask("check", json!({"kernel": "rbf(sigma=1) + x"})).json();
    assert_eq!(answer["parse_error"]["column"], 16, "{answer}");
}

/// The lines that the page shows give the model that it downloads, byte for byte.
#[test]
fn the_command_line_reproduces_the_model() {
    let explorer = Explorer::start(&[], &[]);
    for state in [
        json!({"data": "moons", "method": "svc", "kernel": "rbf(sigma=0.4) + 0.1*linear", "C": "3"}),
        json!({"data": "sine", "method": "ridge", "kernel": "matern(nu=2.5, length=auto)", "lambda": "0.02"}),
        json!({"data": "points", "points": "0,0,0;1,1,1;2,0,0;0,2,1", "method": "logistic"}),
        json!({"data": "blobs", "method": "one-class"}),
    ] {
        let bench = Bench::new();
        bench.write("points.csv", explorer.ask("points.csv", state.clone()).body);
        let lines = explorer.ask("fit", state.clone()).json()["lines"]["shell"].as_str().unwrap().to_owned();
        let fit = lines.lines().next().unwrap();
        let program = env!("CARGO_BIN_EXE_mercer");
        let shell = fit.replacen("mercer", &format!("'{program}'"), 1);
        let output = Command::new("sh").args(["-c", &shell]).current_dir(bench.path("")).output().unwrap();
        assert!(output.status.success(), "{fit}: {}", String::from_utf8_lossy(&output.stderr));
        let expected = explorer.ask("model.mercer", state.clone());
        assert!(expected.head.contains("octet-stream"), "{state}");
        assert!(std::fs::read(bench.path("model.mercer")).unwrap() == expected.body, "{fit}");
    }
}

#[test]
fn parts_of_the_machinery() {
    let explorer = Explorer::start(&[], &[]);
    let state = json!({"data": "rings", "n": "80", "kernel": "rbf(sigma=0.7)", "lambda": "0.5"});
    let gram = explorer.ask("gram", state.clone()).json();
    let eigenvalues: Vec<f64> =
        gram["eigenvalues"].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect();
    // The trace of a Gaussian's matrix is its number of rows.
    assert!((eigenvalues.iter().sum::<f64>() - 80.0).abs() < 1e-9);
    let effective: f64 = eigenvalues.iter().map(|v| v / (v + 0.5)).sum();
    assert!((gram["effective_dimension"].as_f64().unwrap() - effective).abs() < 1e-6);
    let lift = explorer.ask("lift", state.clone()).json();
    assert!(lift["right"].as_u64().unwrap() >= 76, "{lift}");
    let spectrum = explorer.ask("spectrum", state.clone()).json();
    assert_eq!(spectrum["frequencies"][1].as_array().unwrap().len(), 50);
    let distances = explorer.ask("distances", state.clone()).json();
    assert_eq!(distances["values"].as_array().unwrap().len(), 64 * 64);
    let coarse = explorer.ask("compare", json!({"data": "sine", "features": "4"})).json();
    let fine = explorer.ask("compare", json!({"data": "sine", "features": "2000"})).json();
    assert!(fine["kernel_error"].as_f64() < coarse["kernel_error"].as_f64(), "{fine} {coarse}");
    let tune = explorer.ask("tune", json!({"data": "sine", "search": "rbf(sigma=?0.1..10)"})).json();
    assert_eq!((tune["parameter"].as_str(), tune["setting"].as_str()), (Some("sigma"), Some("lambda")));
    assert_eq!(tune["scores"].as_array().unwrap().len(), 13);
    let film = explorer.ask("steps", json!({"data": "moons", "method": "perceptron"})).json();
    assert!(film["frames"].as_array().unwrap().len() > 2);
    let refused = explorer.ask("spectrum", json!({"kernel": "linear"}));
    assert!(refused.json()["error"].as_str().unwrap().contains("spectral density"));
}

#[test]
fn the_file_that_was_given_and_no_other() {
    let table =
        "age,height,weight,sick\n20,1.7,70,no\n30,1.6,60,no\n40,1.8,90,yes\n50,1.75,85,yes\n60,1.65,80,yes\n";
    let explorer = Explorer::start(&[("people.csv", table)], &["people.csv", "--target", "sick"]);
    let start = explorer.ask("start", json!({})).json();
    assert_eq!(start["file"]["columns"], json!(["age", "height", "weight"]));
    let data = explorer.ask("data", json!({"x": "weight", "z": "age"})).json();
    assert_eq!(
        (&data["names"], &data["rows"][0], &data["rows"][1]),
        (&json!(["weight", "age"]), &json!(70.0), &json!(20.0))
    );
    let fit = explorer.ask("fit", json!({})).json();
    assert!(fit["lines"]["shell"].as_str().unwrap().contains("--scale standard"), "{fit}");
    for name in ["/etc/passwd", "../people.csv", "people.csv"] {
        let refused = explorer.ask("data", json!({"data": name})).json();
        assert!(refused["error"].as_str().unwrap().contains("there is no data set"), "{refused}");
    }
}

#[test]
fn an_export_is_one_file() {
    let bench = Bench::new();
    let output = bench.run(&[
        "explore",
        "--export",
        "page.html",
        "--state",
        "data=rings&kernel=poly(degree%3D2)&n=40",
    ]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let page = bench.read("page.html");
    assert!(page.contains("window.mercerRecorded = {") && page.contains("poly(degree=2)"));
    assert!(!page.contains("<script src=") && !page.contains("<link rel=\"stylesheet\""));
    let refused = bench.run(&["explore", "--export", "bad.html", "--state", "kernel=rbf("]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(!bench.files().contains(&"bad.html".to_owned()));
}

/// A long search is stopped when the page asks for something else on the same channel.
#[test]
fn a_superseded_request_is_stopped() {
    let explorer = Explorer::start(&[], &[]);
    let state = json!({"data": "moons", "n": "600", "method": "svc", "search": "rbf(sigma=?0.01..10)"});
    let slow = json!({"page": "p", "channel": "c", "turn": 1, "state": state}).to_string();
    let quick = json!({"page": "p", "channel": "c", "turn": 2, "state": {"n": "20"}}).to_string();
    let late = json!({"page": "p", "channel": "c", "turn": 1, "state": {"n": "20"}}).to_string();
    thread::scope(|scope| {
        let first = scope.spawn(|| explorer.post("tune", slow.as_bytes(), |head| head).unwrap());
        thread::sleep(Duration::from_millis(150));
        assert!(explorer.post("fit", quick.as_bytes(), |head| head).unwrap().json()["grid"].is_object());
        assert_eq!(first.join().unwrap().json(), json!({"superseded": true}));
    });
    assert_eq!(
        explorer.post("fit", late.as_bytes(), |head| head).unwrap().json(),
        json!({"superseded": true})
    );
}

/// Requests that must get no data. Each is tried with everything else right.
fn hostile(explorer: &Explorer, i: usize) -> Option<Reply> {
    let good = json!({"page": "p", "channel": format!("c{i}"), "turn": i, "state": {"n": "20"}}).to_string();
    let (port, token) = (explorer.port, explorer.token.clone());
    let same = |head: String| head;
    let replace = |from: String, to: String| move |head: String| head.replace(&from, &to);
    let raw = |text: String| explorer.send(text.as_bytes());
    match i % 25 {
        0 => explorer.post("fit", good.as_bytes(), replace(token, "0".repeat(32))),
        1 => explorer.post("fit", good.as_bytes(), replace(format!("/{token}/"), "/".into())),
        2 => explorer.post("fit", good.as_bytes(), replace(token.clone(), token[..31].into())),
        3 => explorer.post(
            "fit",
            good.as_bytes(),
            replace(format!("Host: 127.0.0.1:{port}"), "Host: evil.example".into()),
        ),
        4 => explorer.post(
            "fit",
            good.as_bytes(),
            replace(format!("Host: 127.0.0.1:{port}"), "Host: 127.0.0.1".into()),
        ),
        5 => explorer.post(
            "fit",
            good.as_bytes(),
            replace(format!("Origin: http://127.0.0.1:{port}"), "Origin: http://evil.example".into()),
        ),
        6 => explorer.post(
            "fit",
            good.as_bytes(),
            replace(format!("Origin: http://127.0.0.1:{port}\r\n"), String::new()),
        ),
        7 => explorer.post(
            "fit",
            good.as_bytes(),
            replace("Origin: http:".into(), "Origin: null\r\nX-O: ".into()),
        ),
        8 => explorer.post(
            "fit",
            good.as_bytes(),
            replace("Content-Type".into(), "Sec-Fetch-Site: cross-site\r\nContent-Type".into()),
        ),
        9 => explorer.post("fit", good.as_bytes(), replace("application/json".into(), "text/plain".into())),
        10 => explorer.post("fit", b"{\"page\": \"p\", ", same),
        11 => explorer.post("fit", "[".repeat(20_000).as_bytes(), same),
        12 => explorer.post("fit", &[0xff; 64], same),
        13 => explorer.post(
            "fit",
            json!({"page": "p", "channel": "c", "turn": 1, "state": {"file": "/etc/passwd"}})
                .to_string()
                .as_bytes(),
            same,
        ),
        14 => explorer.post(
            "fit",
            json!({"page": "p", "channel": "c", "turn": -1, "state": {}}).to_string().as_bytes(),
            same,
        ),
        15 => explorer.post(
            "fit",
            good.as_bytes(),
            replace(format!("Content-Length: {}", good.len()), "Content-Length: 99999999999".into()),
        ),
        16 => explorer.post(
            "fit",
            good.as_bytes(),
            replace("Content-Length".into(), "Transfer-Encoding: chunked\r\nX-Length".into()),
        ),
        17 => explorer.post("../../../etc/passwd", good.as_bytes(), same),
        18 => explorer.post("%2e%2e%2fstart", good.as_bytes(), same),
        19 => raw(format!("GET /{token}/../../../../etc/passwd HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n")),
        20 => raw(format!(
            "GET /{token}/vendor/..%2f..%2fCargo.toml HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n"
        )),
        21 => raw(format!("GET /{token}/ HTTP/1.1\r\n{}\r\n", "X: y\r\n".repeat(5_000))),
        22 => raw(format!("GET /{token}/ HTTP/0.9\r\n\r\n")),
        23 => explorer.send(&vec![b'A'; 100_000]),
        // A body beyond the limit, all of which is sent.
        _ => explorer.post("fit", &vec![b' '; (4 << 20) + 1], same),
    }
}

/// A few hundred hostile requests, or `MERCER_HOSTILE_REQUESTS` of them: none gets data, none panics, and the memory
/// does not grow.
#[test]
fn hostile_requests_get_nothing() {
    let count: usize =
        std::env::var("MERCER_HOSTILE_REQUESTS").ok().and_then(|count| count.parse().ok()).unwrap_or(300);
    let mut explorer = Explorer::start(&[], &[]);
    let attack = |range: std::ops::Range<usize>| {
        thread::scope(|scope| {
            for worker in 0..4 {
                let (explorer, range) = (&explorer, range.clone());
                scope.spawn(move || {
                    for i in range.filter(|i| i % 4 == worker) {
                        if let Some(reply) = hostile(explorer, i) {
                            let body = String::from_utf8_lossy(&reply.body).into_owned();
                            assert!(reply.status >= 400, "{i}: {} {body}", reply.status);
                            assert!(body.len() < 2_000 && !body.contains("root:"), "{i}: {body}");
                        }
                    }
                });
            }
        });
    };
    attack(0..count / 3);
    let before = resident(explorer.child.id());
    attack(count / 3..count);
    let after = resident(explorer.child.id());
    // It still answers the page.
    assert_eq!(explorer.ask("fit", json!({"n": "20"})).status, 200);
    if let (Some(before), Some(after)) = (before, after) {
        eprintln!("{count} hostile requests; resident memory {before} kB, then {after} kB");
        assert!(after < before + 32_000, "{before} kB, then {after} kB");
    }
    let _ = explorer.child.kill();
    let mut told = String::new();
    explorer.child.stderr.take().unwrap().read_to_string(&mut told).unwrap();
    assert!(!told.contains("panicked"), "{told}");
}

/// Resident memory of a process in kB, where the system tells.
fn resident(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// Connections that send nothing do not keep the page from its answers.
#[test]
fn idle_connections_do_no_harm() {
    let explorer = Explorer::start(&[], &[]);
    // Serving them one after the other, or a few at a time, would take longer than a client waits for its answer.
    let idle: Vec<TcpStream> =
        (0..60).map(|_| TcpStream::connect(("127.0.0.1", explorer.port)).unwrap()).collect();
    assert_eq!(explorer.get("").status, 200);
    drop(idle);
}

#[test]
fn bad_arguments() {
    let bench = Bench::new();
    for (arguments, told) in [
        (["explore", "--target", "y"].as_slice(), "DATA"),
        (&["explore", "missing.csv", "--target", "y"], "missing.csv"),
        (&["explore", "--state", "nothing=1"], "nothing"),
        (&["explore", "--port", "99999"], "99999"),
        (&["explore", "--export", "no/such/folder/f.html"], "folder"),
    ] {
        let output = bench.run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(told), "{arguments:?}");
    }
}
