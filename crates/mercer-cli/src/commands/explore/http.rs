//! Requests and replies of HTTP/1.1: one request per connection, with limits on size and time.
//!
//! Only requests of the page are supported. Everything else is rejected: other versions, bodies of unknown length,
//! lines that end in a line feed alone, repeated or folded headers.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

/// The most bytes of a request line and its headers.
const MOST_HEAD: usize = 16 << 10;

/// The most headers of a request.
const MOST_HEADERS: usize = 64;

/// The most bytes of a body.
pub const MOST_BODY: usize = 4 << 20;

/// The time limit for receiving a request and for sending a reply.
const PATIENCE: Duration = Duration::from_secs(10);

/// The most bytes read and discarded after a rejection, so that the client reads the reply before the connection
/// closes.
const MOST_DRAINED: usize = 1 << 20;

/// A status with its reason, and a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refusal(pub u16, pub &'static str);

/// The request line and the headers.
#[derive(Debug, PartialEq, Eq)]
pub struct Head {
    /// `GET`, `POST` and so on.
    pub method: String,
    /// The path with its query.
    pub target: String,
    headers: Vec<(String, String)>,
}

impl Head {
    /// The value of a header; its name is in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Reads the request line and the headers, without the empty line that ends them.
    fn parse(text: &[u8]) -> Result<Self, Refusal> {
        const BAD: Refusal = Refusal(400, "the request is malformed");
        let text = std::str::from_utf8(text).map_err(|_| BAD)?;
        let mut lines = text.split("\r\n");
        let line = lines.next().ok_or(BAD)?;
        if text.bytes().any(|byte| byte != b'\r' && byte != b'\n' && !(b' '..=b'~').contains(&byte)) {
            return Err(BAD);
        }
        let mut words = line.split(' ');
        let (Some(method), Some(target), Some(version), None) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            return Err(BAD);
        };
        if version != "HTTP/1.1" {
            return Err(Refusal(505, "the request must be of HTTP/1.1"));
        }
        if !target.starts_with('/') {
            return Err(BAD);
        }
        let mut headers: Vec<(String, String)> = Vec::new();
        for line in lines {
            let (name, value) = line.split_once(':').ok_or(BAD)?;
            let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
            if name.is_empty() || !name.bytes().all(is_token) || line.contains(['\r', '\n']) {
                return Err(BAD);
            }
            let name = name.to_ascii_lowercase();
            if headers.len() == MOST_HEADERS || headers.iter().any(|(known, _)| *known == name) {
                return Err(BAD);
            }
            headers.push((name, value.trim_matches(' ').to_owned()));
        }
        Ok(Self { method: method.to_owned(), target: target.to_owned(), headers })
    }

    /// The bytes of the body.
    fn length(&self) -> Result<usize, Refusal> {
        if self.header("transfer-encoding").is_some() {
            return Err(Refusal(411, "the request needs a Content-Length"));
        }
        let Some(length) = self.header("content-length") else { return Ok(0) };
        let is_number = !length.is_empty() && length.bytes().all(|byte| byte.is_ascii_digit());
        match length.parse::<usize>() {
            Ok(length) if is_number && length <= MOST_BODY => Ok(length),
            _ if is_number => Err(Refusal(413, "the body is too large")),
            _ => Err(Refusal(400, "the Content-Length is malformed")),
        }
    }
}

/// A connection, of which one request is read.
pub struct Connection {
    stream: TcpStream,
    until: Instant,
    /// Bytes of the body received with the head.
    rest: Vec<u8>,
}

impl Connection {
    /// A connection that was just accepted.
    pub fn new(stream: TcpStream) -> Self {
        Self { stream, until: Instant::now() + PATIENCE, rest: Vec::new() }
    }

    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Refusal> {
        const LATE: Refusal = Refusal(408, "the request did not arrive in time");
        loop {
            let left = self.until.saturating_duration_since(Instant::now());
            if left.is_zero() || self.stream.set_read_timeout(Some(left)).is_err() {
                return Err(LATE);
            }
            match self.stream.read(buffer) {
                Ok(0) => return Err(Refusal(400, "the request is incomplete")),
                Ok(count) => return Ok(count),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return Err(LATE),
            }
        }
    }

    /// Reads the request line and the headers.
    pub fn head(&mut self) -> Result<Head, Refusal> {
        let mut text = Vec::new();
        let mut buffer = [0; 4096];
        loop {
            let count = self.read(&mut buffer)?;
            // The end may straddle two reads.
            let from = text.len().saturating_sub(3);
            text.extend_from_slice(&buffer[..count]);
            if let Some(end) = text[from..].windows(4).position(|window| window == b"\r\n\r\n") {
                self.rest = text.split_off(from + end + 4);
                text.truncate(from + end);
                return if text.len() <= MOST_HEAD { Head::parse(&text) } else { Err(TOO_LONG) };
            }
            if text.len() > MOST_HEAD {
                return Err(TOO_LONG);
            }
        }
    }

