//! Which partition of the offsets topic holds a group: Java's string hash, since the
//! broker computes it in Java (`GroupCoordinatorService.partitionFor`).

/// The partition that holds the records of `group`, of `partitions` in all;
/// `None` where there are none.
#[must_use]
pub fn group_partition(group: &str, partitions: i32) -> Option<i32> {
    // `Utils.abs`: the one value without a positive counterpart becomes 0.
    let hash = java_hash(group).checked_abs().unwrap_or(0);
    if partitions > 0 {
        hash.checked_rem(partitions)
    } else {
        None
    }
}

/// `String.hashCode`: over UTF-16 code units, wrapping.
fn java_hash(text: &str) -> i32 {
    text.encode_utf16().fold(0_i32, |hash, unit| {
        hash.wrapping_mul(31).wrapping_add(i32::from(unit))
    })
}

#[cfg(test)]
mod tests {
    use super::{group_partition, java_hash};

    /// Computed by a JVM: `"…".hashCode()`.
    #[test]
    fn hashes_as_java_does() {
        let cases = [
            ("", 0, 0),
            ("connect-cluster", 1_440_343_063, 13),
            ("connect", 951_351_530, 30),
            ("connect-cluster-1", 1_190_215_675, 25),
            ("my-connect", -1_830_355_511, 11),
            ("connect-sink-a", -329_743_894, 44),
            ("polygenelubricants", i32::MIN, 0),
            // Two code units: the surrogates d83d and de00.
            ("\u{1f600}", 1_772_899, 49),
            ("gr\u{fc}n", 3_185_949, 49),
        ];
        for (group, hash, partition) in cases {
            assert_eq!(java_hash(group), hash, "{group}");
            assert_eq!(group_partition(group, 50), Some(partition), "{group}");
        }
    }

    #[test]
    fn knows_no_partition_of_none() {
        assert_eq!(group_partition("connect", 0), None);
        assert_eq!(group_partition("connect", -1), None);
        assert_eq!(group_partition("connect", 1), Some(0));
    }
}
