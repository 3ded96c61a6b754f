//! The comparison operators, shared by the checker, the compiler and the machine.

/// The comparison operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CompareOp {
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
}

impl CompareOp {
    /// The operator as written.
    #[must_use]
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Eq => "==",
            Self::Ne => "!=",
            Self::Lt => "<",
            Self::Le => "<=",
            Self::Gt => ">",
            Self::Ge => ">=",
        }
    }

    /// The comparison of two known ints.
    #[must_use]
    pub const fn holds(self, left: i64, right: i64) -> bool {
        match self {
            Self::Eq => left == right,
            Self::Ne => left != right,
            Self::Lt => left < right,
            Self::Le => left <= right,
            Self::Gt => left > right,
            Self::Ge => left >= right,
        }
    }

    /// The operator that gives the same answer with the sides exchanged.
    #[must_use]
    pub const fn mirrored(self) -> Self {
        match self {
            Self::Lt => Self::Gt,
            Self::Le => Self::Ge,
            Self::Gt => Self::Lt,
            Self::Ge => Self::Le,
            same => same,
        }
    }

    /// The answer for a left side of which only a lower bound is known, where
    /// the bound decides it.
    #[must_use]
    pub const fn holds_from(self, bound: i64, right: i64) -> Option<bool> {
        match self {
            Self::Eq if bound > right => Some(false),
            Self::Ne if bound > right => Some(true),
            Self::Lt if bound >= right => Some(false),
            Self::Le if bound > right => Some(false),
            Self::Gt if bound > right => Some(true),
            Self::Ge if bound >= right => Some(true),
            _ => None,
        }
    }

    /// How many matches decide `count OP right`: counting may stop there.
    #[must_use]
    pub const fn deciding_count(self, right: i64) -> u64 {
        let right = if right < 0 { 0 } else { right.cast_unsigned() };
        match self {
            Self::Lt | Self::Ge => right,
            Self::Eq | Self::Ne | Self::Le | Self::Gt => right + 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [CompareOp; 6] = [
        CompareOp::Eq,
        CompareOp::Ne,
        CompareOp::Lt,
        CompareOp::Le,
        CompareOp::Gt,
        CompareOp::Ge,
    ];

    #[test]
    fn a_bound_decides_only_what_every_larger_count_agrees_on() {
        for op in ALL {
            for bound in 0..5 {
                for right in -1..6 {
                    let answers: Vec<bool> =
                        (bound..20).map(|count| op.holds(count, right)).collect();
                    let unanimous = answers
                        .iter()
                        .all(|&answer| answer == answers[0])
                        .then_some(answers[0]);
                    assert_eq!(
                        op.holds_from(bound, right),
                        unanimous,
                        "{op:?} {bound}.. {right}"
                    );
                }
            }
        }
    }

    #[test]
    fn counting_may_stop_at_the_deciding_count() {
        for op in ALL {
            for right in -1..6 {
                let limit = op.deciding_count(right);
                let bound = i64::try_from(limit).unwrap();
                assert!(op.holds_from(bound, right).is_some(), "{op:?} {right}");
            }
        }
    }
}
