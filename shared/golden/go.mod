module flotilla/golden

go 1.24

require (
	github.com/Masterminds/semver/v3 v3.5.0
	sigs.k8s.io/yaml v1.6.0
)

// What Helm 4.3 builds with; sigs.k8s.io/yaml alone would take an older one.
require go.yaml.in/yaml/v2 v2.4.4 // indirect
