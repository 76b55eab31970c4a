//! A web server for tests, with correct and faulty responses.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The response to one request: takes the head of the request and the connection to the client.
pub type Answer = Box<dyn Fn(&str, &mut TcpStream) + Send>;

/// A server with a fixed list of responses.
pub struct Server {
    pub url: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub fn start(answers: Vec<Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/file.bin", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = requests.clone();
        std::thread::spawn(move || {
            for answer in answers {
                let Ok((mut stream, _)) = listener.accept() else { return };
                let mut head = String::new();
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                while reader.read_line(&mut head).is_ok_and(|read| read > 2) {}
                seen.lock().unwrap().push(head.to_ascii_lowercase());
                answer(&head, &mut stream);
            }
        });
        Self { url, requests }
    }

    /// The heads of all requests so far, in lower case.
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

/// Sends a head and a body, then closes the connection.
pub fn send(head: impl Into<String>, body: impl Into<Vec<u8>>) -> Answer {
    let (head, body) = (head.into(), body.into());
    Box::new(move |_, stream| {
        let head = head.replace('\n', "\r\n");
        let _ = stream.write_all(format!("HTTP/1.1 {head}\r\nconnection: close\r\n\r\n").as_bytes());
        let _ = stream.write_all(&body);
    })
}

/// The whole file.
pub fn whole(body: &[u8], tag: &str) -> Answer {
    send(format!("200 OK\ncontent-length: {}\netag: \"{tag}\"", body.len()), body)
}

/// Announces the whole file and sends only the first `count` bytes.
pub fn truncated(body: &[u8], count: usize, tag: &str) -> Answer {
    send(format!("200 OK\ncontent-length: {}\netag: \"{tag}\"", body.len()), &body[..count])
}

/// The rest of the file from byte `start` on.
pub fn rest(body: &[u8], start: usize, tag: &str) -> Answer {
    let (end, total) = (body.len() - 1, body.len());
    let left = total - start;
    let head = format!(
        "206 Partial Content\ncontent-length: {left}\ncontent-range: bytes {start}-{end}/{total}\netag: \"{tag}\""
    );
    send(head, &body[start..])
}

/// A correct server: sends the whole file, or the requested range.
pub fn honest(body: &[u8], tag: &'static str) -> Answer {
    let body = body.to_vec();
    Box::new(move |head, stream| {
        let head = head.to_ascii_lowercase();
        let start =
            head.split_once("range: bytes=").and_then(|(_, rest)| rest.split_once('-')?.0.parse().ok());
        match start {
            Some(start) => rest(&body, start, tag)(&head, stream),
            None => whole(&body, tag)(&head, stream),
        }
    })
}

/// Sends the first `count` bytes and then nothing for `pause`.
pub fn stalled(body: &[u8], count: usize, pause: Duration) -> Answer {
    let (first, total) = (body[..count].to_vec(), body.len());
    Box::new(move |_, stream| {
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {total}\r\netag: \"a\"\r\n\r\n");
        let _ = stream.write_all(head.as_bytes());
        let _ = stream.write_all(&first);
        std::thread::sleep(pause);
    })
}

/// Sends the file one byte per `pause`, so that no single read takes long.
pub fn dripping(body: &[u8], pause: Duration) -> Answer {
    let body = body.to_vec();
    Box::new(move |_, stream| {
        let _ =
            stream.write_all(format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len()).as_bytes());
        for byte in &body {
            if stream.write_all(&[*byte]).is_err() {
                return;
            }
            std::thread::sleep(pause);
        }
    })
}
