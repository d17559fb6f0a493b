//! Lets only the page itself ask: a request needs the token in its path, a `Host` of this machine with the right port, and,
//! if it has one, an `Origin` of the same address. All others get 403 and no reason, before anything is looked up.
//!
//! The token keeps out other users of this machine and pages that guess the port. `Host` keeps out pages whose name was
//! made to lead to this machine (DNS rebinding), and `Origin` pages that got hold of an address.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HOST, ORIGIN, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};

/// What requests are let in.
#[derive(Debug)]
struct Gate {
    token: String,
    hosts: [String; 2],
}

/// The page runs its own modules alone, and shows pictures that it has drawn itself.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; \
     connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Headers of every answer. The address has the token, so no other site may hear of it.
const HEADERS: [(HeaderName, &str); 4] = [
    (CONTENT_SECURITY_POLICY, POLICY),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (REFERRER_POLICY, "no-referrer"),
    (CACHE_CONTROL, "no-store"),
];

impl Gate {
    fn new(token: &str, port: u16) -> Self {
        let hosts = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
        Self { token: token.to_owned(), hosts }
    }

    fn lets_in(&self, path: &str, headers: &HeaderMap) -> bool {
        let first = path.split('/').nth(1).unwrap_or_default();
        let only = |name: HeaderName| {
            let mut values = headers.get_all(name).iter();
            let value = values.next().map(HeaderValue::as_bytes);
            if values.next().is_some() { None } else { Some(value) }
        };
        let is_here = |host: &[u8]| self.hosts.iter().any(|known| known.as_bytes() == host);
        let has_host = only(HOST).flatten().is_some_and(is_here);
        let has_origin = only(ORIGIN).is_some_and(|origin| {
            origin.is_none_or(|it| it.strip_prefix(b"http://").is_some_and(is_here))
        });
        has_host && has_origin && is_equal(first.as_bytes(), self.token.as_bytes())
    }
}

/// Compares two words in a time that depends only on their lengths.
fn is_equal(one: &[u8], other: &[u8]) -> bool {
    let differing = one.iter().zip(other).fold(0, |bits, (one, other)| bits | (one ^ other));
    one.len() == other.len() && differing == 0
}

/// Lets only the page on `port` whose address has `token` ask `router`, and adds the headers of every answer.
pub fn guarded(router: Router, token: &str, port: u16) -> Router {
    router.layer(middleware::from_fn_with_state(Arc::new(Gate::new(token, port)), guard))
}

async fn guard(State(gate): State<Arc<Gate>>, request: Request, next: Next) -> Response {
    let mut response = match gate.lets_in(request.uri().path(), request.headers()) {
        true => next.run(request).await,
        false => StatusCode::FORBIDDEN.into_response(),
    };
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, headers: &[(HeaderName, &str)], expected: bool) {
        let gate = Gate::new("abc123", 4711);
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(name, HeaderValue::from_str(value).unwrap());
        }
        assert_eq!(gate.lets_in(path, &map), expected, "{path} {headers:?}");
    }

    #[test]
    fn page_itself_is_let_in() {
        check("/abc123/", &[(HOST, "127.0.0.1:4711")], true);
        check("/abc123/api/info", &[(HOST, "localhost:4711")], true);
        check("/abc123/x", &[(HOST, "localhost:4711"), (ORIGIN, "http://localhost:4711")], true);
    }

    #[test]
    fn others_are_kept_out() {
        let host = (HOST, "127.0.0.1:4711");
        for path in ["/", "/abc12/", "/abc1234/", "//abc123/", "/x/abc123/", "/%61bc123/", ""] {
            check(path, std::slice::from_ref(&host), false);
        }
        let path = "/abc123/";
        for host in ["127.0.0.1", "127.0.0.1:80", "evil.example:4711", "127.0.0.1:4711.evil", ""] {
            check(path, &[(HOST, host)], false);
        }
        check(path, &[], false);
        check(path, &[host.clone(), (HOST, "evil.example")], false);
        for origin in ["null", "http://evil.example", "https://127.0.0.1:4711", "http://127.0.0.1"]
        {
            check(path, &[host.clone(), (ORIGIN, origin)], false);
        }
    }
}
