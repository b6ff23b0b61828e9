/** Charts made of a few lines, as the archives that a repository serves. */
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { pack } from "tar-stream";

export interface ChartSpec {
  readonly name: string;
  readonly version: string;
  /** File name in `templates/` to its text. */
  readonly templates: Readonly<Record<string, string>>;
  /** The same in `crds/`. */
  readonly crds?: Readonly<Record<string, string>>;
  /** The text of values.yaml. */
  readonly values?: string;
  /** Other files of the chart, by their path in it. */
  readonly files?: Readonly<Record<string, string>>;
}

export interface ChartArchive {
  readonly name: string;
  readonly version: string;
  readonly bytes: Buffer;
  /** sha256, hex. */
  readonly digest: string;
}

export function chartArchive(spec: ChartSpec): Promise<ChartArchive> {
  const { name, version } = spec;
  const files = new Map([
    [
      "Chart.yaml",
      `apiVersion: v2\nname: ${name}\nversion: ${version}\nappVersion: "${version}"\n`,
    ],
    ["values.yaml", spec.values ?? "{}\n"],
  ]);
  for (const [file, text] of Object.entries(spec.templates)) files.set(`templates/${file}`, text);
  for (const [file, text] of Object.entries(spec.crds ?? {})) files.set(`crds/${file}`, text);
  for (const [path, text] of Object.entries(spec.files ?? {})) files.set(path, text);
  return packChart({ name, version, files });
}

/** The archive of a chart with these files, by their path in it. */
export async function packChart({
  name,
  version,
  files,
}: {
  readonly name: string;
  readonly version: string;
  readonly files: ReadonlyMap<string, string>;
}): Promise<ChartArchive> {
  const tar = pack();
  for (const [path, text] of files)
    tar.entry({ name: `${name}/${path}`, mtime: new Date(0) }, text);
  tar.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of tar) chunks.push(Buffer.from(chunk as Uint8Array));
  const bytes = gzipSync(Buffer.concat(chunks));
  return { name, version, bytes, digest: createHash("sha256").update(bytes).digest("hex") };
}

/** A chart of one ConfigMap with its version and a greeting. */
export function configChart(name: string, version: string): Promise<ChartArchive> {
  return chartArchive({
    name,
    version,
    values: "greeting: hello\n",
    templates: {
      "config.yaml": [
        "apiVersion: v1",
        "kind: ConfigMap",
        "metadata:",
        "  name: {{ .Release.Name }}-config",
        "data:",
        "  version: {{ .Chart.Version | quote }}",
        "  greeting: {{ .Values.greeting | quote }}",
        "",
      ].join("\n"),
    },
  });
}

/** A chart of one Deployment. */
export function deploymentChart(name: string, version: string): Promise<ChartArchive> {
  return chartArchive({
    name,
    version,
    values: "replicas: 1\n",
    templates: {
      "deployment.yaml": [
        "apiVersion: apps/v1",
        "kind: Deployment",
        "metadata:",
        "  name: {{ .Release.Name }}",
        "spec:",
        "  replicas: {{ .Values.replicas }}",
        "  selector: {matchLabels: {app: {{ .Release.Name }}}}",
        "  template:",
        "    metadata: {labels: {app: {{ .Release.Name }}}}",
        "    spec:",
        '      containers: [{name: main, image: "example.com/main:{{ .Chart.Version }}"}]',
        "",
      ].join("\n"),
    },
  });
}
