package main

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// serve answers one relay: it sends the frames, and returns what came for each of them.
func serve(t *testing.T, asks []request, payloads [][]byte) (received chan []string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	t.Setenv(socketVariable, path)
	t.Setenv(tokenVariable, "token")
	received = make(chan []string, 1)
	go func() {
		agent, err := listener.Accept()
		if err != nil {
			return
		}
		defer agent.Close()
		var all []string
		var first command
		if _, err := readFrame(agent, &first); err != nil {
			return
		}
		all = append(all, strings.Join(append([]string{first.Token, first.Program}, first.Arguments...), " "))
		for index, ask := range asks {
			writeFrame(agent, ask, payloads[index])
			if ask.Ask == "exit" {
				break
			}
			var done reply
			payload, err := readFrame(agent, &done)
			if err != nil {
				return
			}
			all = append(all, done.Kind+" "+string(payload))
		}
		received <- all
	}()
	return received
}

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestDoesWhatTheAgentAsksAndEndsAsItSays(t *testing.T) {
	dir := t.TempDir()
	file := write(t, filepath.Join(dir, "values.yaml"), "a: 1\n")
	made := filepath.Join(dir, "made", "chart.tgz")
	received := serve(t,
		[]request{{Ask: "take", Path: file, Limit: 5}, {Ask: "take", Path: dir + "/none"}, {Ask: "put", Path: made}, {Ask: "exit", Code: 3, Stdout: 3}},
		[][]byte{nil, nil, []byte("new"), []byte("outerr")})
	var stdout, stderr bytes.Buffer

	code, err := run([]string{"/bin/helm", "version", "--short"}, &stdout, &stderr)

	if err != nil || code != 3 || stdout.String() != "out" || stderr.String() != "err" {
		t.Fatalf("ended with %d, %v, %q, %q", code, err, stdout.String(), stderr.String())
	}
	if got := strings.Join(<-received, "|"); got != "token helm version --short|file a: 1\n|absent |done " {
		t.Errorf("sent %q", got)
	}
	if text, _ := os.ReadFile(made); string(text) != "new" {
		t.Errorf("put %q", text)
	}
}

func TestNeedsAnAgent(t *testing.T) {
	t.Setenv(socketVariable, "")
	if _, err := run([]string{"helm"}, nil, nil); err == nil || !strings.Contains(err.Error(), "only in a run of helmfile") {
		t.Errorf("got %v", err)
	}
}

func TestSendsNoMoreThanItWasAskedFor(t *testing.T) {
	dir := t.TempDir()
	file := write(t, filepath.Join(dir, "a", "b"), "123456")
	for _, path := range []string{file, filepath.Dir(file)} {
		done, bytes := perform(request{Ask: "take", Path: path, Limit: 5}, nil)
		if done.Kind != "failed" || !strings.Contains(done.Why, "more than 5 bytes") || bytes != nil {
			t.Errorf("take %s: got %+v", path, done)
		}
	}
}

func TestPacksEqualFoldersToEqualBytes(t *testing.T) {
	var packed [][]byte
	for range 2 {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "templates", "a.yaml"), "a")
		write(t, filepath.Join(dir, "Chart.yaml"), "name: a")
		if err := os.Symlink("Chart.yaml", filepath.Join(dir, "link")); err != nil {
			t.Fatal(err)
		}
		bytes, err := pack(dir, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		packed = append(packed, bytes)
	}
	if !bytes.Equal(packed[0], packed[1]) {
		t.Error("the archives differ")
	}
	root := filepath.Join(t.TempDir(), "out")
	if err := unpack(packed[0], root); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"templates/a.yaml": "a", "Chart.yaml": "name: a", "link": "name: a"} {
		if got, _ := os.ReadFile(filepath.Join(root, path)); string(got) != want {
			t.Errorf("%s has %q", path, got)
		}
	}
}

func TestRefusesFoldersWithoutEnd(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink(".", filepath.Join(dir, "again")); err != nil {
		t.Fatal(err)
	}
	if _, err := pack(dir, 1<<20); err == nil {
		t.Error("it was packed")
	}
}

func TestRefusesFramesThatAreTooLong(t *testing.T) {
	head := []byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0}
	var done reply
	if _, err := readFrame(bytes.NewReader(head), &done); err == nil {
		t.Error("it was read")
	}
}
