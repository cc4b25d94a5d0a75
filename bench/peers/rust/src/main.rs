//! The crate kafka-protocol reads a record set: CRC checked, keys and values are slices of the decompressed buffer.
//!
//! usage: kafka-protocol-peer decode PATH
//! The questions on the input and the answers are those of bench/peers/worker.py.

use bytes::Bytes;
use kafka_protocol::records::{Record, RecordBatchDecoder};
use std::error::Error;
use std::hint::black_box;
use std::io::{stdin, stdout, Write};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// What was read.
#[derive(Default)]
struct Tally {
    records: i64,
    offsets: i64,
    timestamps: i64,
    sizes: usize,
    crc: Option<crc32fast::Hasher>,
}

impl Tally {
    fn add(&mut self, record: &Record) {
        self.records += 1;
        self.offsets += record.offset;
        self.timestamps += record.timestamp;
        for field in [&record.key, &record.value] {
            self.sizes += field.as_ref().map_or(0, Bytes::len);
            if let Some(crc) = &mut self.crc {
                let length = field.as_ref().map_or(-1, |bytes| bytes.len() as i32);
                crc.update(&length.to_be_bytes());
                crc.update(field.as_deref().unwrap_or_default());
            }
        }
    }
}

fn decode(data: &Bytes, mut tally: Tally) -> Result<Tally> {
    let mut rest = data.clone();
    while !rest.is_empty() {
        for record in &RecordBatchDecoder::decode(&mut rest)?.records {
            tally.add(record);
        }
    }
    Ok(tally)
}

/// Seconds by the clock of that name in Python's module time.
fn now(clock: &str) -> Result<f64> {
    let id = match clock {
        "thread_time" => libc::CLOCK_THREAD_CPUTIME_ID,
        "process_time" => libc::CLOCK_PROCESS_CPUTIME_ID,
        "perf_counter" => libc::CLOCK_MONOTONIC,
        _ => return Err(clock.into()),
    };
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    unsafe { libc::clock_gettime(id, &mut time) };
    Ok(time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9)
}

fn answer(question: &str, data: &Bytes) -> Result<String> {
    if question == "answer" {
        let crc = Some(crc32fast::Hasher::new());
        let read = decode(data, Tally { crc, ..Tally::default() })?;
        let crc = read.crc.unwrap_or_default().finalize();
        return Ok(format!("{} {} {} {crc}", read.records, read.offsets, read.timestamps));
    }
    let (calls, clock) = question.split_once(' ').ok_or(question)?;
    let calls: u64 = calls.parse()?;
    let start = now(clock)?;
    for _ in 0..calls {
        black_box(decode(data, Tally::default())?);
    }
    Ok(format!("{:.9}", now(clock)? - start))
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, job, path] = &arguments[..] else {
        return Err("usage: kafka-protocol-peer decode PATH".into());
    };
    assert_eq!(job, "decode");
    let data = Bytes::from(std::fs::read(path)?);
    for question in stdin().lines() {
        writeln!(stdout(), "{}", answer(&question?, &data)?)?;
    }
    Ok(())
}
