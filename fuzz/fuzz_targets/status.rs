//! Fuzzes a record of the status topic, its key first.
#![no_main]

use evenkeel_core::wire::attack;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let (key, value) = attack::split(data);
    attack::status_record(key, value).unwrap();
});
