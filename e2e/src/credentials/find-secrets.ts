/** Where a secret can be found in a fleet: in every object of every cluster, packed or not, in logs, metrics and arguments. */
import { readdir, readFile } from "node:fs/promises";
import { gunzipSync } from "node:zlib";
import type { KubeRest } from "@flotilla/shared/kube/client";
import type { KubeObject } from "@flotilla/shared/kube/objects";

/** What the API server says of itself, as far as it is read here. */
interface Groups {
  readonly groups: readonly { readonly versions: readonly { readonly groupVersion: string }[] }[];
}
interface Resources {
  readonly resources: readonly { readonly name: string; readonly verbs: readonly string[] }[];
}
interface List {
  readonly kind: string;
  readonly items: readonly KubeObject[];
}

/** The objects of a cluster that have any of the texts in them, as `Kind namespace/name`, sorted. */
export async function objectsWith(
  rest: KubeRest,
  texts: readonly string[],
): Promise<readonly string[]> {
  const found = new Set<string>();
  for (const path of await listPaths(rest)) {
    const { kind, items } = await ask<List>(rest, path);
    for (const item of items) {
      const { namespace, name } = item.metadata;
      if (holds(item, texts))
        found.add(
          `${kind.replace(/List$/, "")} ${namespace === undefined ? "" : `${namespace}/`}${name}`,
        );
    }
  }
  return [...found].toSorted();
}

/** Whether a text is in there, also in base64 or gzip, one in the other. */
export function holds(value: unknown, texts: readonly string[]): boolean {
  if (typeof value === "string") return holdsText(value, texts, 3);
  if (Array.isArray(value)) return value.some((inner) => holds(inner, texts));
  return (
    typeof value === "object" &&
    value !== null &&
    Object.entries(value).some(([key, inner]) => holds(key, texts) || holds(inner, texts))
  );
}

function holdsText(value: string, texts: readonly string[], depth: number): boolean {
  if (texts.some((text) => value.includes(text))) return true;
  const encoded = value.match(/[A-Za-z0-9+/]{16,}={0,2}/g) ?? [];
  return (
    depth > 0 &&
    encoded.some((part) => holdsText(unzipped(Buffer.from(part, "base64")), texts, depth - 1))
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

async function listPaths(rest: KubeRest): Promise<readonly string[]> {
  const { groups } = await ask<Groups>(rest, "/apis");
  const versions = groups.flatMap((group) =>
    group.versions.map((one) => `/apis/${one.groupVersion}`),
  );
  const paths: string[] = [];
  for (const base of ["/api/v1", ...versions]) {
    const { resources } = await ask<Resources>(rest, base);
    for (const { name, verbs } of resources)
      if (verbs.includes("list")) paths.push(`${base}/${name}`);
  }
  return paths;
}

async function ask<T>(rest: KubeRest, path: string): Promise<T> {
  return JSON.parse(await rest.raw(path)) as T;
}

/** Looks at the arguments of every process of this machine again and again, until it is stopped. */
export function watchArguments(texts: readonly string[]): { stop(): readonly string[] } {
  const found = new Set<string>();
  let isOver = false;

  async function look(): Promise<void> {
    for (const pid of await readdir("/proc")) {
      if (!/^\d+$/.test(pid)) continue;
      // A process may be over before it is looked at.
      const line = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
      if (texts.some((text) => line.includes(text))) found.add(line.replaceAll("\0", " "));
    }
    if (!isOver) setTimeout(() => void look(), 50).unref();
  }

  void look();
  return {
    stop() {
      isOver = true;
      return [...found];
    },
  };
}

/** What a program answers on its metrics port, by what it was started with. */
export async function metricsOf(pid: number): Promise<string> {
  const line = await readFile(`/proc/${pid}/cmdline`, "utf8");
  const [, listen] = /--http-listen=([^\0]+)/.exec(line) ?? [];
  return await (await fetch(`http://${listen}/metrics`)).text();
}
