package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

const usage = `Usage: confine [flags] -- PROGRAM [ARGUMENT...]

Runs PROGRAM under rules of Landlock. It is looked up on the PATH, and may itself be executed. What no flag allows is denied.

  --read PATH        read a file, or a folder and everything in it
  --write PATH       as --read, and create, change and delete
  --execute PATH     as --read, and execute
  --connect PORT     connect to this TCP port, at any address
  --unix-sockets     use Unix sockets; abstract ones that were made outside are denied from ABI 6 on
  --abi N            apply the rules of this ABI of Landlock, and start nothing where the kernel has less; default: the kernel's
  --kernel-abi N     take the kernel for one with at most this ABI; for tests
  --print-abi        only print the kernel's ABI: 0 without Landlock
  --help             only print this text

A flag has its value after "=" as well (--read=PATH). Flags of paths and ports may be repeated. ABI 1 (Linux 5.13) has rules for
files, 4 (6.7) for TCP ports, 6 (6.12) for signals to processes outside, which are denied. Other sockets are denied at any ABI.

The exit code is the program's. 124: a flag is wrong, or names what does not exist; 125: the kernel has less than --abi or --connect
need; 126: the program could not be started. In all three cases nothing has run.
`

// noLimit: every ABI is below it.
const noLimit = math.MaxInt32

// request is what the flags say.
type request struct {
	read, write, execute []string
	connect              []uint16
	unixSockets          bool
	// The rules to apply; 0: those of the kernel.
	abi int
	// The ABI that the kernel is taken for, if it has more.
	kernelAbi           int
	command             []string
	printAbi, printHelp bool
}

func parseFlags(arguments []string) (request, error) {
	asked := request{kernelAbi: noLimit}
	for len(arguments) > 0 {
		flag := arguments[0]
		arguments = arguments[1:]
		switch flag {
		case "--":
			asked.command = arguments
			return asked, asked.check()
		case "--unix-sockets":
			asked.unixSockets = true
			continue
		case "--print-abi":
			asked.printAbi = true
			continue
		case "--help":
			asked.printHelp = true
			continue
		}
		name, value, hasValue := strings.Cut(flag, "=")
		if !hasValue {
			if len(arguments) == 0 {
				return asked, fmt.Errorf("%s needs a value; confine --help prints all flags", name)
			}
			value = arguments[0]
			arguments = arguments[1:]
		}
		if err := asked.set(name, value); err != nil {
			return asked, err
		}
	}
	return asked, asked.check()
}

func (asked *request) set(name, value string) error {
	switch name {
	case "--read":
		return addPath(&asked.read, name, value)
	case "--write":
		return addPath(&asked.write, name, value)
	case "--execute":
		return addPath(&asked.execute, name, value)
	case "--connect":
		port, err := strconv.ParseUint(value, 10, 16)
		if err != nil || port == 0 {
			return fmt.Errorf("--connect is %q, expected a port from 1 to 65535", value)
		}
		asked.connect = append(asked.connect, uint16(port))
	case "--abi":
		abi, err := strconv.Atoi(value)
		if err != nil || abi < 1 {
			return fmt.Errorf("--abi is %q, expected a whole number above 0", value)
		}
		asked.abi = abi
	case "--kernel-abi":
		abi, err := strconv.Atoi(value)
		if err != nil || abi < 0 {
			return fmt.Errorf("--kernel-abi is %q, expected a whole number", value)
		}
		asked.kernelAbi = abi
	default:
		return fmt.Errorf("there is no flag %s; confine --help prints all flags", name)
	}
	return nil
}

func addPath(paths *[]string, name, value string) error {
	if value == "" {
		return fmt.Errorf("%s is empty, expected a path", name)
	}
	*paths = append(*paths, value)
	return nil
}

func (asked *request) check() error {
	if asked.printAbi || asked.printHelp || len(asked.command) > 0 {
		return nil
	}
	return errors.New("no program is named; write -- PROGRAM after the flags")
}

// findProgram is the path of the program: itself if it has a slash, else of the first executable file in a folder of `path`.
func findProgram(name, path string) (string, error) {
	if strings.Contains(name, "/") {
		if _, err := os.Stat(name); err != nil {
			return "", fmt.Errorf("start %s: %w", name, cause(err))
		}
		return name, nil
	}
	for _, dir := range filepath.SplitList(path) {
		// An empty entry is the working directory, which tenants write.
		if !filepath.IsAbs(dir) {
			continue
		}
		candidate := filepath.Join(dir, name)
		if stat, err := os.Stat(candidate); err == nil && !stat.IsDir() && stat.Mode()&0o111 != 0 {
			return candidate, nil
		}
	}
	return "", fmt.Errorf("start %s: %w in a folder of PATH", name, syscall.ENOENT)
}

// cause is the error without the system call and the path, which the sentence around it has.
func cause(err error) error {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		return pathError.Err
	}
	return err
}
