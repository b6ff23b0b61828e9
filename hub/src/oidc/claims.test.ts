import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { type Claims, identityFrom } from "./claims.ts";
import type { ClaimRules } from "./config/index.ts";

const rules: ClaimRules = {
  ...{ usernameClaim: "sub", usernamePrefix: "" },
  ...{ groupsClaim: "groups", groupsPrefix: "" },
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
    ["has a single group that is no list", { sub: "anna", groups: "dev" }, rules, "anna", ["dev"]],
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
      // Refused where sessions are begun, with the name.
      "may be one of Kubernetes",
      { sub: "admin", groups: ["masters"] },
      { ...rules, usernamePrefix: "system:", groupsPrefix: "system:" },
      "system:admin",
      ["system:masters"],
    ],
  ];
  for (const [what, claims, given, user, groups] of rows)
    test(what, () => assert.deepEqual(identityFrom(claims, given), { user, groups }));
});

describe("an ID token is refused", () => {
  const rows: readonly (readonly [what: string, claims: Claims, rules: ClaimRules, RegExp])[] = [
    ["without the claim", { sub: "anna" }, email, /the claim email of .* is missing; have/],
    ["with an empty name", { sub: "" }, rules, /the claim sub .* is empty/],
    ["with a name that is no text", { sub: 7 }, rules, /the claim sub .* is no text/],
    [
      "with an inherited property as its claim",
      {},
      { ...rules, groupsClaim: "constructor", usernameClaim: "toString" },
      /the claim toString .* is no text/,
    ],
    [
      "with an email address that is not verified",
      { email: "anna@example.com", email_verified: false },
      email,
      /has not verified your email address/,
    ],
    [
      "with an email address that is said to be verified as a text",
      { email: "anna@example.com", email_verified: "true" },
      email,
      /has not verified/,
    ],
    ["with groups that are no texts", { sub: "anna", groups: [1] }, rules, /no list of texts/],
    ["with groups that are a map", { sub: "anna", groups: {} }, rules, /no list of texts/],
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
