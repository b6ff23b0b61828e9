/** Which addresses are archives. Pure. */
import { invalidAddress } from "./errors.ts";
import type { Parameters } from "./parameters.ts";

export type ArchiveFormat = "tar.gz" | "tar.bz2" | "tar.xz" | "zip";

const formats: ReadonlyMap<string, ArchiveFormat> = new Map([
  ["tar.gz", "tar.gz"],
  ["tgz", "tar.gz"],
  ["tar.bz2", "tar.bz2"],
  ["tbz2", "tar.bz2"],
  ["tar.xz", "tar.xz"],
  ["txz", "tar.xz"],
  ["zip", "zip"],
]);

/** The format that a name ends in; undefined: it is not an archive. */
export function formatOfName(name: string): ArchiveFormat | undefined {
  const lowerCased = name.toLowerCase();
  for (const [ending, format] of formats) if (lowerCased.endsWith(`.${ending}`)) return format;
  return undefined;
}

/** The format by the parameter `archive`, or else by the name. Throws HELMFILE_SOURCE_INVALID for a format that is unknown. */
export function archiveFormat(name: string, parameters: Parameters): ArchiveFormat | undefined {
  const asked = parameters.get("archive") ?? "";
  if (asked === "" || asked === "true") return formatOfName(name);
  if (asked === "false") return undefined;
  const format = formats.get(asked.toLowerCase());
  if (format === undefined)
    throw invalidAddress(
      "spec.source",
      "names a format of archives that is not supported",
      `archive=${[...formats.keys()].join(", archive=")} or archive=false`,
    );
  return format;
}
