/** What an app waits for, in words. Pure. */
import type { Blocker } from "./blocked.ts";

/** `HelmRelease base does not exist.` */
export function blockerText({ ref, why }: Blocker): string {
  return `${ref.kind} ${ref.name} ${texts[why]}.`;
}

const texts: Readonly<Record<Blocker["why"], string>> = {
  absent: "does not exist",
  elsewhere: "is not deployed to all clusters that wait for it",
  rejected: "is not ready, and needs attention itself",
  suspended: "is suspended",
  blocked: "waits for this one, too",
};
