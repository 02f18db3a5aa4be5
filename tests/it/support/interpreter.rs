//! Stands between a program and the server: sends the token for one that cannot, and says the
//! server's names for its own.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;

/// Address for the program until the tests are over. Everyone who comes in there holds `token`, and
/// wherever a request has the first of two `names` it has the second when it arrives.
pub fn interpreter(server: &str, token: &str, names: &[(&str, &str)]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("it is bound").to_string();
    let names = names.iter().map(|(from, to)| ((*from).to_owned(), (*to).to_owned())).collect();
    let words = Words { server: server.to_owned(), token: token.to_owned(), names };
    let words = Arc::new(words);
    std::thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let words = Arc::clone(&words);
            // One that goes away is what programs do.
            std::thread::spawn(move || words.carry(client).ok());
        }
    });
    address
}

struct Words {
    server: String,
    token: String,
    names: Vec<(String, String)>,
}

impl Words {
    /// Carries one request and its answer, then closes: so the next request has a head of its own
    /// to be seen.
    fn carry(&self, client: TcpStream) -> std::io::Result<()> {
        let mut from_client = BufReader::new(client.try_clone()?);
        let (mut head, mut length) = (String::new(), 0);
        loop {
            let mut line = String::new();
            from_client.read_line(&mut line)?;
            match line.to_ascii_lowercase().split_once(':') {
                Some(("content-length", said)) => length = said.trim().parse().unwrap_or(0),
                Some(("connection", _)) => {}
                _ if line.trim().is_empty() => break,
                _ => head.push_str(&line),
            }
        }
        if head.is_empty() {
            return Ok(());
        }
        let mut body = vec![0; length];
        from_client.read_exact(&mut body)?;
        let head = self.said(&head);
        let body = self.said(&String::from_utf8_lossy(&body));
        let (token, length) = (&self.token, body.len());
        let mut server = TcpStream::connect(&self.server)?;
        write!(
            server,
            "{head}Authorization: Bearer {token}\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
        )?;
        let to_server = server.try_clone()?;
        std::thread::spawn(move || {
            // There is no more to come; but who goes away must be gone for the server too.
            while let Ok(1..) = from_client.read(&mut [0; 512]) {}
            to_server.shutdown(Shutdown::Both).ok();
        });
        let mut piece = [0; 16 * 1024];
        while let Ok(read @ 1..) = server.read(&mut piece) {
            (&client).write_all(&piece[..read])?;
        }
        client.shutdown(Shutdown::Both)
    }

    fn said(&self, text: &str) -> String {
        self.names.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
    }
}
