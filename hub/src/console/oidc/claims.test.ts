import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { type Claims, identityFrom } from "./claims.ts";
import type { ClaimRules } from "./config/index.ts";

const rules: ClaimRules = {
  ...{ usernameClaim: "sub", usernamePrefix: "" },
  ...{ groupsClaim: "groups", groupsPrefix: "", allowedGroups: [] },
};
const email = { ...rules, usernameClaim: "email" };

describe("the user of an ID token", () => {
  const rows: readonly (readonly [
    what: string,
    claims: Claims,
    rules: ClaimRules,
    user: string,
    groups: readonly string[],
  ])[] = [
    ["has the name in the claim", { sub: "anna" }, rules, "anna", []],
    [
      "has the prefixes before name and groups",
      { sub: "anna", groups: ["dev", "ops"] },
      { ...rules, usernamePrefix: "https://id.example.com#", groupsPrefix: "oidc:" },
      "https://id.example.com#anna",
      ["oidc:dev", "oidc:ops"],
    ],
    [
      "has a single group that is not a list",
      { sub: "anna", groups: "dev" },
      rules,
      "anna",
      ["dev"],
    ],
    [
      "has only the groups that are listed",
      { sub: "anna", groups: ["dev", "kubeadm:cluster-admins"] },
      { ...rules, allowedGroups: ["dev", "ops"] },
      "anna",
      ["dev"],
    ],
    ["has no groups where the claim is null", { sub: "anna", groups: null }, rules, "anna", []],
    [
      "has no groups without a claim for them",
      { sub: "anna", groups: ["dev"], "": ["ops"] },
      { ...rules, groupsClaim: "" },
      "anna",
      [],
    ],
    [
      "has an email address",
      { sub: "1", email: "anna@example.com" },
      email,
      "anna@example.com",
      [],
    ],
    [
      "has an email address that is verified",
      { email: "anna@example.com", email_verified: true },
      email,
      "anna@example.com",
      [],
    ],
    ["needs no verified email address", { sub: "anna", email_verified: false }, rules, "anna", []],
    [
      // Rejected where sessions begin, with the name.
      "may be a user of Kubernetes itself",
      { sub: "admin", groups: ["masters"] },
      { ...rules, usernamePrefix: "system:", groupsPrefix: "system:" },
      "system:admin",
      ["system:masters"],
    ],
  ];
  for (const [what, claims, given, user, groups] of rows)
    test(what, () => assert.deepEqual(identityFrom(claims, given), { user, groups }));
});

describe("an ID token is rejected", () => {
  const rows: readonly (readonly [what: string, claims: Claims, rules: ClaimRules, RegExp])[] = [
    ["without the claim", { sub: "anna" }, email, /the claim email of .* is missing; have/],
    ["with an empty name", { sub: "" }, rules, /the claim sub .* is empty/],
    ["with a name that is not a string", { sub: 7 }, rules, /the claim sub .* is not a string/],
    [
      "with an inherited property as its claim",
      {},
      { ...rules, groupsClaim: "constructor", usernameClaim: "toString" },
      /the claim toString .* is not a string/,
    ],
    [
      "with an email address that is not verified",
      { email: "anna@example.com", email_verified: false },
      email,
      /has not verified your email address/,
    ],
    [
      "with an email address whose email_verified is a string",
      { email: "anna@example.com", email_verified: "true" },
      email,
      /has not verified/,
    ],
    [
      "with groups that are not strings",
      { sub: "anna", groups: [1] },
      rules,
      /must be a string or a list of strings/,
    ],
    [
      "with groups that are a map",
      { sub: "anna", groups: {} },
      rules,
      /must be a string or a list of strings/,
    ],
    [
      "with groups that are elsewhere",
      { sub: "anna", _claim_names: { groups: "src1" } },
      rules,
      /too many groups for a token/,
    ],
  ];
  for (const [what, claims, given, message] of rows)
    test(what, () =>
      assert.throws(() => identityFrom(claims, given), { code: "OIDC_CLAIMS_INVALID", message }),
    );
});
