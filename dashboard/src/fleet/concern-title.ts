/** What a concern about several objects is called, and the list that shows them. Pure. */
import type { Concern } from "./concern.ts";
import { plural } from "./summary.ts";

export interface ConcernTitle {
  readonly text: string;
  readonly href: string;
}

/** Undefined for a concern about one object, which is called by its name. */
export function concernTitle({
  kind,
  namespace,
  state,
  host,
  same,
}: Concern): ConcernTitle | undefined {
  const count = same.length;
  if (count < 2) return undefined;
  const listOf = (path: string, filter: Readonly<Record<string, string>>) =>
    `${path}?${new URLSearchParams({ ...filter, namespace }).toString()}`;
  if (kind !== "Cluster")
    return {
      text: `${host}: ${plural(count, "app")} affected`,
      href: listOf("/apps", { state }),
    };
  const what = state === "Offline" ? "offline" : "without an agent yet";
  return { text: `${plural(count, "cluster")} ${what}`, href: listOf("/clusters", { state }) };
}
