import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { describe, test } from "vitest";
import { authenticate, type Expected, mayBeAuthentic } from "./authenticate.ts";

const token = "a token\n";
const body = '{"ref":"refs/heads/main"}';
const hmac = (algorithm: string, text = body, key = token): string =>
  createHmac(algorithm, key).update(text).digest("hex");
const json = { "content-type": "application/json; charset=utf-8" };

interface Case {
  readonly name: string;
  readonly type: Expected["type"];
  readonly events?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly accepted: boolean;
  /** The headers alone say that it will be rejected. */
  readonly isHopeless?: boolean;
}

const form = `payload=${encodeURIComponent(body)}`;
const cases: readonly Case[] = [
  { name: "generic without a body", type: "generic", body: "", accepted: true },
  ...["sha1", "sha256", "sha512"].map(
    (algorithm): Case => ({
      name: `generic-hmac with ${algorithm}`,
      type: "generic-hmac",
      headers: { "x-signature": `${algorithm}=${hmac(algorithm)}` },
      accepted: true,
    }),
  ),
  {
    name: "generic-hmac with the signature of another key",
    type: "generic-hmac",
    headers: { "x-signature": `sha256=${hmac("sha256", body, "other")}` },
    accepted: false,
  },
  {
    name: "generic-hmac with the signature of another body",
    type: "generic-hmac",
    headers: { "x-signature": `sha256=${hmac("sha256", "{}")}` },
    accepted: false,
  },
  {
    name: "generic-hmac with md5",
    type: "generic-hmac",
    headers: { "x-signature": `md5=${hmac("md5")}` },
    accepted: false,
  },
  { name: "generic-hmac unsigned", type: "generic-hmac", accepted: false, isHopeless: true },
  {
    name: "github with sha256",
    type: "github",
    headers: { ...json, "x-hub-signature-256": `sha256=${hmac("sha256")}` },
    accepted: true,
  },
  {
    name: "github with sha1 only",
    type: "github",
    headers: { ...json, "x-hub-signature": `sha1=${hmac("sha1")}` },
    accepted: true,
  },
  {
    name: "github with a wrong sha256 and a right sha1",
    type: "github",
    headers: {
      ...json,
      "x-hub-signature-256": "sha256=00",
      "x-hub-signature": `sha1=${hmac("sha1")}`,
    },
    accepted: false,
  },
  {
    name: "github with a form",
    type: "github",
    headers: {
      "content-type": "application/x-www-form-urlencoded",
      "x-hub-signature-256": `sha256=${hmac("sha256", form)}`,
    },
    body: form,
    accepted: true,
  },
  {
    name: "github with another content type",
    type: "github",
    headers: { "content-type": "text/plain", "x-hub-signature-256": `sha256=${hmac("sha256")}` },
    accepted: false,
  },
  {
    name: "github with a listed event in another case",
    type: "github",
    events: ["ping", "Push"],
    headers: {
      ...json,
      "x-hub-signature-256": `sha256=${hmac("sha256")}`,
      "x-github-event": "push",
    },
    accepted: true,
  },
  {
    name: "github with an event that is not listed",
    type: "github",
    events: ["ping"],
    headers: {
      ...json,
      "x-hub-signature-256": `sha256=${hmac("sha256")}`,
      "x-github-event": "push",
    },
    accepted: false,
  },
  {
    name: "bitbucket with its event",
    type: "bitbucket",
    events: ["repo:refs_changed"],
    headers: {
      ...json,
      "x-hub-signature": `sha256=${hmac("sha256")}`,
      "x-event-key": "repo:refs_changed",
    },
    accepted: true,
  },
  {
    name: "bitbucket with the signature of another key",
    type: "bitbucket",
    headers: { ...json, "x-hub-signature": `sha256=${hmac("sha256", body, "other")}` },
    accepted: false,
  },
  {
    name: "gitlab with the token",
    type: "gitlab",
    events: ["Push Hook"],
    headers: { "x-gitlab-token": token, "x-gitlab-event": "push hook" },
    accepted: true,
  },
  {
    name: "gitlab without the line feed of the token",
    type: "gitlab",
    headers: { "x-gitlab-token": token.trim() },
    accepted: false,
    isHopeless: true,
  },
  { name: "harbor", type: "harbor", headers: { authorization: token }, accepted: true },
  {
    name: "harbor with a Bearer token",
    type: "harbor",
    headers: { authorization: `Bearer ${token}` },
    accepted: false,
    isHopeless: true,
  },
  {
    name: "nexus",
    type: "nexus",
    headers: { "x-nexus-webhook-signature": hmac("sha1") },
    accepted: true,
  },
  {
    name: "nexus with sha256",
    type: "nexus",
    headers: { "x-nexus-webhook-signature": hmac("sha256") },
    accepted: false,
  },
  {
    name: "github with a form without a payload",
    type: "github",
    headers: {
      "content-type": "application/x-www-form-urlencoded",
      "x-hub-signature-256": `sha256=${hmac("sha256", "a=payload")}`,
    },
    body: "a=payload",
    accepted: false,
  },
  ...(["dockerhub", "quay", "acr"] as const).map(
    (type): Case => ({ name: `${type}, which has the path alone`, type, accepted: true }),
  ),
];

describe("a call of a Receiver", () => {
  test.each(cases)("of $name is accepted: $accepted", (each) => {
    const expected = { type: each.type, token, events: each.events ?? [] };
    const header = (name: string): string => each.headers?.[name] ?? "";

    const verdict = authenticate(expected, { header, body: Buffer.from(each.body ?? body) });

    assert.equal(verdict.kind === "accepted", each.accepted);
    assert.equal(mayBeAuthentic(expected, header), each.isHopeless !== true);
    assert.ok(verdict.kind === "accepted" || !verdict.why.includes(token.trim()));
  });

  test.each(["gitlab", "harbor", "generic-hmac", "nexus"] as const)(
    "of %s is rejected when the token is empty",
    (type) => {
      const header = (name: string): string =>
        ({
          "x-signature": `sha256=${hmac("sha256", body, "")}`,
          "x-nexus-webhook-signature": hmac("sha1", body, ""),
        })[name] ?? "";

      const verdict = authenticate(
        { type, token: "", events: [] },
        { header, body: Buffer.from(body) },
      );

      assert.equal(verdict.kind, "rejected");
    },
  );
});
