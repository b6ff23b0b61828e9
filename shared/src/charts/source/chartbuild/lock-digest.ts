/** Whether Chart.lock belongs to Chart.yaml, by the digest that Helm writes into it. Pure. */
import { createHash } from "node:crypto";
import { canonicalJson } from "../../../text/json/index.ts";
import type { ChartDependency, ChartLock, ChartMetadata } from "./chart-metadata.ts";

/** False where `helm dependency build` says that the lock file is out of sync. */
export function isLockInSync(
  { apiVersion, dependencies }: ChartMetadata,
  lock: ChartLock,
): boolean {
  const required = dependencies.map(goJson).join(",");
  const locked = lock.dependencies.map(goJson).join(",");
  const lists = [required, locked].map((list) => (list === "" ? "null" : `[${list}]`));
  if (lock.digest === digestOf(`[${lists.join(",")}]`)) return true;
  // Locks of Helm 2.
  return apiVersion === "v1" && lock.digest === digestOf(`{"dependencies":${lists[0]}}`);
}

function digestOf(text: string): string {
  return `sha256:${createHash("sha256").update(text).digest("hex")}`;
}

/** A dependency as Go's encoding/json writes it: the fields in this order, and without those that are empty. */
function goJson({ name, version, repository, fields }: ChartDependency): string {
  const written = [
    ["name", name],
    ...(version === "" ? [] : [["version", version] as const]),
    ["repository", repository],
    ...["condition", "tags", "enabled", "import-values", "alias"].flatMap((key) => {
      const value = fields[key];
      return isEmpty(value) ? [] : [[key, value] as const];
    }),
  ] as const;
  const json = written.map(([key, value]) => `${JSON.stringify(key)}:${canonicalJson(value)}`);
  return `{${json.join(",").replace(/[<>&\u2028\u2029]/g, escaped)}}`;
}

function isEmpty(value: unknown): boolean {
  return (
    value === undefined ||
    value === null ||
    value === "" ||
    value === false ||
    (Array.isArray(value) && value.length === 0)
  );
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
