//! Serves metrics over HTTP: one request per connection, at most 8 connections (`CONNECTIONS_MAX`); further ones wait
//! to be accepted. A request's head must arrive within 2 s and have at most 16 KiB; a connection ends after 5 s, so a
//! slow reader delays only other readers of metrics. Any path but `/metrics` gets status 404, any method but GET and
//! HEAD gets 405. Reads no body. After an accept that fails it waits 100 ms.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;

use super::address::{MetricsListener, PATH};
use super::exposition::MEDIA_TYPE;
use super::measured;
use crate::session::Session;

/// Time for a request's head.
const HEAD_LIMIT: Duration = Duration::from_secs(2);
/// Time for a connection, including slow readers of the answer.
const CONNECTION_LIMIT: Duration = Duration::from_secs(5);
/// Largest size of a request's head, and of the buffered answer.
const BUFFER_BYTES: usize = 16 << 10;
/// Pause after an accept that failed, usually for lack of descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Serves metrics until the daemon ends.
pub async fn serve(session: Arc<Session>, listener: MetricsListener) {
    loop {
        // Nobody closes the semaphore.
        let Ok(place) = Arc::clone(&session.readers).acquire_owned().await else { return };
        let session = Arc::clone(&session);
        let accepted = match &listener {
            MetricsListener::Tcp(tcp) => tcp.accept().await.map(|(stream, _)| {
                tokio::spawn(async move { (converse(session, stream).await, place).0 });
            }),
            MetricsListener::Unix(unix) => unix.accept().await.map(|(stream, _)| {
                tokio::spawn(async move { (converse(session, stream).await, place).0 });
            }),
        };
        if let Err(error) = accepted {
            tracing::warn!("a reader of metrics cannot be accepted: {error}");
            tokio::time::sleep(ACCEPT_PAUSE).await;
        }
    }
}

async fn converse(
    session: Arc<Session>,
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
) {
    let answer = service_fn(|request| {
        let session = &session;
        async move { Ok::<_, Infallible>(answer(session, &request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_LIMIT)
        .max_buf_size(BUFFER_BYTES)
        .keep_alive(false)
        .serve_connection(TokioIo::new(stream), answer);
    match timeout(CONNECTION_LIMIT, connection).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::debug!("a reader of metrics is disconnected: {error}"),
        Err(_) => tracing::debug!("a reader of metrics is disconnected: it takes too long"),
    }
}

async fn answer(session: &Session, request: &Request<Incoming>) -> Response<Full<Bytes>> {
    let plain = |status, text: &'static str| {
        let mut response = Response::new(Full::from(text));
        *response.status_mut() = status;
        response
    };
    if request.uri().path() != PATH {
        return plain(StatusCode::NOT_FOUND, "metrics are at /metrics\n");
    }
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, "metrics are only read\n");
        response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        return response;
    }
    let mut response = Response::new(Full::from(measured::text(session).await));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE));
    response
}
