//! Fuzzes a record of the config topic, its key first.
#![no_main]

use evenkeel_core::wire::attack;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let (key, value) = attack::split(data);
    attack::config_record(key, value).unwrap();
});