    /// Reads the body. Memory grows with the bytes received, not with the announced length.
    pub fn body(&mut self, head: &Head) -> Result<Vec<u8>, Refusal> {
        let length = head.length()?;
        let mut body = std::mem::take(&mut self.rest);
        let mut buffer = [0; 16 << 10];
        while body.len() < length {
            let count = self.read(&mut buffer)?;
            body.extend_from_slice(&buffer[..count]);
        }
        if body.len() > length {
            return Err(Refusal(400, "the body is longer than its Content-Length"));
        }
        Ok(body)
    }

    /// Sends the reply and closes the connection.
    pub fn reply(mut self, reply: &Reply) {
        let _ = self.stream.set_write_timeout(Some(PATIENCE));
        let sent = self.stream.write_all(&reply.bytes());
        if sent.is_err() || self.stream.shutdown(Shutdown::Write).is_err() || reply.status < 400 {
            return;
        }
        // Closing a connection with unread bytes would discard the reply.
        self.until = Instant::now() + Duration::from_millis(500);
        let (mut buffer, mut drained) = ([0; 16 << 10], 0);
        while drained < MOST_DRAINED {
            match self.read(&mut buffer) {
                Ok(count) => drained += count,
                Err(_) => return,
            }
        }
    }
}

const TOO_LONG: Refusal = Refusal(431, "the request line and headers are too long");

/// A reply with its body.
#[derive(Debug)]
pub struct Reply {
    /// The status.
    pub status: u16,
    /// The media type.
    pub content: &'static str,
    /// Whether the body is compressed.
    pub gzip: bool,
    /// The body.
    pub body: Vec<u8>,
}

impl From<Refusal> for Reply {
    fn from(Refusal(status, text): Refusal) -> Self {
        let body = format!("{text}\n").into_bytes();
        Self { status, content: "text/plain; charset=utf-8", gzip: false, body }
    }
}

impl Reply {
    fn bytes(&self) -> Vec<u8> {
        let reason = match self.status {
            200 => "OK",
            400 => "Bad Request",
            403 => "Forbidden",
            404 => "Not Found",
            405 => "Method Not Allowed",
            408 => "Request Timeout",
            411 => "Length Required",
            413 => "Content Too Large",
            415 => "Unsupported Media Type",
            431 => "Request Header Fields Too Large",
            503 => "Service Unavailable",
            505 => "HTTP Version Not Supported",
            _ => "Internal Server Error",
        };
        let encoding = if self.gzip { "Content-Encoding: gzip\r\nVary: Accept-Encoding\r\n" } else { "" };
        let head = format!(
            "HTTP/1.1 {} {reason}\r\nContent-Type: {}\r\nContent-Length: {}\r\n{encoding}{HEADERS}\r\n",
            self.status,
            self.content,
            self.body.len(),
        );
        [head.as_bytes(), &self.body].concat()
    }
}

/// Headers of every reply: no caching, no resources from elsewhere, and no embedding or opening by other pages.
const HEADERS: &str = "Cache-Control: no-store\r\n\
    Connection: close\r\n\
    Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; \
    font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n\
    Cross-Origin-Opener-Policy: same-origin\r\n\
    Cross-Origin-Resource-Policy: same-origin\r\n\
    Referrer-Policy: no-referrer\r\n\
    X-Content-Type-Options: nosniff\r\n\
    X-Frame-Options: DENY\r\n";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads() {
        let head =
            Head::parse(b"POST /t/api/fit HTTP/1.1\r\nHost: 127.0.0.1:80\r\nContent-Length: 12").unwrap();
        assert_eq!((head.method.as_str(), head.target.as_str()), ("POST", "/t/api/fit"));
        assert_eq!((head.header("host"), head.length()), (Some("127.0.0.1:80"), Ok(12)));
        for (bad, status) in [
            ("GET / HTTP/1.0", 505),
            ("GET / HTTP/1.1 x", 400),
            ("GET  / HTTP/1.1", 400),
            ("GET http://evil/ HTTP/1.1", 400),
            ("GET /\u{e9} HTTP/1.1", 400),
            ("GET / HTTP/1.1\r\nHost", 400),
            ("GET / HTTP/1.1\r\n: x", 400),
            ("GET / HTTP/1.1\r\nHost: a\r\nhost: b", 400),
            ("GET / HTTP/1.1\r\nHost: a\r\n folded", 400),
            ("GET / HTTP/1.1\r\nHost: a\nX: b", 400),
        ] {
            assert_eq!(Head::parse(bad.as_bytes()).unwrap_err().0, status, "{bad}");
        }
    }

    #[test]
    fn lengths() {
        let length =
            |header: &str| Head::parse(format!("POST / HTTP/1.1\r\n{header}").as_bytes()).unwrap().length();
        assert_eq!(length("Content-Length: 0"), Ok(0));
        for (bad, status) in [
            ("Content-Length: -1", 400),
            ("Content-Length: +1", 400),
            ("Content-Length: 1e3", 400),
            ("Content-Length: 99999999999999999999999", 413),
            ("Content-Length: 4194305", 413),
            ("Transfer-Encoding: chunked", 411),
        ] {
            assert_eq!(length(bad).unwrap_err().0, status, "{bad}");
        }
    }
}
