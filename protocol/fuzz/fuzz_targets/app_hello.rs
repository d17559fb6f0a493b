//! Reads any bytes as the hello of an application, and as the daemon's reply.

#![no_main]

use gapii_abi::app::{AppHello, HELLO_LEN, HelloReply, REPLY_LEN};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    if let Some(bytes) = input.first_chunk::<HELLO_LEN>()
        && let Ok(hello) = AppHello::from_bytes(bytes)
    {
        assert_eq!(AppHello::from_bytes(&hello.to_bytes()), Ok(hello));
    }
    if let Some(bytes) = input.first_chunk::<REPLY_LEN>()
        && let Ok(reply) = HelloReply::from_bytes(bytes)
    {
        assert_eq!(HelloReply::from_bytes(&reply.to_bytes()), Ok(reply));
    }
});
