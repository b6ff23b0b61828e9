/**
 * The entries of a chart in an index: the fields that resolving needs. An invalid entry, which Helm skips too, is skipped and
 * reported, and does not affect the others. Pure.
 */

import { parseVersion } from "../../version/index.ts";

/** One version of a chart. */
export interface ChartEntry {
  readonly version: string;
  /** As in the index, possibly relative to the repository. */
  readonly urls: readonly string[];
  /** The digest of the archive, `sha256:` and hex; absent when the index has none. */
  readonly digest?: string;
  readonly created?: string;
  readonly deprecated?: boolean;
  readonly appVersion?: string;
  /** What is wrong with the entry although it can be used: `has a digest that …`. */
  readonly problem?: string;
}

export interface ChartEntries {
  readonly entries: readonly ChartEntry[];
  /** The entries that were skipped or ignored, and why; bounded. */
  readonly problems: readonly string[];
}

const maxProblems = 10;
const maxUrls = 16;

/** The entries of a chart from the value under its name. A value that is not a list has none. */
export function readChartEntries(chart: string, value: unknown): ChartEntries {
  if (!Array.isArray(value)) {
    return { entries: [], problems: isNothing(value) ? [] : [`${chart}: not a list of versions`] };
  }
  const entries: ChartEntry[] = [];
  const problems: string[] = [];
  let problemCount = 0;
  for (const [index, raw] of value.entries()) {
    const { entry, problem } = readEntry(raw);
    if (entry !== undefined) entries.push(entry);
    if (problem === undefined) continue;
    problemCount++;
    const which = entry === undefined ? `entry ${index + 1}` : entry.version;
    if (problemCount <= maxProblems) problems.push(`${which} of ${chart} ${problem}`);
  }
  if (problemCount > maxProblems) {
    problems.push(`${problemCount - maxProblems} more entries of ${chart} have problems`);
  }
  return { entries, problems };
}

function readEntry(raw: unknown): { readonly entry?: ChartEntry; readonly problem?: string } {
  if (typeof raw !== "object" || raw === null || Array.isArray(raw)) {
    return { problem: "is empty or not a map" };
  }
  const fields: { readonly [field: string]: unknown } = { ...raw };
  const version = text(fields["version"]);
  if (version === undefined) return { problem: "has no version, or one that is not text" };
  if (parseVersion(version) === undefined) {
    return {
      problem: `has the version ${JSON.stringify(version.slice(0, 40))}, which is not a version`,
    };
  }
  const name = text(fields["name"]);
  if (name === undefined || name === "." || name === ".." || name.includes("/")) {
    return { problem: `(${version}) has no valid name of a chart` };
  }

  const digest = readDigest(fields["digest"]);
  const created = text(fields["created"]);
  const appVersion = text(fields["appVersion"]);
  const deprecated = fields["deprecated"] === true || fields["deprecated"] === "true";
  const entry = {
    version,
    urls: readUrls(fields["urls"]),
    ...(digest === undefined || digest === "unreadable" ? {} : { digest }),
    ...(created === undefined ? {} : { created }),
    ...(deprecated ? { deprecated } : {}),
    ...(appVersion === undefined ? {} : { appVersion }),
  };
  if (digest !== "unreadable") return { entry };
  const problem = "has a digest that is not a sha256 and is ignored";
  return { entry: { ...entry, problem }, problem };
}

function readUrls(value: unknown): readonly string[] {
  if (!Array.isArray(value)) return [];
  return value.filter((url) => typeof url === "string" && url !== "").slice(0, maxUrls);
}

function readDigest(value: unknown): string | undefined {
  if (isNothing(value)) return undefined;
  const hex =
    typeof value === "string"
      ? value
          .trim()
          .toLowerCase()
          .replace(/^sha256:/, "")
      : "";
  return /^[0-9a-f]{64}$/.test(hex) ? `sha256:${hex}` : "unreadable";
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && !isNothing(value) ? value : undefined;
}

/** Null or absent, in JSON or in YAML whose scalars stay text. */
function isNothing(value: unknown): boolean {
  return value === undefined || value === null || value === "" || value === "null" || value === "~";
}
