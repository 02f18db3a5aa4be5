//! A program that receives webhooks: takes them, refuses them, is away.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use serde_json::Value;

/// A receiver on a port of its own.
pub struct Receiver {
    address: String,
    says: Arc<AtomicU16>,
    taken: mpsc::Receiver<Delivery>,
}

/// Delivery that came.
#[derive(Debug)]
pub struct Delivery {
    pub head: String,
    pub text: String,
    pub body: Value,
}

impl Receiver {
    /// Answers everything with 204.
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("there is a port");
        let address = listener.local_addr().expect("it has an address").to_string();
        let (sender, taken) = mpsc::channel();
        let says = Arc::new(AtomicU16::new(204));
        let status = Arc::clone(&says);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let Some(delivery) = take(stream, &status) else { continue };
                if sender.send(delivery).is_err() {
                    return;
                }
            }
        });
        Self { address, says, taken }
    }

    /// Returns the address at which it listens.
    pub fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    /// From now on it answers with this status.
    pub fn answers(&self, status: u16) {
        self.says.store(status, Ordering::SeqCst);
    }

    /// Waits for the next delivery.
    pub fn takes(&self) -> Delivery {
        self.taken.recv_timeout(Duration::from_secs(30)).expect("something is delivered")
    }

    /// The story fails if anything comes.
    pub fn takes_nothing(&self, patience: Duration) {
        let came = self.taken.recv_timeout(patience);
        assert!(came.is_err(), "{came:?}");
    }
}

impl Delivery {
    /// A header.
    pub fn header(&self, name: &str) -> &str {
        let value = self.head.lines().find_map(|line| {
            let (known, value) = line.split_once(": ")?;
            known.eq_ignore_ascii_case(name).then_some(value)
        });
        value.unwrap_or_else(|| panic!("there is no {name} in {}", self.head))
    }
}

fn take(mut stream: TcpStream, status: &AtomicU16) -> Option<Delivery> {
    let mut bytes = Vec::new();
    let mut piece = [0; 16 * 1024];
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| {
                line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok()
            });
            if body.len() >= length.unwrap_or(0) {
                let said = status.load(Ordering::SeqCst);
                let answer = format!(
                    "HTTP/1.1 {said} X\r\nContent-Length: 0\r\nLocation: /else\r\nConnection: close\r\n\r\n"
                );
                stream.write_all(answer.as_bytes()).ok()?;
                return Some(Delivery {
                    head: head.to_owned(),
                    text: body.to_owned(),
                    body: serde_json::from_str(body).unwrap_or(Value::Null),
                });
            }
        }
        match stream.read(&mut piece) {
            Ok(read @ 1..) => bytes.extend_from_slice(&piece[..read]),
            _ => return None,
        }
    }
}
