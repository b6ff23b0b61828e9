// Command helmfile answers what helmfile's own parser makes of the addresses that it reads as a JSON list from standard
// input. shared/src/charts/helmfile compares its own answers with these. It is a module of its own, because helmfile's
// dependencies are many and need its replacements.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"

	"github.com/helmfile/helmfile/pkg/remote"
)

const module = "github.com/helmfile/helmfile"

type answers struct {
	// Version is helmfile's.
	Version string `json:"version"`
	// Sources has one entry for each address, in the same order.
	Sources []source `json:"sources"`
}

type source struct {
	// Refused: the parser returned an error, whose text is not compared.
	Refused bool   `json:"refused,omitempty"`
	Getter  string `json:"getter,omitempty"`
	Scheme  string `json:"scheme,omitempty"`
	User    string `json:"user,omitempty"`
	Host    string `json:"host,omitempty"`
	Dir     string `json:"dir,omitempty"`
	File    string `json:"file,omitempty"`
	Query   string `json:"query,omitempty"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	var addresses []string
	if err := json.NewDecoder(os.Stdin).Decode(&addresses); err != nil {
		return err
	}
	version, err := helmfileVersion()
	if err != nil {
		return err
	}
	given := answers{Version: version, Sources: make([]source, 0, len(addresses))}
	for _, address := range addresses {
		given.Sources = append(given.Sources, parse(address))
	}
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	return out.Encode(given)
}

func parse(address string) source {
	parsed, err := remote.Parse(address)
	if err != nil {
		return source{Refused: true}
	}
	return source{
		Getter: parsed.Getter,
		Scheme: parsed.Scheme,
		User:   parsed.User,
		Host:   parsed.Host,
		Dir:    parsed.Dir,
		File:   parsed.File,
		Query:  parsed.RawQuery,
	}
}

// helmfileVersion is the version that this program was built with.
func helmfileVersion() (string, error) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "", fmt.Errorf("the program has no build information")
	}
	for _, dependency := range info.Deps {
		if dependency.Path == module {
			return dependency.Version, nil
		}
	}
	return "", fmt.Errorf("the program was built without %s", module)
}
