//! Seccomp: system calls that would reach past the other layers.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, apply_filter,
};

/// Refused with `EPERM`.
const REFUSED: &[libc::c_long] = &[
    libc::SYS_acct,
    libc::SYS_add_key,
    libc::SYS_bpf,
    libc::SYS_chroot,
    libc::SYS_delete_module,
    libc::SYS_finit_module,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_init_module,
    // Would do what is refused below out of sight.
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
    libc::SYS_kexec_file_load,
    libc::SYS_kexec_load,
    libc::SYS_keyctl,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_name_to_handle_at,
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    libc::SYS_perf_event_open,
    libc::SYS_pivot_root,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
    libc::SYS_quotactl,
    libc::SYS_reboot,
    libc::SYS_request_key,
    libc::SYS_setns,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_umount2,
    libc::SYS_unshare,
    libc::SYS_userfaultfd,
    libc::SYS_vhangup,
];

/// Restricts this process and those it starts, for good. They have the network or not.
pub(in crate::exec) fn filter(network: bool) -> Result<(), String> {
    for program in programs(network)? {
        apply_filter(&program).map_err(|error| error.to_string())?;
    }
    Ok(())
}

fn programs(network: bool) -> Result<Vec<BpfProgram>, String> {
    let not_there = errno(libc::ENOSYS);
    // Its arguments are in memory, where no filter looks; programs then use `clone`.
    let clone = BTreeMap::from([(libc::SYS_clone3, Vec::new())]);
    let mut refused: BTreeMap<libc::c_long, Vec<SeccompRule>> =
        REFUSED.iter().map(|call| (*call, Vec::new())).collect();
    // New namespaces would bring back capabilities.
    let namespaces: Result<_, String> = NAMESPACES.into_iter().map(has_bit).collect();
    refused.insert(libc::SYS_clone, namespaces?);
    // Typing into a terminal, should one be there after all.
    let typing = [libc::TIOCSTI, libc::TIOCLINUX];
    let typing: Result<_, String> = typing.into_iter().map(|call| is(1, call)).collect();
    refused.insert(libc::SYS_ioctl, typing?);
    if !network {
        let kept = [libc::AF_UNIX];
        let others =
            kept.map(|family| condition(0, SeccompCmpOp::Ne, family.cast_unsigned().into()));
        let others: Result<Vec<_>, String> = others.into_iter().collect();
        refused.insert(libc::SYS_socket, vec![rule(others?)?]);
    }
    Ok(vec![
        program(clone, not_there)?,
        program(refused, errno(libc::EPERM))?,
    ])
}

/// All but that of IPC, which the first process gives each command. Without
/// capabilities a command gets none.
const NAMESPACES: [i32; 6] = [
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWCGROUP,
];

const fn errno(number: i32) -> SeccompAction {
    SeccompAction::Errno(number.cast_unsigned())
}

fn program(
    rules: BTreeMap<libc::c_long, Vec<SeccompRule>>,
    action: SeccompAction,
) -> Result<BpfProgram, String> {
    let architecture = std::env::consts::ARCH.try_into();
    let architecture = architecture.map_err(|error| format!("{error:?}"))?;
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, action, architecture);
    let program: Result<BpfProgram, _> = filter.and_then(TryInto::try_into);
    program.map_err(|error| error.to_string())
}

fn rule(conditions: Vec<SeccompCondition>) -> Result<SeccompRule, String> {
    SeccompRule::new(conditions).map_err(|error| error.to_string())
}

fn condition(argument: u8, compare: SeccompCmpOp, value: u64) -> Result<SeccompCondition, String> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, compare, value)
        .map_err(|error| error.to_string())
}

fn is(argument: u8, value: u64) -> Result<SeccompRule, String> {
    rule(vec![condition(argument, SeccompCmpOp::Eq, value)?])
}

/// The flags of `clone`, its first argument, have a bit.
fn has_bit(bit: i32) -> Result<SeccompRule, String> {
    let bit = u64::from(bit.cast_unsigned());
    rule(vec![condition(0, SeccompCmpOp::MaskedEq(bit), bit)?])
}
