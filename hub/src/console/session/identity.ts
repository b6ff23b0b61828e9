/** Which users and groups the hub impersonates: those that an identity provider may name. Pure. */

import { AppError } from "@flotilla/shared/errors";
import { hubErrors } from "../../base/index.ts";

export interface Identity {
  readonly user: string;
  readonly groups: readonly string[];
}

/** Kubernetes' own, such as system:masters, which may do everything. */
const reserved = "system:";
/** Every user who has logged in is a member: API servers add it to users that are impersonated. */
export const authenticatedGroup = "system:authenticated";

/**
 * A header has the name. Spaces around it are removed on the way, so that " system:masters" would arrive as another group than the
 * one that was checked; a control character would end it.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is rejected.
const changedOnTheWay = /^\s|\s$|[\u0000-\u001f\u007f]/;
const maxShown = 100;

/** Throws IDENTITY_REJECTED, whose message names the user or the group. */
export function checkIdentity({ user, groups }: Identity): void {
  checkName("user", user);
  for (const group of groups) checkName("group", group);
}

function checkName(kind: "user" | "group", name: string): void {
  if (name.startsWith(reserved))
    throw rejected(
      `the hub impersonates no ${kind} under "${reserved}", which are Kubernetes' own, and the identity provider says that you are ${kind === "user" ? "" : "a member of "}${shown(name)}`,
    );
  if (name === "" || changedOnTheWay.test(name))
    throw rejected(
      `the identity provider says that your ${kind} is ${JSON.stringify(shown(name))}: the hub impersonates no name that is empty, has spaces around it or has control characters`,
    );
}

function shown(name: string): string {
  return name.length > maxShown ? `${name.slice(0, maxShown)}…` : name;
}

function rejected(message: string): AppError {
  return new AppError(
    hubErrors.IDENTITY_REJECTED,
    `${message}; have it changed at the provider, or have another claim or a prefix set (dashboard.oidc of the chart flotilla)`,
  );
}
