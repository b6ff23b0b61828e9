/** What is said of objects that another release has as well. Pure. */
import type { SharedObject } from "../../observe/index.ts";

/** Objects and releases that are named. */
const mostNamed = 3;

/**
 * A warning; undefined without such objects. Helm lets the release that was installed last own them, as with Flux, and every upgrade
 * of one changes what the other wants. `releaseOf`: `namespace/name` of another release; undefined: it is not installed.
 */
export function sharedObjectsWarning(
  shared: readonly SharedObject[],
  releaseOf: (name: string) => string | undefined,
): string | undefined {
  const known = shared.flatMap(({ kind, key, others }) => {
    const releases = others.flatMap((other) => releaseOf(other) ?? []);
    return releases.length === 0 ? [] : [{ object: `${kind} ${key}`, releases }];
  });
  if (known.length === 0) return undefined;
  const releases = [...new Set(known.flatMap((each) => each.releases))].sort();
  const objects = known.map(({ object }) => object);
  const are = objects.length === 1 ? "is" : "are";
  const ofReleases = releases.length === 1 ? "the release" : "the releases";
  return `${named(objects)} ${are} in ${ofReleases} ${named(releases)} as well: an upgrade of one overwrites what the other has, and its uninstallation deletes it; leave each object to one chart`;
}

function named(names: readonly string[]): string {
  const shown = names.slice(0, mostNamed);
  const more = names.length - shown.length;
  return `${shown.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
