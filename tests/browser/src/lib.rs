//! A viewer and a browser that shows its page.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use fantoccini::elements::Element;
use fantoccini::wd::{Capabilities, WebDriverCompatibleCommand};
use fantoccini::{Client, ClientBuilder, Locator};
use gapii_tests::display::surfaceless;
use gapii_tests::gapii::Session;
use gapii_tests::process::{Running, require};
use hyper_util::client::legacy::connect::HttpConnector;
use rustix::process::Signal;
use serde_json::{Value, json};

/// How long something on the page may take.
pub const LIMIT: Duration = Duration::from_secs(30);

/// Chromium, without a network, with the page of a viewer.
pub struct Browser {
    pub client: Client,
    /// Address of the page, with its token.
    pub address: String,
    /// The process of `gapii-ctl ui`.
    pub viewer: Running,
    driver: Running,
    /// Port of the driver.
    port: u16,
    /// Id of its session.
    session: String,
}

impl Drop for Browser {
    /// Ends the browser, and its driver, also if a test has failed. A driver that ends alone leaves its browser.
    fn drop(&mut self) {
        // Where the session has ended, the driver has no such one.
        _ = end_session(self.port, &self.session);
        self.driver.signal(Signal::TERM);
        self.driver.ended_within(LIMIT);
    }
}

/// Asks a driver to end the browser of a session, and waits until it has.
fn end_session(port: u16, session: &str) -> io::Result<()> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(LIMIT))?;
    let request = format!(
        "DELETE /session/{session} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes())?;
    // The driver answers when the browser has ended.
    stream.read(&mut [0; 64]).map(|_| ())
}

/// The messages of the browser's console. It is an extension of chromedriver.
#[derive(Debug)]
struct Log;

impl WebDriverCompatibleCommand for Log {
    fn endpoint(
        &self,
        base: &url::Url,
        session: Option<&str>,
    ) -> Result<url::Url, url::ParseError> {
        base.join(&format!("session/{}/se/log", session.unwrap_or_default()))
    }

    fn method_and_body(&self, _: &url::Url) -> (http::Method, Option<String>) {
        (http::Method::POST, Some(json!({ "type": "browser" }).to_string()))
    }
}

impl Browser {
    /// Serves `traces`, of which a second one is compared with the first, and opens the page.
    pub async fn open(session: &Session, traces: &[&Path]) -> Browser {
        Browser::open_with(session, &[], traces).await
    }

    /// Does the same with options of `gapii-ctl ui`.
    pub async fn open_with(session: &Session, options: &[&str], traces: &[&Path]) -> Browser {
        require("chromedriver");
        let mut ui = session.ctl(["ui", "--json"]);
        surfaceless(ui.args(options).args(traces));
        let viewer = Running::start(&mut ui);
        let line = gapii_tests::wait::until("the viewer's address", LIMIT, || viewer.stdout_line());
        let answer: Value = serde_json::from_str(&line).expect("one line of JSON");
        let address = answer["address"].as_str().expect("an address").to_owned();

        let port = free_port();
        // What the browser leaves behind goes with the session.
        let scratch = session.path("browser");
        std::fs::create_dir_all(&scratch).expect("a folder of the session");
        let mut command = Command::new("chromedriver");
        command.arg(format!("--port={port}")).env("TMPDIR", scratch);
        let driver = Running::start(&mut command);
        driver.wait_for_words("started successfully", LIMIT);
        let client = ClientBuilder::new(HttpConnector::new())
            .capabilities(capabilities())
            .connect(&format!("http://127.0.0.1:{port}"))
            .await
            .expect("a session of chromedriver");
        let session = client.session_id().await.expect("a session").unwrap_or_default();
        let browser = Browser { client, address, viewer, driver, port, session };
        browser.go("").await;
        browser.find("body[data-ready]").await;
        browser
    }

    /// Goes to a place of the page, such as `at=7&pane=state`.
    pub async fn go(&self, place: &str) {
        self.client.goto(&format!("{}#{place}", self.address)).await.expect("the page");
    }

    /// Waits for an element.
    ///
    /// # Panics
    /// It does not come within 30 s.
    pub async fn find(&self, selector: &str) -> Element {
        let found = self.client.wait().at_most(LIMIT).for_element(Locator::Css(selector)).await;
        match found {
            Ok(element) => element,
            Err(error) => panic!("no {selector}: {error}\n{}", self.text("body").await),
        }
    }

    /// The text of an element that is there; empty without one.
    pub async fn text(&self, selector: &str) -> String {
        match self.client.find(Locator::Css(selector)).await {
            Ok(element) => element.text().await.unwrap_or_default(),
            Err(_) => String::new(),
        }
    }

    /// Waits until an element has `words` in its text, and returns the text.
    ///
    /// # Panics
    /// It does not within 30 s.
    pub async fn text_with(&self, selector: &str, words: &str) -> String {
        let begun = Instant::now();
        loop {
            let text = self.text(selector).await;
            if text.contains(words) {
                return text;
            }
            assert!(begun.elapsed() < LIMIT, "{selector} has no {words:?}:\n{text}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// The value of an attribute of an element that is waited for.
    pub async fn attribute(&self, selector: &str, name: &str) -> String {
        let element = self.find(selector).await;
        element.attr(name).await.expect("an attribute").unwrap_or_default()
    }

    /// Runs a script in the page and returns its result, or that of the promise that it returns.
    pub async fn run(&self, script: &str) -> Value {
        self.client.execute(script, Vec::new()).await.expect("the script runs")
    }

    /// The bytes at a path of the viewer, as the page gets them.
    pub async fn bytes(&self, path: &str) -> Vec<u8> {
        let script = format!(
            "return fetch('{path}').then((it) => it.arrayBuffer()).then((it) => Array.from(new Uint8Array(it)))"
        );
        let bytes = self.run(&script).await;
        let byte = |value: &Value| value.as_u64().and_then(|byte| u8::try_from(byte).ok());
        bytes.as_array().expect("an array").iter().map(|it| byte(it).expect("a byte")).collect()
    }

    /// Checks that the console has no error, and ends the browser.
    pub async fn close(self) {
        let log = self.client.issue_cmd(Log).await.expect("the console's messages");
        let messages = log.as_array().cloned().unwrap_or_default();
        let errors: Vec<_> = messages.iter().filter(|it| it["level"] == "SEVERE").collect();
        assert!(errors.is_empty(), "{errors:#?}");
        self.client.clone().close().await.expect("the session ends");
    }
}

/// A port that nobody used a moment ago.
fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    listener.local_addr().expect("an address").port()
}

/// No name leads anywhere, and no address but that of this machine does.
fn capabilities() -> Capabilities {
    let options = json!({
        "args": [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--window-size=1400,900",
            "--force-device-scale-factor=1",
            "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
        ],
    });
    let mut capabilities = Capabilities::new();
    capabilities.insert("goog:chromeOptions".into(), options);
    capabilities.insert("goog:loggingPrefs".into(), json!({ "browser": "ALL" }));
    capabilities
}
