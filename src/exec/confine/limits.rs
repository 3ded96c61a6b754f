//! Limits that the kernel holds each process to. Those of all processes together are
//! watched by the helper.

use std::time::Duration;

use rustix::process::{Resource, Rlimit, setrlimit};

/// Restricts this process and those it starts.
pub(in crate::exec) fn restrict(cpu: Duration, memory: u64, processes: u32) -> Result<(), String> {
    let limits = [
        (Resource::Core, 0),
        // A backstop: the helper sees the sum earlier.
        (Resource::Cpu, cpu.as_secs().saturating_add(2)),
        // Backstops as well: one process that takes twice as much at once.
        (Resource::Data, memory.saturating_mul(2)),
        (Resource::Fsize, memory),
        // Of all processes of this user in the namespace.
        (Resource::Nproc, u64::from(processes)),
        (Resource::Memlock, 0),
        (Resource::Msgqueue, 0),
    ];
    for (resource, most) in limits {
        // A hard limit that is lower stays.
        let hard = rustix::process::getrlimit(resource).maximum;
        let most = hard.map_or(most, |hard| hard.min(most));
        let limit = Rlimit {
            current: Some(most),
            maximum: Some(most),
        };
        setrlimit(resource, limit).map_err(|error| format!("{resource:?}: {error}"))?;
    }
    Ok(())
}
