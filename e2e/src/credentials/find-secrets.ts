/** Searches a fleet for secrets: all objects of a cluster, also encoded or compressed, logs, metrics and arguments. */
import { readdir, readFile } from "node:fs/promises";
import { gunzipSync } from "node:zlib";
import type { ClusterClient } from "../harness/cluster-client.ts";

/** The objects of all kinds that contain any of the texts, as `Kind namespace/name`, sorted. */
export async function objectsContaining(
  { reader }: ClusterClient,
  texts: readonly string[],
): Promise<readonly string[]> {
  return (await reader.listAll())
    .filter((object) => containsAny(object, texts))
    .map(({ kind, metadata: { namespace, name } }) =>
      [kind, namespace === undefined ? name : `${namespace}/${name}`].join(" "),
    )
    .toSorted();
}

/** Whether it contains any of the texts, also in base64 or gzip, nested. */
export function containsAny(value: unknown, texts: readonly string[]): boolean {
  if (typeof value === "string") return textContainsAny(value, texts, 3);
  if (Array.isArray(value)) return value.some((inner) => containsAny(inner, texts));
  return (
    typeof value === "object" &&
    value !== null &&
    Object.entries(value).some(
      ([key, inner]) => containsAny(key, texts) || containsAny(inner, texts),
    )
  );
}

function textContainsAny(value: string, texts: readonly string[], depth: number): boolean {
  if (texts.some((text) => value.includes(text))) return true;
  const encoded = value.match(/[A-Za-z0-9+/]{16,}={0,2}/g) ?? [];
  return (
    depth > 0 &&
    encoded.some((part) => textContainsAny(unzipped(Buffer.from(part, "base64")), texts, depth - 1))
  );
}

function unzipped(bytes: Buffer): string {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes.toString("latin1");
  try {
    return gunzipSync(bytes).toString("latin1");
  } catch {
    return "";
  }
}

/** Samples the arguments of all processes of this machine until it is stopped; resolves with those that contain a text. */
export function watchArguments(texts: readonly string[]): { stop(): readonly string[] } {
  const found = new Set<string>();
  let isStopped = false;

  async function sample(): Promise<void> {
    for (const pid of await readdir("/proc")) {
      if (!/^\d+$/.test(pid)) continue;
      // The process may have ended.
      const line = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
      if (texts.some((text) => line.includes(text))) found.add(line.replaceAll("\0", " "));
    }
    if (!isStopped) setTimeout(() => void sample(), 50).unref();
  }

  void sample();
  return {
    stop() {
      isStopped = true;
      return [...found];
    },
  };
}

/** The metrics of a process, whose address is in its arguments. */
export async function metricsOf(pid: number): Promise<string> {
  const line = await readFile(`/proc/${pid}/cmdline`, "utf8");
  const [, listen] = /--internal-listen=([^\0]+)/.exec(line) ?? [];
  return await (await fetch(`http://${listen}/metrics`)).text();
}
