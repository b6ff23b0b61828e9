//go:build linux

package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
)

// In its child processes the test is the launcher, and the program that the launcher starts.
const childVariable = "CONFINE_TEST_CHILD"

const (
	exitDenied  = 3
	exitUnknown = 4
	changed     = "changed"

	prGetNoNewPrivs = 39
	protocolMPTCP   = 262
)

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(childVariable) == "":
		os.Exit(m.Run())
	case os.Args[1] == "probe":
		if err := probe(os.Args[2], os.Args[3]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			if errors.Is(err, syscall.EPROTONOSUPPORT) || errors.Is(err, syscall.ENOPROTOOPT) {
				os.Exit(exitUnknown)
			}
			os.Exit(exitDenied)
		}
	default:
		main()
	}
}

// probe does what rules may deny.
func probe(action, target string) error {
	number, _ := strconv.Atoi(target)
	switch action {
	case "read":
		_, err := os.ReadFile(target)
		return err
	case "list":
		_, err := os.ReadDir(target)
		return err
	case "write":
		return os.WriteFile(target, []byte(changed), 0o600)
	case "truncate":
		return syscall.Truncate(target, 0)
	case "delete":
		return os.Remove(target)
	case "execute":
		// /dev/null is not allowed, so it gets no standard streams but these.
		command := exec.Command(target, "probe", "signal", strconv.Itoa(os.Getpid()))
		command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
		return command.Run()
	case "connect to port":
		return connect("tcp", net.JoinHostPort("127.0.0.1", target))
	case "connect to socket":
		return connect("unix", target)
	case "listen on port":
		return onSocket(syscall.SOCK_STREAM, syscall.IPPROTO_TCP, func(socket int) error {
			return syscall.Bind(socket, loopback(number))
		})
	case "connect by MPTCP to port":
		return onSocket(syscall.SOCK_STREAM, protocolMPTCP, func(socket int) error {
			return syscall.Connect(socket, loopback(number))
		})
	case "send a datagram to port":
		return onSocket(syscall.SOCK_DGRAM, 0, func(socket int) error {
			return syscall.Sendto(socket, []byte("name"), 0, loopback(number))
		})
	case "signal":
		return syscall.Kill(number, 0)
	case "read the inherited file":
		_, err := syscall.Read(number, make([]byte, 1))
		return err
	case "get more privileges":
		isSet, _, errno := syscall.Syscall6(syscall.SYS_PRCTL, prGetNoNewPrivs, 0, 0, 0, 0, 0)
		if isSet == 1 || errno != 0 {
			return errors.New("no_new_privs is set")
		}
		return nil
	}
	return fmt.Errorf("unknown action %s", action)
}

func connect(network, address string) error {
	connection, err := net.Dial(network, address)
	if err == nil {
		err = connection.Close()
	}
	return err
}

func onSocket(kind, protocol int, work func(socket int) error) error {
	socket, err := syscall.Socket(syscall.AF_INET, kind, protocol)
	if err != nil {
		return err
	}
	defer syscall.Close(socket)
	return work(socket)
}

func loopback(port int) syscall.Sockaddr {
	return &syscall.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}
}
