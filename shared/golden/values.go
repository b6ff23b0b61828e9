package main

import (
	"encoding/json"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig/v3"
	"sigs.k8s.io/yaml"
)

// valuesQuestion is the input of one rendering of values with templates.
type valuesQuestion struct {
	Values         map[string]any    `json:"values"`
	TemplateValues map[string]string `json:"templateValues"`
	Context        map[string]any    `json:"context"`
}

type valuesAnswer struct {
	Error string `json:"error,omitempty"`
	JSON  string `json:"json,omitempty"`
}

// styleAnswer has what Go writes for a text as a value, as an item of a list and as a key.
type styleAnswer struct {
	Value string `json:"value"`
	Item  string `json:"item"`
	Key   string `json:"key"`
}

func answerStyle(text string) (styleAnswer, error) {
	var given styleAnswer
	for written, value := range map[*string]any{
		&given.Value: map[string]any{"v": text},
		&given.Item:  []any{text},
		&given.Key:   map[string]any{text: 0},
	} {
		marshalled, err := yaml.Marshal(value)
		if err != nil {
			return given, err
		}
		*written = string(marshalled)
	}
	return given, nil
}

// answerValues does what Fleet does for a cluster: all values are written as YAML, rendered as one template with
// missingkey=error, and read again; each templateValue is rendered and read for itself.
func answerValues(input valuesQuestion) valuesAnswer {
	given, err := renderValues(input)
	if err != nil {
		return valuesAnswer{Error: err.Error()}
	}
	written, err := json.Marshal(given)
	if err != nil {
		return valuesAnswer{Error: err.Error()}
	}
	return valuesAnswer{JSON: string(written)}
}

func renderValues(input valuesQuestion) (map[string]any, error) {
	given := map[string]any{}
	if input.Values != nil {
		written, err := yaml.Marshal(input.Values)
		if err != nil {
			return nil, err
		}
		if err := renderInto(string(written), input.Context, &given); err != nil {
			return nil, err
		}
	}
	for key, text := range input.TemplateValues {
		var value any
		if err := renderInto(text, input.Context, &value); err != nil {
			return nil, err
		}
		given[key] = value
	}
	return given, nil
}

func renderInto(text string, context map[string]any, into any) error {
	functions := sprig.TxtFuncMap()
	for _, name := range []string{"env", "expandenv", "include", "tpl"} {
		delete(functions, name)
	}
	parsed, err := template.New("values").Delims("${", "}").Option("missingkey=error").Funcs(functions).Parse(text)
	if err != nil {
		return err
	}
	var rendered strings.Builder
	if err := parsed.Execute(&rendered, context); err != nil {
		return err
	}
	return yaml.Unmarshal([]byte(rendered.String()), into)
}
