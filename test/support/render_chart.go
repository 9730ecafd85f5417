// Renders the templates of a chart as Helm does, as far as ours go: `go run render_chart.go FOLDER` with the chart's objects
// (Values, Chart, Release) as JSON on the standard input. Values are written in YAML's flow form.
package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"text/template"
)

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func flow(value any) string {
	text, err := json.Marshal(value)
	must(err)
	return string(text)
}

func toYaml(value any) string {
	fields, isMap := value.(map[string]any)
	if !isMap || len(fields) == 0 {
		return flow(value)
	}
	lines := []string{}
	for name, field := range fields {
		lines = append(lines, flow(name)+": "+flow(field))
	}
	sort.Strings(lines)
	return strings.Join(lines, "\n")
}

func main() {
	var objects map[string]any
	must(json.NewDecoder(os.Stdin).Decode(&objects))
	chart := template.New("chart").Option("missingkey=error")
	text := func(value any) string { return fmt.Sprint(value) }
	chart.Funcs(template.FuncMap{
		"include": func(name string, data any) (string, error) {
			var out strings.Builder
			err := chart.ExecuteTemplate(&out, name, data)
			return out.String(), err
		},
		"nindent": func(columns int, value string) string {
			start := "\n" + strings.Repeat(" ", columns)
			return start + strings.ReplaceAll(value, "\n", start)
		},
		"add": func(terms ...any) string {
			sum := 0
			for _, term := range terms {
				var number int
				fmt.Sscan(text(term), &number)
				sum += number
			}
			return fmt.Sprint(sum)
		},
		"default": func(other, value any) any {
			if text(value) == "" {
				return other
			}
			return value
		},
		"dict": func(pairs ...any) map[string]any {
			made := map[string]any{}
			for i := 0; i+1 < len(pairs); i += 2 {
				made[text(pairs[i])] = pairs[i+1]
			}
			return made
		},
		"has": func(wanted any, list []any) bool {
			for _, item := range list {
				if item == wanted {
					return true
				}
			}
			return false
		},
		"join": func(separator string, list []any) string {
			words := []string{}
			for _, item := range list {
				words = append(words, text(item))
			}
			return strings.Join(words, separator)
		},
		"quote":      func(value any) string { return flow(text(value)) },
		"sha256sum":  func(value string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(value))) },
		"toYaml":     toYaml,
		"trimSuffix": func(suffix, value string) string { return strings.TrimSuffix(value, suffix) },
		"trunc":      func(most int, value string) string { return fmt.Sprintf("%.*s", most, value) },
	})
	files, err := filepath.Glob(filepath.Join(os.Args[1], "*"))
	must(err)
	_, err = chart.ParseFiles(files...)
	must(err)
	for _, file := range files {
		if strings.HasSuffix(file, ".yaml") {
			fmt.Println("---")
			must(chart.ExecuteTemplate(os.Stdout, filepath.Base(file), objects))
		}
	}
}
