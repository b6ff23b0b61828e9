package main

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
)

func TestFlagsSayWhatIsAllowed(t *testing.T) {
	asked, err := parseFlags([]string{
		"--read", "/a", "--read=/b", "--write=/c", "--execute", "/d", "--connect=80", "--connect", "65535",
		"--unix-sockets", "--abi=4", "--kernel-abi", "5", "--", "kustomize", "build", "--read=/e",
	})

	expected := request{
		read:        []string{"/a", "/b"},
		unixSockets: true,
		write:       []string{"/c"},
		execute:     []string{"/d"},
		connect:     []uint16{80, 65535},
		abi:         4,
		kernelAbi:   5,
		command:     []string{"kustomize", "build", "--read=/e"},
	}
	if err != nil || !reflect.DeepEqual(asked, expected) {
		t.Fatalf("got %+v, %v", asked, err)
	}
}

func TestTheNewestRulesAreTheDefault(t *testing.T) {
	asked, err := parseFlags([]string{"--", "kustomize"})

	if err != nil || asked.abi != 0 || asked.kernelAbi != noLimit {
		t.Fatalf("got %+v, %v", asked, err)
	}
}

func TestQuestionsNeedNoProgram(t *testing.T) {
	for _, flag := range []string{"--print-abi", "--help"} {
		if _, err := parseFlags([]string{flag}); err != nil {
			t.Errorf("%s: %v", flag, err)
		}
	}
}

func TestWrongFlagsAreRejectedByName(t *testing.T) {
	for _, each := range []struct{ flags, message string }{
		{"", "no program is named"},
		{"--", "no program is named"},
		{"--read=/a", "no program is named"},
		{"--read", "--read needs a value"},
		{"--read= -- ls", "--read is empty"},
		{"--raed=/a -- ls", "there is no flag --raed"},
		{"ls -- ls", "there is no flag ls"},
		{"--connect=0 -- ls", `--connect is "0"`},
		{"--connect=65536 -- ls", `--connect is "65536"`},
		{"--connect=http -- ls", `--connect is "http"`},
		{"--abi=0 -- ls", `--abi is "0"`},
		{"--abi=new -- ls", `--abi is "new"`},
		{"--kernel-abi=-1 -- ls", `--kernel-abi is "-1"`},
	} {
		_, err := parseFlags(strings.Fields(each.flags))
		if err == nil || !strings.HasPrefix(err.Error(), each.message) {
			t.Errorf("%q: got %v, expected %s", each.flags, err, each.message)
		}
	}
}

func TestProgramsAreFoundInAbsoluteFoldersOfThePath(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "tool")
	write(t, filepath.Join(dir, "text"), 0o600)
	write(t, program, 0o700)
	t.Chdir(dir)

	for _, each := range []struct{ name, path, expected string }{
		{"tool", "/none:" + dir, program},
		{program, "", program},
		{"./tool", "", "./tool"},
		{"tool", ".:", ""},
		{"text", dir, ""},
		{filepath.Join(dir, "other"), dir, ""},
	} {
		found, err := findProgram(each.name, each.path)
		if found != each.expected || (err == nil) != (each.expected != "") {
			t.Errorf("%s on PATH=%s: got %q, %v", each.name, each.path, found, err)
		}
		if err != nil && !errors.Is(err, syscall.ENOENT) {
			t.Errorf("%s: %v", each.name, err)
		}
	}
}

func write(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"), mode); err != nil {
		t.Fatal(err)
	}
}
