/** YAML that tenants wrote, read by readers: a text of one MiB takes seconds, in which the agent does nothing else. */
import { createHash } from "node:crypto";
import { createLruCache } from "@flotilla/shared/cache";
import { parseExact } from "@flotilla/shared/json";
import { parseHelmYaml } from "@flotilla/shared/yaml";
import * as z from "zod";
import type { ReadYaml } from "../values/values-source.ts";
import type { Readers } from "./readers.ts";

/** Characters that take less time than a reader does. */
const shortText = 8 * 1024;
/** Number of texts whose JSON is kept, of at most a MiB each: every reconcile reads them. */
const cacheSize = 16;

const json = z.string();

export function createReadYaml(readers: Pick<Readers, "run">): ReadYaml {
  const known = createLruCache<string>(cacheSize);

  return async function readYaml(text, name) {
    if (text.length <= shortText) return parseHelmYaml(text, { name });
    const key = `yaml sha256:${createHash("sha256").update(text).digest("hex")}`;
    const found = known.get(key);
    if (found !== undefined) return parseExact(found);
    const read = json.parse(
      await readers.run({ kind: "yaml", text, name }, { key, what: `read ${name}` }),
    );
    known.set(key, read);
    return parseExact(read);
  };
}
