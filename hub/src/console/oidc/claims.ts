/** From the claims of an ID token to a user of the API server, by the rules of kube-apiserver's flags --oidc-*. Pure. */

import { AppError } from "@flotilla/shared/errors";
import * as z from "zod";
import { hubErrors } from "../../base/index.ts";
import type { Identity } from "../session/identity.ts";
import type { ClaimRules } from "./config/index.ts";

export type Claims = Readonly<Record<string, unknown>>;

const groupsSchema = z.union([
  z.string().transform((one) => [one]),
  z.array(z.string()),
  z.null().transform(() => []),
]);

/** Throws OIDC_CLAIMS_INVALID. Its user and groups may be some that the hub never impersonates. */
export function identityFrom(claims: Claims, rules: ClaimRules): Identity {
  return {
    user: `${rules.usernamePrefix}${usernameIn(claims, rules)}`,
    groups: groupsIn(claims, rules)
      .filter((group) => rules.allowedGroups.length === 0 || rules.allowedGroups.includes(group))
      .map((group) => `${rules.groupsPrefix}${group}`),
  };
}

function usernameIn(claims: Claims, { usernameClaim }: ClaimRules): string {
  const username = claims[usernameClaim];
  if (typeof username !== "string" || username === "")
    throw invalid(
      `the claim ${usernameClaim} of the ID token, which is the user's name, ${describe(username)}`,
    );
  // At some providers, users can enter any address.
  if (
    usernameClaim === "email" &&
    Object.hasOwn(claims, "email_verified") &&
    claims["email_verified"] !== true
  )
    throw invalid(
      "the provider has not verified your email address (claim email_verified), by which the dashboard knows its users; verify it there",
    );
  return username;
}

function groupsIn(claims: Claims, { groupsClaim }: ClaimRules): readonly string[] {
  if (groupsClaim === "") return [];
  if (!Object.hasOwn(claims, groupsClaim)) {
    if (isElsewhere(claims, groupsClaim))
      throw invalid(
        `the ID token refers to another place for the claim ${groupsClaim} (distributed claims), which the hub does not read: you are in too many groups for a token; have the provider send fewer of them, such as those that are assigned to the dashboard`,
      );
    return [];
  }
  const groups = groupsSchema.safeParse(claims[groupsClaim]);
  if (!groups.success)
    throw invalid(
      `the claim ${groupsClaim} of the ID token, which has the user's groups, must be a string or a list of strings`,
    );
  return groups.data;
}

/** Distributed claims, as Microsoft Entra ID has them for users in many groups. */
function isElsewhere(claims: Claims, claim: string): boolean {
  const names = z.record(z.string(), z.unknown()).safeParse(claims["_claim_names"]);
  return names.success && Object.hasOwn(names.data, claim);
}

function describe(value: unknown): string {
  if (value === undefined) return "is missing; have the provider write it into the ID token";
  return value === "" ? "is empty" : "is not a string";
}

function invalid(message: string): AppError {
  return new AppError(hubErrors.OIDC_CLAIMS_INVALID, message);
}
