/** What is told of something that a deployment was supplied with and that the hub does not have any more. Pure. */
import { parseObjectRef } from "@flotilla/shared/api/bundle-deployment.ts";
import type { Supplies } from "./supplies.ts";

/** `keys`: of what the deployment names. Undefined when there is nothing to tell. */
export function lostMessage(
  keys: readonly string[],
  supplies: Pick<Supplies, "get">,
): string | undefined {
  const lost = keys.flatMap((key) => {
    const ref = parseObjectRef(key);
    const known = ref && supplies.get(ref);
    return known === undefined || known.digest !== undefined
      ? []
      : [`the ${ref?.kind} ${ref?.name}`];
  });
  return lost.length === 0
    ? undefined
    : `the hub does not have ${lost.join(" and ")} any more; what was installed with it stays`;
}
