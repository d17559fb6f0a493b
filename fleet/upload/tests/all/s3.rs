//! An S3 server: moto's, in a Python that `GAPII_MOTO` names. What it has is asked over HTTP, without the product's code.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};

const SERVER: &str = "
from moto.server import ThreadedMotoServer
import logging, sys
logging.getLogger('werkzeug').setLevel(logging.ERROR)
server = ThreadedMotoServer(ip_address='127.0.0.1', port=0, verbose=False)
server.start()
print(server.get_host_and_port()[1], flush=True)
sys.stdin.read()
";
/// The bucket of the tests.
pub const BUCKET: &str = "captures";

/// A server with an empty bucket.
pub struct S3 {
    server: Child,
    pub address: SocketAddr,
}

impl S3 {
    pub fn start() -> S3 {
        let python =
            std::env::var("GAPII_MOTO").expect("`cargo xtask check-fleet` sets GAPII_MOTO");
        let mut server = Command::new(python)
            .args(["-c", SERVER])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // It writes what its own faults are: a multipart upload that was completed before is one.
            .stderr(Stdio::null())
            .spawn()
            .expect("the Python of GAPII_MOTO runs");
        let mut line = String::new();
        let mut said = BufReader::new(server.stdout.take().expect("it is piped"));
        said.read_line(&mut line).expect("the server says its port");
        let port: u16 = line.trim().parse().unwrap_or_else(|_| panic!("a port, not {line:?}"));
        let s3 = S3 { server, address: SocketAddr::from(([127, 0, 0, 1], port)) };
        s3.ask("PUT", &format!("/{BUCKET}"));
        s3
    }

    /// Returns the objects of the bucket by name.
    pub fn objects(&self) -> BTreeMap<String, Vec<u8>> {
        self.names()
            .into_iter()
            .map(|name| {
                let bytes = self.ask("GET", &format!("/{BUCKET}/{name}"));
                (name, bytes)
            })
            .collect()
    }

    /// Returns the names of the bucket's objects.
    pub fn names(&self) -> Vec<String> {
        let list = self.ask("GET", &format!("/{BUCKET}?list-type=2"));
        let list = String::from_utf8(list).expect("the list is text");
        let mut names = Vec::new();
        for part in list.split("<Key>").skip(1) {
            names.push(part.split("</Key>").next().unwrap_or_default().to_owned());
        }
        names
    }

    fn ask(&self, method: &str, path: &str) -> Vec<u8> {
        let mut stream = TcpStream::connect(self.address).expect("the server listens");
        let path = path.replace('=', if path.contains('?') { "=" } else { "%3D" });
        // The server asks for credentials, and believes any.
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\nauthorization: AWS4-HMAC-SHA256 \
             Credential=key/20261130/us-east-1/s3/aws4_request, SignedHeaders=host, \
             Signature=0\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
            self.address
        );
        stream.write_all(head.as_bytes()).expect("the server reads");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("the server answers");
        let at = answer.windows(4).position(|it| it == b"\r\n\r\n").expect("an answer has a head");
        let head = String::from_utf8_lossy(&answer[..at]).into_owned();
        assert!(head.split(' ').nth(1) == Some("200"), "{method} {path}: {head}");
        assert!(!head.to_ascii_lowercase().contains("transfer-encoding"), "{head}");
        answer.split_off(at + 4)
    }
}

impl Drop for S3 {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
