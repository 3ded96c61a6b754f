//! Generated programs come to the same in the machine and in the reference.

use proptest::prelude::*;

use crate::targets::programs;

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn machine_and_reference_agree(data in prop::collection::vec(any::<u8>(), 0..64)) {
        programs::run(&data);
    }
}
