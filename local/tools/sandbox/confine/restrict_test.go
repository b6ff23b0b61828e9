//go:build linux

package main

import (
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// world has a tree, and outside of it what the tree's authors want to reach.
type world struct {
	tree, secret, abstract, socket, port, process string
}

func newWorld(t *testing.T) world {
	t.Helper()
	dir := t.TempDir()
	own := world{
		tree:     filepath.Join(dir, "tree"),
		secret:   filepath.Join(dir, "secret"),
		socket:   filepath.Join(dir, "socket"),
		abstract: "@" + strconv.Itoa(os.Getpid()) + dir[max(0, len(dir)-60):],
		process:  strconv.Itoa(os.Getpid()),
	}
	must(t, os.Mkdir(own.tree, 0o700))
	write(t, own.secret, 0o600)
	write(t, filepath.Join(own.tree, "file"), 0o600)
	must(t, os.Symlink(own.secret, filepath.Join(own.tree, "link")))
	copyProgram(t, filepath.Join(own.tree, "program"))
	own.port = listen(t, "tcp", "127.0.0.1:0")
	listen(t, "unix", own.abstract)
	listen(t, "unix", own.socket)
	return own
}

// fill puts the places of the world into a text.
func (own world) fill(text string) string {
	return strings.NewReplacer("TREE", own.tree, "SECRET", own.secret, "ABSTRACT", own.abstract, "SOCKET", own.socket,
		"PORT", own.port, "PROCESS", own.process).Replace(text)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func copyProgram(t *testing.T, to string) {
	t.Helper()
	source, err := os.Open(os.Args[0])
	must(t, err)
	defer source.Close()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o700)
	must(t, err)
	_, err = io.Copy(target, source)
	must(t, errors.Join(err, target.Close()))
}

// listen accepts connections until the test ends, and returns the port, if there is one.
func listen(t *testing.T, network, address string) string {
	t.Helper()
	listener, err := net.Listen(network, address)
	must(t, err)
	t.Cleanup(func() { listener.Close() })
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	return port
}

// runChild starts the test as a child, with an open file besides the standard streams. The results are exit code and standard error.
func runChild(t *testing.T, arguments ...string) (int, string) {
	t.Helper()
	inherited, err := os.Open(os.Args[0])
	must(t, err)
	defer inherited.Close()
	command := exec.Command(os.Args[0], arguments...)
	command.Env = []string{childVariable + "=1"}
	command.ExtraFiles = []*os.File{inherited}
	var stderr strings.Builder
	command.Stderr = &stderr
	var exit *exec.ExitError
	if err := command.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return command.ProcessState.ExitCode(), stderr.String()
}

// launch starts the probe by the launcher.
func launch(t *testing.T, flags []string, action, target string) (int, string) {
	t.Helper()
	return runChild(t, append(append([]string{}, flags...), "--", os.Args[0], "probe", action, target)...)
}

func needAbi(t *testing.T, abi int) {
	t.Helper()
	if found, reason := availableAbi(request{kernelAbi: noLimit}); found < abi {
		t.Skipf("the test needs ABI %d of Landlock, and the kernel has %d %s", abi, found, reason)
	}
}

// attempts are denied from an ABI of Landlock on.
var attempts = []struct {
	flags, action, target string
	abi                   int
}{
	{"--read TREE", "read", "SECRET", 1},
	{"--read TREE", "read", "TREE/link", 1},
	{"--read TREE", "read", "TREE/../secret", 1},
	{"--read TREE", "read", "/etc/passwd", 1},
	{"--read TREE", "read", "/proc/self/environ", 1},
	{"--read TREE", "read", "/proc/PROCESS/environ", 1},
	{"--read TREE", "list", "TREE/..", 1},
	{"--read TREE", "write", "SECRET", 1},
	{"--read TREE", "write", "TREE/file", 1},
	{"--read TREE", "write", "TREE/new", 1},
	{"--read TREE", "delete", "TREE/file", 1},
	{"--read TREE", "execute", "TREE/program", 1},
	{"--write TREE", "execute", "TREE/program", 1},
	{"--read TREE", "read the inherited file", "3", 1},
	{"--read TREE", "get more privileges", "", 1},
	{"--read TREE", "truncate", "SECRET", 3},
	{"--read TREE", "signal", "PROCESS", 6},
	{"--read TREE", "connect to port", "PORT", 1},
	{"--read TREE", "connect by MPTCP to port", "PORT", 1},
	{"--read TREE", "connect to socket", "SOCKET", 1},
	{"--read TREE", "send a datagram to port", "PORT", 1},
	{"--read TREE", "listen on port", "0", 1},
	{"--unix-sockets", "connect to socket", "ABSTRACT", 6},
	{"--connect 1", "connect to port", "PORT", 4},
	{"--connect PORT", "connect by MPTCP to port", "PORT", 4},
	{"--connect PORT", "connect to socket", "SOCKET", 4},
	{"--connect PORT", "send a datagram to port", "PORT", 4},
	{"--connect PORT", "listen on port", "0", 4},
}

func TestWhatNoFlagAllowsIsDenied(t *testing.T) {
	for _, each := range attempts {
		t.Run(each.flags+": "+each.action+" "+each.target, func(t *testing.T) {
			needAbi(t, each.abi)
			own := newWorld(t)
			flags := strings.Fields(own.fill(each.flags) + " --abi " + strconv.Itoa(each.abi))

			if code, message := launch(t, flags, each.action, own.fill(each.target)); code != exitDenied {
				t.Fatalf("exit code %d: %s", code, message)
			}
		})
	}
}

func TestTheSameSucceedsWithoutTheLauncher(t *testing.T) {
	for _, each := range attempts {
		t.Run(each.action+" "+each.target, func(t *testing.T) {
			code, message := runChild(t, "probe", each.action, newWorld(t).fill(each.target))
			if code == exitUnknown {
				t.Skip("the kernel has no MPTCP")
			}
			if code != 0 {
				t.Fatalf("exit code %d: %s", code, message)
			}
		})
	}
}

func TestAnOlderKernelDoesNotDenyIt(t *testing.T) {
	for _, each := range attempts {
		if each.abi == 1 || strings.HasPrefix(each.flags, "--connect") {
			continue
		}
		t.Run(each.flags+": "+each.action+" "+each.target, func(t *testing.T) {
			needAbi(t, each.abi)
			own := newWorld(t)
			flags := strings.Fields(own.fill(each.flags) + " --kernel-abi " + strconv.Itoa(each.abi-1))

			if code, message := launch(t, flags, each.action, own.fill(each.target)); code != 0 {
				t.Fatalf("exit code %d: %s", code, message)
			}
		})
	}
}

func TestWhatAFlagAllowsSucceeds(t *testing.T) {
	for _, each := range []struct {
		flags, action, target string
		abi                   int
	}{
		{"--read TREE", "read", "TREE/file", 1},
		{"--read SECRET", "read", "TREE/link", 1},
		{"--read TREE", "list", "TREE", 1},
		{"--write TREE", "read", "TREE/file", 1},
		{"--write TREE", "write", "TREE/file", 1},
		{"--write TREE", "write", "TREE/new", 1},
		{"--write TREE", "delete", "TREE/file", 1},
		{"--write TREE", "truncate", "TREE/file", 3},
		{"--execute TREE/program", "execute", "TREE/program", 1},
		{"--connect PORT", "connect to port", "PORT", 4},
		{"--unix-sockets", "connect to socket", "SOCKET", 6},
		{"--connect PORT --unix-sockets", "connect to port", "PORT", 4},
	} {
		t.Run(each.flags+": "+each.action+" "+each.target, func(t *testing.T) {
			needAbi(t, each.abi)
			own := newWorld(t)

			if code, message := launch(t, strings.Fields(own.fill(each.flags)), each.action, own.fill(each.target)); code != 0 {
				t.Fatalf("exit code %d: %s", code, message)
			}
		})
	}
}

func TestNothingIsStartedWhereTheRulesCannotBeApplied(t *testing.T) {
	for _, each := range []struct {
		flags, message string
		code           int
	}{
		{"--kernel-abi 3 --abi 4", "confine: the kernel has ABI 3 of Landlock, and --abi asks for 4; the program was not started\n", exitUnsupported},
		{"--kernel-abi 3 --connect 80", "confine: --connect needs ABI 4 of Landlock, and the rules are of ABI 3; the program was not started\n", exitUnsupported},
		{"--kernel-abi 0", "confine: --kernel-abi is 0; the program was not started\n", exitUnsupported},
		{"--read /none", "confine: allow /none: no such file or directory\n", exitInvalid},
		{"--raed /none", "confine: there is no flag --raed; confine --help prints all flags\n", exitInvalid},
	} {
		t.Run(each.flags, func(t *testing.T) {
			needAbi(t, 4)
			own := newWorld(t)

			code, message := launch(t, strings.Fields(each.flags), "write", own.secret)

			if code != each.code || message != each.message {
				t.Fatalf("exit code %d: %s", code, message)
			}
			if text, _ := os.ReadFile(own.secret); string(text) == changed {
				t.Fatal("the program ran")
			}
		})
	}
}

func TestAProgramThatCannotBeStartedIsNamed(t *testing.T) {
	needAbi(t, 1)
	dir := t.TempDir()
	script := filepath.Join(dir, "script")
	write(t, script, 0o700)
	missing := filepath.Join(dir, "missing")

	for _, each := range []struct{ program, message string }{
		{script, "confine: start " + script + ": permission denied: it has to be an executable file that needs no loader or interpreter, which the rules do not allow\n"},
		{missing, "confine: start " + missing + ": no such file or directory\n"},
	} {
		code, message := runChild(t, "--read", dir, "--", each.program)
		if code != exitNotStarted || message != each.message {
			t.Errorf("exit code %d: %s", code, message)
		}
	}
}
