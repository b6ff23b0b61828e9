// Command golden answers, with the Go libraries that Helm is built with, the questions that it reads as one JSON
// document from standard input: which texts are versions and constraints and what satisfies what, which version of an
// index or of a list of tags is chosen, what YAML means, what values with templates come to, and when schedules start. shared/src compares its own answers with these.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"strings"

	"github.com/Masterminds/semver/v3"
	"sigs.k8s.io/yaml"
)

type questions struct {
	Versions    []string    `json:"versions"`
	Pairs       [][2]string `json:"pairs"`
	Constraints []string    `json:"constraints"`
	Selections  []selection `json:"selections"`
	Yaml        []string    `json:"yaml"`
	// Styles are texts that Go is to write as YAML.
	Styles []string         `json:"styles"`
	Values []valuesQuestion `json:"values"`
	Starts []startsQuestion `json:"starts"`
}

type selection struct {
	Kind       string   `json:"kind"`
	Available  []string `json:"available"`
	Constraint string   `json:"constraint"`
}

type answers struct {
	Versions    []versionAnswer    `json:"versions,omitempty"`
	Pairs       []int              `json:"pairs,omitempty"`
	Constraints []constraintAnswer `json:"constraints,omitempty"`
	Selections  []selectionAnswer  `json:"selections,omitempty"`
	Yaml        []yamlAnswer       `json:"yaml,omitempty"`
	Styles      []styleAnswer      `json:"styles,omitempty"`
	Values      []valuesAnswer     `json:"values,omitempty"`
	Starts      []startsAnswer     `json:"starts,omitempty"`
}

// Numbers are text: JSON readers round them above 2^53.
type versionAnswer struct {
	Lenient string `json:"lenient"`
	Strict  bool   `json:"strict"`
}

// Matches has a '1' for each of the versions input about that satisfies the constraint, else a '0'.
type constraintAnswer struct {
	Error   string `json:"error,omitempty"`
	Matches string `json:"matches,omitempty"`
}

type selectionAnswer struct {
	Error string `json:"error,omitempty"`
	Text  string `json:"text,omitempty"`
}

// Unstable: two keys become the same text, as 1 and "1" do, and Go leaves it to chance which of them stays.
type yamlAnswer struct {
	Error    string `json:"error,omitempty"`
	JSON     string `json:"json,omitempty"`
	Unstable bool   `json:"unstable,omitempty"`
}

func main() {
	var input questions
	if err := json.NewDecoder(os.Stdin).Decode(&input); err != nil {
		fail(err)
	}
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	if err := out.Encode(answer(input)); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func answer(input questions) answers {
	var given answers
	for _, text := range input.Versions {
		given.Versions = append(given.Versions, answerVersion(text))
	}
	for _, pair := range input.Pairs {
		given.Pairs = append(given.Pairs, semver.MustParse(pair[0]).Compare(semver.MustParse(pair[1])))
	}
	for _, text := range input.Constraints {
		given.Constraints = append(given.Constraints, answerConstraint(text, input.Versions))
	}
	for _, one := range input.Selections {
		given.Selections = append(given.Selections, answerSelection(one))
	}
	for _, text := range input.Yaml {
		given.Yaml = append(given.Yaml, answerYaml(text))
	}
	for _, text := range input.Styles {
		style, err := answerStyle(text)
		if err != nil {
			fail(err)
		}
		given.Styles = append(given.Styles, style)
	}
	for _, one := range input.Values {
		given.Values = append(given.Values, answerValues(one))
	}
	for _, one := range input.Starts {
		given.Starts = append(given.Starts, answerStarts(one))
	}
	return given
}

func answerVersion(text string) versionAnswer {
	_, err := semver.StrictNewVersion(text)
	given := versionAnswer{Strict: err == nil}
	if version, err := semver.NewVersion(text); err == nil {
		given.Lenient = version.String()
	}
	return given
}

func answerConstraint(text string, versions []string) constraintAnswer {
	constraint, err := semver.NewConstraint(text)
	if err != nil {
		return constraintAnswer{Error: err.Error()}
	}
	var matches strings.Builder
	for _, candidate := range versions {
		version, err := semver.NewVersion(candidate)
		switch {
		case err != nil:
			matches.WriteByte('-')
		case constraint.Check(version):
			matches.WriteByte('1')
		default:
			matches.WriteByte('0')
		}
	}
	return constraintAnswer{Matches: matches.String()}
}

func answerYaml(text string) yamlAnswer {
	converted, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		return yamlAnswer{Error: err.Error()}
	}
	for range 16 {
		again, err := yaml.YAMLToJSON([]byte(text))
		if err != nil || string(again) != string(converted) {
			return yamlAnswer{Unstable: true}
		}
	}
	return yamlAnswer{JSON: string(converted)}
}

func answerSelection(input selection) selectionAnswer {
	choose := chooseEntry
	if input.Kind == "tags" {
		choose = chooseTag
	}
	text, err := choose(input.Available, input.Constraint)
	if err != nil {
		return selectionAnswer{Error: err.Error()}
	}
	return selectionAnswer{Text: text}
}

// entries sorts as repo.ChartVersions of Helm 4 does.
type entries []string

func (e entries) Len() int      { return len(e) }
func (e entries) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e entries) Less(a, b int) bool {
	i, err := semver.NewVersion(e[a])
	if err != nil {
		return true
	}
	j, err := semver.NewVersion(e[b])
	if err != nil {
		return false
	}
	return i.LessThan(j)
}

// chooseEntry answers as IndexFile.Get of Helm 4 does after loading an index, which drops what is no version.
func chooseEntry(available []string, requested string) (string, error) {
	var sorted entries
	for _, text := range available {
		if _, err := semver.NewVersion(text); err == nil {
			sorted = append(sorted, text)
		}
	}
	sort.Sort(sort.Reverse(sorted))
	if requested == "" {
		return first(sorted, "*")
	}
	if _, err := semver.NewConstraint(requested); err != nil {
		return "", err
	}
	for _, text := range sorted {
		if text == requested {
			return text, nil
		}
	}
	return first(sorted, requested)
}

// chooseTag answers as GetOCITag of Fleet does, after Helm's reading of '_' as '+', which Fleet omits.
func chooseTag(tags []string, requested string) (string, error) {
	constraint, err := semver.NewConstraint(requested)
	if err != nil {
		return "", err
	}
	_, err = semver.StrictNewVersion(requested)
	static := err == nil
	chosen := ""
	var highest *semver.Version
	for _, tag := range tags {
		text := strings.ReplaceAll(tag, "_", "+")
		if static && text == requested {
			return tag, nil
		}
		version, err := semver.NewVersion(text)
		if err != nil || !constraint.Check(version) {
			continue
		}
		if highest == nil || version.GreaterThan(highest) {
			chosen, highest = tag, version
		}
	}
	if chosen == "" {
		return "", fmt.Errorf("no tag satisfies %s", requested)
	}
	return chosen, nil
}

func first(sorted entries, requested string) (string, error) {
	constraint, err := semver.NewConstraint(requested)
	if err != nil {
		return "", err
	}
	for _, text := range sorted {
		if constraint.Check(semver.MustParse(text)) {
			return text, nil
		}
	}
	return "", fmt.Errorf("no version satisfies %s", requested)
}
