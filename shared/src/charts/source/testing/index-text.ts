/** Indexes for tests, written as Helm writes them. */

export interface IndexLine {
  readonly version: string;
  readonly url?: string;
  readonly digest?: string;
}

/** An index.yaml with these versions of these charts. */
export function indexText(
  charts: Readonly<Record<string, readonly (IndexLine | string)[]>>,
): string {
  const lines = ["apiVersion: v1", "entries:"];
  for (const [name, versions] of Object.entries(charts)) {
    lines.push(`  ${name}:`);
    for (const one of versions) {
      const { version, url, digest } = typeof one === "string" ? { version: one } : one;
      lines.push(
        "  - apiVersion: v2",
        `    appVersion: "${version}"`,
        `    description: 'A chart: ${name}'`,
      );
      if (digest !== undefined) lines.push(`    digest: ${digest}`);
      lines.push(
        `    name: ${name}`,
        "    urls:",
        `    - ${url ?? `${name}-${version}.tgz`}`,
        `    version: ${scalar(version)}`,
      );
    }
  }
  return `${lines.join("\n")}\ngenerated: "2026-01-02T03:04:05.6Z"\n`;
}

/** Helm quotes a version that YAML would parse as a number, and rejects an index without the quotes. */
function scalar(version: string): string {
  return /^\d+(?:\.\d+)?$/.test(version) ? `"${version}"` : version;
}
