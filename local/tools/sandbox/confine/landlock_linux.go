//go:build linux

package main

import (
	"fmt"
	"syscall"
	"unsafe"
)

// Numbers of system calls, the same on all architectures, and values of include/uapi/linux/landlock.h.
const (
	sysCloseRange    = 436
	sysCreateRuleset = 444
	sysAddRule       = 445
	sysRestrictSelf  = 446

	createRulesetVersion = 1
	rulePathBeneath      = 1
	ruleNetPort          = 2

	closeRangeCloexec = 4
	prSetNoNewPrivs   = 38
	openPathOnly      = 0x200000

	execute    = 1 << 0
	writeFile  = 1 << 1
	readFile   = 1 << 2
	readDir    = 1 << 3
	makeChar   = 1 << 6
	makeBlock  = 1 << 11
	allOfAbi1  = 1<<13 - 1
	refer      = 1 << 13 // ABI 2: move or link a file to another folder; before, always denied
	truncate   = 1 << 14 // ABI 3
	ioctlDev   = 1 << 15 // ABI 5
	bindTCP    = 1 << 0  // ABI 4
	connectTCP = 1 << 1  // ABI 4

	// ABI 6: to what is outside.
	scopeAbstractSocket = 1 << 0
	scopeSignal         = 1 << 1

	// What may be allowed for something that is not a folder; the kernel rejects a rule with more.
	rightsOfFile = execute | writeFile | readFile | truncate | ioctlDev
)

// The structures of the kernel.
type rulesetAttr struct {
	fs, net, scoped uint64
}

type pathBeneathAttr struct {
	allowed uint64
	parent  int32
}

type netPortAttr struct {
	allowed, port uint64
}

// availableAbi is what the rules can use: 0 where the kernel lacks something or does not permit it; then the reason, too.
func availableAbi(asked request) (abi int, reason string) {
	found, _, errno := syscall.Syscall(sysCreateRuleset, 0, 0, createRulesetVersion)
	switch {
	case errno == syscall.ENOSYS:
		return 0, "the kernel has no Landlock"
	case errno == syscall.EOPNOTSUPP:
		return 0, "Landlock is switched off on this machine: its kernel was started without it in lsm="
	case errno == syscall.EPERM || errno == syscall.EACCES:
		return 0, "the container may not use Landlock: its seccomp profile denies landlock_create_ruleset"
	case errno != 0:
		return 0, fmt.Sprintf("the kernel answered landlock_create_ruleset with: %v", errno)
	case !hasFilters():
		return 0, "the kernel cannot filter system calls (seccomp)"
	case asked.kernelAbi == 0:
		return 0, "--kernel-abi is 0"
	}
	return min(int(found), asked.kernelAbi), ""
}

// handled are all rights that rules of this ABI are about: what of them no rule allows is denied.
func handled(abi int) rulesetAttr {
	attr := rulesetAttr{fs: allOfAbi1}
	if abi >= 2 {
		attr.fs |= refer
	}
	if abi >= 3 {
		attr.fs |= truncate
	}
	if abi >= 4 {
		attr.net = bindTCP | connectTCP
	}
	if abi >= 5 {
		attr.fs |= ioctlDev
	}
	if abi >= 6 {
		attr.scoped = scopeAbstractSocket | scopeSignal
	}
	return attr
}

// size is that of the fields that a kernel of this ABI knows: it may reject more.
func (attr *rulesetAttr) size(abi int) uintptr {
	switch {
	case abi >= 6:
		return unsafe.Sizeof(*attr)
	case abi >= 4:
		return unsafe.Offsetof(attr.scoped)
	default:
		return unsafe.Offsetof(attr.net)
	}
}

// abiOf is the ABI whose rules are applied. Wraps errUnsupported.
func abiOf(asked request) (int, error) {
	available, reason := availableAbi(asked)
	if available == 0 {
		return 0, fmt.Errorf("%s; %w", reason, errUnsupported)
	}
	if asked.abi > available {
		return 0, fmt.Errorf("the kernel has ABI %d of Landlock, and --abi asks for %d; %w", available, asked.abi, errUnsupported)
	}
	abi := available
	if asked.abi > 0 {
		abi = asked.abi
	}
	if len(asked.connect) > 0 && abi < 4 {
		return 0, fmt.Errorf("--connect needs ABI 4 of Landlock, and the rules are of ABI %d; %w", abi, errUnsupported)
	}
	return abi, nil
}

// restrict applies the rules to the calling thread, for good. After an error the program must not be started.
func restrict(asked request) error {
	abi, err := abiOf(asked)
	if err != nil {
		return err
	}
	attr := handled(abi)
	ruleset, _, errno := syscall.Syscall(sysCreateRuleset, uintptr(unsafe.Pointer(&attr)), attr.size(abi), 0)
	if errno != 0 {
		return fmt.Errorf("create rules of ABI %d: %w", abi, errno)
	}
	defer syscall.Close(int(ruleset))
	if err := allowPaths(int(ruleset), asked, attr); err != nil {
		return err
	}
	for _, port := range asked.connect {
		rule := netPortAttr{allowed: connectTCP, port: uint64(port)}
		if err := addRule(int(ruleset), ruleNetPort, unsafe.Pointer(&rule)); err != nil {
			return fmt.Errorf("allow TCP to port %d: %w", port, err)
		}
	}
	// Rules are about opening: what is open already would stay usable.
	if _, _, errno := syscall.Syscall(sysCloseRange, 3, 1<<32-1, closeRangeCloexec); errno != 0 {
		return fmt.Errorf("close inherited files: %w", errno)
	}
	if _, _, errno := syscall.Syscall6(syscall.SYS_PRCTL, prSetNoNewPrivs, 1, 0, 0, 0, 0); errno != 0 {
		return fmt.Errorf("set no_new_privs: %w", errno)
	}
	if err := restrictSockets(asked); err != nil {
		return err
	}
	if _, _, errno := syscall.Syscall(sysRestrictSelf, ruleset, 0, 0); errno != 0 {
		return fmt.Errorf("apply the rules: %w", errno)
	}
	return nil
}

func allowPaths(ruleset int, asked request, attr rulesetAttr) error {
	const reading = readFile | readDir
	// A program that makes device files needs root, and then reaches every disk by them.
	writing := attr.fs &^ (execute | makeChar | makeBlock | ioctlDev)
	for _, each := range []struct {
		paths   []string
		allowed uint64
	}{
		{asked.read, reading},
		{asked.write, writing},
		{asked.execute, reading | execute},
	} {
		for _, path := range each.paths {
			if err := allowPath(ruleset, path, each.allowed); err != nil {
				return fmt.Errorf("allow %s: %w", path, err)
			}
		}
	}
	return nil
}

func allowPath(ruleset int, path string, allowed uint64) error {
	fd, err := syscall.Open(path, openPathOnly|syscall.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	var stat syscall.Stat_t
	if err := syscall.Fstat(fd, &stat); err != nil {
		return err
	}
	if stat.Mode&syscall.S_IFMT != syscall.S_IFDIR {
		allowed &= rightsOfFile
	}
	rule := pathBeneathAttr{allowed: allowed, parent: int32(fd)}
	return addRule(ruleset, rulePathBeneath, unsafe.Pointer(&rule))
}

func addRule(ruleset int, kind uintptr, rule unsafe.Pointer) error {
	_, _, errno := syscall.Syscall6(sysAddRule, uintptr(ruleset), kind, uintptr(rule), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}
