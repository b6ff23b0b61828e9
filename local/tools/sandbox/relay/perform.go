package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
)

// request is what the agent asks for.
type request struct {
	// input: the standard input. take: the file or folder at Path. put: the payload becomes the file Path. unpack: the payload, a
	// tar archive, becomes the content of the folder Path. execute: Program with Arguments, on our standard streams. exit: the end.
	Ask  string `json:"ask"`
	Path string `json:"path"`
	// The most bytes to send.
	Limit     int64    `json:"limit"`
	Program   string   `json:"program"`
	Arguments []string `json:"arguments"`
	// exit: the code, and how many bytes of the payload are standard output; the rest is standard error.
	Code   int `json:"code"`
	Stdout int `json:"stdout"`
}

// reply is what came of a request. Kind: file, folder (the payload is a tar archive), absent, done, or failed with Why.
type reply struct {
	Kind string `json:"kind"`
	Why  string `json:"why,omitempty"`
	// execute: the program's exit code.
	Code int `json:"code"`
}

func perform(asked request, payload []byte) (reply, []byte) {
	switch asked.Ask {
	case "input":
		return replied("file")(readAtMost(os.Stdin, asked.Limit))
	case "take":
		return take(asked)
	case "put":
		_, err := replaceFile(asked.Path, payload)
		return replied("done")(nil, err)
	case "unpack":
		return replied("done")(nil, unpack(payload, asked.Path))
	case "execute":
		return execute(asked)
	default:
		return reply{Kind: "failed", Why: fmt.Sprintf("the relay does not know %q", asked.Ask)}, nil
	}
}

func replied(kind string) func([]byte, error) (reply, []byte) {
	return func(bytes []byte, err error) (reply, []byte) {
		if err != nil {
			return reply{Kind: "failed", Why: err.Error()}, nil
		}
		return reply{Kind: kind}, bytes
	}
}

// take follows links: what the sandbox may not read, it cannot send.
func take(asked request) (reply, []byte) {
	stat, err := os.Stat(asked.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return reply{Kind: "absent"}, nil
	case err != nil:
		return replied("")(nil, err)
	case stat.IsDir():
		return replied("folder")(pack(asked.Path, asked.Limit))
	case !stat.Mode().IsRegular():
		return reply{Kind: "failed", Why: asked.Path + " is neither a file nor a folder"}, nil
	}
	file, err := os.Open(asked.Path)
	if err != nil {
		return replied("")(nil, err)
	}
	defer file.Close()
	return replied("file")(readAtMost(file, asked.Limit))
}

func readAtMost(from io.Reader, limit int64) ([]byte, error) {
	bytes, err := io.ReadAll(io.LimitReader(from, limit+1))
	if err == nil && int64(len(bytes)) > limit {
		err = tooMuch(limit)
	}
	return bytes, err
}

func tooMuch(limit int64) error {
	return fmt.Errorf("it has more than %d bytes", limit)
}

func replaceFile(path string, bytes []byte) (int, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return 0, err
	}
	return len(bytes), os.WriteFile(path, bytes, 0o600)
}

// execute: the program's output is not the agent's business, so it does not pass through it.
func execute(asked request) (reply, []byte) {
	program := exec.Command(asked.Program, asked.Arguments...)
	program.Stdin, program.Stdout, program.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := program.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return reply{Kind: "done", Code: exit.ExitCode()}, nil
	}
	return replied("done")(nil, err)
}
