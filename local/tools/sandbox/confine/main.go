// Command confine runs a program that reads files of tenants under the kernel's own rules (Landlock, seccomp): it opens, executes
// and connects to what the flags name, and nothing else. `confine --help` prints the flags.
//
// It replaces itself with the program, so that process id, standard streams, signals and exit code are the program's.
package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"syscall"
)

// Exit codes of the launcher itself, with a sentence on standard error. 126 is what shells use for a program that cannot be started.
const (
	exitInvalid     = 124 // a flag is wrong, or a rule cannot be made, as for a path that does not exist
	exitUnsupported = 125 // the kernel has less than the flags ask for
	exitNotStarted  = 126
)

// errUnsupported: the kernel has less than the flags ask for. Nothing was restricted and nothing was started.
var errUnsupported = errors.New("the program was not started")

func main() {
	asked, err := parseFlags(os.Args[1:])
	if err != nil {
		fail(exitInvalid, err)
	}
	switch {
	case asked.printHelp:
		fmt.Print(usage)
	case asked.printAbi:
		printAbi(asked)
	default:
		start(asked)
	}
}

// printAbi prints the kernel's ABI in one line; where it is 0 the reason is on standard error.
func printAbi(asked request) {
	abi, reason := availableAbi(asked)
	fmt.Println(abi)
	if abi == 0 {
		fmt.Fprintln(os.Stderr, reason)
	}
}

// start does not return.
func start(asked request) {
	program, err := findProgram(asked.command[0], os.Getenv("PATH"))
	if err != nil {
		fail(exitNotStarted, err)
	}
	asked.execute = append(asked.execute, program)
	// Landlock restricts a thread, and what that thread executes.
	runtime.LockOSThread()
	if err := restrict(asked); err != nil {
		code := exitInvalid
		if errors.Is(err, errUnsupported) {
			code = exitUnsupported
		}
		fail(code, err)
	}
	err = syscall.Exec(program, asked.command, os.Environ())
	fail(exitNotStarted, notStarted(program, err))
}

// notStarted explains what the kernel only calls "permission denied".
func notStarted(program string, err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("start %s: %w: it has to be an executable file that needs no loader or interpreter, which the rules do not allow", program, err)
	}
	return fmt.Errorf("start %s: %w", program, err)
}

func fail(code int, err error) {
	fmt.Fprintln(os.Stderr, "confine:", err)
	os.Exit(code)
}
