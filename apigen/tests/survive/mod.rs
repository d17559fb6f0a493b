//! Properties of the description compiler that hold for any text.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use apigen::apis::ApiFacts;
use apigen::lang::check::{Api, compile};
use apigen::lang::format::format;
use apigen::lang::source::{Source, Sources};
use apigen::registry::{self, Registry};

static TOY: LazyLock<ApiFacts> = LazyLock::new(apigen::toy);

static REGISTRY: LazyLock<Registry> = LazyLock::new(|| {
    let xml = include_str!("../toy/toy.xml");
    registry::parse("toy.xml", xml, &apigen::toy(), &BTreeMap::new())
        .expect("the registry has no mistakes")
});

fn sources(text: &str) -> Sources {
    let source = Source { path: "any.api".to_owned(), text: text.to_owned() };
    Sources { files: vec![source] }
}

/// Compiles `text` as a description of the toy API, and formats it. Both may reject it with diagnostics. A correct
/// description stays correct when it is formatted, and code can be generated from it.
pub fn survive(text: &str) {
    let api = Api::new(&TOY, &REGISTRY);
    let compiled = compile(&sources(text), &[api]);
    match &compiled {
        Ok(program) => assert!(!apigen::emit::state::emit(program).is_empty()),
        Err(report) => {
            assert!(!report.diagnostics.is_empty(), "a refusal has a reason");
            assert!(!report.to_string().is_empty());
        }
    }
    let Ok(formatted) = format(0, text) else {
        assert!(compiled.is_err(), "text that can't be formatted does not compile");
        return;
    };
    assert_eq!(format(0, &formatted).as_ref(), Ok(&formatted), "one form");
    let again = compile(&sources(&formatted), &[api]);
    assert_eq!(again.is_ok(), compiled.is_ok(), "formatting does not change whether it compiles");
}
