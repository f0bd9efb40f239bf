//! Fuzzes the subscription and assignment bytes of a group's member.
#![no_main]

use evenkeel_core::wire::attack;

libfuzzer_sys::fuzz_target!(|data: &[u8]| attack::member_bytes(data).unwrap());
