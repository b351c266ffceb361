//! The server: it listens on 127.0.0.1 only, uses one thread per connection, and checks the token, the host and the
//! origin of every request.

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;

use super::api::{Answer, Explorer, REQUESTS};
use super::assets;
use super::http::{Connection, Head, Refusal, Reply};
use super::state::State;
use super::turns::Turns;
use crate::failure::Failure;

/// The most concurrent connections.
const MOST_CONNECTIONS: usize = 64;

/// The most characters in the name of a page or channel.
const MOST_NAME: usize = 64;

/// A server that is listening.
pub struct Server<'a> {
    listener: TcpListener,
    port: u16,
    token: String,
    explorer: Explorer<'a>,
    turns: Turns,
    connections: AtomicUsize,
}

/// The body of a request.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Body {
    /// Identifies the page.
    page: String,
    /// A request stops the one before it on the same channel.
    channel: String,
    /// Counts the requests of a page.
    turn: u64,
    state: State,
}

impl<'a> Server<'a> {
    /// Listens on a port, or on one that is free.
    pub fn new(explorer: Explorer<'a>, port: Option<u16>) -> Result<Self, Failure> {
        let asked = port.unwrap_or(0);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, asked)).map_err(|error| {
            Failure::work(format!("cannot listen on 127.0.0.1:{asked}: {error}"))
                .hint("another program may use the port; leave --port out for a free one")
        })?;
        let port = listener.local_addr().map_err(Failure::work)?.port();
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(|error| Failure::work(format!("no random numbers: {error}")))?;
        let token = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self {
            listener,
            port,
            token,
            explorer,
            turns: Turns::default(),
            connections: AtomicUsize::new(0),
        })
    }

    /// The link to the page.
    pub fn link(&self) -> String {
        format!("http://127.0.0.1:{}/{}/", self.port, self.token)
    }

    /// Serves until the program ends.
    pub fn serve(&self) -> ! {
        thread::scope(|scope| {
            loop {
                let Ok((stream, _)) = self.listener.accept() else {
                    // For example, the process is out of file descriptors: that may be temporary.
                    thread::sleep(Duration::from_millis(20));
                    continue;
                };
                if self.connections.fetch_add(1, Ordering::AcqRel) >= MOST_CONNECTIONS {
                    self.connections.fetch_sub(1, Ordering::AcqRel);
                    continue;
                }
                let work = || {
                    let _ = catch_unwind(AssertUnwindSafe(|| self.connection(stream)));
                    self.connections.fetch_sub(1, Ordering::AcqRel);
                };
                if thread::Builder::new().spawn_scoped(scope, work).is_err() {
                    self.connections.fetch_sub(1, Ordering::AcqRel);
                }
            }
        })
    }

    fn connection(&self, stream: TcpStream) {
        let _ = stream.set_nodelay(true);
        let mut connection = Connection::new(stream);
        let reply = match connection.head() {
            Ok(head) => match self.admit(&head) {
                Ok(path) => {
                    // After a defect in one answer, the client still gets a reply.
                    let answered = AssertUnwindSafe(|| self.respond(&head, path, &mut connection));
                    catch_unwind(answered).unwrap_or(Err(Refusal(500, "the request failed")))
                }
                Err(refusal) => Err(refusal),
            },
            Err(refusal) => Err(refusal),
        };
        connection.reply(&reply.unwrap_or_else(Reply::from));
    }

    /// The path after the token, if the request comes from the page. Only the head is read before this check.
    fn admit<'h>(&self, head: &'h Head) -> Result<&'h str, Refusal> {
        const FORBIDDEN: Refusal = Refusal(403, "open the link that `mercer explore` printed");
        let hosts = [format!("127.0.0.1:{}", self.port), format!("localhost:{}", self.port)];
        let host = head.header("host").ok_or(FORBIDDEN)?;
        if !hosts.iter().any(|allowed| allowed == host) {
            return Err(FORBIDDEN);
        }
        // Browsers send the origin of a request; requests from other pages are rejected, even with the token.
        let origin = head.header("origin");
        if origin.is_some_and(|origin| origin != format!("http://{host}")) {
            return Err(FORBIDDEN);
        }
        if head.method == "POST" && origin.is_none() {
            return Err(FORBIDDEN);
        }
        if head.header("sec-fetch-site").is_some_and(|site| site != "same-origin" && site != "none") {
            return Err(FORBIDDEN);
        }
        let path = head.target.strip_prefix('/').ok_or(FORBIDDEN)?;
        let (token, path) = path.split_once('/').ok_or(FORBIDDEN)?;
        if same(token.as_bytes(), self.token.as_bytes()) { Ok(path) } else { Err(FORBIDDEN) }
    }

    fn respond(&self, head: &Head, path: &str, connection: &mut Connection) -> Result<Reply, Refusal> {
        if let Some(request) = path.strip_prefix("api/") {
            if head.method != "POST" {
                return Err(Refusal(405, "requests are sent by POST"));
            }
            if head.header("content-type") != Some("application/json") {
                return Err(Refusal(415, "requests are JSON"));
            }
            let body = connection.body(head)?;
            return self.answer(request, &body);
        }
        if head.method != "GET" {
            return Err(Refusal(405, "files of the page are read by GET"));
        }
        let gzip = head.header("accept-encoding").is_some_and(|accepted| accepted.contains("gzip"));
        assets::reply(path, gzip).ok_or(Refusal(404, "there is no such file"))
    }

    fn answer(&self, request: &str, body: &[u8]) -> Result<Reply, Refusal> {
        let Body { page, channel, turn, state } = serde_json::from_slice(body)
            .map_err(|_| Refusal(400, "the body is not a request of the page"))?;
        if page.len() > MOST_NAME || channel.len() > MOST_NAME {
            return Err(Refusal(400, "the name of the page or channel is too long"));
        }
        let state = state.check().map_err(|_| Refusal(400, "the state has an unknown key"))?;
        if !REQUESTS.contains(&request) {
            return Err(Refusal(404, "there is no such request"));
        }
        // A failed computation is also sent as an answer: a browser would log another status as an error of the page.
        let superseded = || document(&json!({"superseded": true}));
        let Some(job) = self.turns.begin(&format!("{page}/{channel}"), turn) else { return Ok(superseded()) };
        let answer = self.explorer.answer(request, &state, &job);
        Ok(match answer {
            _ if job.is_superseded() => superseded(),
            Ok(Answer::Json(body)) => Reply { status: 200, content: JSON, gzip: false, body },
            Ok(Answer::File(content, body)) => Reply { status: 200, content, gzip: false, body },
            Err(failure) if failure.is_interrupt() => {
                document(&json!({"error": "this took too long and was stopped; use fewer points"}))
            }
            Err(failure) => document(&json!({"error": failure.message(), "hint": failure.advice()})),
        })
    }
}

const JSON: &str = "application/json";

fn document(document: &serde_json::Value) -> Reply {
    Reply { status: 200, content: JSON, gzip: false, body: document.to_string().into_bytes() }
}

/// Whether two texts are equal, in constant time.
fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
}
