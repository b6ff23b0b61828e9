//go:build linux

package main

import (
	"fmt"
	"runtime"
	"syscall"
	"unsafe"
)

// Landlock's rules for TCP do not cover MPTCP, which reaches every TCP server, nor UDP. So a filter of system calls (seccomp) denies
// to make sockets that no rule of Landlock is about. It needs no kernel that is newer than Landlock.

// Values of include/uapi/linux/seccomp.h and audit.h, and a number of a system call that is the same on all architectures.
const (
	sysIoUringSetup = 425

	seccompSetModeFilter      = 1
	seccompGetActionAvailable = 2
	seccompAllow              = 0x7fff0000
	seccompErrno              = 0x00050000
	seccompDeny               = seccompErrno | uint32(syscall.EACCES)

	// Offsets in struct seccomp_data.
	offsetNumber   = 0
	offsetArch     = 4
	offsetDomain   = 16
	offsetType     = 24
	offsetProtocol = 32

	// System calls of the x32 ABI have this bit.
	x32Bit = 0x40000000
	// SOCK_CLOEXEC and SOCK_NONBLOCK are in the same argument.
	typeMask = 0xf
)

// archs are the values of AUDIT_ARCH, and the numbers of seccomp(2).
var archs = map[string]struct {
	audit      uint32
	sysSeccomp uintptr
}{
	"amd64": {0xc000003e, 317},
	"arm64": {0xc00000b7, 277},
}

// hasFilters: the kernel can filter system calls.
func hasFilters() bool {
	arch, isKnown := archs[runtime.GOARCH]
	if !isKnown {
		return false
	}
	action := uint32(seccompErrno)
	_, _, errno := syscall.Syscall(arch.sysSeccomp, seccompGetActionAvailable, 0, uintptr(unsafe.Pointer(&action)))
	return errno == 0
}

// restrictSockets applies to the calling thread and what it executes; no_new_privs has to be set.
func restrictSockets(asked request) error {
	filter := socketFilter(asked, archs[runtime.GOARCH].audit)
	program := syscall.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	_, _, errno := syscall.Syscall(archs[runtime.GOARCH].sysSeccomp, seccompSetModeFilter, 0, uintptr(unsafe.Pointer(&program)))
	if errno != 0 {
		return fmt.Errorf("filter sockets: %w", errno)
	}
	return nil
}

// socketFilter allows all system calls but socket(2), except for what is asked, and io_uring, which makes sockets without a system call.
func socketFilter(asked request, audit uint32) []syscall.SockFilter {
	filter := []syscall.SockFilter{
		load(offsetArch),
		skipIf(syscall.BPF_JEQ, audit, 1), deny,
		load(offsetNumber),
		skipUnless(syscall.BPF_JGE, x32Bit, 1), deny,
		skipUnless(syscall.BPF_JEQ, sysIoUringSetup, 1), deny,
		skipIf(syscall.BPF_JEQ, syscall.SYS_SOCKET, 1), allow,
		load(offsetDomain),
	}
	if asked.unixSockets {
		filter = append(filter, skipUnless(syscall.BPF_JEQ, syscall.AF_UNIX, 1), allow)
	}
	if len(asked.connect) > 0 {
		filter = append(filter,
			skipIf(syscall.BPF_JEQ, syscall.AF_INET, 2), skipIf(syscall.BPF_JEQ, syscall.AF_INET6, 1), deny,
			load(offsetType),
			syscall.SockFilter{Code: syscall.BPF_ALU | syscall.BPF_AND | syscall.BPF_K, K: typeMask},
			skipIf(syscall.BPF_JEQ, syscall.SOCK_STREAM, 1), deny,
			load(offsetProtocol),
			skipUnless(syscall.BPF_JEQ, 0, 1), allow,
			skipUnless(syscall.BPF_JEQ, syscall.IPPROTO_TCP, 1), allow,
		)
	}
	return append(filter, deny)
}

var (
	allow = syscall.SockFilter{Code: syscall.BPF_RET | syscall.BPF_K, K: seccompAllow}
	deny  = syscall.SockFilter{Code: syscall.BPF_RET | syscall.BPF_K, K: seccompDeny}
)

func load(offset uint32) syscall.SockFilter {
	return syscall.SockFilter{Code: syscall.BPF_LD | syscall.BPF_W | syscall.BPF_ABS, K: offset}
}

// skipIf skips `count` instructions where the comparison holds.
func skipIf(comparison uint16, value uint32, count uint8) syscall.SockFilter {
	return syscall.SockFilter{Code: syscall.BPF_JMP | comparison | syscall.BPF_K, K: value, Jt: count}
}

// skipUnless skips `count` instructions where the comparison does not hold.
func skipUnless(comparison uint16, value uint32, count uint8) syscall.SockFilter {
	return syscall.SockFilter{Code: syscall.BPF_JMP | comparison | syscall.BPF_K, K: value, Jf: count}
}
