//! Fuzzes a record of `__consumer_offsets`, its key first.
#![no_main]

use evenkeel_core::wire::attack;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let (key, value) = attack::split(data);
    attack::offsets_record(key, value).unwrap();
});
