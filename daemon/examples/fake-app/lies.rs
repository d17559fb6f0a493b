//! Orders that break the rules of rings, slots, shared memory and sockets.
//!
//! ```text
//! claim             claims a slot without an introduction
//! follow            states that what follows is of the capture that was ordered last
//! read              waits until the daemon has taken all records
//! claim-all         claims all free slots
//! record ID FLAGS LEN [BYTE]  writes a record with this id and this number of payload bytes
//! records N ID FLAGS LEN [BYTE]  writes N of them
//! word PLACE VALUE  writes eight bytes of the segment
//! half PLACE VALUE  writes four bytes of the segment
//! near-end          writes commands until no more fits before the ring wraps around
//! advance N         moves the ring's head by N bytes
//! no-shrink         checks that the segment's memory cannot be made shorter or longer
//! counter VALUE     sets the counter of all applications
//! punch             gives the segment's memory back to the system
//! talk              writes into the socket, where the protocol has nothing
//! hang-up           closes the socket
//! hello             opens another connection, with another hello
//! hellos N          opens N connections with a hello each, and closes none
//! ```
//!
//! A place is `header+N`, `slot+N` in the thread's slot, or `head+N` in its ring behind the last record. Numbers are
//! decimal, or hexadecimal after `0x`.

use std::io::Write;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::time::Instant;

use anyhow::{Context, bail, ensure};
use gapii_abi::app::AppHello;
use rustix::fs::{FallocateFlags, fallocate, ftruncate};
use rustix::io::{pread, pwrite};

use crate::{App, PATIENCE, receive_reply};

impl App {
    pub fn lie(&mut self, words: &[&str]) -> anyhow::Result<()> {
        match *words {
            ["claim"] => drop(self.claim()?),
            ["follow"] => self.follow_order(),
            ["read"] => self.wait_until_read()?,
            ["claim-all"] => while self.segment.claim(1, [0xFF; 16]).is_some() {},
            ["record", ref kind @ ..] => self.records(1, kind)?,
            ["records", count, ref kind @ ..] => self.records(number(count)?, kind)?,
            ["word", place, value] => self.poke(place, &number(value)?.to_le_bytes())?,
            ["half", place, value] => {
                self.poke(place, &u32::try_from(number(value)?)?.to_le_bytes())?;
            }
            ["near-end"] => self.go_near_end()?,
            ["advance", bytes] => {
                let head = self.head()?.wrapping_add(number(bytes)?);
                self.poke("slot+0", &head.to_le_bytes())?;
            }
            ["no-shrink"] => {
                let bytes = self.layout.segment_bytes();
                for wrong in [0, bytes - 4096, bytes + 4096] {
                    ensure!(ftruncate(&self.memory, wrong).is_err(), "it has {wrong} bytes now");
                }
            }
            ["counter", value] => {
                ensure!(pwrite(&self.counter_memory, &number(value)?.to_le_bytes(), 0)? == 8);
            }
            ["punch"] => {
                let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
                fallocate(&self.memory, flags, 0, self.layout.segment_bytes())?;
            }
            ["talk"] => (&self.socket).write_all(&[b'x'; 4096])?,
            ["hang-up"] => self.socket.shutdown(Shutdown::Both)?,
            ["hello"] => {
                let socket = self.hello_again()?;
                self.socket = socket;
            }
            ["hellos", times] => {
                for _ in 0..times.parse()? {
                    // The former connections stay open at this end.
                    let socket = self.hello_again()?;
                    self.former.push(std::mem::replace(&mut self.socket, socket));
                }
            }
            _ => bail!("{words:?} is no order"),
        }
        Ok(())
    }

    fn records(&mut self, count: u64, kind: &[&str]) -> anyhow::Result<()> {
        let (id, flags, len, byte) = match *kind {
            [id, flags, len] => (id, flags, len, "0"),
            [id, flags, len, byte] => (id, flags, len, byte),
            _ => bail!("{kind:?} is no record"),
        };
        let (id, flags) = (u16::try_from(number(id)?)?, u16::try_from(number(flags)?)?);
        let payload = vec![u8::try_from(number(byte)?)?; usize::try_from(number(len)?)?];
        (0..count).try_for_each(|_| self.record(id, flags, &payload))
    }

    fn hello_again(&self) -> anyhow::Result<UnixStream> {
        let path = std::env::var_os("GAPII_SOCKET").context("GAPII_SOCKET is not set")?;
        let socket = UnixStream::connect(path)?;
        (&socket).write_all(&AppHello::new(1).to_bytes())?;
        receive_reply(&socket)?;
        Ok(socket)
    }

    fn go_near_end(&mut self) -> anyhow::Result<()> {
        let ring = self.layout.ring_bytes();
        while self.head()? % ring + 64 < ring {
            self.call(1)?;
        }
        Ok(())
    }

    fn wait_until_read(&self) -> anyhow::Result<()> {
        let deadline = Instant::now() + PATIENCE;
        let slot = self.segment.slot(self.slot).context("slot")?;
        while slot.released_untrusted() != self.head()? {
            ensure!(Instant::now() < deadline, "it is not read");
            std::thread::yield_now();
        }
        Ok(())
    }

    fn poke(&self, place: &str, bytes: &[u8]) -> anyhow::Result<()> {
        let (base, offset) = place.split_once('+').context("a place is BASE+N")?;
        let offset = number(offset)?;
        let at = match base {
            "header" => offset,
            "slot" => self.layout.slot_at(self.slot) + offset,
            "head" => {
                let position = (self.head()? + offset) % self.layout.ring_bytes();
                self.layout.ring_at(self.slot) + position
            }
            _ => bail!("{base} is no place"),
        };
        ensure!(pwrite(&self.memory, bytes, at)? == bytes.len());
        Ok(())
    }

    fn head(&self) -> anyhow::Result<u64> {
        let mut bytes = [0; 8];
        ensure!(pread(&self.memory, &mut bytes, self.layout.slot_at(self.slot))? == 8);
        Ok(u64::from_le_bytes(bytes))
    }
}

fn number(text: &str) -> anyhow::Result<u64> {
    Ok(match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16)?,
        None => text.parse()?,
    })
}
