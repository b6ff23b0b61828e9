/** Something of each content that is held, opened once for it: what is held is replaced when it changes. */
import { type DeploymentContent, unpackContent } from "@flotilla/shared/content/content.ts";
import type { HeldAssignment } from "./assignment-secret.ts";

/** `unreadable`: for a content that cannot be opened, which is told where it is carried out. */
export function readOnce<T>(
  read: (content: DeploymentContent) => T,
  unreadable: T,
): (held: HeldAssignment) => Promise<T> {
  const known = new WeakMap<HeldAssignment, Promise<T>>();
  return (held) => {
    const { deploymentId, content: bytes } = held;
    const reading =
      known.get(held) ?? unpackContent({ deploymentId, bytes }).then(read, () => unreadable);
    known.set(held, reading);
    return reading;
  };
}
