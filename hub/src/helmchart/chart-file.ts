/** Chart.yaml of a chart in a tree of files: a directory or a packaged chart. */
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { messageOf } from "@flotilla/shared/errors";
import { parseVersion } from "@flotilla/shared/version";
import { parseHelmYaml } from "@flotilla/shared/yaml";
import { extract } from "tar-stream";
import { SourceError } from "../fluxsource/index.ts";

const unpack = promisify(gunzip);

/** Flux's limits of a packaged chart and of a file in it. */
export const maxArchiveBytes = 10 * 1024 * 1024;
export const maxChartFileBytes = 5 * 1024 * 1024;

/** A packaged chart, unpacked. Flux's limit of a package is 10 MiB. */
const maxUnpackedBytes = 64 * 1024 * 1024;

export interface ChartFile {
  readonly name: string;
  readonly version: string;
}

/** Throws a SourceError when it has no name or no version. `where`: of the chart, for messages. */
export function parseChartFile(text: string, where: string): ChartFile {
  const parsed = readYaml(text);
  const { name, version } = (
    typeof parsed === "object" && parsed !== null ? parsed : {}
  ) as Readonly<Record<string, unknown>>;
  if (typeof name !== "string" || !/^[a-zA-Z0-9._-]+$/.test(name))
    throw invalidChart(where, "its Chart.yaml has no valid name");
  if (typeof version !== "string" || parseVersion(version) === undefined)
    throw invalidChart(where, "its Chart.yaml has no valid version");
  return { name, version };
}

/** Chart.yaml of a packaged chart. Throws a SourceError when it has none. */
export async function chartFileOfArchive(bytes: Uint8Array, where: string): Promise<string> {
  const tar = await unpack(bytes, { maxOutputLength: maxUnpackedBytes }).catch(() => {
    throw invalidChart(where, "it is no packaged chart (.tgz), or larger than 64 MiB unpacked");
  });
  const entries = extract();
  entries.end(tar);
  try {
    for await (const entry of entries) {
      if (/^(?:\.\/)?[^/]+\/Chart\.yaml$/.test(entry.header.name)) return await text(entry);
      entry.resume();
    }
  } catch (thrown) {
    throw invalidChart(where, `it cannot be unpacked: ${messageOf(thrown)}`);
  }
  throw invalidChart(where, "it has no Chart.yaml");
}

/** Nothing but another revision or another path can help. */
export function invalidChart(where: string, why: string): SourceError {
  return new SourceError("InvalidChartReference", `the chart at ${where} cannot be used: ${why}`, {
    stalls: true,
  });
}

function readYaml(text: string): unknown {
  try {
    return parseHelmYaml(text, { name: "Chart.yaml" });
  } catch {
    return undefined;
  }
}
