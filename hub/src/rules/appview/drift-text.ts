/** What others have changed in the objects of a release, in one sentence. Pure. */
import type { ModifiedStatus } from "@flotilla/shared/api";

/** More would not be read; the page of the release lists all that are known. */
const mostNamed = 2;

/**
 * `Deployment shop/web: /spec/replicas changed by kubectl`. Made from fields: the message for `kubectl get` has a JSON patch,
 * whose values are the desired ones.
 */
export function driftText(objects: readonly ModifiedStatus[]): string {
  const texts = objects
    .slice(0, mostNamed)
    .map((object) => `${nameOf(object)}: ${changeOf(object)}`);
  const more = objects.length - texts.length;
  return [...texts, ...(more > 0 ? [`and ${more} more`] : [])].join("; ");
}

function nameOf({ kind = "", namespace = "", name = "" }: ModifiedStatus): string {
  return `${kind} ${namespace === "" ? name : `${namespace}/${name}`}`;
}

function changeOf({ missing, exist, delete: isExtra, fields, manager }: ModifiedStatus): string {
  if (missing === true && exist === true) return "belongs to another release";
  if (missing === true) return "is missing";
  if (isExtra === true) return "should not exist";
  const what = (fields ?? []).length === 0 ? "changed" : `${(fields ?? []).join(", ")} changed`;
  return manager ? `${what} by ${manager}` : what;
}
