// Command relay is the program helm, and the program git, of a run of helmfile in the sandbox. It gives its command line to the
// agent over a Unix socket, does inside of the sandbox what the agent asks for (take bytes, put bytes, execute), and ends as the agent
// says. So the agent opens no path of the run.
//
// It decides nothing: whoever wrote the helmfile can speak to the socket as well, so all checks are the agent's.
package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
)

// Variables of the run.
const (
	socketVariable = "FLOTILLA_RELAY_SOCKET"
	tokenVariable  = "FLOTILLA_RELAY_TOKEN"
)

// command is the first frame.
type command struct {
	Token     string   `json:"token"`
	Program   string   `json:"program"`
	Arguments []string `json:"arguments"`
	Directory string   `json:"directory"`
}

func main() {
	code, err := run(os.Args, os.Stdout, os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "relay:", err)
		code = 1
	}
	os.Exit(code)
}

// run returns the exit code that the agent has sent.
func run(arguments []string, stdout, stderr io.Writer) (int, error) {
	agent, err := connect()
	if err != nil {
		return 0, err
	}
	defer agent.Close()
	directory, err := os.Getwd()
	if err != nil {
		return 0, err
	}
	first := command{
		Token:     os.Getenv(tokenVariable),
		Program:   filepath.Base(arguments[0]),
		Arguments: arguments[1:],
		Directory: directory,
	}
	if err := writeFrame(agent, first, nil); err != nil {
		return 0, fmt.Errorf("send the command to the agent: %w", err)
	}
	for {
		var asked request
		payload, err := readFrame(agent, &asked)
		if err != nil {
			return 0, fmt.Errorf("wait for the agent's answer: %w", err)
		}
		if asked.Ask == "exit" {
			return asked.Code, printEnd(asked, payload, stdout, stderr)
		}
		done, bytes := perform(asked, payload)
		if err := writeFrame(agent, done, bytes); err != nil {
			return 0, fmt.Errorf("answer the agent: %w", err)
		}
	}
}

func connect() (net.Conn, error) {
	path := os.Getenv(socketVariable)
	if path == "" {
		return nil, errors.New(socketVariable + " is not set: this program runs only in a run of helmfile by the agent")
	}
	agent, err := net.Dial("unix", path)
	if err != nil {
		return nil, fmt.Errorf("connect to the agent: %w", err)
	}
	return agent, nil
}

// printEnd prints the payload: `Stdout` bytes of standard output, then standard error.
func printEnd(asked request, payload []byte, stdout, stderr io.Writer) error {
	if asked.Stdout < 0 || asked.Stdout > len(payload) {
		return errors.New("the agent's last frame is shorter than it says")
	}
	if _, err := stdout.Write(payload[:asked.Stdout]); err != nil {
		return err
	}
	_, err := stderr.Write(payload[asked.Stdout:])
	return err
}
