#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| probity_fuzz::run("programs", data));
