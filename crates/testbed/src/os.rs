//! The system calls that std does not offer: signals and death with the parent.
//!
//! The one file of this crate with unsafe code. Children must die with the process that
//! started them (`PR_SET_PDEATHSIG`), frozen workers need SIGSTOP, and a command in the
//! foreground must clean up after Ctrl-C; std has none of the three.
#![allow(unsafe_code)]

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

pub(crate) use libc::{SIGCONT, SIGKILL, SIGSTOP, SIGTERM};

/// Puts the child into a process group of its own, so that Ctrl-C reaches only us, and has
/// the kernel kill it when the thread that starts it ends.
pub(crate) fn die_with_parent(command: &mut Command) {
    let parent = std::process::id();
    command.process_group(0);
    // SAFETY: between fork and exec only async-signal-safe calls are made (prctl, getppid,
    // raise) and no memory is allocated.
    unsafe {
        command.pre_exec(move || {
            if libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) != 0 {
                return Err(io::Error::last_os_error());
            }
            // The parent may have died before the call above took effect.
            if u32::try_from(libc::getppid()).is_ok_and(|pid| pid != parent) {
                libc::raise(libc::SIGKILL);
            }
            Ok(())
        });
    }
}

/// Sends a signal to a process that this crate started.
pub(crate) fn send_signal(pid: u32, signal: i32) -> io::Result<()> {
    let pid = libc::pid_t::try_from(pid).map_err(io::Error::other)?;
    // SAFETY: kill takes two integers and touches no memory of ours.
    if unsafe { libc::kill(pid, signal) } == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

fn interrupts() -> libc::sigset_t {
    // SAFETY: sigset_t is plain data which sigemptyset initialises before it is used.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
            libc::sigaddset(&raw mut set, signal);
        }
        set
    }
}

/// Keeps Ctrl-C and SIGTERM pending, for this thread and those started after it.
///
/// # Errors
/// When the system refuses the mask.
pub fn block_interrupts() -> io::Result<()> {
    let set = interrupts();
    // SAFETY: the set is initialised and lives through the call; the old mask is not asked for.
    match unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut()) } {
        0 => Ok(()),
        code => Err(io::Error::from_raw_os_error(code)),
    }
}

/// Waits up to `at_most` for Ctrl-C or SIGTERM after [`block_interrupts`]; true if one came.
pub fn wait_for_interrupt(at_most: std::time::Duration) -> bool {
    let set = interrupts();
    let timeout = libc::timespec {
        tv_sec: libc::time_t::try_from(at_most.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_nsec: libc::c_long::from(at_most.subsec_nanos()),
    };
    // SAFETY: set and timeout are initialised and live through the call; no info is asked for.
    unsafe { libc::sigtimedwait(&raw const set, std::ptr::null_mut(), &raw const timeout) > 0 }
}
