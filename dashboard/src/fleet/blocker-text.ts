/** What an app waits for, in words. Pure. */
import type { Blocker } from "./blocked.ts";

/** `HelmRelease base does not exist.` `from`: the namespace of what waits for it. */
export function blockerText(blocker: Blocker, from: string): string {
  const { kind, namespace, name } = blocker.ref;
  const where = namespace === from ? "" : `${namespace}/`;
  return `${kind} ${where}${name} ${texts[blocker.why](blocker)}.`;
}

const texts: Readonly<Record<Blocker["why"], (blocker: Blocker) => string>> = {
  absent: () => "does not exist",
  elsewhere: () => "is not deployed to all clusters that wait for it",
  rejected: () => "is not ready, and needs attention itself",
  suspended: () => "is suspended",
  blocked: () => "waits for this one, too",
  unmatched: ({ selectors = [] }) =>
    `depends on a Bundle that matches ${selectors.join(", and on one that matches ")}, and there is none`,
};
